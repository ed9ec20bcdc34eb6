"""The best thresholds for held-out items, by the measure that matters."""

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
    """Return the one threshold that is best for all items, within limits.

    As the threshold falls, each item takes its categories from the best down, so the measure
    is followed through all thresholds at once; the result lies halfway between two values. Of
    equally good thresholds it is the highest.

    Parameters
    ----------
    values
        What is compared with the threshold: scores or log-odds of the pairs in ``evidence``.
    evidence
        Pairs of items and categories.
    sizes
        The number of true labels of each item.
    limits
        How many categories each item gets at least and at most.
    measure
        One of ``MEASURES``.

    Returns
    -------
    float
        0 where the limits leave no choice.
    """
    # Evidence is ordered by category, so equal values stay in the order of their columns.
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
    """Return the measure of items with so many hits among so many chosen categories."""
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
    # A sum of gains that is zero but for rounding is no gain.
    if course[best] <= nothing + 1e-12 * len(course):
        return float(falling[0])
    return _halfway(falling[best], below[best])


def _halfway(high: float, low: float) -> float:
    """Return a threshold that the first value exceeds and the second does not."""
    middle = low + (high - low) / 2
    return float(middle if middle < high else low)


def best_expected_f1(log_odds: Floats, evidence: Evidence) -> Floats:
    """Return the best expected F1 of each category, over all thresholds.

    With k items above the threshold, F1 is expected to be 2 Σ_{k best} p / (k + Σ_all p), up to
    terms that vanish with the number of items. Where F* is the largest such value, it is reached
    by choosing the items with p > F*/2.

    Parameters
    ----------
    log_odds
        Those of the pairs in ``evidence``.
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
