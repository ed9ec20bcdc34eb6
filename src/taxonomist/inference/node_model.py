"""``NodeModel``: coherent probabilities of nodes from the margins of all nodes.

A logistic model of an item and a node z with frequency f_z and depth d_z:

    log-odds = Σ_k (a_k + b_k log f_z) m_k + c_0 + c_1 log f_z + c_2 (log f_z)² + c_3 d_z,

where m are six margins: the node's own against all other items and against siblings, the mean of
the margins above it, the least margin of its path, the best margin at or below it, and the best
margin of the item. Margins of rare nodes mean less than those of frequent ones, so their weights
depend on the frequency. Coherent means that no node is more probable than a parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from taxonomist._threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals
    from taxonomist.taxonomy import Taxonomy

N_MARGINS = 6
NEGATIVES = 10
"""Pairs of an item and a node that is not its own, for each pair that is, used in a fit."""
LEAST_NEGATIVES = 50_000
"""The number of such pairs that are always used, if there are as many."""
LEAST_ODDS = -30.0
"""Log-odds of nodes without training items; those of nodes with all of them are the opposite."""


class NodeMargins(NamedTuple):
    """Margins of nodes, (n_nodes, n_items) each: against all other items, and against siblings."""

    above: Reals
    beside: Reals


class Frequencies(NamedTuple):
    """The share of training items at or below each node, of which some are 0 or 1."""

    logs: Floats  # (n_nodes,); 0 for nodes without items
    is_never: Bools
    is_always: Bools

    @classmethod
    def of(cls, counts: Floats, n_items: int) -> Frequencies:
        """Return the frequencies of nodes from their items; the root counts as certain."""
        always = counts >= n_items
        always[0] = True
        return cls(np.log(np.where(counts > 0, counts, n_items) / n_items), counts <= 0, always)

    @property
    def is_open(self) -> Bools:
        """Whether a node may or may not have an item."""
        return ~(self.is_never | self.is_always)


@dataclass(frozen=True, eq=False)
class NodeModel:
    """A logistic model of node probabilities.

    Attributes
    ----------
    taxonomy
        The taxonomy.
    frequencies
        The frequencies of its nodes.
    margin_coef
        a and b, (2, 6).
    node_coef
        c, (4,).
    """

    taxonomy: Taxonomy
    frequencies: Frequencies
    margin_coef: Floats
    node_coef: Floats

    @classmethod
    def of_margins(cls, taxonomy: Taxonomy, frequencies: Frequencies) -> NodeModel:
        """Return the model whose log-odds are the nodes' own margins."""
        return cls(taxonomy, frequencies, np.eye(2, N_MARGINS) * [[1], [0]], np.zeros(4))

    @classmethod
    def fit(
        cls,
        taxonomy: Taxonomy,
        frequencies: Frequencies,
        margins: NodeMargins,
        truth: CSR,
        weights: Floats,
    ) -> NodeModel:
        """Fit the model to held-out items.

        All pairs of an item and a node of its own are used, and a sample of the other pairs.

        Parameters
        ----------
        taxonomy, frequencies
            The taxonomy, and the frequencies of its nodes.
        margins
            The margins of held-out items.
        truth
            The nodes of each item, (n_items, n_nodes), closed under ancestors.
        weights
            The weights of the items.
        """
        from sklearn.linear_model import LogisticRegression

        nodes, items, is_in, counts = _pairs(frequencies.is_open, truth)
        if is_in.all() or not is_in.any():
            return cls.of_margins(taxonomy, frequencies)
        about = _about(taxonomy, frequencies)[nodes]
        rows = np.empty((len(nodes), 2 * N_MARGINS + about.shape[1] - 1))
        for k, part in enumerate(margin_features(taxonomy, margins)):
            rows[:, k] = part[nodes, items]
        rows[:, N_MARGINS : 2 * N_MARGINS] = rows[:, :N_MARGINS] * about[:, [1]]
        rows[:, 2 * N_MARGINS :] = about[:, 1:]
        model = LogisticRegression(solver="newton-cholesky")
        with one_blas_thread():
            model.fit(rows, is_in, weights[items] * counts)
        found = model.coef_[0]
        margin_coef = found[: 2 * N_MARGINS].reshape(2, N_MARGINS)
        node_coef = np.concatenate([model.intercept_, found[2 * N_MARGINS :]])
        return cls(taxonomy, frequencies, margin_coef, node_coef)

    def log_odds(self, margins: NodeMargins) -> Floats:
        """Return the log-odds of nodes, (n_nodes, n_items), before they are made coherent."""
        features = margin_features(self.taxonomy, margins)
        # A product of matrices would sum in an order that depends on the number of items.
        weights = self._weights()[:, :, None]
        odds: Floats = sum(c * part for c, part in zip(weights, features, strict=True))
        odds += (_about(self.taxonomy, self.frequencies) @ self.node_coef)[:, None]
        odds[self.frequencies.is_never] = LEAST_ODDS
        odds[self.frequencies.is_always] = -LEAST_ODDS
        return np.clip(odds, LEAST_ODDS, -LEAST_ODDS)

    def _weights(self) -> Floats:
        """Return the weight of each margin for each node, (6, n_nodes)."""
        slopes, steps = self.margin_coef
        found: Floats = slopes[:, None] + steps[:, None] * self.frequencies.logs
        return found

    def coherent_odds(self, margins: NodeMargins) -> Floats:
        """Return log-odds of nodes, (n_nodes, n_items), of which none exceeds a parent's."""
        odds = self.log_odds(margins)
        for code, parents in enumerate(parent_lists(self.taxonomy)):
            for parent in parents:
                np.minimum(odds[code], odds[parent], out=odds[code])
        return odds

    def probabilities(self, margins: NodeMargins) -> Floats:
        """Return coherent probabilities of nodes, (n_nodes, n_items)."""
        found: Floats = expit(self.coherent_odds(margins))
        found[self.frequencies.is_never] = 0.0
        found[0] = 1.0
        return found

    def slopes(self, margins: NodeMargins, node: int) -> tuple[NodeMargins, float]:
        """Return how the coherent log-odds of a node depend on the margins of one item.

        Parameters
        ----------
        margins
            The margins of one item.
        node
            The node.

        Returns
        -------
        NodeMargins
            The derivatives by the margins of each node, (n_nodes,).
        float
            The log-odds.
        """
        odds, own = self.log_odds(margins)[:, 0], margins.above[:, 0]
        table = self.taxonomy.ancestor_matrix()
        path = table[[node]].indices
        limit = int(path[np.argmin(odds[path])])
        above, beside = np.zeros(len(own)), np.zeros(len(own))
        if abs(odds[limit]) < -LEAST_ODDS:
            path = np.setdiff1d(table[[limit]].indices, [0])
            others = np.setdiff1d(path, [limit])
            below = table[:, [limit]].tocoo().row
            weights = self._weights()[:, limit]
            beside[limit] += weights[1]
            for nodes, coef in (
                ([limit], weights[0]),
                (others if len(others) else [limit], weights[2]),
                ([path[np.argmin(own[path])]], weights[3]),
                ([below[np.argmax(own[below])]], weights[4]),
                ([1 + np.argmax(own[1:])], weights[5]),
            ):
                above[nodes] += coef / len(nodes)
        return NodeMargins(above, beside), float(odds[limit])


