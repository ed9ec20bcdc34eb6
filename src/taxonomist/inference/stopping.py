"""Early stopping in the taxonomy: predict inner nodes that are confident or have the lowest cost.

Notation   P_v   probability that an item's category is at or below node v
           p_c   probability of category c
           m_v   cost of a miss: the category is at or below v, the prediction is not
           f_v   cost of a false alarm: the prediction is at or below v, the category is not
                 [CH04, Eq. 23, with the loads multiplied in]
           Δ     loss of predicting node z if c is true

Losses from costs at nodes need no sum over categories. Up to terms that are the same for all z,

    Σ_c p_c Δ(c, z) = Σ_{v ∈ anc(z)} f_v (1 - P_v) - m_v P_v.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.errors import LabelError, ParameterError, some
from taxonomist.inference.expected_f1 import TreeWithinF1, keeps_f1
from taxonomist.inference.held_out import check_scores
from taxonomist.inference.labellings import Labellings
from taxonomist.losses import (
    AncestorLoss,
    CategoryLoss,
    WeightedTree,
    ZeroOneLoss,
    category_loss,
    weighted_tree,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals
    from taxonomist.losses.categories import LossLike
    from taxonomist.taxonomy import Taxonomy

COSTS_AT_A_TIME = 2**22
"""Costs held in memory at a time, 32 MiB."""

ROUNDING = 1e-9
"""Tolerance for ties: absolute for probabilities, relative for costs."""


def confident_nodes(taxonomy: Taxonomy, node_probabilities: Reals, risk: float = 0.1) -> Codes:
    """Return the deepest node of each item that is correct with probability 1 - ``risk``.

    Parameters
    ----------
    taxonomy
        A tree or a DAG.
    node_probabilities
        Array of shape (n_items, n_nodes), in the order of ``taxonomy.nodes``. No node may be more
        probable than its parents.
    risk
        The accepted probability of an error, in [0, 1).

    Returns
    -------
    ndarray, shape (n_items,)
        Codes of nodes. Ties in depth go to the most probable node, then to the first. If no other
        node is confident enough, the root is returned.

    Raises
    ------
    ValueError
        If the risk is not in [0, 1).
    LabelError
        If the number of columns is not the number of nodes.
    """
    check_risk(risk)
    given = check_scores(node_probabilities, taxonomy.n_nodes)
    nodes = np.zeros(len(given), dtype=np.intp)
    for block in _blocks(len(given), taxonomy.n_nodes):
        part = given[block]
        is_sure = part >= 1 - risk - ROUNDING
        is_sure[:, 0] = True
        depth = np.where(is_sure, taxonomy.depths, -1)
        is_deepest = depth == depth.max(axis=1, keepdims=True)
        nodes[block] = np.where(is_deepest, part, -1.0).argmax(axis=1)
    return nodes


def confident_sets(sets: CSR, node_probabilities: Reals, risk: float = 0.1) -> CSR:
    """Return the nodes of predicted label sets that are correct with probability 1 - ``risk``.

    A predicted label that is not confident enough is replaced by its confident ancestors.

    Parameters
    ----------
    sets
        Boolean matrix of shape (n_items, n_nodes), closed under ancestors.
    node_probabilities
        Array of the same shape. No node may be more probable than its parents.
    risk
        The accepted probability of an error at each node, in [0, 1).

    Returns
    -------
    csr_array of bool, shape (n_items, n_nodes)
        Closed under ancestors, since no node is more probable than its parents.

    Raises
    ------
    ValueError
        If the risk is not in [0, 1).
    LabelError
        If the number of columns is not the number of nodes.
    """
    check_risk(risk)
    sets = csr_array(sets, dtype=bool)
    given = check_scores(node_probabilities, sets.shape[1])
    rows = np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr))
    kept = given[rows, sets.indices] >= 1 - risk - ROUNDING
    ones = np.ones(int(kept.sum()), dtype=bool)
    return csr_array((ones, (rows[kept], sets.indices[kept])), shape=sets.shape)


def check_risk(risk: float) -> None:
    """Raise if the risk is not in [0, 1)."""
    if not 0 <= risk < 1:
        raise ParameterError(f"risk must be at least 0 and below 1. Got {risk!r}.")


def least_cost_nodes(
    loss: LossLike,
    taxonomy: Taxonomy,
    categories: Codes,
    probabilities: Reals,
    node_probabilities: Reals,
) -> Codes:
    """Return the node with the lowest expected loss for each item.

    Parameters
    ----------
    loss
        The loss of predicting a node if a category is true, as in
        ``taxonomist.losses.category_loss``. With losses from costs at nodes (``"tree"``,
        ``weighted_tree``), ``"zero_one"`` and functions, all nodes are candidates. With a matrix,
        or another loss defined for some nodes only, those nodes are the candidates. With
        ``TreeWithinF1``, they are those whose expected F1 is high enough.
    taxonomy
        A tree or a DAG.
    categories
        The node of each category.
    probabilities
        Category probabilities, (n_items, n_categories). Rows sum to 1.
    node_probabilities
        Sums of category probabilities at or below each node, (n_items, n_nodes).

    Returns
    -------
    ndarray, shape (n_items,)
        Codes of nodes. Ties go to the first node, which is never the deeper one.

    Raises
    ------
    LabelError
        If the loss does not fit the taxonomy or does not cover every category.
    """
    costs = costs_at_nodes(loss, taxonomy)
    probabilities = check_scores(probabilities, len(categories))
    if costs is not None:
        of_nodes = check_scores(node_probabilities, taxonomy.n_nodes)
        kept = partial(keeps_f1, taxonomy, categories) if isinstance(loss, TreeWithinF1) else None
        return _least_by_nodes(taxonomy, *costs, of_nodes, probabilities, kept)
    if isinstance(loss, ZeroOneLoss) or (isinstance(loss, str) and loss == "zero_one"):
        best: Codes = categories[probabilities.argmax(axis=1)]
        return best
    nodes = taxonomy.topological_order if callable(loss) else categories
    bound = category_loss(loss, taxonomy, None if isinstance(loss, CategoryLoss) else nodes)
    return _least_by_categories(bound, categories, probabilities)


def costs_at_nodes(loss: LossLike, taxonomy: Taxonomy) -> tuple[Floats, Floats] | None:
    """Return the costs of a miss and of a false alarm at each node, or None for other losses.

    Parameters
    ----------
    loss
        As in ``least_cost_nodes``.
    taxonomy
        The taxonomy of the loss.

    Returns
    -------
    tuple of Floats, or None
        Two arrays of shape (n_nodes,): f_z c_z and f_z c̄_z. None if the loss is not defined by
        costs at nodes.
    """
    if isinstance(loss, str) and loss == "tree":
        loss = weighted_tree()
    if isinstance(loss, WeightedTree):
        return loss.costs(taxonomy)
    if isinstance(loss, AncestorLoss):
        category_loss(loss, taxonomy)
        return loss.miss, loss.false_alarm
    return None


def least_cost_sets(loss: LossLike, taxonomy: Taxonomy, node_probabilities: Reals) -> CSR:
    """Return the label set with the lowest expected loss for each item.

    The loss is the sum of the costs of misses and false alarms at nodes, so its expectation depends
    on the probability of each node only.

    Parameters
    ----------
    loss
        ``"tree"``, or the result of ``weighted_tree``.
    taxonomy
        A tree, or a DAG if the ratio of miss cost to false alarm cost is the same at all nodes.
    node_probabilities
        Array of shape (n_items, n_nodes). No node may be more probable than its parents.

    Returns
    -------
    csr_array of bool, shape (n_items, n_nodes)
        Closed under ancestors.

    Raises
    ------
    LabelError
        If the loss is not defined by costs at nodes, or if its costs do not have the same ratio at
        all nodes of a DAG.
    """
    costs = costs_at_nodes(loss, taxonomy)
    if costs is None:
        raise LabelError(
            f"The loss of a label set must come from costs at nodes. Got {loss!r}; give 'tree' or "
            "taxonomist.losses.weighted_tree(...)."
        )
    miss, false_alarm = costs
    given = check_scores(node_probabilities, taxonomy.n_nodes)
    gains = miss * given - false_alarm * (1 - given)
    if taxonomy.is_tree:
        parent = np.concatenate([[0], taxonomy.parent_indices]).astype(np.intp)
        return csr_array(Labellings(parent, np.ones(len(parent), dtype=bool)).best(gains))
    if not np.allclose(miss * false_alarm.sum(), false_alarm * miss.sum()):
        raise LabelError(
            "On a DAG, the ratio of the costs of a miss and a false alarm must be the same at all "
            "nodes; use Taxonomy.spanning_tree() for other costs."
        )
    return csr_array(gains > 0)


def _least_by_nodes(
    taxonomy: Taxonomy,
    miss: Floats,
    false_alarm: Floats,
    node_probabilities: Floats,
    probabilities: Floats,
    is_kept: Callable[[Floats], Bools] | None,
) -> Codes:
    """Return the nodes of the lowest cost, for a loss from costs at nodes.

    ``is_kept`` tells from category probabilities which nodes can be predicted; None for all.
    """
    above = taxonomy.ancestor_matrix().astype(np.float64).T
    nodes = np.zeros(len(node_probabilities), dtype=np.intp)
    for block in _blocks(len(nodes), taxonomy.n_nodes):
        part = node_probabilities[block]
        added = false_alarm * (1 - part) - miss * part
        costs = added @ above
        if is_kept is not None:
            most = costs.max(axis=1, keepdims=True) + 1
            costs = np.where(is_kept(probabilities[block]), costs, most)
        nodes[block] = _first_least(costs)
    return nodes


def _least_by_categories(loss: CategoryLoss, categories: Codes, probabilities: Floats) -> Codes:
    """Return the nodes of the lowest cost among those that the loss covers."""
    place = np.full(loss.taxonomy.n_nodes, -1, dtype=np.intp)
    place[loss.categories] = np.arange(loss.n_categories)
    true = place[categories]
    if (true < 0).any():
        left_out = [loss.taxonomy.nodes[code] for code in categories[true < 0]]
        raise LabelError(f"The loss does not cover {some(left_out)}: make it for all categories.")
    n_rows = max(1, COSTS_AT_A_TIME // loss.n_categories)
    chunks = [slice(at, at + n_rows) for at in range(0, len(true), n_rows)]
    kept = loss.rows(true) if len(chunks) == 1 else None
    best = np.zeros(len(probabilities), dtype=np.intp)
    for block in _blocks(len(best), loss.n_categories):
        part = probabilities[block]
        costs = np.zeros((len(part), loss.n_categories))
        for chunk in chunks:
            costs += part[:, chunk] @ (loss.rows(true[chunk]) if kept is None else kept)
        best[block] = _first_least(costs)
    nodes: Codes = loss.categories[best]
    return nodes


def _first_least(costs: Floats) -> Codes:
    """Return the first column of each row whose cost is the lowest, up to rounding."""
    slack = ROUNDING * np.abs(costs).max(axis=1, keepdims=True)
    first: Codes = np.argmax(costs <= costs.min(axis=1, keepdims=True) + slack, axis=1)
    return first


def _blocks(n_items: int, n_columns: int) -> Iterator[slice]:
    size = max(1, COSTS_AT_A_TIME // n_columns)
    return (slice(start, start + size) for start in range(0, n_items, size))
