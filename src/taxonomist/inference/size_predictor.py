"""A threshold for each item, predicted from its scores [CH07; Elisseeff & Weston 2001].

Problem       t(x) = <a, g(x)> + b by least squares, where g(x) are the scores of x and the target
              for item i is the t that has the fewest categories on the wrong side,
              |{y in Y_i: f(x_i, y) <= t}| + |{c not in Y_i: f(x_i, c) >= t}|,
              the middle of the widest such gap between neighbouring scores
Cost          sums of g gᵀ and g t, block by block: n_items n_categories² in time, n_categories²
              in memory
Differences   the targets come from held-out items; a is shrunk by a ridge penalty; with more than
              ``MAX_SCORE_FEATURES`` categories, g(x) are the best scores of x in descending order.
              If the best threshold is above or below all scores, its distance from the last score
              is half the mean width of the gaps of the other items
References    [CH07], "size predictor"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.decisions import split_items
from taxonomist.errors import ParameterError
from taxonomist.inference.held_out import HeldOutReader, check_scores
from taxonomist.inference.limits import Limits
from taxonomist.inference.rules import Rule

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals

MAX_SCORE_FEATURES = 2_000
"""Maximum number of categories whose scores are all used as features (32 MB of sums)."""

N_BEST_SCORES = 50
"""Number of best scores used as features if there are more categories."""


@dataclass(frozen=True, eq=False)
class FittedSizePredictor:
    """A threshold per item: a linear function of its scores.

    Attributes
    ----------
    coefficients
        Array of shape (n_features,), one coefficient per category or per rank.
    constant
        The intercept.
    n_categories
        The number of categories.
    """

    coefficients: Floats
    constant: float
    n_categories: int

    def excess(self, scores: Reals) -> Floats:
        """Return scores minus the threshold of their item, (n_items, n_categories)."""
        scores = check_scores(scores, self.n_categories)
        # Unlike a matrix product, this rounds the same for any number of rows.
        thresholds = (_features(scores) * self.coefficients).sum(axis=1, keepdims=True)
        excess: Floats = scores - thresholds - self.constant
        return excess


@dataclass(frozen=True)
class SizePredictor(Rule):
    """One threshold per item, predicted from its scores: the rule for rankings [CH07].

    Scores of a ranking model are comparable only within an item, so each item needs its own
    threshold.

    Parameters
    ----------
    ridge
        The ridge penalty, as a multiple of the mean variance of the features.
    """

    ridge: float = 0.1

    def __post_init__(self) -> None:
        if not (self.ridge > 0 and np.isfinite(self.ridge)):
            raise ParameterError(f"ridge is {self.ridge}; give a positive number.")

    def reader(self, labels: CSR, limits: tuple[int, int]) -> SizeTuner:
        """Return a reader that fits the predictor."""
        return SizeTuner(labels, Limits(*limits), self.ridge)


class SizeTuner(HeldOutReader):
    """Accumulates products of scores and thresholds, then solves for the coefficients.

    Parameters
    ----------
    labels, limits
        As in ``HeldOutReader``.
    ridge
        As in ``SizePredictor``.
    """

    needs_scores = True

    def __init__(self, labels: CSR, limits: Limits, ridge: float) -> None:
        super().__init__(labels, limits)
        n_categories = labels.shape[1]
        n_features = n_categories if n_categories <= MAX_SCORE_FEATURES else N_BEST_SCORES
        self.ridge = ridge
        # Sums of products of (features, 1) with themselves, and with the two parts of the targets.
        self._products = np.zeros((n_features + 1, n_features + 1))
        self._targets = np.zeros((n_features + 1, 2))
        self._reach, self._n_gaps = 0.0, 0

    def _take(self, items: Codes, scores: Floats, truth: Bools) -> None:
        middle, side, half = np.zeros((3, len(items)))
        split_items(scores, truth, middle, side, half)
        features = np.column_stack([_features(scores), np.ones(len(scores))])
        self._products += features.T @ features
        self._targets += features.T @ np.column_stack([middle, side])
        self._reach += half.sum()
        self._n_gaps += int((side == 0).sum())

    def finish(self) -> FittedSizePredictor:
        """Return the fitted predictor."""
        self.check_complete()
        n_items, n_categories = self.labels.shape
        sums = self._targets @ [1.0, self._reach / max(self._n_gaps, 1)]
        coefficients, constant = self._solve(self._products / n_items, sums / n_items)
        return FittedSizePredictor(coefficients, constant, n_categories)

    def _solve(self, products: Floats, sums: Floats) -> tuple[Floats, float]:
        """Return the coefficients and the unpenalized constant, given mean products."""
        means = products[-1, :-1]
        covariance = products[:-1, :-1] - np.outer(means, means)
        variance = float(np.trace(covariance)) / len(means)
        # Constant scores would only fit rounding errors.
        if variance <= 1e-12 * float(np.trace(products)):
            return np.zeros(len(means)), float(sums[-1])
        covariance[np.diag_indices_from(covariance)] += self.ridge * variance
        coefficients: Floats = np.linalg.solve(covariance, sums[:-1] - means * sums[-1])
        return coefficients, float(sums[-1] - means @ coefficients)


def _features(scores: Floats) -> Floats:
    """Return all scores, or the best ones if there are many categories."""
    if scores.shape[1] <= MAX_SCORE_FEATURES:
        return scores
    best: Floats = -np.sort(np.partition(-scores, N_BEST_SCORES - 1)[:, :N_BEST_SCORES])
    return best
