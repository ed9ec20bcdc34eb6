"""Loops of the joint SVM that solve one item's QP over its active pairs.

The notation is that of ``taxonomist.compiled.joint``.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Direction(NamedTuple):
    """A step that raises the β of one pair and lowers that of another, in terms of the weights.

    The weights change by x_i times v = up (Λ(y) - Λ(c)) - down (Λ(r) - Λ(d)) per unit. ``up`` and
    ``down`` are Δ(y, c) and Δ(r, d), or 0 for the unused part of C_i, which no weight depends on.
    """

    up: float
    y: int
    c: int
    down: float
    r: int
    d: int


@compiled(inline=True)
def direction(duals: Duals, first: int, up: int, down: int) -> Direction:
    """Return the direction that raises the up-th and lowers the down-th β; -1 stands for none."""
    a, b = first + max(up, 0), first + max(down, 0)
    raised = duals.delta[a] if up >= 0 else 0.0
    lowered = duals.delta[b] if down >= 0 else 0.0
    return Direction(raised, duals.own[a], duals.other[a], lowered, duals.own[b], duals.other[b])


@compiled(inline=True)
def rise(attributes: Attributes, along: Direction, k: int) -> float:
    """Return <v, Λ(k)>: how fast f(x, k) rises along a direction, per unit of k(x_i, x)."""
    raised = product(attributes, along.y, k) - product(attributes, along.c, k)
    lowered = product(attributes, along.r, k) - product(attributes, along.d, k)
    return along.up * raised - along.down * lowered


@compiled(inline=True)
def curvature_along(attributes: Attributes, along: Direction) -> float:
    """Return ||v||², the second derivative of ½ ||w||² / k(x_i, x_i)."""
    raised = rise(attributes, along, along.y) - rise(attributes, along, along.c)
    lowered = rise(attributes, along, along.r) - rise(attributes, along, along.d)
    return along.up * raised - along.down * lowered


@compiled(inline=True)
def follow(
    attributes: Attributes, i: int, along: Direction, length: float, duals: Duals, G: Floats
) -> None:
    """Update the gradients of item i's active pairs after a step times k(x_i, x_i)."""
    first, y, own = duals.start[i], -1, 0.0
    for a in range(first, first + duals.size[i]):
        if duals.own[a] != y:
            y = duals.own[a]
            own = rise(attributes, along, y)
        G[a - first] -= length * duals.delta[a] * (own - rise(attributes, along, duals.other[a]))


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
        along = direction(duals, first, up, down)
        curvature = norm * curvature_along(attributes, along)
        length = min(most, slope / curvature) if curvature > 0.0 else most
        if length == np.inf:
            break
        gain += length * (slope - 0.5 * length * curvature)
        follow(attributes, i, along, length * norm, duals, G)
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
    part: float,
) -> tuple[float, float]:
    """Solve one item's QP over its active pairs; return ψ_i within them, and the dual gain.

    ψ_i is then at most half of ``tol``, or the given part of what it was.
    """
    m, first, cost = duals.size[i], duals.start[i], problem.costs[i]
    free, is_cube = unused(duals, i, cost), problem.slack_per_pair
    violation = best_step(first, m, cost, is_cube, free, duals.beta, scratch.G)[2]
    if violation <= tol:
        return violation, 0.0
    for a in range(m):
        scratch.before[a] = duals.beta[first + a]
    gain = ascend(problem, i, duals, scratch, max(0.5 * tol, part * violation))
    write_change(problem.attributes, i, duals, scratch)
    return violation, gain
