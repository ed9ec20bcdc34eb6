"""Loops of the maximum-margin Markov tree that solve one item's QP over its active labellings.

The notation is that of ``taxonomist.compiled.markov``.
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Floats
from taxonomist.compiled.active_labellings import gradient
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.markov_arrays import ActiveLabellings, MarkovArrays, MarkovScratch

FULL = 1e-12
"""Dual variables that sum to C_i up to this relative error use up all of it."""
MOST_STEPS = 10
"""Pairwise steps at a time: more would save sweeps, but not time (Reuters-21578)."""


@compiled(inline=True)
def write_labelling_products(
    labellings: ActiveLabellings, i: int, c: int, scratch: MarkovScratch
) -> None:
    """Write the products of labelling c of item i with all labellings of the item, unless known."""
    if scratch.is_known[c]:
        return
    scratch.is_known[c] = True
    first = labellings.start[i]
    a = first + c
    for k in range(labellings.begin[a], labellings.begin[a] + labellings.n_codes[a]):
        z = labellings.codes[k]
        scratch.mark[abs(z) - 1] = scratch.norm[abs(z) - 1] if z > 0 else -scratch.norm[abs(z) - 1]
    for d in range(labellings.size[i]):
        total = 0.0
        begin = labellings.begin[first + d]
        for k in range(begin, begin + labellings.n_codes[first + d]):
            z = labellings.codes[k]
            total += scratch.mark[z - 1] if z > 0 else -scratch.mark[-z - 1]
        scratch.products[c, d] = total
    for k in range(labellings.begin[a], labellings.begin[a] + labellings.n_codes[a]):
        scratch.mark[abs(labellings.codes[k]) - 1] = 0.0


@compiled(copied=True)
def total_alpha(labellings: ActiveLabellings, i: int) -> float:
    """Return the sum of the dual variables of item i."""
    total = 0.0
    for c in range(labellings.start[i], labellings.start[i] + labellings.size[i]):
        total += labellings.alpha[c]
    return total


@compiled(copied=True)
def extremes(
    labellings: ActiveLabellings, i: int, G: Floats, truth_may: bool, truth_has: bool
) -> tuple[int, int, float]:
    """Return the labelling with the largest G, the one with the smallest G, and the difference.

    The second must have a positive dual variable. -1 stands for the truth, whose G is 0.
    """
    up, down = -1, -1
    top = 0.0 if truth_may else -np.inf
    bottom = 0.0 if truth_has else np.inf
    for c in range(labellings.size[i]):
        if G[c] > top:
            top, up = G[c], c
        if labellings.alpha[labellings.start[i] + c] > 0.0 and G[c] < bottom:
            bottom, down = G[c], c
    return up, down, top - bottom


@compiled(inline=True)
def take_step(
    labellings: ActiveLabellings,
    i: int,
    up: int,
    down: int,
    rise: float,
    limit: float,
    scratch: MarkovScratch,
) -> tuple[float, float]:
    """Take the best step that shifts weight between two labellings; return its size and gain."""
    curvature, n = 0.0, labellings.size[i]
    if up >= 0:
        write_labelling_products(labellings, i, up, scratch)
        curvature += scratch.products[up, up]
    if down >= 0:
        write_labelling_products(labellings, i, down, scratch)
        curvature += scratch.products[down, down]
    if up >= 0 and down >= 0:
        curvature -= 2.0 * scratch.products[up, down]
    step = min(limit, rise / curvature) if curvature > 0.0 else limit
    if step == np.inf:  # a hard margin, and the item has no features: no step is enough
        return 0.0, 0.0
    for c in range(n):
        if up >= 0:
            scratch.G[c] -= step * scratch.products[up, c]
        if down >= 0:
            scratch.G[c] += step * scratch.products[down, c]
    return step, step * (rise - 0.5 * step * curvature)


@compiled()
def ascend(
    problem: MarkovArrays, i: int, labellings: ActiveLabellings, scratch: MarkovScratch, tol: float
) -> float:
    """Take pairwise steps within the labellings of item i; return the gain of the dual."""
    gain, cost, first = 0.0, problem.costs[i], labellings.start[i]
    used, may = total_alpha(labellings, i), not problem.is_signed
    for c in range(labellings.size[i]):
        scratch.G[c] = gradient(labellings, first + c, scratch.score)
        scratch.before[c], scratch.is_known[c] = labellings.alpha[first + c], False
    for _ in range(MOST_STEPS):
        has = may and used < cost * (1.0 - FULL)
        up, down, rise = extremes(labellings, i, scratch.G, may, has)
        if not rise > tol:
            break
        limit = labellings.alpha[first + down] if down >= 0 else cost - used
        step, more = take_step(labellings, i, up, down, rise, limit, scratch)
        gain += more
        if up >= 0:
            labellings.alpha[first + up] += step
        else:
            used -= step
        if down >= 0:
            labellings.alpha[first + down] = 0.0 if step == limit else limit - step
        else:
            used += step
    follow(labellings, i, scratch)
    return gain


@compiled(inline=True)
def follow(labellings: ActiveLabellings, i: int, scratch: MarkovScratch) -> None:
    """Update the scores and the change after the dual variables of item i changed."""
    for c in range(labellings.size[i]):
        a = labellings.start[i] + c
        moved = labellings.alpha[a] - scratch.before[c]
        if moved != 0.0:
            for k in range(labellings.begin[a], labellings.begin[a] + labellings.n_codes[a]):
                z = abs(labellings.codes[k]) - 1
                amount = moved if labellings.codes[k] > 0 else -moved
                scratch.score[z] -= amount * scratch.norm[z]
                scratch.change[z] -= amount


@compiled(inline=True)
def give_all(
    problem: MarkovArrays, i: int, labellings: ActiveLabellings, scratch: MarkovScratch
) -> float:
    """Set the dual variable of item i's only labelling to C_i; return the gain of the dual."""
    c, cost = labellings.start[i], problem.costs[i]
    rise = gradient(labellings, c, scratch.score)
    scratch.before[0], scratch.is_known[0] = 0.0, False
    write_labelling_products(labellings, i, 0, scratch)
    labellings.alpha[c] = cost
    follow(labellings, i, scratch)
    gain: float = cost * (rise - 0.5 * cost * scratch.products[0, 0])
    return gain
