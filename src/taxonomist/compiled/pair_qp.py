"""Loops of the joint SVM that solve one item's QP over its active pairs.

The notation is that of ``taxonomist.compiled.joint``.
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Floats
from taxonomist.compiled.arrays import Attributes, Duals
from taxonomist.compiled.attributes import product
from taxonomist.compiled.duals import unused
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.joint_arrays import JointArrays, QPScratch
from taxonomist.compiled.places import change_category, placed_score


@compiled(inline=True)
def write_gradients(attributes: Attributes, i: int, duals: Duals, scratch: QPScratch) -> None:
    """Write G_iyc for the active pairs from the scores of attributes."""
    first = duals.start[i]
    y = -1
    own = 0.0
    for a in range(first, first + duals.size[i]):
        if duals.own[a] != y:
            y = duals.own[a]
            own = placed_score(attributes, y, scratch.places)
        other = placed_score(attributes, duals.other[a], scratch.places)
        scratch.G[a - first] = duals.delta[a] * (1.0 - own + other)


@compiled(inline=True)
def gradients_from_scores(i: int, f: Floats, duals: Duals, scratch: QPScratch) -> None:
    """Write G_iyc for the active pairs from the scores of categories."""
    first = duals.start[i]
    for a in range(first, first + duals.size[i]):
        scratch.G[a - first] = duals.delta[a] * (1.0 - f[duals.own[a]] + f[duals.other[a]])


@compiled(inline=True)
def pair_product(attributes: Attributes, duals: Duals, a: int, b: int) -> float:
    """Return the product of Δ(y, c) (Λ(y) - Λ(c)) of two active pairs."""
    y, c, r, d = duals.own[a], duals.other[a], duals.own[b], duals.other[b]
    across = product(attributes, y, d) + product(attributes, c, r)
    along = product(attributes, y, r) + product(attributes, c, d)
    return float(duals.delta[a] * duals.delta[b] * (along - across))


@compiled(inline=True)
def best_step(
    first: int,
    m: int,
    cost: float,
    slack_per_pair: bool,
    free: float,
    beta: Floats,
    G: Floats,
) -> tuple[int, int, float, float]:
    """Return the β to raise, the β to lower, the slope along that, and the longest step.

    -1 stands for no variable, or for the unused part of C_i, whose gradient is 0.
    """
    up = down = -1
    if slack_per_pair:
        slope = 0.0
        for a in range(m):
            if G[a] > slope and beta[first + a] < cost:
                up, down, slope = a, -1, G[a]
            elif -G[a] > slope and beta[first + a] > 0.0:
                up, down, slope = -1, a, -G[a]
        return up, down, slope, beta[first + down] if down >= 0 else cost - beta[first + up]
    highest = 0.0
    lowest = 0.0 if free > 0.0 else np.inf
    for a in range(m):
        if G[a] > highest:
            highest = G[a]
            up = a
        if beta[first + a] > 0.0 and G[a] < lowest:
            lowest = G[a]
            down = a
    return up, down, highest - lowest, beta[first + down] if down >= 0 else free


@compiled(inline=True)
def follow(
    attributes: Attributes, first: int, m: int, a: int, step: float, duals: Duals, G: Floats
) -> None:
    """Update the gradients of the active pairs after a step of the a-th of them."""
    if a >= 0:
        for b in range(m):
            G[b] -= step * pair_product(attributes, duals, first + b, first + a)


@compiled(inline=True)
def curvature_along(attributes: Attributes, first: int, up: int, down: int, duals: Duals) -> float:
    """Return the second derivative of ½ ||w||² / k(x, x) as one β rises and another falls."""
    total = 0.0
    if up >= 0:
        total += pair_product(attributes, duals, first + up, first + up)
    if down >= 0:
        total += pair_product(attributes, duals, first + down, first + down)
    if up >= 0 and down >= 0:
        total -= 2.0 * pair_product(attributes, duals, first + up, first + down)
    return total


@compiled(inline=True)
def ascend(problem: JointArrays, i: int, duals: Duals, scratch: QPScratch, tol: float) -> float:
    """Maximise the dual over the active variables of item i, one or two at a time.

    ``scratch.G`` holds their gradients before and after. Return the gain.
    """
    attributes, G, norm, cost = problem.attributes, scratch.G, problem.norms[i], problem.costs[i]
    m, first, beta = duals.size[i], duals.start[i], duals.beta
    free = unused(duals, i, problem.costs[i])
    gain = 0.0
    for _ in range(100 * (m + 1)):
        up, down, slope, most = best_step(first, m, cost, problem.slack_per_pair, free, beta, G)
        if slope <= tol:
            break
        curvature = norm * curvature_along(attributes, first, up, down, duals)
        length = min(most, slope / curvature) if curvature > 0.0 else most
        if length == np.inf:
            break
        gain += length * (slope - 0.5 * length * curvature)
        follow(attributes, first, m, up, length * norm, duals, G)
        follow(attributes, first, m, down, -length * norm, duals, G)
        # After a full step, the β that fell is exactly 0, or the one that rose exactly C_i.
        is_full = length == most
        if down >= 0:
            beta[first + down] = 0.0 if is_full else beta[first + down] - length
        elif not problem.slack_per_pair:
            free = 0.0 if is_full else free - length
        if up < 0:
            free += length
        elif problem.slack_per_pair and is_full:
            beta[first + up] = cost
        else:
            beta[first + up] += length
    return gain


@compiled(inline=True)
def write_change(attributes: Attributes, i: int, duals: Duals, scratch: QPScratch) -> None:
    """Write the change of the weights that follows from that of item i's dual variables."""
    first = duals.start[i]
    for a in range(first, first + duals.size[i]):
        step = duals.delta[a] * (duals.beta[a] - scratch.before[a - first])
        if step == 0.0:
            continue
        change_category(attributes, duals.own[a], step, scratch.places)
        change_category(attributes, duals.other[a], -step, scratch.places)


@compiled(inline=True)
def solve_active(
    problem: JointArrays,  # in
    i: int,
    duals: Duals,  # in/out
    scratch: QPScratch,  # in: ``G``; out: ``change``
    tol: float,
) -> tuple[float, float]:
    """Solve one item's QP over its active pairs; return ψ_i within them, and the dual gain."""
    m, first, cost = duals.size[i], duals.start[i], problem.costs[i]
    free, is_cube = unused(duals, i, cost), problem.slack_per_pair
    violation = best_step(first, m, cost, is_cube, free, duals.beta, scratch.G)[2]
    if violation <= tol:
        return violation, 0.0
    for a in range(m):
        scratch.before[a] = duals.beta[first + a]
    gain = ascend(problem, i, duals, scratch, 0.5 * tol)
    write_change(problem.attributes, i, duals, scratch)
    return violation, gain
