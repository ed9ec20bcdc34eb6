"""Loops of the joint SVM: score an item at every node, find violations, solve one item's QP.

Notation (see ``taxonomist.solvers.problem``): i item, c category, z attribute (node); ``W`` holds
the weights (features x attributes), or in dual form the coefficients of the kernel expansion
(items x attributes); β_ic = α_ic / Δ(y_i, c) are the scaled dual variables, whose gradient is
F_ic [CH04, Eq. 28] and whose sum over c is at most C_i.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.jit import compiled

ZERO_ONE, ANCESTORS, MATRIX = 0, 1, 2
"""Kinds of loss."""

FEW_ATTRIBUTES = 64
"""Up to so many attributes, scoring all of them in one run beats picking out those in use."""


class Rows(NamedTuple):
    """Items as CSR rows; ``indices`` is empty where rows are dense."""

    indptr: Any  # (n_rows + 1,)
    indices: Any  # (nnz,), or (0,)
    data: Any  # (nnz,)


class Attributes(NamedTuple):
    """Λ(c) of every category as CSR rows."""

    indptr: Codes  # (n_categories + 1,)
    indices: Codes  # (nnz,)
    values: Floats  # (nnz,)


class Loss(NamedTuple):
    """What Δ is computed from; arrays that a kind does not use are empty."""

    kind: int
    indptr: Codes  # ancestors of each category as CSR rows
    indices: Codes
    miss: Floats  # (n_nodes,)
    false_alarm: Floats  # (n_nodes,)
    matrix: Floats  # (n_categories, n_categories)


class Problem(NamedTuple):
    """The arrays of a joint problem; ``row_of[i]`` is the row of item i."""

    rows: Rows
    row_of: Codes  # (n_items,)
    y: Codes  # (n_items,)
    costs: Floats  # (n_items,)  C_i
    norms: Floats  # (n_items,)  k(x_i, x_i)
    attributes: Attributes
    loss: Loss
    dual_form: bool


class Duals(NamedTuple):
    """The active dual variables of item i are the first ``size[i]`` entries of row i."""

    size: Codes  # (n_items,)
    category: Codes  # (n_items, capacity)
    beta: Floats  # (n_items, capacity)
    delta: Floats  # (n_items, capacity)  Δ(y_i, c)


class Findings(NamedTuple):
    """What a full look at each item finds."""

    slack: Floats  # (n_items,)  ξ_i = max(0, max_c F_ic)
    violation: Floats  # (n_items,)  ψ_i [CH04, Eq. 33]
    margin: Floats  # (n_items,)  min_c of f(x_i, y_i) - f(x_i, c)
    linear: Floats  # (n_items,)  Σ_c α_ic
    quadratic: Floats  # (n_items,)  Σ_c α_ic (f(x_i, y_i) - f(x_i, c)); sums to ||w||²


class Room(NamedTuple):
    """Room for the inspection of one item."""

    scores: Any  # (n_attributes,)
    F: Floats  # (n_categories,)
    delta: Floats  # (n_categories,)
    mark: Any  # (n_nodes,)  False between items
    active: Any  # (n_categories,)  False between items


class Scratch(NamedTuple):
    """Room for one item's QP, over the attributes that its active categories use."""

    place: Codes  # (n_attributes,)  where an attribute stands in the next four; -1 if nowhere
    used: Codes  # (n_attributes,)
    score: Floats  # (n_attributes,)  <w_z, x>
    step: Floats  # (n_attributes,)  direction of a step, 0 outside
    change: Floats  # (n_attributes,)  sum of the steps, 0 outside
    F: Floats  # (capacity,)
    row: Any  # (n_attributes,)


@compiled()
def write_losses(loss: Loss, y: int, mark: Any, out: Floats) -> None:
    """Write Δ(y, c) for every category c [CH04, Eq. 23]; ``mark`` is all False before and after."""
    if loss.kind == ZERO_ONE:
        out[:] = 1.0
    elif loss.kind == MATRIX:
        out[:] = loss.matrix[y]
    else:
        missed = 0.0
        for k in range(loss.indptr[y], loss.indptr[y + 1]):
            mark[loss.indices[k]] = True
            missed += loss.miss[loss.indices[k]]
        for c in range(len(out)):
            total = missed
            for k in range(loss.indptr[c], loss.indptr[c + 1]):
                z = loss.indices[k]
                total += -loss.miss[z] if mark[z] else loss.false_alarm[z]
            out[c] = total
        for k in range(loss.indptr[y], loss.indptr[y + 1]):
            mark[loss.indices[k]] = False
    out[y] = 0.0


