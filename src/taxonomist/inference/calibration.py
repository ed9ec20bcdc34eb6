"""Platt scaling: one sigmoid per category, fitted to held-out scores.

The sigmoids use Platt's smoothed targets. A category with few items gives too little evidence for a
sigmoid of its own, so its slope and offset are averaged with those of the typical category, which
counts as much as ``TYPICAL_ITEMS`` items. A category without items uses the typical sigmoid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.decisions import fit_sigmoids
from taxonomist.inference.held_out import check_scores

if TYPE_CHECKING:
    from taxonomist._typing import Floats, Reals
    from taxonomist.inference.held_out import Evidence

TYPICAL_ITEMS = 6
"""The weight of the typical category, in items.

Chosen from 0, 1, 3, 6 and 10, jointly with ``CategoryThresholds.least_f1``: the best macro-F1 of
``CategoryThresholds`` on 26 sets of held-out scores (SVMs, rankings, naive Bayes, nearest
neighbours and perceptrons on Reuters, RCV1, Enron, arXiv and bio.tools). Micro-F1 and subset
accuracy hardly depend on it."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Log-odds of categories: slope x score + offset.

    Attributes
    ----------
    slopes
        Array of shape (n_categories,), never negative.
    offsets
        Array of shape (n_categories,).
    """

    slopes: Floats
    offsets: Floats

    @classmethod
    def fit(cls, evidence: Evidence) -> Calibration:
        """Fit one sigmoid per category to held-out scores.

        Parameters
        ----------
        evidence
            The result of ``EvidenceReader.evidence``.

        Returns
        -------
        Calibration
            Slopes and offsets of all categories.
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

    def log_odds(self, scores: Reals) -> Floats:
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
            If scores are not finite or the number of columns is wrong.
        """
        log_odds: Floats = self.slopes * check_scores(scores, len(self.slopes)) + self.offsets
        return log_odds

    def of_pairs(self, evidence: Evidence) -> Floats:
        """Return the log-odds of the pairs of items and categories in the evidence.

        Parameters
        ----------
        evidence
            The result of ``EvidenceReader.evidence``.

        Returns
        -------
        Floats
            One number per pair.
        """
        slopes, offsets = self.slopes[evidence.categories], self.offsets[evidence.categories]
        log_odds: Floats = slopes * evidence.scores + offsets
        return log_odds


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the smallest value with at least half of the total weight at or below it."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
