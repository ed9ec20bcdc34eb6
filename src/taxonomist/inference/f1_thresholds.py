"""The threshold of each category that has the best F1 on held-out scores, counted exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.inference.calibration import weighted_median

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats


class ScoredPairs(NamedTuple):
    """Pairs of items and categories with a score above the least that counts.

    All others are as good as not there: no threshold lets them in.
    """

    categories: Codes
    scores: Floats
    truth: Bools
    weights: Floats  # of the items


def f1_thresholds(pairs: ScoredPairs, n_true: Floats, least: float = 0.0) -> Floats:
    """Return the threshold of each category above which its F1 is best.

    As the threshold falls, a category takes its items from the best down; F1 is 2 Σ hits / (Σ
    chosen + Σ true). The threshold lies halfway between the last score that is taken and the next;
    of equally good ones it is the highest. A category that no threshold gives a hit has the
    threshold of the typical one (the median over the items of the others), but no lower than
    its best score; one without items has the highest of all, lest it come before others.

    Parameters
    ----------
    pairs
        Those with a score above ``least``.
    n_true
        (n_categories,): the weight of all items of each category, in ``pairs`` or not.
    least
        No threshold is lower.

    Returns
    -------
    Floats
        Array of shape (n_categories,).
    """
    order = np.lexsort((-pairs.scores, pairs.categories))
    categories, scores = pairs.categories[order], pairs.scores[order]
    weights, hits = pairs.weights[order], (pairs.weights * pairs.truth)[order]
    starts = np.searchsorted(categories, np.arange(len(n_true) + 1))
    f1 = 2 * _running(hits, starts, categories)
    f1 /= _running(weights, starts, categories) + n_true[categories]
    following = np.append(scores[1:], least)
    is_last = np.append(categories[1:] != categories[:-1], True)[: len(categories)]
    below = np.where(is_last, least, following[: len(categories)])
    f1 = np.where(scores > below, f1, -1.0)
    thresholds, is_learned = np.full(len(n_true), least), np.zeros(len(n_true), dtype=bool)
    for c in np.flatnonzero(np.diff(starts)).tolist():
        best = starts[c] + int(np.argmax(f1[starts[c] : starts[c + 1]]))
        is_learned[c] = f1[best] > 0
        middle = below[best] + (scores[best] - below[best]) / 2
        lower = middle if middle < scores[best] else below[best]
        thresholds[c] = lower if is_learned[c] else scores[starts[c]]
    if is_learned.any():
        typical = weighted_median(thresholds[is_learned], n_true[is_learned])
        thresholds[~is_learned] = np.maximum(thresholds[~is_learned], typical)
        thresholds[n_true == 0] = thresholds.max()
    return thresholds


def _running(values: Floats, starts: Codes, categories: Codes) -> Floats:
    """Return sums over the entries of a category up to each one."""
    sums = np.append(0.0, np.cumsum(values))
    running: Floats = sums[1:] - sums[starts[:-1]][categories]
    return running