def margin_features(taxonomy: Taxonomy, margins: NodeMargins) -> Iterator[Reals]:
    """Yield six margins of all pairs of a node and an item, (n_nodes, n_items) each."""
    own, beside = margins
    yield own
    yield beside
    above = _strictly_above(taxonomy)
    counts = np.diff(above.indptr)[:, None]
    yield np.where(counts > 0, (above @ own) / np.maximum(counts, 1), own)
    families = parent_lists(taxonomy)
    least = own.copy()
    for code, parents in enumerate(families):
        for parent in parents:
            if parent:
                np.minimum(least[code], least[parent], out=least[code])
    yield least
    most = own.copy()
    for code in range(len(own) - 1, 0, -1):
        for parent in families[code]:
            np.maximum(most[parent], most[code], out=most[parent])
    yield most
    yield np.broadcast_to(own[1:].max(axis=0, initial=-1.0), own.shape)


def _about(taxonomy: Taxonomy, frequencies: Frequencies) -> Floats:
    """Return the features of nodes alone: 1, log f, (log f)², depth; (n_nodes, 4)."""
    logs = frequencies.logs
    depths = taxonomy.depths.astype(np.float64)
    return np.column_stack([np.ones_like(logs), logs, np.square(logs), depths])


def _pairs(is_open: Bools, truth: CSR) -> tuple[Codes, Codes, Bools, Floats]:
    """Return the pairs of a fit: nodes, items, whether they belong together, and multiplicities."""
    is_in = truth.toarray().T
    nodes, items = np.nonzero(is_in & is_open[:, None])
    others = np.flatnonzero(~is_in & is_open[:, None])
    n_most = max(NEGATIVES * len(nodes), LEAST_NEGATIVES)
    rng = np.random.default_rng(0)
    kept = others if len(others) <= n_most else rng.choice(others, n_most, replace=False)
    away = np.divmod(kept, is_in.shape[1])
    counts = np.repeat([1.0, len(others) / max(1, len(kept))], [len(nodes), len(kept)])
    which = np.concatenate([nodes, away[0]]), np.concatenate([items, away[1]])
    return *which, np.arange(len(counts)) < len(nodes), counts


def parent_lists(taxonomy: Taxonomy) -> list[list[int]]:
    """Return the parents of each node; parents have smaller codes."""
    return [
        part.tolist() for part in np.split(taxonomy.parent_indices, taxonomy.parent_indptr[1:-1])
    ]


def _strictly_above(taxonomy: Taxonomy) -> CSR:
    """Return the ancestors of each node without the root and itself, (n_nodes, n_nodes)."""
    from scipy.sparse import csr_array

    table = taxonomy.ancestor_matrix().tocoo()
    keep = (table.col != 0) & (table.row != table.col)
    where = table.row[keep], table.col[keep]
    return csr_array((np.ones(keep.sum()), where), shape=table.shape)
