"""How ``PathSVC`` decides on label sets: thresholds of nodes, within limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, logit

from taxonomist.inference.f1_thresholds import ScoredPairs, f1_thresholds
from taxonomist.inference.label_sets import choose
from taxonomist.taxonomy.labels import most_specific

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.label_sets import Limits
    from taxonomist.inference.node_scorer import NodeScorer
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.targets import Targets

__all__ = ["DECISIONS", "HeldOutSets", "NodeDecision", "node_thresholds"]

DECISIONS = ("hierarchical_f1", "micro_f1", "macro_f1", "subset", "loss")
"""Measures that the decision on label sets can be made for."""
LEAST_PROBABILITY = 0.01
"""Lowest threshold of a probability."""
EVEN = 0.5
"""The threshold of nodes that are more probable than not."""
THRESHOLDS = (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.2, 0.15, 0.1)
"""Thresholds of all nodes to choose from; the first of equal ones is chosen."""


class HeldOutSets(NamedTuple):
    """The label sets of held-out items: their nodes, (n_items, n_nodes), and their weights."""

    nodes: CSR
    weights: Floats


def node_thresholds(
    decision: str, odds: Floats, truth: HeldOutSets, limits: Limits, targets: Targets
) -> Floats:
    """Return the threshold of each node that is best for a measure on held-out items.

    Parameters
    ----------
    decision
        One of ``DECISIONS``.
    odds
        Coherent log-odds, (n_nodes, n_items).
    truth
        What is true of the items.
    limits
        The least and the largest number of categories of an item.
    targets
        The categories.
    """
    n_nodes = len(odds)
    if decision == "macro_f1":
        return _own_thresholds(odds, truth, targets.nodes)
    if decision == "loss" or not truth.nodes.shape[0]:
        return np.full(n_nodes, EVEN)
    best = _shared_threshold(decision, np.ascontiguousarray(odds.T), truth, limits, targets)
    return np.full(n_nodes, best)


def _own_thresholds(odds: Floats, truth: HeldOutSets, nodes: Codes) -> Floats:
    """Return the threshold of each category with its best F1; 1 for other nodes."""
    part, is_in = expit(odds[nodes]), truth.nodes[:, nodes].toarray().T
    where, who = np.nonzero(part > LEAST_PROBABILITY)
    pairs = ScoredPairs(where, part[where, who], is_in[where, who], truth.weights[who])
    found = np.full(len(odds), 1.0)
    found[nodes] = f1_thresholds(pairs, is_in @ truth.weights, LEAST_PROBABILITY)
    return found


def _shared_threshold(
    decision: str, odds: Floats, truth: HeldOutSets, limits: Limits, targets: Targets
) -> float:
    """Return the threshold of all nodes, by the label sets that follow from it.

    F1 hardly changes near its best threshold, where the number of whole label sets that are right
    still does. So of all thresholds within one standard error of the best F1, the one with most of
    them is chosen; and of those with about as many right sets, the one with the best F1.
    """
    n_nodes = odds.shape[1]
    trials: dict[float, tuple[Floats, float]] = {}
    for threshold in THRESHOLDS:
        rule = NodeDecision(np.full(n_nodes, threshold), limits, targets)
        trials[threshold] = _measured(decision, rule.sets_of(odds), truth, targets)
    best, _ = max(trials.values(), key=lambda trial: trial[0].mean())
    near = {
        threshold: second
        for threshold, (values, second) in trials.items()
        if (best - values).mean() <= _standard_error(best - values)
    }
    return max(near, key=near.__getitem__)


def _measured(
    decision: str, found: CSR, truth: HeldOutSets, targets: Targets
) -> tuple[Floats, float]:
    """Return a measure as the mean of values of items, and what decides where it hardly changes.

    That is the share of whole sets that are right, and for this share itself F1.
    """
    true, weights = truth.nodes, truth.weights / truth.weights.mean()
    exact = weights * (np.diff((true != found).tocsr().indptr) == 0)
    if decision == "micro_f1":
        taxonomy = targets.categories.taxonomy
        true, found = most_specific(taxonomy, true), most_specific(taxonomy, found)
    both, whole = (
        weights * np.asarray(part[:, 1:].sum(axis=1), dtype=np.float64)
        for part in (2.0 * true.multiply(found), 1.0 * true + 1.0 * found)
    )
    f1 = both.sum() / max(1.0, whole.sum())
    if decision == "subset":
        return exact, f1
    # The influence of each item on a ratio of sums.
    return f1 + (both - f1 * whole) / max(1.0, whole.mean()), float(exact.mean())


def _standard_error(values: Floats) -> float:
    return float(values.std() / np.sqrt(len(values)))


@dataclass(frozen=True, eq=False)
class NodeDecision:
    """Chooses the nodes whose probability exceeds a threshold, within limits.

    Attributes
    ----------
    thresholds
        The threshold of each node.
    limits
        The least and the largest number of categories of an item.
    targets
        The categories.
    """

    thresholds: Floats
    limits: Limits
    targets: Targets

    def sets(self, scored: Scored) -> CSR:
        """Return the label set of each item as a boolean matrix of nodes; see ``Decision``."""
        return self.sets_of(cast("NodeScorer", scored.scorer).node_odds(scored.raw))

    def sets_of(self, odds: Floats) -> CSR:
        """Return the label sets that follow from coherent log-odds, (n_items, n_nodes).

        Nodes that are no category are chosen as well, unless the item has too many categories.
        """
        above = odds - logit(self.thresholds)
        chosen, excess = above > 0, np.ascontiguousarray(above[:, self.targets.nodes])
        categories = choose(excess, *self.limits)
        chosen[:, 0] |= chosen[:, 1:].any(axis=1) | (np.diff(categories.indptr) > 0)
        chosen[(excess > 0).sum(axis=1) > self.limits[1]] = False
        closed = csr_array(chosen) + self.targets.close(categories)
        if (self.thresholds < 1).all() and len(np.unique(self.thresholds)) == 1:
            return closed
        return csr_array(closed @ self.targets.categories.taxonomy.ancestor_matrix())

    def scores(self, scored: Scored) -> Floats:
        """Return the scores of categories."""
        return scored.categories

    def best(self, scored: Scored, k: int) -> tuple[Codes, Floats]:
        """Return the best categories; see ``Decision``."""
        return scored.best(k)
