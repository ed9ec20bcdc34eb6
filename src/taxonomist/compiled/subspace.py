"""Loops of conditional gradient ascent in the space of one item's marginals.

Notation (see ``taxonomist.solvers.subspace``): j node and, for all but the root, the edge above it,
whose four labellings u = 2 y_pa(j) + y_j have the codes 4 (j - 1) + u; μ marginals ``mu``; g
``Slope.gradient``; μ* ``Slope.target``. The room of ``taxonomist.compiled.markov`` is used:
``state`` is the labelling found, ``step`` how the scores of an item's codes change along
μ* - μ_i in units of k(x_i, x_i), ``change`` the sum of all such changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Floats
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.markov_arrays import Found, Space, Tree


class Slope(NamedTuple):
    """An item's part of the dual problem, and where to go."""

    loss: Floats  # (n_codes,)  ℓ_i
    gradient: Floats  # (n_codes,)  g_i = ℓ_i - K_i μ
    target: Floats  # (n_codes,)  μ*, a point of the marginal polytope


def make_slope(n_codes: int) -> Slope:
    """Return room for one item."""
    return Slope(*np.zeros((3, n_codes)))


@compiled()
def begin(tree: Tree, space: Space, slope: Slope) -> None:
    """Write the losses and the gradient of an item whose truth and scores are known.

    The gradient of code (e, u) is ℓ_e(u) - <w_e, φ_e(x_i, y_i) - φ_e(x_i, u)>, 0 at the truth.
    """
    for j in range(1, len(tree.parent)):
        true = 2 * space.truth[tree.parent[j]] + space.truth[j]
        first = 4 * (j - 1)
        for u in range(4):
            loss = tree.loss[true, j, u // 2, u % 2]
            slope.loss[first + u] = loss
            slope.gradient[first + u] = loss + space.score[first + u] - space.score[first + true]


# Update directions ----------------------------------------------------------------------------


@compiled(inline=True)
def find_best(tree: Tree, space: Space, g: Floats) -> float:
    """Find the labelling of the largest sum of g over its edges; return that [RSSS06, Sec. 3.4].

    ``value[j, b]`` is S_b(j), the best sum below node j if its label is b.
    """
    value, state = space.value, space.state
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
def sum_with_mistake(space: Space, g: Floats, j: int, z: int, label: int) -> float:
    """Return the best sum on the edge with codes from z on, and below, with some wrong label."""
    total: float = g[z + label] + space.value[j, label]
    return total if label != space.truth[j] else total + space.extra[j, label]


@compiled(inline=True)
def find_best_mistake(tree: Tree, space: Space, g: Floats) -> float:
    """Find the labelling of the largest sum of g other than the truth, after ``find_best``.

    ``extra[j, b]`` is what a wrong label somewhere below node j costs at the least, and
    ``where[j, b]`` the child at or below which it is; ``differs[j]`` says that one is still due
    below node j.
    """
    space.extra[:, :] = -np.inf
    for j in range(len(tree.parent) - 1, 0, -1):
        p = tree.parent[j]
        for a in range(2):
            z = 4 * (j - 1) + 2 * a
            best = max(g[z] + space.value[j, 0], g[z + 1] + space.value[j, 1])
            off = sum_with_mistake(space, g, j, z, 0)
            on = sum_with_mistake(space, g, j, z, 1)
            if max(off, on) - best > space.extra[p, a]:
                space.extra[p, a], space.where[p, a] = max(off, on) - best, j
    true = space.truth[0]
    right: float = space.value[0, true] + space.extra[0, true]
    wrong: float = space.value[0, 1 - true]
    space.differs[0] = right >= wrong
    space.state[0] = true if right >= wrong else 1 - true
    for j in range(1, len(tree.parent)):
        p = tree.parent[j]
        a = space.state[p]
        z = 4 * (j - 1) + 2 * a
        off, on = g[z] + space.value[j, 0], g[z + 1] + space.value[j, 1]
        is_due = space.differs[p] and space.where[p, a] == j
        if is_due:
            off = sum_with_mistake(space, g, j, z, 0)
            on = sum_with_mistake(space, g, j, z, 1)
        space.state[j] = 1 if on > off else 0
        space.differs[j] = is_due and space.state[j] == space.truth[j]
    return max(right, wrong)


@compiled(inline=True)
def find_worst(tree: Tree, is_signed: bool, space: Space, g: Floats) -> float:
    """Find the labelling of the largest G that an item has to beat; return that."""
    worst = find_best(tree, space, g)
    return find_best_mistake(tree, space, g) if is_signed else worst


@compiled()
def aim(tree: Tree, cost: float, is_signed: bool, space: Space, slope: Slope) -> None:
    """Write the vertex of the marginal polytope with the largest <g, μ*> [RSSS06, Eq. 12].

    It is 0, as good as the truth, if no labelling is better; not so with signed slacks.
    """
    worst = find_worst(tree, is_signed, space, slope.gradient)
    slope.target[:] = 0.0
    if is_signed or worst > 0.0:
        for j in range(1, len(tree.parent)):
            u = 2 * space.state[tree.parent[j]] + space.state[j]
            slope.target[4 * (j - 1) + u] = cost


# Steps ----------------------------------------------------------------------------------------


@compiled(inline=True)
def measure(tree: Tree, i: int, mu: Floats, space: Space, slope: Slope) -> tuple[float, float]:
    """Write the direction to the target; return the dual's slope and curvature along it.

    Turning weight d of the edge's labelling u on moves the score of u by -d, and that of the truth
    by as much as the sum of all d, times k(x_i, x_i): K_ii is never formed [RSSS06, Sec. 3.5].
    """
    rise, curvature = 0.0, 0.0
    for j in range(1, len(tree.parent)):
        first = 4 * (j - 1)
        total = 0.0
        for z in range(first, first + 4):
            d = slope.target[z] - mu[i, z]
            space.step[z] = -d
            total += d
            if d != 0.0:  # where the gradient is -inf, d is 0
                rise += slope.gradient[z] * d
        space.step[first + 2 * space.truth[tree.parent[j]] + space.truth[j]] += total
        for z in range(first, first + 4):
            curvature += space.norm[z] * space.step[z] ** 2
    return rise, curvature


@compiled(inline=True)
def go(tree: Tree, i: int, length: float, mu: Floats, space: Space, slope: Slope) -> None:
    """Go that part of the way to the target; the gradient follows."""
    for j in range(1, len(tree.parent)):
        first = 4 * (j - 1)
        true = first + 2 * space.truth[tree.parent[j]] + space.truth[j]
        own = space.norm[true] * space.step[true]
        for z in range(first, first + 4):
            mu[i, z] = (1.0 - length) * mu[i, z] + length * slope.target[z]
            space.change[z] += length * space.step[z]
            slope.gradient[z] += length * (space.norm[z] * space.step[z] - own)


@compiled()
def settle(tree: Tree, i: int, mu: Floats, space: Space, slope: Slope) -> None:
    """Go all the way to the target, up or down."""
    measure(tree, i, mu, space, slope)
    go(tree, i, 1.0, mu, space, slope)


@compiled()
def climb(tree: Tree, i: int, mu: Floats, space: Space, slope: Slope) -> float:
    """Go towards the target as far as the dual rises; return by how much [RSSS06, Eq. 10]."""
    rise, curvature = measure(tree, i, mu, space, slope)
    if not rise > 0.0:
        return 0.0
    length = min(rise / curvature, 1.0) if curvature > 0.0 else 1.0
    go(tree, i, length, mu, space, slope)
    return length * (rise - 0.5 * length * curvature)


@compiled()
def ascend(
    tree: Tree,
    i: int,
    limit: int,
    cost: float,
    is_signed: bool,
    mu: Floats,
    space: Space,
    slope: Slope,
) -> float:
    """Climb towards vertex after vertex, at most so often; return the gain [RSSS06, Alg. 2]."""
    gain = 0.0
    for _ in range(limit):
        aim(tree, cost, is_signed, space, slope)
        more = climb(tree, i, mu, space, slope)
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
    space: Space,
    slope: Slope,
    found: Found,
) -> None:
    """Write the slack, the violation and the parts of the dual of an item.

    The violation is the largest G less the mean G, weighted by the dual variables, the truth's
    included.
    """
    worst = find_worst(tree, is_signed, space, slope.gradient)
    linear, inner = 0.0, 0.0
    for z in range(len(slope.loss)):
        if mu[i, z] > 0.0:
            linear += mu[i, z] * slope.loss[z]
            inner += mu[i, z] * slope.gradient[z]
    found.slack[i] = worst
    found.violation[i] = worst - inner / cost if cost > 0.0 else 0.0
    found.linear[i] = linear
    found.quadratic[i] = linear - inner
