"""Consistent labellings of a tree: the best one, max-marginals and marginal probabilities.

A labelling marks nodes of a tree as positive. It is consistent if every positive node has a
positive parent, so it is a union of partial paths [RSSS06, Sec. 1]. Its score is the sum of the
gains g_j of its positive nodes j; the empty labelling has score 0. All computations are linear in
the number of nodes:

best            max over the labellings, by v_j = g_j + Σ_k max(0, v_k) over children k
                [RSSS06, Sec. 3.4]
max-marginals   the best score with node j minus the best score without it
marginals       P(y_j = 1) where P(y) ∝ exp(score(y) / T) [RSSS06, Sec. 2]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from taxonomist.compiled import labellings

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Bools, Codes, Floats, Reals

INVERSE_TEMPERATURE_RANGE = 1e-2, 1e4
"""Search range of the inverse temperature, in units of 1 / (largest absolute score)."""


@dataclass(frozen=True, eq=False)
class Labellings:
    """The consistent labellings of a tree.

    Attributes
    ----------
    parent
        The parent of each node. Parents come before their children; the root is its own parent.
    is_category
        Whether each node is a category. The labels of a labelling are its positive categories
        without positive children.
    least
        The minimum number of labels. ``max_marginals`` ignores it; ``marginals`` only checks
        whether it is above 0.
    """

    parent: Codes
    is_category: Bools
    least: int = 0

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.parent)

    def depths(self) -> Codes:
        """Return the number of edges from the root to each node."""
        depth = np.zeros(len(self.parent), dtype=np.intp)
        for j in range(1, len(depth)):
            depth[j] = depth[self.parent[j]] + 1
        return depth

    def best(self, gains: Reals) -> Bools:
        """Return the best labelling of each item with at least ``least`` labels.

        Parameters
        ----------
        gains
            What each node adds to the score, (n_items, n_nodes).

        Returns
        -------
        ndarray, shape (n_items, n_nodes), bool
            If no labelling has ``least`` labels, one with as many labels as possible.
        """
        found = np.zeros(np.shape(gains), dtype=bool)
        labellings.best_labellings(self.parent, self.is_category, self.least, gains, found)
        return found

    def max_marginals(self, gains: Reals) -> Floats:
        """Return the best score with each node minus the best without it, (n_items, n_nodes)."""
        found = np.zeros(np.shape(gains))
        labellings.max_marginals(self.parent, gains, found)
        return found

    def values(self, gains: Reals) -> Floats:
        """Return the gain of each node plus the best gain below it, (n_items, n_nodes)."""
        found = np.zeros(np.shape(gains))
        labellings.values_below(self.parent, gains, found)
        return found

    def is_open(self, truth: Bools) -> Bools:
        """Return whether the parent of each node is positive, (n_items, n_nodes)."""
        seen: Bools = truth[:, self.parent]
        seen[:, 0] = True
        return seen

    def with_refusals(self, gains: Floats, off: Floats) -> Floats:
        """Return gains plus what each node adds if its parent is positive and it is not."""
        result: Floats = gains.copy()
        for j in range(1, len(self.parent)):
            result[:, self.parent[j]] += off[:, j]
        return result

    def marginals(self, gains: Reals, temperature: float = 1.0) -> Floats:
        """Return the probability of each node, (n_items, n_nodes).

        No node is more probable than its parent. If ``least`` is above 0, the probabilities are
        conditional on at least one label.
        """
        found = np.zeros(np.shape(gains))
        labellings.marginals(
            self.parent, self.is_category, self.least > 0, gains, 1 / temperature, found
        )
        return found

    def fit_temperature(self, gains: Reals, truth: Bools, weights: Floats) -> float:
        """Return the temperature that maximizes the likelihood of the true labellings.

        Parameters
        ----------
        gains
            Gains of held-out items, (n_items, n_nodes).
        truth
            The true labellings of the held-out items, (n_items, n_nodes). If ``least`` is above 0,
            items without a label are ignored.
        weights
            The weight of each item.
        """
        if self.least > 0:
            has_label = truth[:, self.is_category].any(axis=1)
            gains, truth, weights = gains[has_label], truth[has_label], weights[has_label]
        scores = np.einsum("ij,ij->i", gains, truth)
        logs = np.zeros(len(scores))

        def cost(scale: float) -> float:
            labellings.log_partitions(
                self.parent, self.is_category, self.least > 0, gains, scale, logs
            )
            return float(weights @ (logs - scale * scores))

        return best_temperature(cost, gains)


def fit_softmax(scores: Floats, codes: Codes, weights: Floats) -> float:
    """Return the softmax temperature that maximizes the likelihood of the true columns."""
    true = scores[np.arange(len(codes)), codes]

    def cost(scale: float) -> float:
        return float(weights @ (logsumexp(scale * scores, axis=1) - scale * true))

    return best_temperature(cost, scores)


def best_temperature(cost: Callable[[float], float], sizes: Reals) -> float:
    """Return the temperature that minimizes a cost that is convex in the inverse temperature."""
    size = float(np.abs(sizes).max(initial=0.0))
    if size == 0.0:
        return 1.0
    low, high = np.log(np.array(INVERSE_TEMPERATURE_RANGE) / size)
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda x: cost(np.exp(x)), bounds=(low, high), method="bounded")
    return float(np.exp(-found.x))
