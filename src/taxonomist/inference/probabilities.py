"""Calibrated probabilities of categories, fitted to the scores of held-out items.

                one category per item                      label sets
temperature     a softmax at each level                    one sigmoid for all categories,
                (``nested_softmax``)                       at most as high as a ceiling
platt           a sigmoid for each category, of the        a sigmoid for each category, of scores
                softmax's log-odds; then rows sum to 1
isotonic        then one rising curve for all categories   then one rising curve for all categories

A curve for each category would have too few items to follow: one for all, of log-odds that sigmoids
have made alike, had a lower log-loss at all levels of arxiv-sample with every model tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from sklearn.isotonic import IsotonicRegression

from taxonomist.errors import closest
from taxonomist.inference.calibration import Calibration
from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.limits import Limits
from taxonomist.inference.nested_softmax import NestedSoftmax

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.inference.held_out import Evidence
    from taxonomist.taxonomy import Categories

METHODS = ("temperature", "platt", "isotonic")
"""Ways to make probabilities of scores."""

LEAST = 1e-15
"""Probabilities are kept as far from 0 and 1 where their logarithms are taken."""


def check_method(method: Any) -> None:
    """Refuse a method that there is not."""
    if method not in METHODS:
        hint = closest(str(method), METHODS)
        raise ValueError(f"method must be one of {', '.join(METHODS)}. Got {method!r}.{hint}")


@dataclass(frozen=True, eq=False)
class Curve:
    """A function that never falls: straight between its points, level beyond them.

    Attributes
    ----------
    points, heights
        Where it is given, in ascending order, and how high it is there.
    """

    points: Floats
    heights: Floats

    @classmethod
    def fit(cls, log_odds: Floats, evidence: Evidence) -> Curve:
        """Return the curve of probabilities that is closest to the truth (least squares).

        A false pair is added at its upper end and a true one at its lower, so that it stays inside
        (0, 1) and does not trust the few pairs there.
        """
        ends = [log_odds.max(), log_odds.min()]
        found = IsotonicRegression(out_of_bounds="clip").fit(
            np.append(log_odds, ends),
            np.append(evidence.truth, [False, True]).astype(np.float64),
            sample_weight=np.append(evidence.weights, [1.0, 1.0]),
        )
        return cls(np.asarray(found.X_thresholds_), np.asarray(found.y_thresholds_))

    def of(self, log_odds: Floats) -> Floats:
        """Return the heights at log-odds, an array of the same shape."""
        return np.interp(log_odds, self.points, self.heights)


@dataclass(frozen=True, eq=False)
class SetProbabilities:
    """Probabilities that items have categories, each by itself.

    Attributes
    ----------
    calibration
        What turns scores into log-odds.
    curve
        What turns those into probabilities; None means the sigmoid.
    ceiling
        The largest probability of the sigmoid.
    """

    calibration: Calibration
    curve: Curve | None = None
    ceiling: float = 1.0

    @classmethod
    def fit(cls, method: str, held_out: EvidenceReader, weights: Floats) -> SetProbabilities:
        """Return the probabilities that held-out scores suggest.

        Parameters
        ----------
        method
            One of ``METHODS``.
        held_out
            Has taken the scores of items that the model has not seen.
        weights
            What each of them counts.
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
        """Return one sigmoid with a ceiling for all categories."""
        slope, offset, ceiling = fit_sigmoid_with_ceiling(evidence)
        lines = np.full(n_categories, slope), np.full(n_categories, offset)
        return cls(Calibration(*lines), None, ceiling)

    def of(self, scores: Any) -> Floats:
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
    """Probabilities of which category an item has, adding up to 1.

    Attributes
    ----------
    softmax
        What turns scores into probabilities.
    refined
        What turns their log-odds, category by category, into better ones; None leaves them.
    """

    softmax: NestedSoftmax
    refined: SetProbabilities | None = None

    @classmethod
    def fit(
        cls, method: str, categories: Categories, scores: Any, labels: CSR, weights: Floats
    ) -> SingleProbabilities:
        """Return the probabilities that held-out scores suggest.

        Parameters
        ----------
        method
            One of ``METHODS``.
        categories
            The categories and their taxonomy.
        scores
            Of items that the model has not seen, (n_items, n_categories), finite.
        labels
            Their categories, one each, (n_items, n_categories) boolean CSR.
        weights
            What each item counts.
        """
        check_method(method)
        columns: Codes = labels.indices.astype(np.intp)
        softmax = NestedSoftmax.fit(categories, scores, columns, weights)
        if method == "temperature" or labels.shape[1] == 1:
            return cls(softmax)
        held_out = EvidenceReader(labels, Limits(1, 1))
        held_out.add(np.arange(len(columns)), _log_odds(softmax.of(scores)))
        return cls(softmax, SetProbabilities.fit(method, held_out, weights))

    def of(self, scores: Any) -> Floats:
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
        better = np.maximum(self.refined.of(_log_odds(probabilities)), LEAST)
        shares: Floats = better / better.sum(axis=1, keepdims=True)
        return shares


def fit_sigmoid_with_ceiling(evidence: Evidence) -> tuple[float, float, float]:
    """Return slope, offset and ceiling under which the truth is the most probable.

    P(true) = ceiling / (1 + exp(-slope s - offset)). The ceiling has a true and a false pair more,
    so that it stays inside (0, 1); slopes are not negative.

    Parameters
    ----------
    evidence
        Scores of pairs of an item and a category, and which of them are true.
    """
    weights, truth = evidence.weights, evidence.truth
    mean = float(np.average(evidence.scores, weights=weights))
    scale = float(np.sqrt(np.average((evidence.scores - mean) ** 2, weights=weights))) or 1.0
    x = (evidence.scores - mean) / scale

    def cost(line: Floats) -> tuple[float, Floats]:
        z, ceiling = line[0] * x + line[1], expit(line[2])
        rise = expit(-z)
        p = ceiling * expit(z)
        rest = np.maximum(1 - p, LEAST)
        logs = np.where(truth, log_expit(line[2]) + log_expit(z), np.log(rest))
        value = -float(weights @ logs) - log_expit(line[2]) - log_expit(-line[2])
        odds = np.where(truth, 1.0, -p / rest)
        by_z = -weights * odds * rise
        by_ceiling = -float(weights @ odds) * (1 - ceiling) - (1 - 2 * ceiling)
        return value, np.array([by_z @ x, by_z.sum(), by_ceiling])

    share = (float(weights @ truth) + 1) / (float(weights.sum()) + 2)
    start = np.array([1.0, logit(share), 2.0])
    bounds = [(0.0, None), (None, None), (None, None)]
    slope, offset, top = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(slope / scale), float(offset - slope * mean / scale), float(expit(top))


def _weighted(evidence: Evidence, weights: Floats) -> Evidence:
    """Return evidence in which items count by their weights, on average 1."""
    mean = max(float(weights.mean()), np.finfo(np.float64).tiny)
    return evidence._replace(weights=evidence.weights * weights[evidence.items] / mean)


def _log_odds(probabilities: Floats) -> Floats:
    """Return log(p / (1 - p)), finite."""
    log_odds: Floats = logit(np.clip(probabilities, LEAST, 1 - LEAST))
    return log_odds