@compiled()
def write_loss_matrix(loss: Loss, out: Floats) -> None:
    """Write Δ between all pairs of categories."""
    mark = np.zeros(len(loss.miss), np.bool_)
    for y in range(len(out)):
        write_losses(loss, y, mark, out[y])


# Sums over features may be reordered, which lets them run in vector registers.
@compiled("reassoc", "contract", "nsz")
def score_row(rows: Rows, row: int, W: Any, out: Any) -> None:
    """Write <w_z, x> for every attribute z as a sum of rows of ``W``."""
    out[:] = 0
    k = start = rows.indptr[row]
    end = rows.indptr[row + 1]
    dense = len(rows.indices) == 0
    # Four rows at a time take a third less time than one: ``out`` is stored less often.
    while k + 4 <= end:
        f = k - start
        x0, x1, x2, x3 = rows.data[k], rows.data[k + 1], rows.data[k + 2], rows.data[k + 3]
        w0 = W[f] if dense else W[rows.indices[k]]
        w1 = W[f + 1] if dense else W[rows.indices[k + 1]]
        w2 = W[f + 2] if dense else W[rows.indices[k + 2]]
        w3 = W[f + 3] if dense else W[rows.indices[k + 3]]
        for z in range(len(out)):
            out[z] += x0 * w0[z] + x1 * w1[z] + x2 * w2[z] + x3 * w3[z]
        k += 4
    while k < end:
        x = rows.data[k]
        w = W[k - start] if dense else W[rows.indices[k]]
        for z in range(len(out)):
            out[z] += x * w[z]
        k += 1


@compiled()
def score_rows(rows: Rows, W: Any, out: Any) -> None:
    """Write <w_z, x> for every row x and every attribute z."""
    for row in range(len(out)):
        score_row(rows, row, W, out[row])


@compiled()
def drop_zeros(duals: Duals, i: int) -> float:
    """Keep the active variables of item i that are positive, and return their sum."""
    m = 0
    total = 0.0
    for a in range(duals.size[i]):
        if duals.beta[i, a] > 0.0:
            duals.category[i, m] = duals.category[i, a]
            duals.beta[i, m] = duals.beta[i, a]
            duals.delta[i, m] = duals.delta[i, a]
            total += duals.beta[i, a]
            m += 1
    duals.size[i] = m
    return total


@compiled()
def drop_all_zeros(duals: Duals) -> None:
    """Keep the active variables of all items that are positive."""
    for i in range(len(duals.size)):
        drop_zeros(duals, i)


@compiled()
def unused_cost(cost: float, total: float) -> float:
    """Return what is left of C_i, exactly 0 where only rounding keeps it from being so."""
    return cost - total if total < cost * (1.0 - 1e-12) else 0.0


@compiled()
def add_violated(
    i: int, F: Floats, delta: Floats, least: float, most_new: int, active: Any, duals: Duals
) -> None:
    """Append up to ``most_new`` inactive categories, those with the largest F above ``least``."""
    first = duals.size[i]
    end = first
    last = min(first + most_new, duals.category.shape[1])
    for c in range(len(F)):
        if F[c] <= least or active[c]:
            continue
        # Insertion into the new entries, which are in descending order of F.
        a = end if end < last else last - 1
        while a > first and F[duals.category[i, a - 1]] < F[c]:
            duals.category[i, a] = duals.category[i, a - 1]
            a -= 1
        duals.category[i, a] = c
        if end < last:
            end += 1
        if end == last:
            least = F[duals.category[i, last - 1]]
    for a in range(first, end):
        duals.beta[i, a] = 0.0
        duals.delta[i, a] = delta[duals.category[i, a]]
    duals.size[i] = end


