"""Loops of conditional gradient ascent in the space of one item's marginals.

Notation (see ``taxonomist.solvers.subspace``): j node and, for all but the root, the edge above it,
whose four labellings u = 2 y_pa(j) + y_j have the codes 4 (j - 1) + u; μ marginals ``mu``; g
``Slope.gradient``; μ* ``Slope.target``. The work arrays are ``MarkovScratch``:
``state`` is the labelling found, ``step`` how the scores of an item's codes change along
μ* - μ_i in units of k(x_i, x_i), ``change`` the sum of all such changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Floats
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.markov_arrays import MarkovScratch, Tree


class Slope(NamedTuple):
    """An item's part of the dual problem, and the point that a step goes towards."""

    loss: Floats  # (n_codes,)  ℓ_i
    gradient: Floats  # (n_codes,)  g_i = ℓ_i - K_i μ
    target: Floats  # (n_codes,)  μ*, a point of the marginal polytope


def make_slope(n_codes: int) -> Slope:
    """Return work arrays for one item."""
    return Slope(*np.zeros((3, n_codes)))


@compiled()
def begin(tree: Tree, scratch: MarkovScratch, slope: Slope) -> None:
    """Write the losses and the gradient of an item whose truth and scores are known.

    The gradient of code (e, u) is ℓ_e(u) - <w_e, φ_e(x_i, y_i) - φ_e(x_i, u)>, 0 at the truth.
    """
    for j in range(1, len(tree.parent)):
        true = 2 * scratch.truth[tree.parent[j]] + scratch.truth[j]
        first = 4 * (j - 1)
        for u in range(4):
            loss = tree.loss[true, j, u // 2, u % 2]
            slope.loss[first + u] = loss
            slope.gradient[first + u] = (
                loss + scratch.score[first + u] - scratch.score[first + true]
            )


@compiled(inline=True)
def find_best(tree: Tree, scratch: MarkovScratch, g: Floats) -> float:
    """Find the labelling with the largest sum of g over its edges; return it [RSSS06, Sec. 3.4].

    ``value[j, b]`` is S_b(j), the best sum below node j if its label is b.
    """
    value, state = scratch.value, scratch.state
    value[:, :] = 0.0
    for j in range(len(tree.parent) - 1, 0, -1):
        for a in range(2):
            z = 4 * (j - 1) + 2 * a
            value[tree.parent[j], a] += max(g[z] + value[j, 0], g[z + 1] + value[j, 1])
    state[0] = 1 if value[0, 1] > value[0, 0] else 0
    for j in range(1, len(tree.parent)):
        z = 4 * (j - 1) + 2 * state[tree.parent[j]]
        state[j] = 1 if g[z + 1] + value[j, 1] > g[z] + value[j, 0] else 0
    best: float = value[0, state[0]]
    return best


@compiled(inline=True)
def sum_with_mistake(scratch: MarkovScratch, g: Floats, j: int, z: int, label: int) -> float:
    """Return the best sum on the edge with codes from z on, and below, with some wrong label."""
    total: float = g[z + label] + scratch.value[j, label]
    return total if label != scratch.truth[j] else total + scratch.extra[j, label]


@compiled(inline=True)
def find_best_mistake(tree: Tree, scratch: MarkovScratch, g: Floats) -> float:
    """Find the labelling other than the truth with the largest sum of g; ``find_best`` comes first.

    ``extra[j, b]`` is how much less the best sum with a wrong label below node j is, and
    ``where[j, b]`` the child at or below which that label is; ``differs[j]`` says whether a label
    below node j must still be wrong.
    """
    scratch.extra[:, :] = -np.inf
    for j in range(len(tree.parent) - 1, 0, -1):
        p = tree.parent[j]
        for a in range(2):
            z = 4 * (j - 1) + 2 * a
            best = max(g[z] + scratch.value[j, 0], g[z + 1] + scratch.value[j, 1])
            off = sum_with_mistake(scratch, g, j, z, 0)
            on = sum_with_mistake(scratch, g, j, z, 1)
            if max(off, on) - best > scratch.extra[p, a]:
                scratch.extra[p, a], scratch.where[p, a] = max(off, on) - best, j
    true = scratch.truth[0]
    right: float = scratch.value[0, true] + scratch.extra[0, true]
    wrong: float = scratch.value[0, 1 - true]
    scratch.differs[0] = right >= wrong
    scratch.state[0] = true if right >= wrong else 1 - true
    for j in range(1, len(tree.parent)):
        p = tree.parent[j]
        a = scratch.state[p]
        z = 4 * (j - 1) + 2 * a
        off, on = g[z] + scratch.value[j, 0], g[z + 1] + scratch.value[j, 1]
        is_due = scratch.differs[p] and scratch.where[p, a] == j
        if is_due:
            off = sum_with_mistake(scratch, g, j, z, 0)
            on = sum_with_mistake(scratch, g, j, z, 1)
        scratch.state[j] = 1 if on > off else 0
        scratch.differs[j] = is_due and scratch.state[j] == scratch.truth[j]
    return max(right, wrong)


@compiled(inline=True)
def find_worst(tree: Tree, is_signed: bool, scratch: MarkovScratch, g: Floats) -> float:
    """Find the labelling with the largest G of those in the item's constraints; return that G."""
    worst = find_best(tree, scratch, g)
    return find_best_mistake(tree, scratch, g) if is_signed else worst


@compiled()
def aim(tree: Tree, cost: float, is_signed: bool, scratch: MarkovScratch, slope: Slope) -> None:
    """Write the vertex of the marginal polytope with the largest <g, μ*> [RSSS06, Eq. 12].

    Unless slacks are signed, it is 0, which is as good as the truth, if no labelling has G > 0.
    """
    worst = find_worst(tree, is_signed, scratch, slope.gradient)
    slope.target[:] = 0.0
    if is_signed or worst > 0.0:
        for j in range(1, len(tree.parent)):
            u = 2 * scratch.state[tree.parent[j]] + scratch.state[j]
            slope.target[4 * (j - 1) + u] = cost


@compiled(inline=True)
def measure(
    tree: Tree, i: int, mu: Floats, scratch: MarkovScratch, slope: Slope
) -> tuple[float, float]:
    """Write the direction to the target; return the dual's slope and curvature along it.

    Adding d to the marginal of an edge's labelling u changes the score of u by -d k(x_i, x_i), and
    that of the true labelling by d k(x_i, x_i), so K_ii is never formed [RSSS06, Sec. 3.5].
    """
    rise, curvature = 0.0, 0.0
    for j in range(1, len(tree.parent)):
        first = 4 * (j - 1)
        total = 0.0
        for z in range(first, first + 4):
            d = slope.target[z] - mu[i, z]
            scratch.step[z] = -d
            total += d
            if d != 0.0:  # where the gradient is -inf, d is 0
                rise += slope.gradient[z] * d
        scratch.step[first + 2 * scratch.truth[tree.parent[j]] + scratch.truth[j]] += total
        for z in range(first, first + 4):
            curvature += scratch.norm[z] * scratch.step[z] ** 2
    return rise, curvature


@compiled(inline=True)
def go(tree: Tree, i: int, length: float, mu: Floats, scratch: MarkovScratch, slope: Slope) -> None:
    """Take a step to the target of this relative length, and update the gradient."""
    for j in range(1, len(tree.parent)):
        first = 4 * (j - 1)
        true = first + 2 * scratch.truth[tree.parent[j]] + scratch.truth[j]
        own = scratch.norm[true] * scratch.step[true]
        for z in range(first, first + 4):
            mu[i, z] = (1.0 - length) * mu[i, z] + length * slope.target[z]
            scratch.change[z] += length * scratch.step[z]
            slope.gradient[z] += length * (scratch.norm[z] * scratch.step[z] - own)


@compiled()
def settle(tree: Tree, i: int, mu: Floats, scratch: MarkovScratch, slope: Slope) -> None:
    """Step all the way to the target, whether the dual rises or not."""
    measure(tree, i, mu, scratch, slope)
    go(tree, i, 1.0, mu, scratch, slope)


@compiled()
def climb(tree: Tree, i: int, mu: Floats, scratch: MarkovScratch, slope: Slope) -> float:
    """Take the best step towards the target; return the gain of the dual [RSSS06, Eq. 10]."""
    rise, curvature = measure(tree, i, mu, scratch, slope)
    if not rise > 0.0:
        return 0.0
    length = min(rise / curvature, 1.0) if curvature > 0.0 else 1.0
    go(tree, i, length, mu, scratch, slope)
    return length * (rise - 0.5 * length * curvature)


@compiled()
def ascend(
    tree: Tree,
    i: int,
    limit: int,
    cost: float,
    is_signed: bool,
    mu: Floats,
    scratch: MarkovScratch,
    slope: Slope,
) -> float:
    """Take up to ``limit`` steps, each towards a new vertex; return the gain [RSSS06, Alg. 2]."""
    gain = 0.0
    for _ in range(limit):
        aim(tree, cost, is_signed, scratch, slope)
        more = climb(tree, i, mu, scratch, slope)
        gain += more
        if not more > 0.0:
            break
    return gain


@compiled()
def look(
    tree: Tree,
    i: int,
    cost: float,
    is_signed: bool,
    mu: Floats,
    scratch: MarkovScratch,
    slope: Slope,
    findings: Findings,
) -> None:
    """Write the slack, the violation and the parts of the dual of an item.

    The violation is the largest G less the mean G, weighted by the dual variables, the truth's
    included.
    """
    worst = find_worst(tree, is_signed, scratch, slope.gradient)
    linear, inner = 0.0, 0.0
    for z in range(len(slope.loss)):
        if mu[i, z] > 0.0:
            linear += mu[i, z] * slope.loss[z]
            inner += mu[i, z] * slope.gradient[z]
    findings.slack[i] = worst
    findings.violation[i] = worst - inner / cost if cost > 0.0 else 0.0
    findings.linear[i] = linear
    findings.quadratic[i] = linear - inner
