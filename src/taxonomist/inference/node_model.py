"""``NodeModel``: coherent probabilities of nodes from the margins of all nodes.

A logistic model of seven features of an item and a node: the node's margin against all other items
and against siblings, the mean of the margins above it, the least margin of its path, the best
margin at or below it, the logarithm of its frequency, and the best margin of the item. Coherent
means that no node is more probable than a parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Bools, Floats, Reals
    from taxonomist.taxonomy import Taxonomy

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
    def of(cls, shares: Floats) -> Frequencies:
        """Return the frequencies of nodes from their shares; the root counts as certain."""
        always = shares >= 1
        always[0] = True
        return cls(np.log(np.where(shares > 0, shares, 1.0)), shares <= 0, always)

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
    coef
        The weights of the features, (7,).
    intercept
        The intercept.
    """

    taxonomy: Taxonomy
    frequencies: Frequencies
    coef: Floats
    intercept: float

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

        is_open = np.flatnonzero(frequencies.is_open)
        table = node_features(taxonomy, frequencies, margins)[:, is_open]
        is_in = truth[:, is_open].toarray().T.ravel()
        if is_in.all() or not is_in.any():
            return cls(taxonomy, frequencies, np.array([1.0, *[0.0] * 6]), 0.0)
        model = LogisticRegression(solver="newton-cholesky")
        rows = table.reshape(len(table), -1).T
        model.fit(rows, is_in, np.tile(weights, len(is_open)))
        return cls(taxonomy, frequencies, model.coef_[0], float(model.intercept_[0]))

    def log_odds(self, margins: NodeMargins) -> Floats:
        """Return the log-odds of nodes, (n_nodes, n_items), before they are made coherent."""
        features = node_features(self.taxonomy, self.frequencies, margins)
        # A product of matrices would sum in an order that depends on the number of items.
        odds: Floats = sum(c * part for c, part in zip(self.coef, features, strict=True))
        odds += self.intercept
        odds[self.frequencies.is_never] = LEAST_ODDS
        odds[self.frequencies.is_always] = -LEAST_ODDS
        return np.clip(odds, LEAST_ODDS, -LEAST_ODDS)

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
            beside[limit] += self.coef[1]
            for nodes, coef in (
                ([limit], self.coef[0]),
                (others if len(others) else [limit], self.coef[2]),
                ([path[np.argmin(own[path])]], self.coef[3]),
                ([below[np.argmax(own[below])]], self.coef[4]),
                ([1 + np.argmax(own[1:])], self.coef[6]),
            ):
                above[nodes] += coef / len(nodes)
        return NodeMargins(above, beside), float(odds[limit])


def node_features(taxonomy: Taxonomy, frequencies: Frequencies, margins: NodeMargins) -> Floats:
    """Return the features of all pairs of a node and an item, (7, n_nodes, n_items)."""
    own, beside = (part.astype(np.float64) for part in margins)
    above = _strictly_above(taxonomy)
    counts = np.maximum(np.diff(above.indptr), 1)[:, None]
    mean = np.where(np.diff(above.indptr)[:, None] > 0, (above @ own) / counts, own)
    least, most = own.copy(), own.copy()
    families = parent_lists(taxonomy)
    for code, parents in enumerate(families):
        for parent in parents:
            if parent:
                np.minimum(least[code], least[parent], out=least[code])
    for code in range(len(own) - 1, 0, -1):
        for parent in families[code]:
            np.maximum(most[parent], most[code], out=most[parent])
    logs = np.broadcast_to(frequencies.logs[:, None], own.shape)
    best = np.broadcast_to(own[1:].max(axis=0, initial=-1.0), own.shape)
    return np.stack([own, beside, mean, least, most, logs, best])


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


def best_threshold(scores: Floats, truth: Bools, weights: Floats, n_true: float) -> float:
    """Return the threshold of scores with the best F1.

    Parameters
    ----------
    scores, truth, weights
        The score of each pair of an item and a node, whether the item has the node, and its weight.
        Pairs with very low scores may be left out.
    n_true
        The total weight of true pairs, with those that are left out.
    """
    order = np.argsort(-scores, kind="stable")
    scores, hits = scores[order], np.cumsum((weights * truth)[order])
    f1 = 2 * hits / (np.cumsum(weights[order]) + n_true)
    is_last = np.append(scores[1:] < scores[:-1], True)[: len(scores)]
    if not is_last.any() or hits[-1] == 0:
        return 0.5
    best = int(np.argmax(np.where(is_last, f1, -1.0)))
    after = scores[best + 1] if best + 1 < len(scores) else 0.0
    return float((scores[best] + after) / 2)