@compiled()
def category_scores(attributes: Attributes, scores: Any, out: Floats) -> None:
    """Write f(x, c) for every category from the scores of all attributes [CH04, Eq. 10]."""
    for c in range(len(out)):
        total = 0.0
        for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
            total += attributes.values[k] * scores[attributes.indices[k]]
        out[c] = total


def make_scratch(n_attributes: int, capacity: int, dtype: Any) -> Scratch:
    """Return room for QPs in which no attribute has a place yet."""
    return Scratch(
        place=np.full(n_attributes, -1, dtype=np.intp),
        used=np.zeros(n_attributes, dtype=np.intp),
        score=np.zeros(n_attributes),
        step=np.zeros(n_attributes),
        change=np.zeros(n_attributes),
        F=np.zeros(capacity),
        row=np.zeros(n_attributes, dtype=dtype),
    )


@compiled()
def make_room(problem: Problem, W: Any) -> Room:
    """Return room for inspections; each thread needs its own."""
    n_categories = len(problem.attributes.indptr) - 1
    return Room(
        np.zeros(W.shape[1], W.dtype),
        np.zeros(n_categories),
        np.zeros(n_categories),
        np.zeros(len(problem.loss.miss), np.bool_),
        np.zeros(n_categories, np.bool_),
    )


@compiled()
def inspect_item(
    i: int,
    problem: Problem,  # in
    W: Any,  # in
    duals: Duals,  # in/out: zeros are dropped, violated categories added
    most_new: int,
    findings: Findings,  # out
    room: Room,  # out: ``scores``
) -> None:
    """Score an item at all categories and add the most violated ones to its active set."""
    F, active = room.F, room.active
    free = unused_cost(problem.costs[i], drop_zeros(duals, i))
    score_row(problem.rows, problem.row_of[i], W, room.scores)
    write_losses(problem.loss, problem.y[i], room.mark, room.delta)
    category_scores(problem.attributes, room.scores, F)
    own = F[problem.y[i]]
    findings.linear[i] = findings.quadratic[i] = 0.0
    for a in range(duals.size[i]):
        alpha = duals.beta[i, a] * duals.delta[i, a]
        findings.linear[i] += alpha
        findings.quadratic[i] += alpha * (own - F[duals.category[i, a]])
    highest, margin = 0.0, np.inf
    for c in range(len(F)):
        if c != problem.y[i]:
            margin = min(margin, own - F[c])
        F[c] = room.delta[c] * (1.0 - own + F[c])
        highest = max(highest, F[c])
    lowest = 0.0 if free > 0.0 else np.inf
    n_active = duals.size[i]
    for a in range(n_active):
        lowest = min(lowest, F[duals.category[i, a]])
        active[duals.category[i, a]] = True
    findings.slack[i] = highest
    findings.margin[i] = margin
    findings.violation[i] = highest - lowest
    add_violated(i, F, room.delta, max(lowest, 0.0), most_new, active, duals)
    for a in range(n_active):
        active[duals.category[i, a]] = False


@compiled()
def inspect(
    items: Codes, problem: Problem, W: Any, duals: Duals, most_new: int, findings: Findings
) -> None:
    """Inspect items at fixed weights; see ``inspect_item``."""
    room = make_room(problem, W)
    for i in items:
        inspect_item(i, problem, W, duals, most_new, findings, room)


@compiled()
def enter_attributes(attributes: Attributes, c: int, n_used: int, scratch: Scratch) -> int:
    """Give the attributes of a category a place, and return how many have one now."""
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        z = attributes.indices[k]
        if scratch.place[z] < 0:
            scratch.place[z] = n_used
            scratch.used[n_used] = z
            n_used += 1
    return n_used


@compiled()
def write_used_scores(problem: Problem, i: int, W: Any, n_used: int, scratch: Scratch) -> None:
    """Write <w_z, x_i> for the attributes that have a place."""
    rows = problem.rows
    row = problem.row_of[i]
    if W.shape[1] <= FEW_ATTRIBUTES:
        score_row(rows, row, W, scratch.row)
        for t in range(n_used):
            scratch.score[t] = scratch.row[scratch.used[t]]
        return
    scratch.score[:n_used] = 0.0
    start = rows.indptr[row]
    dense = len(rows.indices) == 0
    for k in range(start, rows.indptr[row + 1]):
        x = rows.data[k]
        w = W[k - start] if dense else W[rows.indices[k]]
        for t in range(n_used):
            scratch.score[t] += x * w[scratch.used[t]]


