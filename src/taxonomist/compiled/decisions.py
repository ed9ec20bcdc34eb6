"""Loops that turn scores into label sets: limits, best splits of items, sigmoids of categories."""

from __future__ import annotations

import math

import numpy as np

from taxonomist._typing import Bools, Codes, Floats
from taxonomist.compiled.jit import compiled

MOST_STEPS = 100
"""Newton steps for a sigmoid; ten are usual."""

PRECISION = 1e-9
"""Newton steps end when the next one would gain less than this, in nats over all items."""


@compiled()
def choose_categories(
    excess: Floats,  # in (n_items, n_categories)
    least: int,
    most: int,  # least <= most <= n_categories
    best: Codes,  # scratch (>= most, >= 1)
    chosen: Bools,  # out (n_items, n_categories)  False before
) -> int:
    """Mark the positive values of each row, but at least ``least`` and at most ``most`` of them.

    The largest values come first, of equal ones the first column. Return the position of the first
    NaN, or -1.
    """
    n_items, n_categories = excess.shape
    for i in range(n_items):
        n_positive = 0
        for c in range(n_categories):
            if excess[i, c] > 0.0:
                chosen[i, c] = True
                n_positive += 1
            elif math.isnan(excess[i, c]):
                position: int = i * n_categories + c
                return position
        k = min(max(n_positive, least), most)
        if k != n_positive:
            _choose_best(excess, i, k, best, chosen)
    return -1


def choose_few_categories(excess: Floats, least: int, most: int, chosen: Bools) -> int:
    """Do the same as ``choose_categories`` for few items, without numba."""
    missing = np.flatnonzero(np.isnan(excess))
    if len(missing):
        return int(missing[0])
    chosen[:] = excess > 0.0
    for i, n_positive in enumerate(chosen.sum(axis=1).tolist()):
        k = min(max(n_positive, least), most)
        if k != n_positive:
            chosen[i] = False
            chosen[i, np.argsort(-excess[i], kind="stable")[:k]] = True
    return -1


@compiled(inline=True)
def _choose_best(
    excess: Floats,  # in (n_items, n_categories)
    i: int,
    k: int,
    best: Codes,  # scratch (>= k,)
    chosen: Bools,  # in/out (n_items, n_categories)
) -> None:
    """Mark the k largest values of row i, and nothing else."""
    found = 0
    for c in range(excess.shape[1]):
        chosen[i, c] = False
        value = excess[i, c]
        if k == 0 or (found == k and value <= excess[i, best[k - 1]]):
            continue
        a = min(found, k - 1)
        while a > 0 and excess[i, best[a - 1]] < value:
            best[a] = best[a - 1]
            a -= 1
        best[a] = c
        found = min(found + 1, k)
    for a in range(found):
        chosen[i, best[a]] = True


@compiled()
def list_best(
    scores: Floats,  # in (n_block, n_categories)
    items: Codes,  # in (n_block,)
    n_seen: int,  # items that were listed before
    starts: Codes,  # in (n_categories + 1,)  where the list of each category begins
    best_items: Codes,  # in/out (n_listed,)
    best_scores: Floats,  # in/out (n_listed,)
) -> None:
    """Add items to the lists of the best items of each category; of equal ones the first stay.

    A list is a heap with its worst entry first. Its length is that of its room, or the number of
    items seen so far if that is smaller.
    """
    for i in range(len(items)):
        for c in range(scores.shape[1]):
            start, room = starts[c], starts[c + 1] - starts[c]
            score, item = scores[i, c], items[i]
            if n_seen + i < room:
                a = n_seen + i
                while a > 0:
                    up = (a - 1) // 2
                    if not _is_worse(score, item, start + up, best_scores, best_items):
                        break
                    best_scores[start + a] = best_scores[start + up]
                    best_items[start + a] = best_items[start + up]
                    a = up
            elif _is_worse(score, item, start, best_scores, best_items):
                continue
            else:
                a = _sink(score, item, start, room, best_scores, best_items)
            best_scores[start + a], best_items[start + a] = score, item


@compiled(inline=True)
def _is_worse(score: float, item: int, at: int, best_scores: Floats, best_items: Codes) -> bool:
    """Return whether an item ranks below the listed one at a position."""
    worse: bool = score < best_scores[at] or (score == best_scores[at] and item > best_items[at])
    return worse


@compiled(inline=True)
def _sink(
    score: float,
    item: int,
    start: int,
    room: int,
    best_scores: Floats,  # in/out (n_listed,)
    best_items: Codes,  # in/out (n_listed,)
) -> int:
    """Return the place in the heap of an item that replaces the worst one, and make room for it."""
    a = 0
    while 2 * a + 1 < room:
        down = 2 * a + 1
        if down + 1 < room:
            right = start + down + 1
            if _is_worse(best_scores[right], best_items[right], right - 1, best_scores, best_items):
                down += 1
        if _is_worse(score, item, start + down, best_scores, best_items):
            break
        best_scores[start + a] = best_scores[start + down]
        best_items[start + a] = best_items[start + down]
        a = down
    return a


