"""Probabilities of categories from scores: a sigmoid for each category, fitted to held-out scores.

The sigmoid is Platt's, with his targets. A category with few items has little to fit one to, so its
slope and offset are averaged with those of the typical category, which counts as much as
``TYPICAL_ITEMS`` of its own items; a category without any is calibrated as the typical one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.compiled.decisions import fit_sigmoids
from taxonomist.inference.held_out import check_scores

if TYPE_CHECKING:
    from taxonomist._typing import Floats
    from taxonomist.inference.held_out import Evidence

TYPICAL_ITEMS = 6
"""Of 0, 1, 3, 6 and 10 the best macro-F1 with ``CategoryThresholds`` on 26 sets of held-out scores
(SVMs, rankings, naive Bayes, neighbours and perceptrons on Reuters, RCV1, Enron, arXiv and
bio.tools), together with its ``least_f1``; micro-F1 and subset accuracy hardly mind."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """The log-odds of a category are slope x score + offset.

    Attributes
    ----------
    slopes
        (n_categories,), never negative.
    offsets
        (n_categories,).
    """

    slopes: Floats
    offsets: Floats

    @classmethod
    def fit(cls, evidence: Evidence) -> Calibration:
        """Return the calibration that held-out scores suggest.

        Parameters
        ----------
        evidence
            From ``HeldOut.evidence``.

        Returns
        -------
        Calibration
            One sigmoid per category.
        """
        n_categories = len(evidence.starts) - 1
        slopes, offsets = np.zeros(n_categories), np.zeros(n_categories)
        fit_sigmoids(
            evidence.starts, evidence.scores, evidence.truth, evidence.weights, slopes, offsets
        )
        n_true = np.bincount(evidence.categories[evidence.truth], minlength=n_categories)
        trust = n_true / (n_true + TYPICAL_ITEMS)
        if trust.any():
            slopes, offsets = (
                trust * values + (1 - trust) * weighted_median(values, trust)
                for values in (slopes, offsets)
            )
        return cls(np.maximum(slopes, 0.0), offsets)

    def log_odds(self, scores: Any) -> Floats:
        """Return log(p / (1 - p)) of every category.

        Parameters
        ----------
        scores
            (n_items, n_categories), finite.

        Returns
        -------
        Floats
            Array of the same shape.

        Raises
        ------
        LabelError
            If scores are not finite or have other columns.
        """
        log_odds: Floats = self.slopes * check_scores(scores, len(self.slopes)) + self.offsets
        return log_odds

    def of_pairs(self, evidence: Evidence) -> Floats:
        """Return the log-odds of the pairs of items and categories that are kept.

        Parameters
        ----------
        evidence
            From ``HeldOut.evidence``.

        Returns
        -------
        Floats
            One number per pair.
        """
        slopes, offsets = self.slopes[evidence.categories], self.offsets[evidence.categories]
        log_odds: Floats = slopes * evidence.scores + offsets
        return log_odds


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the smallest value that has half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