@compiled()
def category_score(attributes: Attributes, c: int, scratch: Scratch) -> float:
    """Return the score of a category from those of its attributes."""
    total = 0.0
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        total += attributes.values[k] * scratch.score[scratch.place[attributes.indices[k]]]
    return total


@compiled()
def write_gradients(problem: Problem, i: int, duals: Duals, scratch: Scratch) -> None:
    """Write F_ic for the active categories [CH04, Eq. 28]."""
    own = category_score(problem.attributes, problem.y[i], scratch)
    for a in range(duals.size[i]):
        other = category_score(problem.attributes, duals.category[i, a], scratch)
        scratch.F[a] = duals.delta[i, a] * (1.0 - own + other)


@compiled()
def best_pair(m: int, beta: Floats, free: float, F: Floats) -> tuple[int, int, float]:
    """Return where β should grow and shrink most, and the difference of the gradients there.

    -1 stands for the unused part of C_i, whose gradient is 0.
    """
    up = down = -1
    highest = 0.0
    lowest = 0.0 if free > 0.0 else np.inf
    for a in range(m):
        if F[a] > highest:
            highest = F[a]
            up = a
        if beta[a] > 0.0 and F[a] < lowest:
            lowest = F[a]
            down = a
    return up, down, highest - lowest


@compiled()
def add_direction(
    problem: Problem, i: int, a: int, sign: float, duals: Duals, scratch: Scratch
) -> None:
    """Add ± Δ(y_i, c) (Λ(y_i) - Λ(c)) for the a-th active category c to the step."""
    if a < 0:
        return
    attributes = problem.attributes
    scale = sign * duals.delta[i, a]
    c = duals.category[i, a]
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        scratch.step[scratch.place[attributes.indices[k]]] -= scale * attributes.values[k]
    c = problem.y[i]
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        scratch.step[scratch.place[attributes.indices[k]]] += scale * attributes.values[k]


@compiled()
def ascend(
    problem: Problem, i: int, n_used: int, duals: Duals, scratch: Scratch, tol: float
) -> float:
    """Maximise the dual over the active variables of item i by pairwise steps; return the gain."""
    m = duals.size[i]
    beta = duals.beta[i]
    free = unused_cost(problem.costs[i], beta[:m].sum())
    gain = 0.0
    for _ in range(100 * (m + 1)):
        up, down, slope = best_pair(m, beta, free, scratch.F)
        if slope <= tol:
            break
        add_direction(problem, i, up, 1.0, duals, scratch)
        add_direction(problem, i, down, -1.0, duals, scratch)
        curvature = 0.0
        for t in range(n_used):
            curvature += scratch.step[t] * scratch.step[t]
        curvature *= problem.norms[i]
        most = beta[down] if down >= 0 else free
        length = min(most, slope / curvature) if curvature > 0.0 else most
        if length == np.inf:
            scratch.step[:n_used] = 0.0
            break
        gain += length * (slope - 0.5 * length * curvature)
        for t in range(n_used):
            scratch.change[t] += length * scratch.step[t]
            scratch.score[t] += length * problem.norms[i] * scratch.step[t]
            scratch.step[t] = 0.0
        # What a full step uses up becomes exactly zero.
        if down >= 0:
            beta[down] = 0.0 if length == most else beta[down] - length
        else:
            free = 0.0 if length == most else free - length
        if up >= 0:
            beta[up] += length
        else:
            free += length
        write_gradients(problem, i, duals, scratch)
    return gain


