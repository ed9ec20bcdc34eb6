"""Loops of the maximum-margin Markov tree that maximise the dual in the marginals of edges.

Notation (see ``taxonomist.solvers.edge_marginals``): i item, j node and, for all but the root, the
edge above it, whose four labellings u = 2 y_pa(j) + y_j have the codes z = 4 (j - 1) + u, columns
of the weights ``W``; μ_iz, how much of C_i is at labellings of the tree that label the edge so;
g_iz = ℓ_z - <w_t - w_z, x_i>, the gradient of the dual at μ_iz, with the edge's true code t. The
sum of g over the edges of a labelling y is its G_iy [RSSS06, Eq. 2].
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Codes, Floats, Reals
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.labelling_search import mark_truth
from taxonomist.compiled.marginal_arrays import EdgeMarginals, MarginalScratch
from taxonomist.compiled.markov_arrays import EVERYWHERE, MarkovArrays, Tree
from taxonomist.compiled.rows import score_row_by_threes

NEGLIGIBLE = 1e-12
"""Marginals up to this part of C_i count as zero."""
MOST_TURNS, SETTLED = 8, 0.2
"""Steps at one visit to an item; they end when the violation is ``SETTLED`` times that at first."""
MANY_EDGES = 0.25
"""If a visit changes more than this part of all edges, whole rows of the weights are added to."""
MOST_REST, RESTFUL = 5, 30.0
"""An item whose violation is at most ``RESTFUL`` times the tolerance is skipped in up to
``MOST_REST`` sweeps."""


# Reading and storing an item ------------------------------------------------------------------


@compiled(inline=True)
def read_item(
    problem: MarkovArrays, i: int, W: Reals, marginals: EdgeMarginals, scratch: MarginalScratch
) -> tuple[float, float]:
    """Score item i; write its g and μ; return Σ μ ℓ and Σ μ g."""
    tree, cost = problem.tree, problem.costs[i]
    mark_truth(problem.labels, i, scratch.truth, 1)
    score_row_by_threes(problem.rows, problem.row_of[i], W, scratch.score)
    for j in range(1, len(tree.parent)):
        true = 2 * scratch.truth[tree.parent[j]] + scratch.truth[j]
        scratch.true[j] = true
        z = 4 * (j - 1)
        own = scratch.score[z + true]
        for u in range(4):
            loss = tree.loss[true, j, u >> 1, u & 1]
            scratch.g[z + u] = loss + (scratch.score[z + u] - own)
            scratch.mu[z + u] = 0.0
        scratch.mu[z + true] = cost
    linear, inner = 0.0, 0.0
    for k in range(marginals.start[i], marginals.start[i] + marginals.size[i]):
        z, mass = marginals.codes[k], marginals.mass[k]
        j, u = (z >> 2) + 1, z & 3
        true = scratch.true[j]
        scratch.mu[z] = mass
        scratch.mu[z - u + true] -= mass
        linear += mass * tree.loss[true, j, u >> 1, u & 1]
        inner += mass * scratch.g[z]
    return linear, inner


@compiled(inline=True)
def store_item(
    i: int, cost: float, marginals: EdgeMarginals, end: Codes, s: MarginalScratch
) -> None:
    """Store the marginals of item i, which moves to the end of the tables if it needs more room."""
    n = 0
    for j in range(1, len(s.true)):
        z = 4 * (j - 1)
        if s.mu[z + s.true[j]] == cost:
            continue
        for u in range(4):
            n += u != s.true[j] and s.mu[z + u] > NEGLIGIBLE * cost
    if n > marginals.room[i]:
        marginals.start[i], marginals.room[i] = end[0], n + n // 2
        end[0] += marginals.room[i]
    marginals.size[i] = n
    k = marginals.start[i]
    for j in range(1, len(s.true)):
        z = 4 * (j - 1)
        if s.mu[z + s.true[j]] == cost:
            continue
        for u in range(4):
            if u != s.true[j] and s.mu[z + u] > NEGLIGIBLE * cost:
                marginals.codes[k], marginals.mass[k] = z + u, s.mu[z + u]
                k += 1


@compiled(inline=True)
def write_norms(problem: MarkovArrays, i: int, norm: Floats) -> None:
    """Write k(x_i, x_i) for every node; local features count only at their own nodes."""
    norm[:] = problem.norms[i]
    if len(problem.owner) == 0:
        return
    rows, row = problem.rows, problem.row_of[i]
    begin = rows.indptr[row]
    for k in range(begin, rows.indptr[row + 1]):
        j = problem.owner[k - begin if len(rows.indices) == 0 else rows.indices[k]]
        if j >= 0:
            norm[j] += np.float64(rows.data[k]) ** 2


# Steps ----------------------------------------------------------------------------------------


@compiled(inline=True)
def search(tree: Tree, least: float, s: MarginalScratch) -> tuple[float, float]:
    """Find the largest G, and the smallest of labellings whose marginals exceed ``least``.

    Both by dynamic programming [RSSS06, Sec. 3.4]. All labellings of that kind can have positive
    dual variables.
    """
    s.high[:, :] = 0.0
    s.low[:, :] = 0.0
    for j in range(len(tree.parent) - 1, 0, -1):
        p, z = tree.parent[j], 4 * (j - 1)
        for a in range(0, 4, 2):
            # Values that are chosen from, instead of branches, take a third less time.
            zero, one = s.g[z + a] + s.high[j, 0], s.g[z + a + 1] + s.high[j, 1]
            s.high[p, a >> 1] += zero if zero > one else one
            zero = s.g[z + a] + s.low[j, 0] if s.mu[z + a] > least else np.inf
            one = s.g[z + a + 1] + s.low[j, 1] if s.mu[z + a + 1] > least else np.inf
            s.low[p, a >> 1] += zero if zero < one else one
    s.to[0] = s.high[0, 1] > s.high[0, 0]
    s.off[0] = s.low[0, 1] < s.low[0, 0]
    return s.high[0, s.to[0]], s.low[0, s.off[0]]


@compiled(inline=True)
def begin_part(k: int, s: MarginalScratch) -> None:
    """Clear the sums of a part."""
    s.rise[k], s.bend[k], s.limit[k] = 0.0, 0.0, np.inf


@compiled(inline=True)
def part_labellings(tree: Tree, least: float, s: MarginalScratch) -> tuple[int, int]:
    """Find the connected parts of the tree in which the two labellings of ``search`` differ.

    An edge belongs to the part of the nodes at its ends that differ. Return the numbers of parts
    and of edges in them.
    """
    n_parts = n_moved = 0
    s.part[0] = -1
    if s.to[0] != s.off[0]:
        s.part[0], n_parts = 0, 1
        begin_part(0, s)
    for j in range(1, len(tree.parent)):
        p = tree.parent[j]
        z, y = 4 * (j - 1) + 2 * s.to[p], 4 * (j - 1) + 2 * s.off[p]
        to = s.g[z + 1] + s.high[j, 1] > s.g[z] + s.high[j, 0]
        zero = s.g[y] + s.low[j, 0] if s.mu[y] > least else np.inf
        one = s.g[y + 1] + s.low[j, 1] if s.mu[y + 1] > least else np.inf
        off = one < zero
        s.to[j], s.off[j] = to, off
        k = s.part[p]
        if k < 0 and to != off:
            k = n_parts
            begin_part(k, s)
            n_parts += 1
        s.part[j] = k if to != off else -1
        if k >= 0:
            s.rise[k] += s.g[z + to] - s.g[y + off]
            s.bend[k] += 2.0 * s.norm[j]
            s.limit[k] = min(s.limit[k], s.mu[y + off])
            s.moved[n_moved] = j
            n_moved += 1
    return n_parts, n_moved


@compiled(inline=True)
def use_edge(j: int, n_used: int, s: MarginalScratch) -> int:
    """Note that a visit changes the edge above node j; return how many edges it changes so far."""
    if s.is_used[j]:
        return n_used
    s.is_used[j] = True
    s.used[n_used] = j
    return n_used + 1


@compiled(inline=True)
def take_steps(tree: Tree, least: float, n_used: int, s: MarginalScratch) -> tuple[float, int]:
    """Move mass between the two labellings of ``search``, in each part as far as the dual rises.

    Parts share no codes, so that each has a step of its own. Return the gain of the dual, and the
    number of edges that the visit has changed so far.
    """
    n_parts, n_moved = part_labellings(tree, least, s)
    gain = 0.0
    for k in range(n_parts):
        step = 0.0
        if s.rise[k] > 0.0:
            step = min(s.limit[k], s.rise[k] / s.bend[k]) if s.bend[k] > 0.0 else s.limit[k]
            gain += step * (s.rise[k] - 0.5 * step * s.bend[k])
        s.rise[k] = step
    for q in range(n_moved):
        j = s.moved[q]
        p = tree.parent[j]
        step = s.rise[s.part[j] if s.part[j] >= 0 else s.part[p]]
        z, y = 4 * (j - 1) + 2 * s.to[p] + s.to[j], 4 * (j - 1) + 2 * s.off[p] + s.off[j]
        s.mu[z] += step
        s.mu[y] -= step
        s.g[z] -= step * s.norm[j]
        s.g[y] += step * s.norm[j]
        s.change[z] -= step
        s.change[y] += step
        n_used = use_edge(j, n_used, s)
    return gain, n_used


@compiled("contract", inline=True)
def add_edges(problem: MarkovArrays, i: int, W: Reals, n_used: int, s: MarginalScratch) -> None:
    """Add x_i times the change to the weights of the edges that the visit changed.

    ``block`` holds the change of these edges, one after another.
    """
    rows, row = problem.rows, problem.row_of[i]
    begin, is_dense = rows.indptr[row], len(rows.indices) == 0
    for k in range(begin, rows.indptr[row + 1]):
        f, x = k - begin if is_dense else rows.indices[k], rows.data[k]
        owner = problem.owner[f] if len(problem.owner) > 0 else EVERYWHERE
        w = W[f]
        for q in range(n_used):
            if owner != EVERYWHERE and owner != s.used[q]:
                continue
            z, b = 4 * (s.used[q] - 1), 4 * q
            w0, w1 = w[z] + x * s.block[b], w[z + 1] + x * s.block[b + 1]
            w2, w3 = w[z + 2] + x * s.block[b + 2], w[z + 3] + x * s.block[b + 3]
            w[z], w[z + 1], w[z + 2], w[z + 3] = w0, w1, w2, w3


@compiled("contract", inline=True)
def add_whole_rows(problem: MarkovArrays, i: int, W: Reals, s: MarginalScratch) -> None:
    """Add x_i times the change, which ``block`` holds, to the weights of all edges."""
    rows, row = problem.rows, problem.row_of[i]
    begin, is_dense = rows.indptr[row], len(rows.indices) == 0
    for k in range(begin, rows.indptr[row + 1]):
        w, x = W[k - begin if is_dense else rows.indices[k]], rows.data[k]
        for z in range(len(w)):
            w[z] += x * s.block[z]


@compiled(inline=True)
def apply_change(problem: MarkovArrays, i: int, W: Reals, n_used: int, s: MarginalScratch) -> None:
    """Add the change to the weights, and clear it."""
    is_whole = len(problem.owner) == 0 and n_used > MANY_EDGES * len(s.used)
    if is_whole:
        s.block[:] = 0
    for q in range(n_used):
        j = s.used[q]
        s.is_used[j] = False
        for u in range(4):
            z = 4 * (j - 1) + u
            s.block[z if is_whole else 4 * q + u] = s.change[z]
            if problem.dual_form:
                W[i, z] += s.change[z]
            s.change[z] = 0.0
    if problem.dual_form:
        return
    if is_whole:
        add_whole_rows(problem, i, W, s)
    else:
        add_edges(problem, i, W, n_used, s)


# Passes ---------------------------------------------------------------------------------------


@compiled()
def look(
    problem: MarkovArrays,
    i: int,
    W: Reals,
    marginals: EdgeMarginals,
    scratch: MarginalScratch,
    findings: Findings,
) -> float:
    """Score item i, write the findings about it, and return its violation."""
    linear, inner = read_item(problem, i, W, marginals, scratch)
    top, bottom = search(problem.tree, NEGLIGIBLE * problem.costs[i], scratch)
    findings.slack[i] = max(top, 0.0)
    findings.violation[i] = top - bottom
    findings.linear[i] = linear
    findings.quadratic[i] = linear - inner
    return top - bottom


@compiled()
def visit(
    problem: MarkovArrays,
    i: int,
    W: Reals,
    marginals: EdgeMarginals,
    end: Codes,
    scratch: MarginalScratch,
    findings: Findings,
    tol: float,
) -> float:
    """Take steps for item i, and return the gain."""
    least = NEGLIGIBLE * problem.costs[i]
    violation = look(problem, i, W, marginals, scratch, findings)
    gain, n_used = 0.0, 0
    if violation > tol:
        write_norms(problem, i, scratch.norm)
        enough = max(tol, SETTLED * violation)
        for turn in range(MOST_TURNS):
            if turn > 0:
                top, bottom = search(problem.tree, least, scratch)
                if not top - bottom > enough:
                    break
            more, n_used = take_steps(problem.tree, least, n_used, scratch)
            gain += more
        store_item(i, problem.costs[i], marginals, end, scratch)
        apply_change(problem, i, W, n_used, scratch)
    mark_truth(problem.labels, i, scratch.truth, 0)
    return gain


@compiled()
def sweep(
    group: Codes,
    begin: int,
    problem: MarkovArrays,
    W: Reals,
    marginals: EdgeMarginals,
    end: Codes,
    scratch: MarginalScratch,
    findings: Findings,
    tol: float,
    rest: Codes,
    calm: Codes,
) -> tuple[int, float]:
    """Visit items from ``begin`` on; return where there was no more room, and the gain.

    Items with small violations are skipped: ``rest`` is the number of sweeps in which an item is
    still skipped, ``calm`` how often in a row its violation was small.
    """
    gain = 0.0
    for at in range(begin, len(group)):
        i = group[at]
        if rest[i] > 0:
            rest[i] -= 1
            continue
        if end[0] + 2 * len(scratch.g) > len(marginals.mass):
            return at, gain
        gain += visit(problem, i, W, marginals, end, scratch, findings, tol)
        calm[i] = calm[i] + 1 if findings.violation[i] <= RESTFUL * tol else 0
        rest[i] = min(calm[i], MOST_REST)
    return len(group), gain


@compiled()
def inspect(
    group: Codes,
    problem: MarkovArrays,
    W: Reals,
    marginals: EdgeMarginals,
    scratch: MarginalScratch,
    findings: Findings,
) -> None:
    """Write the findings about items at fixed weights, from which a certificate follows."""
    for i in group:
        look(problem, i, W, marginals, scratch, findings)
        mark_truth(problem.labels, i, scratch.truth, 0)


@compiled()
def add_up(
    group: Codes,
    problem: MarkovArrays,
    W: Reals,
    marginals: EdgeMarginals,
    scratch: MarginalScratch,
) -> None:
    """Add Σ_z (C_i [z is true] - μ_iz) x_i of items to the weights."""
    for i in group:
        mark_truth(problem.labels, i, scratch.truth, 1)
        n_used = 0
        for k in range(marginals.start[i], marginals.start[i] + marginals.size[i]):
            z = marginals.codes[k]
            j, u = (z >> 2) + 1, z & 3
            true = 2 * scratch.truth[problem.tree.parent[j]] + scratch.truth[j]
            scratch.change[z] -= marginals.mass[k]
            scratch.change[z - u + true] += marginals.mass[k]
            n_used = use_edge(j, n_used, scratch)
        apply_change(problem, i, W, n_used, scratch)
        mark_truth(problem.labels, i, scratch.truth, 0)
