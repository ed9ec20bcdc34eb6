"""The right to stop: nodes, inner ones too, that are right often enough or cost the least.

Notation   P_v   probability that an item's category is at or below node v
           p_c   probability of category c
           m_v   cost of predicting outside v what belongs at or below it, f_v its opposite
                 [CH04, Eq. 23, with the loads multiplied in]
           Δ     loss of predicting node z where c is true

Losses from costs at nodes need no sum over categories: up to what is the same for all z,

    Σ_c p_c Δ(c, z) = Σ_{v ∈ anc(z)} f_v (1 - P_v) - m_v P_v.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from taxonomist.errors import LabelError, some
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
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

CELLS = 2**22
"""Costs that are held at a time, 32 MiB."""

ROUNDING = 1e-9
"""Probabilities, and costs by their size, that differ by no more than this are equal."""


def confident_nodes(taxonomy: Taxonomy, node_probabilities: Any, risk: float = 0.1) -> Codes:
    """Return for each item the deepest node that is right with the wanted probability.

    Parameters
    ----------
    taxonomy
        A tree or a DAG.
    node_probabilities
        (n_items, n_nodes), in the order of ``taxonomy.nodes``, none above its parents.
    risk
        The probability of a mistake that is accepted, from 0 to below 1.

    Returns
    -------
    ndarray, shape (n_items,)
        Codes of nodes. Of equally deep ones the most probable, then the first; the root if none
        other is sure enough.

    Raises
    ------
    ValueError
        If the risk is not a probability.
    LabelError
        If there is not one column for each node.
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


def confident_sets(sets: CSR, node_probabilities: Any, risk: float = 0.1) -> CSR:
    """Return the part of predicted label sets that is right with the wanted probability.

    Each predicted label gives way to the nodes above it that are sure enough.

    Parameters
    ----------
    sets
        (n_items, n_nodes) boolean, closed under ancestors.
    node_probabilities
        Of the same shape, none above its parents.
    risk
        The probability of a mistake that is accepted at each node, from 0 to below 1.

    Returns
    -------
    csr_array of bool, shape (n_items, n_nodes)
        Closed under ancestors, since no node is more probable than its parents.

    Raises
    ------
    ValueError
        If the risk is not a probability.
    LabelError
        If there is not one column for each node.
    """
    check_risk(risk)
    sets = csr_array(sets, dtype=bool)
    given = check_scores(node_probabilities, sets.shape[1])
    rows = np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr))
    kept = given[rows, sets.indices] >= 1 - risk - ROUNDING
    ones = np.ones(int(kept.sum()), dtype=bool)
    return csr_array((ones, (rows[kept], sets.indices[kept])), shape=sets.shape)


def check_risk(risk: float) -> None:
    """Refuse a risk that is no probability below 1."""
    if not 0 <= risk < 1:
        raise ValueError(f"risk must be at least 0 and below 1. Got {risk!r}.")


def least_cost_nodes(
    loss: Any, taxonomy: Taxonomy, categories: Codes, probabilities: Any, node_probabilities: Any
) -> Codes:
    """Return for each item the node of the least expected loss.

    Parameters
    ----------
    loss
        What predicting a node costs where a category is true, as in
        ``taxonomist.losses.category_loss``. Losses from costs at nodes (``"tree"``,
        ``weighted_tree``), ``"zero_one"`` and functions compare all nodes; a matrix, over the
        categories, and other losses made for some nodes, only those.
    taxonomy
        A tree or a DAG.
    categories
        The node of each category.
    probabilities
        (n_items, n_categories); rows sum to 1.
    node_probabilities
        (n_items, n_nodes), their sums.

    Returns
    -------
    ndarray, shape (n_items,)
        Codes of nodes; of equal costs the first, which is no deeper.

    Raises
    ------
    LabelError
        If the loss does not fit the taxonomy or leaves out a category.
    """
    costs = costs_at_nodes(loss, taxonomy)
    if costs is not None:
        return _least_by_nodes(taxonomy, *costs, check_scores(node_probabilities, taxonomy.n_nodes))
    probabilities = check_scores(probabilities, len(categories))
    if isinstance(loss, ZeroOneLoss) or (isinstance(loss, str) and loss == "zero_one"):
        best: Codes = categories[probabilities.argmax(axis=1)]
        return best
    nodes = taxonomy.topological_order if callable(loss) else categories
    bound = category_loss(loss, taxonomy, None if isinstance(loss, CategoryLoss) else nodes)
    return _least_by_categories(bound, categories, probabilities)