@compiled()
def apply_change(problem: Problem, i: int, W: Any, n_used: int, scratch: Scratch) -> None:
    """Add the change of item i's dual variables to the weights, and clear it."""
    if problem.dual_form:
        for t in range(n_used):
            W[i, scratch.used[t]] += scratch.change[t]
    else:
        few = W.shape[1] <= FEW_ATTRIBUTES
        if few:
            scratch.row[:] = 0
            for t in range(n_used):
                scratch.row[scratch.used[t]] = scratch.change[t]
        rows = problem.rows
        start = rows.indptr[problem.row_of[i]]
        dense = len(rows.indices) == 0
        for k in range(start, rows.indptr[problem.row_of[i] + 1]):
            x = rows.data[k]
            w = W[k - start] if dense else W[rows.indices[k]]
            if few:
                for z in range(len(w)):
                    w[z] += x * scratch.row[z]
            else:
                for t in range(n_used):
                    w[scratch.used[t]] += x * scratch.change[t]
    scratch.change[:n_used] = 0.0


@compiled()
def enter_active(problem: Problem, i: int, duals: Duals, scratch: Scratch) -> int:
    """Give the attributes of item i's category and of its active ones a place; count them."""
    n_used = enter_attributes(problem.attributes, problem.y[i], 0, scratch)
    for a in range(duals.size[i]):
        n_used = enter_attributes(problem.attributes, duals.category[i, a], n_used, scratch)
    return n_used


@compiled()
def solve_scored(
    problem: Problem,  # in
    i: int,
    W: Any,  # in/out
    n_used: int,
    duals: Duals,  # in/out
    scratch: Scratch,  # in: ``score``
    tol: float,
) -> tuple[float, float]:
    """Solve one item's QP over its active set; return ψ_i within the set, and the dual gain."""
    write_gradients(problem, i, duals, scratch)
    m = duals.size[i]
    free = unused_cost(problem.costs[i], duals.beta[i, :m].sum())
    violation = best_pair(m, duals.beta[i], free, scratch.F)[2]
    gain = 0.0
    if violation > tol:
        gain = ascend(problem, i, n_used, duals, scratch, 0.5 * tol)
        apply_change(problem, i, W, n_used, scratch)
    for t in range(n_used):
        scratch.place[scratch.used[t]] = -1
    return violation, gain


@compiled()
def solve_item(
    problem: Problem, i: int, W: Any, duals: Duals, scratch: Scratch, tol: float
) -> tuple[float, float]:
    """Score one item at the attributes that its active set uses, and solve its QP."""
    n_used = enter_active(problem, i, duals, scratch)
    write_used_scores(problem, i, W, n_used, scratch)
    return solve_scored(problem, i, W, n_used, duals, scratch, tol)


@compiled()
def sweep(
    items: Codes,  # in
    problem: Problem,  # in
    W: Any,  # in/out
    duals: Duals,  # in/out
    scratch: Scratch,
    most_new: int,
    findings: Findings,  # out
    tol: float,
) -> float:
    """Inspect and solve all items, one after another; return the gain."""
    room = make_room(problem, W)
    gain = 0.0
    for i in items:
        inspect_item(i, problem, W, duals, most_new, findings, room)
        n_used = enter_active(problem, i, duals, scratch)
        for t in range(n_used):
            scratch.score[t] = room.scores[scratch.used[t]]
        gain += solve_scored(problem, i, W, n_used, duals, scratch, tol)[1]
    return gain


@compiled()
def visit(
    items: Codes,  # in
    problem: Problem,  # in
    W: Any,  # in/out
    duals: Duals,  # in/out
    scratch: Scratch,
    tol: float,
    calm: Codes,  # in/out (n_items,)  visits in a row without a change, at most 3
    rest: Codes,  # in/out (n_items,)  passes that the item sits out
) -> tuple[float, float, int]:
    """Solve items one after another; return the gain, the largest ψ_i and the number of visits.

    Shrinking: an item that was satisfied at its last k visits sits out 2^k - 1 passes.
    """
    gain = worst = 0.0
    n_visits = 0
    for i in items:
        if duals.size[i] == 0:
            continue
        if rest[i] > 0:
            rest[i] -= 1
            continue
        violation, more = solve_item(problem, i, W, duals, scratch, tol)
        calm[i] = min(calm[i] + 1, 3) if violation <= tol else 0
        rest[i] = (1 << calm[i]) - 1
        gain += more
        worst = max(worst, violation)
        n_visits += 1
    return gain, worst, n_visits
