"""Loops of the maximum-margin Markov tree that pass over items and solve one after another.

Notation (see ``taxonomist.solvers.markov_problem``): i item, j node, a and b states of a parent and
its child, y a labelling, z a column of the weights ``W`` (features x codes; in dual form the
coefficients of the kernel expansion, items x codes). The gradient of the dual at α_iy is
G_iy = ℓ(y_i, y) - <w, φ(x_i, y_i) - φ(x_i, y)> [RSSS06, Eq. 2]. The true labelling has G = 0; it is
not stored, and has what the others leave of C_i.
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Codes, Floats, Reals
from taxonomist.compiled.active_labellings import add_codes, add_labelling, gradient, make_place
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.graph_arrays import MarkovGraph, dag_of
from taxonomist.compiled.graph_search import add_graph_labelling
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.labelling_qp import FULL, ascend, give_all
from taxonomist.compiled.labelling_search import (
    bound_of,
    loss_found,
    mark_truth,
    worst_gradient,
)
from taxonomist.compiled.markov_arrays import (
    EVERYWHERE,
    ActiveLabellings,
    MarkovArrays,
    MarkovScratch,
    Tree,
)
from taxonomist.compiled.rows import score_row_by_threes

MOST_TURNS = 4
"""Labellings that one visit to an item adds: more would save sweeps, but not time
(Reuters-21578)."""
ENTERS = 0.1
"""A labelling is added if its G exceeds that of all others by this part of the tolerance."""
MOST_REST, RESTFUL = 5, 30.0
"""An item whose violation is at most ``RESTFUL`` times the tolerance is skipped in up to
``MOST_REST`` sweeps. With 1 instead of 30, fits take half as long again (Reuters-21578), with 10 a
tenth."""

MOST_SCALINGS = 100
NEARLY = 1e-6
"""The factor that a hard margin needs is known if the next one is larger by this part at most."""


@compiled(inline=True)
def codes_of(graph: MarkovGraph | None, tree: Tree, j: int) -> tuple[int, int]:
    """Return the first column of W that belongs to node j, and the one after the last."""
    if graph is None:
        to = tree.stride * (j - tree.first)
        return to, to + tree.stride
    else:  # noqa: RET505  numba leaves out a branch, not what follows it
        if graph.stride == 1:
            return j, j + 1
        indptr = dag_of(graph).indptr
        return 4 * indptr[j], 4 * indptr[j + 1]


@compiled(inline=True)
def most_codes(graph: MarkovGraph | None, scratch: MarkovScratch) -> int:
    """Return how many codes a labelling can differ from the truth by."""
    if graph is None:
        return 2 * len(scratch.truth)
    else:  # noqa: RET505  numba leaves out a branch, not what follows it
        return 2 * len(dag_of(graph).upper) + 2


@compiled(inline=True)
def store_labelling(
    graph: MarkovGraph | None,
    tree: Tree,
    labellings: ActiveLabellings,
    i: int,
    scratch: MarkovScratch,
) -> None:
    """Store the labelling found as one of item i; ``make_place`` must come first."""
    if graph is None:
        add_labelling(tree, labellings, i, scratch)
    else:
        add_graph_labelling(graph, labellings, i, scratch)


@compiled(copied=True)
def write_norms(problem: MarkovArrays, i: int, norm: Floats) -> None:
    """Write k(x_i, x_i) for every code; local features count only at their own nodes."""
    norm[:] = problem.norms[i]
    if len(problem.owner) == 0:
        return
    rows, row = problem.rows, problem.row_of[i]
    begin = rows.indptr[row]
    for k in range(begin, rows.indptr[row + 1]):
        j = problem.owner[k - begin if len(rows.indices) == 0 else rows.indices[k]]
        if j >= 0:
            first, last = codes_of(problem.graph, problem.tree, j)
            for z in range(first, last):
                norm[z] += np.float64(rows.data[k]) ** 2


@compiled("contract", inline=True)
def add_row(problem: MarkovArrays, i: int, W: Reals, n_used: int, scratch: MarkovScratch) -> None:
    """Add x_i times the change to the weights, for local features only at their own nodes."""
    rows, row = problem.rows, problem.row_of[i]
    begin, is_dense = rows.indptr[row], len(rows.indices) == 0
    for k in range(begin, rows.indptr[row + 1]):
        f, x = k - begin if is_dense else rows.indices[k], rows.data[k]
        owner = problem.owner[f] if len(problem.owner) > 0 else EVERYWHERE
        if owner == EVERYWHERE:
            for q in range(n_used):
                W[f, scratch.used[q]] += x * scratch.change[scratch.used[q]]
        elif owner >= 0:
            first, last = codes_of(problem.graph, problem.tree, owner)
            for z in range(first, last):
                W[f, z] += x * scratch.change[z]


@compiled("contract")
def apply_change(problem: MarkovArrays, i: int, W: Reals, scratch: MarkovScratch) -> None:
    """Add the change to the weights, and clear it."""
    n_used = 0
    for z in range(len(scratch.change)):
        if scratch.change[z] != 0.0:
            scratch.used[n_used] = z
            n_used += 1
    if problem.dual_form:
        for q in range(n_used):
            W[i, scratch.used[q]] += scratch.change[scratch.used[q]]
    else:
        add_row(problem, i, W, n_used, scratch)
    for q in range(n_used):
        scratch.change[scratch.used[q]] = 0.0


@compiled(inline=True)
def next_factor(
    problem: MarkovArrays, factor: float, worst: float, scratch: MarkovScratch
) -> float:
    """Return the factor of the weights that gives the labelling found the margin it needs.

    ``worst`` is its G where the weights are multiplied by ``factor`` already, that is its loss less
    its margin. No factor is enough if the margin is not positive. The truth has no loss, and a G
    that rounding alone makes positive: then no other labelling lacks more than that.
    """
    loss = loss_found(problem.tree, scratch)
    if not (worst > 0.0 and loss > 0.0):
        return factor
    return factor * loss / (loss - worst) if loss > worst else np.inf


@compiled(copied=True)
def look(
    problem: MarkovArrays,
    i: int,
    W: Reals,
    labellings: ActiveLabellings,
    scratch: MarkovScratch,
    findings: Findings,
) -> float:
    """Score item i, find its worst labelling, and write the findings about the item.

    Return by how much the G of that labelling exceeds the largest G of the active ones. With a hard
    margin, the slack is the factor by which the weights must be multiplied for that labelling to
    keep its margin.
    """
    mark_truth(problem.labels, i, scratch.truth, 1)
    score_row_by_threes(problem.rows, problem.row_of[i], W, scratch.score)
    worst = worst_gradient(problem, scratch)
    highest = -np.inf if problem.is_signed else 0.0
    lowest, used, linear, inner = np.inf, 0.0, 0.0, 0.0
    for c in range(labellings.start[i], labellings.start[i] + labellings.size[i]):
        g, alpha = gradient(labellings, c, scratch.score), labellings.alpha[c]
        highest = max(highest, g)
        if alpha > 0.0:
            lowest = min(lowest, g)
            used += alpha
            linear += alpha * labellings.loss[c]
            inner += alpha * g
    if not problem.is_signed and used < problem.costs[i] * (1.0 - FULL):
        lowest = min(lowest, 0.0)
    bound = bound_of(scratch.search, worst)
    findings.slack[i] = bound if problem.is_signed else max(bound, 0.0)
    if problem.costs[i] == np.inf:
        findings.slack[i] = next_factor(problem, 1.0, worst, scratch)
    findings.violation[i] = max(bound, highest) - lowest
    findings.linear[i] = linear
    findings.quadratic[i] = linear - inner
    return worst - highest


@compiled(copied=True)
def hard_factor(problem: MarkovArrays, factor: float, scratch: MarkovScratch) -> float:
    """Return the least factor of the weights that gives all labellings of an item their margins.

    It is the largest ratio of loss to margin, by Dinkelbach's method: multiply the scores by the
    ratio of the worst labelling until no labelling is worse. Scores are multiplied in place.
    """
    known = 1.0
    for _ in range(MOST_SCALINGS):
        if factor == known or factor == np.inf:
            return factor
        for z in range(len(scratch.score)):
            scratch.score[z] *= factor / known
        known = factor
        factor = next_factor(problem, known, worst_gradient(problem, scratch), scratch)
        if factor <= known * (1.0 + NEARLY):
            return factor
    return np.inf


@compiled(copied=True)
def look_again(
    problem: MarkovArrays, i: int, labellings: ActiveLabellings, scratch: MarkovScratch
) -> float:
    """Find the worst labelling of item i at its present scores; return the same as ``look``."""
    worst = worst_gradient(problem, scratch)
    highest = -np.inf if problem.is_signed else 0.0
    for c in range(labellings.start[i], labellings.start[i] + labellings.size[i]):
        highest = max(highest, gradient(labellings, c, scratch.score))
    return worst - highest


@compiled(copied=True)
def visit(
    problem: MarkovArrays,
    i: int,
    W: Reals,
    labellings: ActiveLabellings,
    end: Codes,
    scratch: MarkovScratch,
    findings: Findings,
    tol: float,
) -> float:
    """Solve item i and return the gain; ``make_place`` must come first."""
    beats = look(problem, i, W, labellings, scratch, findings)
    write_norms(problem, i, scratch.norm)
    gain, n_codes = 0.0, most_codes(problem.graph, scratch)
    for turn in range(MOST_TURNS):
        if beats > ENTERS * tol:
            store_labelling(problem.graph, problem.tree, labellings, i, scratch)
        if (
            problem.is_signed
            and labellings.alpha[labellings.start[i]] == 0.0
            and labellings.size[i] == 1
        ):
            gain += give_all(problem, i, labellings, scratch)
        gain += ascend(problem, i, labellings, scratch, tol)
        if turn + 1 == MOST_TURNS or not make_place(labellings, i, n_codes, end):
            break
        beats = look_again(problem, i, labellings, scratch)
        if not beats > tol:
            break
    apply_change(problem, i, W, scratch)
    mark_truth(problem.labels, i, scratch.truth, 0)
    return gain


@compiled()
def sweep(
    group: Codes,
    begin: int,
    problem: MarkovArrays,
    W: Reals,
    labellings: ActiveLabellings,
    end: Codes,
    scratch: MarkovScratch,
    findings: Findings,
    tol: float,
    rest: Codes,
    calm: Codes,
) -> tuple[int, float]:
    """Solve items from ``begin`` on; return where there was no more room, and the gain.

    Items with small violations are skipped: ``rest`` is the number of sweeps in which an item is
    still skipped, ``calm`` how often in a row its violation was small.
    """
    gain, n_codes = 0.0, most_codes(problem.graph, scratch)
    for at in range(begin, len(group)):
        i = group[at]
        if rest[i] > 0:
            rest[i] -= 1
            continue
        has_room = labellings.size[i] + MOST_TURNS <= len(scratch.G)
        if not has_room or not make_place(labellings, i, n_codes, end):
            return at, gain
        gain += visit(problem, i, W, labellings, end, scratch, findings, tol)
        calm[i] = calm[i] + 1 if findings.violation[i] <= RESTFUL * tol else 0
        rest[i] = min(calm[i], MOST_REST)
    return len(group), gain


@compiled()
def inspect(
    group: Codes,
    problem: MarkovArrays,
    W: Reals,
    labellings: ActiveLabellings,
    scratch: MarkovScratch,
    findings: Findings,
) -> None:
    """Write the findings about items at fixed weights, from which a certificate follows."""
    for i in group:
        look(problem, i, W, labellings, scratch, findings)
        if problem.costs[i] == np.inf:
            findings.slack[i] = hard_factor(problem, findings.slack[i], scratch)
        mark_truth(problem.labels, i, scratch.truth, 0)


@compiled()
def add_up(
    group: Codes,
    problem: MarkovArrays,
    W: Reals,
    labellings: ActiveLabellings,
    scratch: MarkovScratch,
) -> None:
    """Add Σ_y α_iy (φ(x_i, y_i) - φ(x_i, y)) of items to the weights."""
    for i in group:
        for c in range(labellings.start[i], labellings.start[i] + labellings.size[i]):
            add_codes(labellings, c, -labellings.alpha[c], scratch.change)
        apply_change(problem, i, W, scratch)
