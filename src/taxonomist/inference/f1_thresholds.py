"""The threshold of each category with the best F1 on held-out scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.inference.calibration import weighted_median
from taxonomist.inference.tuning import halfway

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats


class ScoredPairs(NamedTuple):
    """Pairs of items and categories with a score above the lowest possible threshold.

    Other pairs can be left out, because they are never chosen.
    """

    categories: Codes
    scores: Floats
    truth: Bools
    weights: Floats  # of the items


def f1_thresholds(pairs: ScoredPairs, n_true: Floats, least: float = 0.0) -> Floats:
    """Return the threshold of each category that maximizes its F1.

    Lowering the threshold adds items to a category in the order of their scores; F1 is
    2 Σ hits / (Σ chosen + Σ true). The threshold lies halfway between the last chosen score and the
    next one. Ties go to the highest threshold. A category without hits at any threshold gets the
    typical threshold (the weighted median of the other categories), but not less than its best
    score. A category without items gets the highest threshold of all categories, so that it is not
    preferred to others.

    Parameters
    ----------
    pairs
        Pairs with a score above ``least``.
    n_true
        Total weight of the items of each category, including pairs that are left out,
        (n_categories,).
    least
        Lower bound of the thresholds. If it is minus infinity, a threshold that chooses all items
        lies directly below their lowest score.

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
    floor = least if least > -np.inf else np.nextafter(scores, -np.inf)
    below = np.where(is_last, floor, following[: len(categories)])
    f1 = np.where(scores > below, f1, -1.0)
    thresholds, is_learned = np.full(len(n_true), least), np.zeros(len(n_true), dtype=bool)
    for c in np.flatnonzero(np.diff(starts)).tolist():
        best = starts[c] + int(np.argmax(f1[starts[c] : starts[c + 1]]))
        is_learned[c] = f1[best] > 0
        lower = halfway(scores[best], below[best])
        thresholds[c] = lower if is_learned[c] else scores[starts[c]]
    if is_learned.any():
        typical = weighted_median(thresholds[is_learned], n_true[is_learned])
        thresholds[~is_learned] = np.maximum(thresholds[~is_learned], typical)
        thresholds[n_true == 0] = thresholds.max()
    return thresholds


def _running(values: Floats, starts: Codes, categories: Codes) -> Floats:
    """Return cumulative sums within each category."""
    sums = np.append(0.0, np.cumsum(values))
    running: Floats = sums[1:] - sums[starts[:-1]][categories]
    return running
