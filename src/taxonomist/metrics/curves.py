"""Scores of all nodes, and the area under their precision-recall curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist._typing import is_sparse
from taxonomist.errors import LabelError
from taxonomist.metrics._counts import closed_nodes
from taxonomist.metrics._inputs import count_items, item_weights, undefined
from taxonomist.metrics._rankings import check_classes, check_scores, dense
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from taxonomist._typing import CSR, Bools, Floats, LabelsLike, MatrixLike, Reals
    from taxonomist.taxonomy import Taxonomy


def node_scores(scores: MatrixLike, taxonomy: Taxonomy, classes: Sequence[str]) -> Floats:
    """Score every node by the best category at or below it.

    No node scores higher than its parents. Takes memory for items x nodes numbers, and time
    proportional to items x edges.

    Parameters
    ----------
    scores
        Dense or sparse, items x classes; absent entries are 0.
    taxonomy
        The taxonomy of the classes.
    classes
        The node of each column.

    Returns
    -------
    ndarray of shape (n_items, n_nodes)
        -inf for nodes without a category at or below them.

    Raises
    ------
    LabelError
        If a score is NaN, or ``classes`` does not match the columns or the taxonomy.
    """
    scores = check_scores(scores)
    check_classes(classes, scores)
    codes = labels.encode(taxonomy, classes, name="classes")
    best = np.full((taxonomy.n_nodes, scores.shape[0]), -np.inf)
    best[codes] = dense(scores, slice(None)).T
    # Codes increase from parents to children, so every node is visited after its descendants.
    for child in range(taxonomy.n_nodes - 1, 0, -1):
        start, stop = taxonomy.parent_indptr[child : child + 2]
        for parent in taxonomy.parent_indices[start:stop]:
            np.maximum(best[parent], best[child], out=best[parent])
    return best.T


def au_prc(
    y_true: LabelsLike,
    scores: MatrixLike,
    taxonomy: Taxonomy,
    *,
    classes: Sequence[str] | None = None,
    nodes: str | Sequence[str] = "all",
    exclude_root: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the precision-recall curve over all pairs of item and node, AU(PRC).

    The area is the average precision, a sum of steps, as in the results published for
    hierarchical multilabel classification, C-HMCNN(h) among them. Pairs with equal scores enter
    together. Those results leave out the root and, on the Gene Ontology, its three namespaces: use
    the default on trees and ``nodes="below_roots"`` on the Gene Ontology.

    Parameters
    ----------
    y_true
        Label sets, one label per item, or an indicator matrix with one column per node or per
        class; closed under ancestors first.
    scores
        Dense or sparse; absent entries are 0. One column per node in taxonomy order, or one per
        class.
    taxonomy
        The taxonomy of the labels.
    classes
        The node of each column; ``node_scores`` then scores the nodes. None if the columns are
        the nodes.
    nodes
        The nodes that count: ``"all"``; ``"below_roots"`` to leave out ``taxonomy.roots``, such as
        the three namespaces of the Gene Ontology; ``"leaves"``; or ids.
    exclude_root
        With ``nodes="all"``, leave out the root, to which every item belongs.
    sample_weight
        Weights of the items; all equal by default.

    Returns
    -------
    float
        Between 0 and 1; higher is better. NaN, with a warning, if no item has a label among the
        nodes that count.

    Raises
    ------
    LabelError
        If labels are unknown, a score is NaN, or shapes differ.
    """
    scores = check_scores(scores) if classes is None else node_scores(scores, taxonomy, classes)
    if scores.shape[1] != taxonomy.n_nodes:
        message = f"scores has {scores.shape[1]} columns but the taxonomy has {taxonomy.n_nodes}"
        raise LabelError(f"{message} nodes; pass classes=, the node of each column.")
    n_items = count_items(y_true, scores, "scores")
    by_class = classes is not None and getattr(y_true, "shape", ())[1:] == (len(classes),)
    true = labels.encode_sets(taxonomy, y_true, classes if by_class else None, name="y_true")
    true = labels.close(taxonomy, true)
    if not (isinstance(nodes, str) and nodes == "all"):
        chosen = closed_nodes(taxonomy, nodes)
        true, scores = true[:, chosen], scores[:, chosen]
    elif exclude_root:
        true, scores = true[:, 1:], scores[:, 1:]
    weights = item_weights(sample_weight, n_items)
    if is_sparse(scores):
        return _average_precision(*_sparse_pairs(true, scores, weights))
    return _average_precision(*_dense_pairs(true, scores, weights))


def _dense_pairs(true: CSR, scores: Reals, weights: Floats) -> tuple[Bools, Reals, Floats]:
    """Return the truth, score and weight of every pair of item and node."""
    return true.toarray().ravel(), scores.ravel(), np.repeat(weights, true.shape[1])


def _sparse_pairs(true: CSR, scores: CSR, weights: Floats) -> tuple[Bools, Floats, Floats]:
    """Like `_dense_pairs`, with one entry for all pairs that are neither true nor scored."""
    n_items, n_nodes = true.shape
    scored, marked = (_flat_places(part) for part in (scores, true))
    places = np.union1d(scored, marked)
    values = np.zeros(places.size + 1)
    np.add.at(values, np.searchsorted(places, scored), scores.data)
    items = places // n_nodes
    rest = weights @ (n_nodes - np.bincount(items, minlength=n_items))
    return np.append(np.isin(places, marked), False), values, np.append(weights[items], rest)


def _flat_places(matrix: CSR) -> NDArray[np.int64]:
    """Return the positions of a sparse matrix's entries in the flattened matrix."""
    rows, columns = matrix.tocoo().coords
    places: NDArray[np.int64] = rows.astype(np.int64) * matrix.shape[1] + columns
    return places


def _average_precision(true: Bools, scores: Reals, weights: Floats) -> float:
    """Return the sum of precision x increase in recall over descending thresholds."""
    hits = true * weights
    if not hits.any():
        return undefined("No item has a label, so the area under the curve is undefined.")
    order = np.argsort(-scores)
    scores, hits, weights = scores[order], hits[order], weights[order]
    last_of_ties = np.append(np.flatnonzero(scores[1:] != scores[:-1]), scores.size - 1)
    found = np.cumsum(hits)[last_of_ties]
    delivered = np.cumsum(weights)[last_of_ties]
    precision = np.divide(found, delivered, out=np.zeros_like(found), where=delivered > 0)
    return float(np.diff(found, prepend=0.0) @ precision / found[-1])
