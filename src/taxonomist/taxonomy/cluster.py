"""A taxonomy learned from documents: a middle layer of similar categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.taxonomy import labels
from taxonomist.taxonomy.build import ROOT, as_id
from taxonomist.taxonomy.core import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats

LINKAGES = ("average", "complete", "single", "ward")


def group_categories(
    X: Any,
    y: Any,
    n_groups: int,
    *,
    linkage: str = "ward",
    idf: bool = True,
    feature_names: Sequence[str] | None = None,
) -> Taxonomy:
    """Return a taxonomy of depth two that puts categories with similar documents together.

    Each category is the sum of the term counts of its documents; agglomerative clustering of these
    sums gives the groups [TCPH01, Sec. 3.1.2]. The paper names neither the weighting of
    terms nor the linkage; here counts are damped by a logarithm, weighted by inverse category
    frequency, scaled to unit length, and merged by Ward's rule.

    Parameters
    ----------
    X
        Non-negative term counts, dense or sparse, shape (n_items, n_terms).
    y
        One label per item, or a set of labels (the item then counts for each).
    n_groups
        Number of groups, from 1 to the number of categories.
    linkage
        ``"ward"``, ``"average"``, ``"complete"`` or ``"single"``.
    idf
        Whether to weight terms by the logarithm of the inverse share of categories that use them.
    feature_names
        Terms by column; the groups are then named by their three strongest terms.

    Returns
    -------
    Taxonomy
        Root, ``group-1`` ... ``group-n`` (largest first), and the categories in sorted order.
    """
    if linkage not in LINKAGES:
        raise ValueError(f"linkage must be one of {', '.join(LINKAGES)}. Got {linkage!r}.")
    ids, pooled = _pool(X, y)
    if not 1 <= n_groups <= len(ids):
        raise ValueError(
            f"n_groups must be from 1 to {len(ids)}, the number of categories. Got {n_groups}."
        )
    vectors = _weigh(pooled, idf)
    members = _cluster(vectors, n_groups, linkage)
    stem = "group"
    while any(node.startswith(f"{stem}-") for node in ids):
        stem += "'"
    groups = [f"{stem}-{number}" for number in range(1, len(members) + 1)]
    edges = [(ROOT, group) for group in groups]
    edges += [
        (group, ids[code]) for group, codes in zip(groups, members, strict=True) for code in codes
    ]
    names = {}
    if feature_names is not None:
        for group, codes in zip(groups, members, strict=True):
            weight = np.asarray(vectors[codes].sum(axis=0)).ravel()
            names[group] = ", ".join(str(feature_names[t]) for t in np.argsort(-weight)[:3])
    return Taxonomy(edges, names=names)


def _pool(X: Any, y: Any) -> tuple[list[str], CSR]:
    """Return the sorted category ids and the summed term counts of each."""
    from scipy.sparse import csr_array

    counts = csr_array(X, dtype=np.float64)
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise LabelError("X must hold term counts: finite and not negative.")
    if labels.is_indicator(y):
        raise LabelError("y is an indicator matrix; give the ids of each item's labels instead.")
    sets = labels.as_sets(y)
    if len(sets) != counts.shape[0]:
        raise LabelError(f"X has {counts.shape[0]} rows, but y has {len(sets)} labels.")
    flat = Taxonomy.flat(sorted({as_id(label) for item in sets for label in item}))
    Y = labels.encode_sets(flat, sets).astype(np.float64)
    return list(flat.nodes[1:]), csr_array(Y[:, 1:].T) @ counts


def _weigh(pooled: CSR, idf: bool) -> CSR:
    """Return damped, weighted category vectors of unit length; a category without terms is 0."""
    from scipy.sparse import csr_array, diags_array

    weighted = csr_array(pooled)
    weighted.data = np.log1p(weighted.data)
    if idf:
        used = np.bincount(weighted.indices, minlength=weighted.shape[1])
        weighted = weighted @ diags_array(np.log((1 + weighted.shape[0]) / (1 + used)))
    length = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.where(length > 0, length, 1.0)) @ weighted)


def _cluster(vectors: CSR, n_groups: int, linkage: str) -> list[Codes]:
    """Return the members of each group, the largest group first."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    n = vectors.shape[0]
    if n == 1:
        return [np.zeros(1, dtype=np.intp)]
    squared: Floats = np.maximum(2 - 2 * (vectors @ vectors.T).toarray(), 0)
    np.fill_diagonal(squared, 0)
    # Of unit vectors: Ward's rule wants Euclidean distances, the others take the cosine distance.
    distance = np.sqrt(squared) if linkage == "ward" else squared / 2
    merges = hierarchy.linkage(squareform(distance, checks=False), method=linkage)
    # Cutting at a height would give fewer groups than wanted where merges tie.
    members = {code: [code] for code in range(n)}
    for step, (a, b) in enumerate(merges[: n - n_groups, :2].astype(int).tolist()):
        members[n + step] = members.pop(a) + members.pop(b)
    groups = [np.sort(codes) for codes in members.values()]
    return sorted(groups, key=lambda codes: (-len(codes), int(codes[0])))