def costs_at_nodes(loss: Any, taxonomy: Taxonomy) -> tuple[Floats, Floats] | None:
    """Return the costs of a miss and of a false alarm at each node, if a loss comes from such.

    Parameters
    ----------
    loss
        As in ``least_cost_nodes``.
    taxonomy
        The taxonomy whose nodes have the costs.

    Returns
    -------
    tuple of Floats, or None
        f_z c_z and f_z c̄_z, (n_nodes,) each.
    """
    if isinstance(loss, str) and loss == "tree":
        loss = weighted_tree()
    if isinstance(loss, WeightedTree):
        return loss.costs(taxonomy)
    if isinstance(loss, AncestorLoss):
        category_loss(loss, taxonomy)
        return loss.miss, loss.false_alarm
    return None


def least_cost_sets(loss: Any, taxonomy: Taxonomy, node_probabilities: Any) -> CSR:
    """Return for each item the label set of the least expected loss.

    The loss is the sum of the costs of misses and false alarms at nodes, which needs nothing but
    the probability of each node.

    Parameters
    ----------
    loss
        ``"tree"``, or what ``weighted_tree`` returns.
    taxonomy
        A tree; or a DAG, if a miss and a false alarm stand in the same ratio at all nodes.
    node_probabilities
        (n_items, n_nodes), none above its parents.

    Returns
    -------
    csr_array of bool, shape (n_items, n_nodes)
        Closed under ancestors.

    Raises
    ------
    LabelError
        If the loss is not one from costs at nodes, or too involved for a DAG.
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
            "On a DAG the costs of a miss and of a false alarm must stand in the same ratio at all "
            "nodes; take Taxonomy.spanning_tree() for other costs."
        )
    return csr_array(gains > 0)


def _least_by_nodes(
    taxonomy: Taxonomy, miss: Floats, false_alarm: Floats, node_probabilities: Floats
) -> Codes:
    """Return the nodes of the least cost, for a loss from costs at nodes."""
    above = taxonomy.ancestor_matrix().astype(np.float64).T
    nodes = np.zeros(len(node_probabilities), dtype=np.intp)
    for block in _blocks(len(nodes), taxonomy.n_nodes):
        part = node_probabilities[block]
        added = false_alarm * (1 - part) - miss * part
        nodes[block] = _first_least(added @ above)
    return nodes


def _least_by_categories(loss: CategoryLoss, categories: Codes, probabilities: Floats) -> Codes:
    """Return the nodes of the least cost among those that a loss was made for."""
    place = np.full(loss.taxonomy.n_nodes, -1, dtype=np.intp)
    place[loss.categories] = np.arange(loss.n_categories)
    true = place[categories]
    if (true < 0).any():
        left_out = [loss.taxonomy.nodes[code] for code in categories[true < 0]]
        raise LabelError(f"The loss does not cover {some(left_out)}: make it for all categories.")
    n_rows = max(1, CELLS // loss.n_categories)
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
    """Return the first column of each row whose cost is the least but for rounding."""
    slack = ROUNDING * np.abs(costs).max(axis=1, keepdims=True)
    first: Codes = np.argmax(costs <= costs.min(axis=1, keepdims=True) + slack, axis=1)
    return first


def _blocks(n_items: int, n_columns: int) -> Iterator[slice]:
    """Yield ranges of items."""
    size = max(1, CELLS // n_columns)
    return (slice(start, start + size) for start in range(0, n_items, size))
