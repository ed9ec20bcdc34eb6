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


class Step(NamedTuple):
    """A direction in which one β rises and another falls; Δ is 0 in place of one that does not."""

    up_own: int
    up_other: int
    up_delta: float
    down_own: int
    down_other: int
    down_delta: float


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
def along(attributes: Attributes, c: int, step: Step) -> float:
    """Return f(x, c) / k(x, x) of the weights that are added as one β rises and another falls."""
    up = product(attributes, c, step.up_own) - product(attributes, c, step.up_other)
    down = product(attributes, c, step.down_own) - product(attributes, c, step.down_other)
    return step.up_delta * up - step.down_delta * down


@compiled(inline=True)
def make_step(first: int, up: int, down: int, duals: Duals) -> Step:
    """Return the step that raises one β and lowers another; -1 stands for none."""
    a, b = first + max(up, 0), first + max(down, 0)
    return Step(
        duals.own[a],
        duals.other[a],
        duals.delta[a] if up >= 0 else 0.0,
        duals.own[b],
        duals.other[b],
        duals.delta[b] if down >= 0 else 0.0,
    )


@compiled(inline=True)
def follow(
    attributes: Attributes, first: int, m: int, step: Step, length: float, duals: Duals, G: Floats
) -> None:
    """Update the gradients of the active pairs after a step."""
    y = -1
    own = 0.0
    for a in range(first, first + m):
        if duals.own[a] != y:
            y = duals.own[a]
            own = along(attributes, y, step)
        G[a - first] -= length * duals.delta[a] * (own - along(attributes, duals.other[a], step))


@compiled(inline=True)
def curvature_along(attributes: Attributes, step: Step) -> float:
    """Return the second derivative of ½ ||w||² / k(x, x) as one β rises and another falls."""
    up = along(attributes, step.up_own, step) - along(attributes, step.up_other, step)
    down = along(attributes, step.down_own, step) - along(attributes, step.down_other, step)
    return step.up_delta * up - step.down_delta * down


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
        step = make_step(first, up, down, duals)
        curvature = norm * curvature_along(attributes, step)
        length = min(most, slope / curvature) if curvature > 0.0 else most
        if length == np.inf:
            break
        gain += length * (slope - 0.5 * length * curvature)
        follow(attributes, first, m, step, length * norm, duals, G)
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
