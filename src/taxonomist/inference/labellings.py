"""Consistent labellings of a tree: the best, how much each node matters, and probabilities.

A labelling says which nodes of a tree are positive. It is consistent if every positive node has a
positive parent, so that it is a union of partial paths [RSSS06, Sec. 1]. Its score is a sum of
gains g_j over its positive nodes j; that of the empty one is 0. All is linear in the number of
nodes:

best            max over the labellings, by v_j = g_j + Σ_k max(0, v_k) over children k
                [RSSS06, Sec. 3.4]
max-marginals   the best score with node j less the best without it
marginals       P(y_j = 1) where P(y) goes as exp(score(y) / T) [RSSS06, Sec. 2]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from taxonomist.compiled import labellings

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Bools, Codes, Floats

SCALES = 1e-2, 1e4
"""Between these the inverse temperature is looked for, in units of the largest score."""


@dataclass(frozen=True, eq=False)
class Labellings:
    """The consistent labellings of a tree.

    Attributes
    ----------
    parent
        Parent of each node, which comes before it; the root is its own.
    is_category
        Which nodes are categories. Labels of a labelling are those of its categories none of whose
        children is positive.
    least
        The least number of labels. ``max_marginals`` leaves it aside, and ``marginals`` asks
        whether there is one at all.
    """

    parent: Codes
    is_category: Bools
    least: int = 0

    def depths(self) -> Codes:
        """Return the number of edges from the root to each node."""
        depth = np.zeros(len(self.parent), dtype=np.intp)
        for j in range(1, len(depth)):
            depth[j] = depth[self.parent[j]] + 1
        return depth

    def best(self, gains: Any) -> Bools:
        """Return the best labelling of each item that has enough labels.

        Parameters
        ----------
        gains
            What each node adds to a score, (n_items, n_nodes).

        Returns
        -------
        ndarray, shape (n_items, n_nodes), bool
            Where no labelling has so many labels, one with as many as there can be.
        """
        found = np.zeros(np.shape(gains), dtype=bool)
        labellings.best_labellings(self.parent, self.is_category, self.least, gains, found)
        return found

    def max_marginals(self, gains: Any) -> Floats:
        """Return the best score with each node less the best without it, (n_items, n_nodes)."""
        found = np.zeros(np.shape(gains))
        labellings.max_marginals(self.parent, gains, found)
        return found

    def values(self, gains: Any) -> Floats:
        """Return what each node and the best below it add to a score, (n_items, n_nodes)."""
        found = np.zeros(np.shape(gains))
        labellings.values_below(self.parent, gains, found)
        return found

    def marginals(self, gains: Any, temperature: float = 1.0) -> Floats:
        """Return the probability of each node, (n_items, n_nodes).

        No node has a larger one than its parent. If at least one label is needed, they are
        those given that there is one.
        """
        found = np.zeros(np.shape(gains))
        labellings.marginals(
            self.parent, self.is_category, self.least > 0, gains, 1 / temperature, found
        )
        return found

    def fit_temperature(self, gains: Any, truth: Bools, weights: Floats) -> float:
        """Return the temperature at which true labellings are the most probable.

        Parameters
        ----------
        gains
            Of items that the model has not seen, (n_items, n_nodes).
        truth
            Their labellings, (n_items, n_nodes). If a label is needed, those without one are left
            out.
        weights
            What each item counts.
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

        return _best_temperature(cost, gains)


def fit_softmax(scores: Floats, codes: Codes, weights: Floats) -> float:
    """Return the temperature at which a softmax of scores makes the true columns most probable."""
    true = scores[np.arange(len(codes)), codes]

    def cost(scale: float) -> float:
        return float(weights @ (logsumexp(scale * scores, axis=1) - scale * true))

    return _best_temperature(cost, scores)


def _best_temperature(cost: Callable[[float], float], sizes: Floats) -> float:
    """Return the temperature of the least cost, a convex function of its inverse."""
    size = float(np.abs(sizes).max(initial=0.0))
    if size == 0.0:
        return 1.0
    low, high = np.log(np.array(SCALES) / size)
    found = minimize_scalar(lambda x: cost(np.exp(x)), bounds=(low, high), method="bounded")
    return float(np.exp(-found.x))
