"""Calibrated category probabilities, fitted to the scores of held-out items.

                one category per item                      label sets
temperature     a softmax at each level                    one sigmoid for all categories,
                (``nested_softmax``)                       bounded by a ceiling
platt           one sigmoid per category, applied to the   one sigmoid per category, applied to
                log-odds of the softmax; rows are          the scores
                normalized to sum to 1
isotonic        like platt, then one isotonic curve for    like platt, then one isotonic curve for
                all categories                             all categories

A curve per category would overfit categories with few items. One curve for all categories, applied
to log-odds that the sigmoids have made comparable, had a lower log-loss at all levels of
arxiv-sample with every model tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, log_expit, logit

from taxonomist._threads import one_blas_thread
from taxonomist.errors import ParameterError, closest
from taxonomist.inference.calibration import Calibration
from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.limits import Limits
from taxonomist.inference.nested_softmax import NestedSoftmax

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals
    from taxonomist.inference.held_out import Evidence
    from taxonomist.taxonomy import Categories

METHODS = ("temperature", "platt", "isotonic")
"""Names of the calibration methods."""

MIN_PROBABILITY = 1e-15
"""Probabilities are clipped to this distance from 0 and 1 before their logarithms are taken."""


def check_method(method: object) -> None:
    """Raise if the calibration method is unknown."""
    if method not in METHODS:
        hint = closest(str(method), METHODS)
        raise ParameterError(f"method must be one of {', '.join(METHODS)}. Got {method!r}.{hint}")


@dataclass(frozen=True, eq=False)
class Curve:
    """A nondecreasing, piecewise linear function, constant beyond its first and last point.

    Attributes
    ----------
    points, heights
        The points in ascending order, and the values of the function at these points.
    """

    points: Floats
    heights: Floats

    @classmethod
    def fit(cls, log_odds: Floats, evidence: Evidence) -> Curve:
        """Fit an isotonic curve of probabilities by least squares.

        A false pair is added at the upper end and a true pair at the lower end, so that the curve
        stays inside (0, 1) and does not follow the few pairs at the ends too closely.
        """
        from sklearn.isotonic import IsotonicRegression

        ends = [log_odds.max(), log_odds.min()]
        found = IsotonicRegression(out_of_bounds="clip").fit(
            np.append(log_odds, ends),
            np.append(evidence.truth, [False, True]).astype(np.float64),
            sample_weight=np.append(evidence.weights, [1.0, 1.0]),
        )
        return cls(np.asarray(found.X_thresholds_), np.asarray(found.y_thresholds_))

    def of(self, log_odds: Floats) -> Floats:
        """Return the values of the curve, an array of the same shape."""
        return np.interp(log_odds, self.points, self.heights)


@dataclass(frozen=True, eq=False)
class SetProbabilities:
    """Probabilities of categories in label sets, independent for each category.

    Attributes
    ----------
    calibration
        Converts scores to log-odds.
    curve
        Converts log-odds to probabilities. None uses the sigmoid.
    ceiling
        The upper bound of the sigmoid.
    """

    calibration: Calibration
    curve: Curve | None = None
    ceiling: float = 1.0

    @classmethod
    def fit(cls, method: str, held_out: EvidenceReader, weights: Floats) -> SetProbabilities:
        """Fit the probabilities to held-out scores.

        Parameters
        ----------
        method
            One of ``METHODS``.
        held_out
            A reader of all held-out scores.
        weights
            The weight of each item.
        """
        check_method(method)
        evidence = _weighted(held_out.evidence(), weights)
        if method == "temperature":
            return cls._fit_one(evidence, held_out.labels.shape[1])
        calibration = Calibration.fit(evidence)
        if method == "platt":
            return cls(calibration)
        return cls(calibration, Curve.fit(calibration.of_pairs(evidence), evidence))

    @classmethod
    def _fit_one(cls, evidence: Evidence, n_categories: int) -> SetProbabilities:
        """Fit one sigmoid with a ceiling for all categories."""
        slope, offset, ceiling = fit_sigmoid_with_ceiling(evidence)
        lines = np.full(n_categories, slope), np.full(n_categories, offset)
        return cls(Calibration(*lines), None, ceiling)

    def of(self, scores: Reals) -> Floats:
        """Return the probabilities of categories; the row of an item depends on its scores only.

        Parameters
        ----------
        scores
            (n_items, n_categories), finite.

        Returns
        -------
        Floats
            Array of the same shape.
        """
        log_odds = self.calibration.log_odds(scores)
        if self.curve is not None:
            return self.curve.of(log_odds)
        probabilities: Floats = self.ceiling * expit(log_odds)
        return probabilities


@dataclass(frozen=True, eq=False)
class SingleProbabilities:
    """Probabilities of the one category of an item, which sum to 1.

    Attributes
    ----------
    softmax
        Converts scores to probabilities.
    refined
        Recalibrates each category given the log-odds of the softmax. None keeps the softmax.
    """

    softmax: NestedSoftmax
    refined: SetProbabilities | None = None

    @classmethod
    def fit(
        cls,
        method: str,
        categories: Categories,
        scores: Reals,
        labels: CSR,
        weights: Floats,
        seen: Bools | None = None,
    ) -> SingleProbabilities:
        """Fit the probabilities to held-out scores.

        Parameters
        ----------
        method
            One of ``METHODS``.
        categories
            The categories and their taxonomy.
        scores
            Finite scores of held-out items, (n_items, n_categories).
        labels
            The true category of each item, (n_items, n_categories) boolean CSR.
        weights
            The weight of each item.
        seen
            Which categories have training items; by default, all. The others get no probability.
        """
        check_method(method)
        columns: Codes = labels.indices.astype(np.intp)
        softmax = NestedSoftmax.fit(categories, scores, columns, weights, seen)
        if method == "temperature" or labels.shape[1] == 1:
            return cls(softmax)
        held_out = EvidenceReader(labels, Limits(1, 1))
        held_out.add(np.arange(len(columns)), _log_odds(softmax.of(scores)))
        return cls(softmax, SetProbabilities.fit(method, held_out, weights))

    def of(self, scores: Reals) -> Floats:
        """Return the probabilities of categories; the row of an item depends on its scores only.

        Parameters
        ----------
        scores
            (n_items, n_categories), finite.

        Returns
        -------
        Floats
            Array of the same shape; every row sums to 1.
        """
        probabilities = self.softmax.of(scores)
        if self.refined is None:
            return probabilities
        better = np.maximum(self.refined.of(_log_odds(probabilities)), MIN_PROBABILITY)
        better[:, self.softmax.leaves < 0] = 0.0
        shares: Floats = better / better.sum(axis=1, keepdims=True)
        return shares


def fit_sigmoid_with_ceiling(evidence: Evidence) -> tuple[float, float, float]:
    """Return the slope, offset and ceiling with the highest likelihood.

    P(true) = ceiling / (1 + exp(-slope s - offset)). One true and one false pair are added for the
    ceiling, so that it stays inside (0, 1). The slope is never negative.

    Parameters
    ----------
    evidence
        Scores and true labels of pairs of items and categories.
    """
    weights, truth = evidence.weights, evidence.truth
    mean = float(np.average(evidence.scores, weights=weights))
    scale = float(np.sqrt(np.average((evidence.scores - mean) ** 2, weights=weights))) or 1.0
    x = (evidence.scores - mean) / scale

    def cost(line: Floats) -> tuple[float, Floats]:
        z, ceiling = line[0] * x + line[1], expit(line[2])
        rise = expit(-z)
        p = ceiling * expit(z)
        rest = np.maximum(1 - p, MIN_PROBABILITY)
        logs = np.where(truth, log_expit(line[2]) + log_expit(z), np.log(rest))
        value = -float(weights @ logs) - log_expit(line[2]) - log_expit(-line[2])
        odds = np.where(truth, 1.0, -p / rest)
        by_z = -weights * odds * rise
        by_ceiling = -float(weights @ odds) * (1 - ceiling) - (1 - 2 * ceiling)
        return value, np.array([by_z @ x, by_z.sum(), by_ceiling])

    share = (float(weights @ truth) + 1) / (float(weights.sum()) + 2)
    start = np.array([1.0, logit(share), 2.0])
    bounds = [(0.0, None), (None, None), (None, None)]
    from scipy.optimize import minimize

    with one_blas_thread():
        slope, offset, top = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(slope / scale), float(offset - slope * mean / scale), float(expit(top))


def _weighted(evidence: Evidence, weights: Floats) -> Evidence:
    """Return evidence with item weights, scaled to a mean of 1."""
    mean = max(float(weights.mean()), np.finfo(np.float64).tiny)
    return evidence._replace(weights=evidence.weights * weights[evidence.items] / mean)


def _log_odds(probabilities: Floats) -> Floats:
    """Return log(p / (1 - p)), clipped to finite values."""
    log_odds: Floats = logit(np.clip(probabilities, MIN_PROBABILITY, 1 - MIN_PROBABILITY))
    return log_odds
