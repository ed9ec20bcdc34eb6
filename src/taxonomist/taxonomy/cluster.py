"""Learn a taxonomy from documents by grouping similar categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError, ParameterError
from taxonomist.taxonomy import labels
from taxonomist.taxonomy.build import ROOT, as_id
from taxonomist.taxonomy.core import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, LabelsLike, MatrixLike

LINKAGES = ("average", "complete", "single", "ward")


def group_categories(
    X: MatrixLike,
    y: LabelsLike,
    n_groups: int,
    *,
    linkage: str = "ward",
    idf: bool = True,
    feature_names: Sequence[str] | None = None,
) -> Taxonomy:
    """Return a taxonomy of depth two that groups categories with similar documents.

    Each category is represented by the summed term counts of its documents, and agglomerative
    clustering of these sums gives the groups [TCPH01, Sec. 3.1.2]. The paper specifies neither the
    term weighting nor the linkage. Here, counts are damped by a logarithm, weighted by inverse
    category frequency and scaled to unit length; the default linkage is Ward's.

    Parameters
    ----------
    X
        Non-negative term counts, dense or sparse, shape (n_items, n_terms).
    y
        One label or a set of labels per item; an item counts for each of its labels.
    n_groups
        Number of groups, from 1 to the number of categories.
    linkage
        ``"ward"``, ``"average"``, ``"complete"`` or ``"single"``.
    idf
        Whether to weight terms by the log of the inverse fraction of categories that use them.
    feature_names
        The term of each column. If given, groups are named after their three strongest terms.

    Returns
    -------
    Taxonomy
        Root, ``group-1`` ... ``group-n`` (largest first), and the categories sorted by id.
    """
    if linkage not in LINKAGES:
        raise ParameterError(f"linkage must be one of {', '.join(LINKAGES)}. Got {linkage!r}.")
    ids, pooled = _pool(X, y)
    if not 1 <= n_groups <= len(ids):
        raise ParameterError(
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


def _pool(X: MatrixLike, y: LabelsLike) -> tuple[list[str], CSR]:
    from scipy.sparse import csr_array

    counts = csr_array(X, dtype=np.float64)
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise LabelError("X must hold term counts, which are finite and not negative.")
    if labels.is_indicator(y):
        raise LabelError("y is an indicator matrix; pass the ids of each item's labels instead.")
    sets = labels.as_sets(y)
    if len(sets) != counts.shape[0]:
        raise LabelError(f"X has {counts.shape[0]} rows, but y has {len(sets)} labels.")
    flat = Taxonomy.flat(sorted({as_id(label) for item in sets for label in item}))
    Y = labels.encode_sets(flat, sets).astype(np.float64)
    return list(flat.nodes[1:]), csr_array(Y[:, 1:].T) @ counts


def _weigh(pooled: CSR, idf: bool) -> CSR:
    """Return log-damped, weighted unit vectors; a category without terms stays 0."""
    from scipy.sparse import csr_array, diags_array

    weighted = csr_array(pooled)
    weighted.data = np.log1p(weighted.data)
    if idf:
        used = np.bincount(weighted.indices, minlength=weighted.shape[1])
        weighted = weighted @ diags_array(np.log((1 + weighted.shape[0]) / (1 + used)))
    length = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.where(length > 0, length, 1.0)) @ weighted)


def _cluster(vectors: CSR, n_groups: int, linkage: str) -> list[Codes]:
    """Return the members of each group, largest group first."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    n = vectors.shape[0]
    if n == 1:
        return [np.zeros(1, dtype=np.intp)]
    squared: Floats = np.maximum(2 - 2 * (vectors @ vectors.T).toarray(), 0)
    np.fill_diagonal(squared, 0)
    # Ward's rule needs Euclidean distances of the unit vectors; the others use cosine distance.
    distance = np.sqrt(squared) if linkage == "ward" else squared / 2
    merges = hierarchy.linkage(squareform(distance, checks=False), method=linkage)
    # Cutting the dendrogram at a height would give too few groups if merges tie.
    members = {code: [code] for code in range(n)}
    for step, (a, b) in enumerate(merges[: n - n_groups, :2].astype(int).tolist()):
        members[n + step] = members.pop(a) + members.pop(b)
    groups = [np.sort(codes) for codes in members.values()]
    return sorted(groups, key=lambda codes: (-len(codes), int(codes[0])))