@compiled(allocates=True)
def split_items(
    scores: Floats,  # in (n_items, n_categories)
    truth: Bools,  # in (n_items, n_categories)
    middle: Floats,  # out (n_items,)  the threshold, or the score next to it
    side: Floats,  # out (n_items,)  1 if the threshold is above all scores, -1 if below, else 0
    reach: Floats,  # out (n_items,)  half the width of the gap around the threshold, or 0
) -> None:
    """Find the threshold with the fewest categories on the wrong side, in the widest gap.

    A threshold above or below all scores has no gap; one with a gap is preferred.
    """
    n_items, n_categories = scores.shape
    own = np.empty(n_categories)
    n_gap = np.empty(n_categories + 1, dtype=np.intp)
    top = np.empty(n_categories + 1)
    for i in range(n_items):
        m = 0
        for c in range(n_categories):
            if truth[i, c]:
                a = m
                while a > 0 and own[a - 1] < scores[i, c]:
                    own[a] = own[a - 1]
                    a -= 1
                own[a] = scores[i, c]
                m += 1
        highest = _fill_gaps(scores, truth, i, own, m, n_gap, top)
        errors, fewest, widest = m, m, 0.0
        middle[i], side[i], reach[i] = highest, 1.0, 0.0
        for j in range(1, m + 1):
            errors += n_gap[j - 1] - 1
            # Below the j-th own score; if no other is there, the next j has fewer errors.
            width = own[j - 1] - top[j] if n_gap[j] else 0.0
            if errors < fewest or (errors == fewest and width > widest):
                fewest, widest = errors, width
                middle[i] = own[j - 1] - width / 2
                side[i] = 0.0 if n_gap[j] else -1.0
                reach[i] = width / 2


@compiled(inline=True)
def _fill_gaps(
    scores: Floats,  # in (n_items, n_categories)
    truth: Bools,  # in (n_items, n_categories)
    i: int,
    own: Floats,  # in (>= m,)  scores of the item's categories, descending
    m: int,
    n_gap: Codes,  # out (m + 1,)  how many others have exactly j own ones above them
    top: Floats,  # out (m + 1,)  the best score among these
) -> float:
    """Count an item's other categories between its own, by score; return the best score of all."""
    highest = own[0] if m > 0 else -np.inf
    for j in range(m + 1):
        n_gap[j], top[j] = 0, -np.inf
    for c in range(scores.shape[1]):
        if not truth[i, c]:
            j = m
            while j > 0 and own[j - 1] <= scores[i, c]:
                j -= 1
            n_gap[j] += 1
            top[j] = max(top[j], scores[i, c])
            highest = max(highest, scores[i, c])
    return highest


@compiled()
def fit_sigmoids(
    starts: Codes,  # in (n_categories + 1,)  where the entries of each category begin
    scores: Floats,  # in (n_entries,)
    truth: Bools,  # in (n_entries,)
    weights: Floats,  # in (n_entries,)
    slopes: Floats,  # out (n_categories,)
    offsets: Floats,  # out (n_categories,)
) -> None:
    """Fit P(true) = 1 / (1 + exp(-slope s - offset)) in each category, by Newton's method.

    The targets are Platt's, a little inside (0, 1), so that slopes stay finite.
    """
    for c in range(len(slopes)):
        start, end = starts[c], starts[c + 1]
        total, true, mean, variance = 0.0, 0.0, 0.0, 0.0
        for e in range(start, end):
            total += weights[e]
            mean += weights[e] * scores[e]
            if truth[e]:
                true += weights[e]
        mean /= max(total, 1.0)
        for e in range(start, end):
            variance += weights[e] * (scores[e] - mean) ** 2
        scale = math.sqrt(variance / max(total, 1.0))
        high, low = (true + 1.0) / (true + 2.0), 1.0 / (total - true + 2.0)
        slope, offset = 0.0, math.log((true + 1.0) / (total - true + 1.0))
        # Scores that differ only by rounding are equal.
        if scale > 1e-12 * abs(mean):
            slope, offset = _newton(
                start, end, scores, truth, weights, (mean, scale, high, low, offset)
            )
            slope /= scale
            offset -= slope * mean
        slopes[c], offsets[c] = slope, offset


@compiled()
def _newton(
    start: int,
    end: int,
    scores: Floats,  # in (n_entries,)
    truth: Bools,  # in (n_entries,)
    weights: Floats,  # in (n_entries,)
    frame: tuple[float, float, float, float, float],  # mean and scale of scores, targets, offset
) -> tuple[float, float]:
    """Return the slope and offset of least cross-entropy for standardised scores."""
    mean, scale, high, low, offset = frame
    slope, step_a, step_b, length = 0.0, 0.0, 0.0, 0.0
    best, promised = np.inf, 0.0
    for _ in range(MOST_STEPS):
        a, b = slope + length * step_a, offset + length * step_b
        value, grad_a, grad_b, aa, ab, bb = 0.0, 0.0, 0.0, 1e-12, 0.0, 1e-12
        for e in range(start, end):
            x = (scores[e] - mean) / scale
            z = a * x + b
            tail = math.exp(-abs(z))
            p = 1.0 / (1.0 + tail) if z >= 0.0 else tail / (1.0 + tail)
            target = high if truth[e] else low
            value += weights[e] * (max(z, 0.0) + math.log1p(tail) - target * z)
            error, curve = weights[e] * (p - target), weights[e] * p * (1.0 - p)
            grad_a += error * x
            grad_b += error
            aa += curve * x * x
            ab += curve * x
            bb += curve
        # Not "value > ...": that would take NaN.
        if not value <= best - 1e-4 * length * promised + PRECISION:
            length /= 2.0
            continue
        slope, offset, best = a, b, value
        determinant = aa * bb - ab * ab
        step_a = (ab * grad_b - bb * grad_a) / determinant
        step_b = (ab * grad_a - aa * grad_b) / determinant
        promised, length = -(grad_a * step_a + grad_b * step_b), 1.0
        if promised <= PRECISION:
            break
    return slope, offset
