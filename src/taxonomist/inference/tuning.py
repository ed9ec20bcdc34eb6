"""Thresholds that maximize a measure on held-out items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes, Floats
    from taxonomist.inference.held_out import Evidence
    from taxonomist.inference.limits import Limits

MEASURES = ("micro_f1", "subset_accuracy", "example_f1")


def best_threshold(
    values: Floats, evidence: Evidence, sizes: Codes, limits: Limits, measure: str
) -> float:
    """Return the single threshold that is best for all items, within limits.

    Lowering the threshold adds categories to each item in the order of their values, so the measure
    is computed for all thresholds in one pass. The result lies halfway between two values. Ties go
    to the highest threshold.

    Parameters
    ----------
    values
        Scores or log-odds of the pairs in ``evidence``, which are compared with the threshold.
    evidence
        Pairs of items and categories.
    sizes
        The number of true labels of each item.
    limits
        The minimum and maximum number of categories per item.
    measure
        One of ``MEASURES``.

    Returns
    -------
    float
        The threshold, or 0 if the limits leave no choice.
    """
    # Evidence is sorted by category, so equal values keep the order of their columns.
    order = np.lexsort((-values, evidence.items))
    items, values, hits = evidence.items[order], values[order], evidence.truth[order]
    starts = np.searchsorted(items, np.arange(len(sizes)))
    rank = np.arange(len(items)) - starts[items]
    free = (rank >= limits.least) & (rank < limits.most)
    if not free.any():
        return 0.0
    falling = np.flatnonzero(free)[np.argsort(-values[free], kind="stable")]
    if measure == "micro_f1":
        always = rank < limits.least
        n_hits = np.cumsum(hits[falling]) + hits[always].sum()
        n_chosen = np.arange(1, len(falling) + 1) + always.sum()
        course = 2 * n_hits / (n_chosen + sizes.sum())
        nothing = 2 * hits[always].sum() / max(always.sum() + sizes.sum(), 1)
    else:
        passed = np.append(0, np.cumsum(hits))
        n_hits = passed[1:] - passed[starts][items]
        gains = _value(measure, n_hits, rank + 1, sizes[items])
        gains -= _value(measure, n_hits - hits, rank, sizes[items])
        course, nothing = np.cumsum(gains[falling]), 0.0
    return _best_cut(values[falling], course, float(nothing))


def _value(measure: str, n_hits: Codes, n_chosen: Codes, sizes: Codes) -> Floats:
    """Return the measure of each item, given its numbers of hits and chosen categories."""
    if measure == "subset_accuracy":
        exact: Bools = (n_hits == sizes) & (n_chosen == sizes)
        return exact.astype(np.float64)
    total = n_chosen + sizes
    return np.where(total > 0, 2 * n_hits / np.maximum(total, 1), 1.0)


def _best_cut(falling: Floats, course: Floats, nothing: float) -> float:
    """Return the threshold below the k best values where ``course[k - 1]`` is largest."""
    below = np.append(falling[1:], np.nextafter(falling[-1], -np.inf))
    course = np.where(falling > below, course, -np.inf)
    best = int(np.argmax(course))
    # Treat sums of gains that are zero up to rounding as no gain.
    if course[best] <= nothing + 1e-12 * len(course):
        return float(falling[0])
    return halfway(falling[best], below[best])


def halfway(high: float, low: float) -> float:
    """Return a threshold below ``high`` and not below ``low``."""
    middle = low + (high - low) / 2
    return float(middle if middle < high else low)


def best_expected_f1(log_odds: Floats, evidence: Evidence) -> Floats:
    """Return the best expected F1 of each category, over all thresholds.

    With k items above the threshold, the expected F1 is 2 Σ_{k best} p / (k + Σ_all p), up to terms
    that vanish as the number of items grows. The largest such value F* is reached by choosing the
    items with p > F*/2.

    Parameters
    ----------
    log_odds
        Log-odds of the pairs in ``evidence``.
    evidence
        Pairs of items and categories.

    Returns
    -------
    Floats
        Array of shape (n_categories,).
    """
    p = expit(log_odds) * evidence.weights
    order = np.lexsort((-log_odds, evidence.categories))
    first = evidence.starts[:-1]
    categories = evidence.categories[order]
    above = np.append(0.0, np.cumsum(p[order]))
    counts = np.append(0.0, np.cumsum(evidence.weights[order]))
    true = above[1:] - above[first][categories]
    chosen = counts[1:] - counts[first][categories]
    total = np.bincount(evidence.categories, p, minlength=len(first))
    best: Floats = np.maximum.reduceat(2 * true / (chosen + total[categories]), first)
    return best
