"""Loops of conditional gradient ascent in one item's marginals of partial paths, or on a DAG.

Notation (see ``taxonomist.solvers.subspace``): z a code, that of a path or of an edge's labelling;
μ_z ``mu`` is the weight of the labellings that use it, m ``mass`` that of all labellings but the
truth, and L ``linear`` the sum of their weights times their losses. The loss of a labelling does
not follow from its paths if it is not consistent, nor from its edges if a node is charged only
where all its parents are right. So L is kept beside μ instead of computed from it: all three are
sums over labellings, and a step moves them together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Floats, Integers
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.graph_arrays import MarkovGraph
from taxonomist.compiled.graph_search import graph_loss, write_graph_codes
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.labelling_search import bound_of, code_at, loss_found, worst_gradient
from taxonomist.compiled.markov_arrays import MarkovArrays, MarkovScratch, Tree


class CodePoint(NamedTuple):
    """The marginals of all items, and the point that a step of one item goes towards."""

    mu: Floats  # (n_items, n_codes)
    mass: Floats  # (n_items,)
    linear: Floats  # (n_items,)
    true: Floats  # (n_codes,)  1 for the codes of the truth
    target: Floats  # (n_codes,)  μ*
    totals: Floats  # (2,)  m* and L*


def make_code_point(n_items: int, n_codes: int) -> CodePoint:
    """Return marginals that are all 0, and work arrays for one item."""
    return CodePoint(
        mu=np.zeros((n_items, n_codes)),
        mass=np.zeros(n_items),
        linear=np.zeros(n_items),
        true=np.zeros(n_codes),
        target=np.zeros(n_codes),
        totals=np.zeros(2),
    )


@compiled(inner=True)
def write_codes(
    graph: MarkovGraph | None, tree: Tree, state: Integers, amount: float, out: Floats
) -> None:
    """Write an amount for each code that a labelling uses, and 0 for the others."""
    out[:] = 0.0
    if graph is None:
        for j in range(len(tree.parent)):
            z = code_at(tree, j, state[tree.parent[j]], min(state[j], 1))
            if z >= 0:
                out[z] = amount
    else:
        write_graph_codes(graph, state, amount, out)


@compiled(inner=True)
def loss_of(graph: MarkovGraph | None, tree: Tree, scratch: MarkovScratch) -> float:
    """Return the loss of the labelling in ``scratch.state``."""
    if graph is None:
        return loss_found(tree, scratch)
    else:  # noqa: RET505  numba leaves out a branch, not what follows it
        return graph_loss(graph, scratch.truth, scratch.state)


@compiled()
def begin(problem: MarkovArrays, scratch: MarkovScratch, point: CodePoint) -> None:
    """Write the codes of the truth of an item."""
    write_codes(problem.graph, problem.tree, scratch.truth, 1.0, point.true)


@compiled()
def aim(problem: MarkovArrays, i: int, scratch: MarkovScratch, point: CodePoint) -> None:
    """Write the labelling with the largest G, times C_i, as the target [RSSS06, Sec. 4].

    Unless slacks are signed, the target is 0 if no labelling has G > 0.
    """
    graph, tree, cost = problem.graph, problem.tree, problem.costs[i]
    worst = worst_gradient(problem, scratch)
    point.target[:] = 0.0
    point.totals[:] = 0.0
    if problem.is_signed or worst > 0.0:
        write_codes(graph, tree, scratch.state, cost, point.target)
        point.totals[0], point.totals[1] = cost, cost * loss_of(graph, tree, scratch)


@compiled(inline=True)
def measure(i: int, scratch: MarkovScratch, point: CodePoint) -> tuple[float, float]:
    """Write the direction to the target; return the dual's slope and curvature along it."""
    mass = point.totals[0] - point.mass[i]
    rise, curvature = point.totals[1] - point.linear[i], 0.0
    for z in range(len(point.target)):
        step = point.true[z] * mass - (point.target[z] - point.mu[i, z])
        scratch.step[z] = step
        rise -= step * scratch.score[z]
        curvature += scratch.norm[z] * step * step
    return rise, curvature


@compiled(inline=True)
def go(i: int, length: float, scratch: MarkovScratch, point: CodePoint) -> None:
    """Take a step to the target of this relative length, and update the scores."""
    stay = 1.0 - length
    point.mass[i] = stay * point.mass[i] + length * point.totals[0]
    point.linear[i] = stay * point.linear[i] + length * point.totals[1]
    for z in range(len(point.target)):
        point.mu[i, z] = stay * point.mu[i, z] + length * point.target[z]
        scratch.change[z] += length * scratch.step[z]
        scratch.score[z] += length * scratch.norm[z] * scratch.step[z]


@compiled()
def settle(i: int, scratch: MarkovScratch, point: CodePoint) -> None:
    """Step all the way to the target, whether the dual rises or not."""
    measure(i, scratch, point)
    go(i, 1.0, scratch, point)


@compiled()
def climb(i: int, scratch: MarkovScratch, point: CodePoint) -> float:
    """Take the best step towards the target; return the gain of the dual [RSSS06, Eq. 10]."""
    rise, curvature = measure(i, scratch, point)
    if not rise > 0.0:
        return 0.0
    length = min(rise / curvature, 1.0) if curvature > 0.0 else 1.0
    go(i, length, scratch, point)
    return length * (rise - 0.5 * length * curvature)


@compiled()
def ascend(
    problem: MarkovArrays, i: int, limit: int, scratch: MarkovScratch, point: CodePoint
) -> float:
    """Take up to ``limit`` steps, each towards a new labelling; return the gain."""
    gain = 0.0
    for _ in range(limit):
        aim(problem, i, scratch, point)
        more = climb(i, scratch, point)
        gain += more
        if not more > 0.0:
            break
    return gain


@compiled()
def look(
    problem: MarkovArrays, i: int, scratch: MarkovScratch, point: CodePoint, findings: Findings
) -> None:
    """Write the slack, the violation and the parts of the dual of an item."""
    cost, worst = problem.costs[i], bound_of(scratch.search, worst_gradient(problem, scratch))
    inner = point.linear[i]
    for z in range(len(point.true)):
        inner -= scratch.score[z] * (point.true[z] * point.mass[i] - point.mu[i, z])
    findings.slack[i] = worst if problem.is_signed else max(worst, 0.0)
    findings.violation[i] = findings.slack[i] - inner / cost if cost > 0.0 else 0.0
    findings.linear[i] = point.linear[i]
    findings.quadratic[i] = point.linear[i] - inner
