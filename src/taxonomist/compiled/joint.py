"""Loops of the joint SVM: score an item at every node, find violated pairs, solve one item's QP.

Notation (see ``taxonomist.solvers.problem``): i item, y one of its categories, c one of the others,
z attribute (node); ``W`` holds the weights (features x attributes), or in dual form the
coefficients of the kernel expansion (items x attributes); β_iyc = α_iyc / Δ(y, c) are the scaled
dual variables, whose gradient is G_iyc = Δ(y, c) (1 - f(x_i, y) + f(x_i, c)) [CH04, Eq. 28; CH07,
Alg. 1]. Those of one item sum to at most C_i, or, with a slack for each pair, each is at most C_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.arrays import (
    MATRIX,
    ZERO_ONE,
    Attributes,
    Duals,
    Findings,
    Loss,
    Problem,
    Room,
    Rows,
    Scratch,
)
from taxonomist.compiled.jit import compiled

FEW_ATTRIBUTES = 64
"""Up to so many attributes, scoring all of them in one run beats picking out those in use."""


# Losses ---------------------------------------------------------------------------------------


@compiled(inline=True)
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


# Scores ---------------------------------------------------------------------------------------


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


@compiled(inline=True)
def category_scores(attributes: Attributes, scores: Any, out: Floats) -> None:
    """Write f(x, c) for every category from the scores of all attributes [CH04, Eq. 10]."""
    for c in range(len(out)):
        total = 0.0
        for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
            total += attributes.values[k] * scores[attributes.indices[k]]
        out[c] = total


# Dual variables -------------------------------------------------------------------------------


@compiled(inline=True)
def drop_zeros(duals: Duals, i: int) -> float:
    """Keep the active variables of item i that are positive, and return their sum."""
    first = duals.start[i]
    to = first
    total = 0.0
    for a in range(first, first + duals.size[i]):
        if duals.beta[a] > 0.0:
            duals.own[to] = duals.own[a]
            duals.other[to] = duals.other[a]
            duals.beta[to] = duals.beta[a]
            duals.delta[to] = duals.delta[a]
            total += duals.beta[a]
            to += 1
    duals.size[i] = to - first
    return total


@compiled()
def drop_all_zeros(duals: Duals) -> None:
    """Keep the active variables of all items that are positive."""
    for i in range(len(duals.size)):
        drop_zeros(duals, i)


@compiled()
def count_positive(duals: Duals) -> int:
    """Return how many dual variables are positive."""
    n = 0
    for i in range(len(duals.size)):
        for a in range(duals.start[i], duals.start[i] + duals.size[i]):
            n += duals.beta[a] > 0.0
    return n


@compiled(inline=True)
def unused_cost(cost: float, total: float) -> float:
    """Return what is left of C_i, exactly 0 where only rounding keeps it from being so."""
    return cost - total if total < cost * (1.0 - 1e-12) else 0.0


@compiled(inline=True)
def unused(problem: Problem, i: int, duals: Duals) -> float:
    """Return what the active variables of item i leave of C_i."""
    total = 0.0
    for a in range(duals.start[i], duals.start[i] + duals.size[i]):
        total += duals.beta[a]
    return unused_cost(problem.costs[i], total)


# A full look at an item -----------------------------------------------------------------------


@compiled()
def make_room(problem: Problem, n_attributes: int, n_new: int, like: Any) -> Room:
    """Return room for inspections; each thread needs its own."""
    n_categories = len(problem.attributes.indptr) - 1
    return Room(
        np.zeros(n_attributes, like.dtype),
        np.zeros(n_categories),
        np.zeros(n_categories),
        np.zeros(n_categories),
        np.zeros(max(n_categories, len(problem.loss.miss)), np.bool_),
        np.zeros(n_new),
    )


@compiled(inline=True)
def look_at_active(
    i: int, f: Floats, problem: Problem, free: float, duals: Duals, findings: Findings
) -> float:
    """Write what the active pairs tell; return the G above which a pair is violated."""
    highest = worst = 0.0
    lowest = 0.0 if free > 0.0 else np.inf
    linear = quadratic = 0.0
    for a in range(duals.start[i], duals.start[i] + duals.size[i]):
        margin = f[duals.own[a]] - f[duals.other[a]]
        alpha = duals.beta[a] * duals.delta[a]
        linear += alpha
        quadratic += alpha * margin
        gradient = duals.delta[a] * (1.0 - margin)
        if gradient > highest:
            highest = gradient
        if gradient < lowest:
            lowest = gradient
        if abs(gradient) > worst and (gradient < 0.0 or duals.beta[a] < problem.costs[i]):
            worst = abs(gradient)
    findings.linear[i] = linear
    findings.quadratic[i] = quadratic
    findings.within[i] = worst if problem.slack_per_pair else highest - lowest
    return 0.0 if problem.slack_per_pair else lowest


@compiled(inline=True)
def smallest_margin(i: int, f: Floats, problem: Problem, mark: Any) -> float:
    """Return the smallest f(x_i, y) - f(x_i, c); ``mark`` is all False before and after."""
    labels = problem.labels
    own, other = np.inf, -np.inf
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        own = min(own, f[labels.indices[k]])
        mark[labels.indices[k]] = True
    for c in range(len(f)):
        if not mark[c]:
            other = max(other, f[c])
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        mark[labels.indices[k]] = False
    return own - other


@compiled(inline=True)
def write_pairs(i: int, y: int, problem: Problem, room: Room) -> Floats:
    """Write G_iyc for all c, 0 for the item's own categories; return Δ(y, c) for all c."""
    delta = room.delta
    if problem.loss.kind == MATRIX:
        delta = problem.loss.matrix[y]
    else:
        write_losses(problem.loss, y, room.mark, delta)
    over = 1.0 - room.f[y]
    for c in range(len(room.G)):
        room.G[c] = delta[c] * (over + room.f[c])
    for k in range(problem.labels.indptr[i], problem.labels.indptr[i + 1]):
        room.G[problem.labels.indices[k]] = 0.0
    return delta


@compiled(inline=True)
def add_violated(
    i: int, y: int, delta: Floats, least: float, n_old: int, duals: Duals, room: Room
) -> None:
    """Let the pairs (y, c) with the largest G above ``least`` enter, up to ``len(room.top)``.

    Those that entered before for another y are in descending order of G, and may be pushed out.
    """
    first = duals.start[i] + n_old
    n_new = duals.size[i] - n_old
    most = min(len(room.top), duals.room[i] - n_old)
    if n_new == most:
        least = max(least, room.top[most - 1]) if most > 0 else np.inf
    for c in range(len(room.G)):
        if room.G[c] <= least:
            continue
        a = n_new if n_new < most else most - 1
        while a > 0 and room.top[a - 1] < room.G[c]:
            room.top[a] = room.top[a - 1]
            duals.own[first + a] = duals.own[first + a - 1]
            duals.other[first + a] = duals.other[first + a - 1]
            duals.delta[first + a] = duals.delta[first + a - 1]
            a -= 1
        room.top[a] = room.G[c]
        duals.own[first + a] = y
        duals.other[first + a] = c
        duals.delta[first + a] = delta[c]
        if n_new < most:
            duals.beta[first + n_new] = 0.0
            n_new += 1
        if n_new == most:
            least = room.top[most - 1]
    duals.size[i] = n_old + n_new


@compiled(inline=True)
def highest_and_total(G: Floats) -> tuple[float, float]:
    """Return the largest positive G, and the sum of those that are positive."""
    highest = total = 0.0
    for c in range(len(G)):
        if G[c] > 0.0:
            total += G[c]
            if G[c] > highest:
                highest = G[c]
    return highest, total


@compiled(inline=True)
def judge(
    i: int,
    problem: Problem,  # in
    duals: Duals,  # in/out: zeros are dropped, violated pairs added
    findings: Findings,  # out
    room: Room,  # in: ``f``
) -> None:
    """Write what the scores of an item tell, and let its most violated pairs become active."""
    labels, f, G = problem.labels, room.f, room.G
    free = unused_cost(problem.costs[i], drop_zeros(duals, i))
    n_old = duals.size[i]
    lowest = look_at_active(i, f, problem, free, duals, findings)
    highest = total = highest_inactive = 0.0
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        y = labels.indices[k]
        delta = write_pairs(i, y, problem, room)
        found = highest_and_total(G)
        highest, total = max(highest, found[0]), total + found[1]
        for a in range(duals.start[i], duals.start[i] + n_old):
            if duals.own[a] == y:
                G[duals.other[a]] = 0.0
        if problem.slack_per_pair and problem.costs[i] > 0.0:
            highest_inactive = max(highest_inactive, highest_and_total(G)[0])
        add_violated(i, y, delta, max(lowest, 0.0), n_old, duals, room)
    if problem.slack_per_pair:
        findings.slack[i] = total
        findings.violation[i] = max(highest_inactive, findings.within[i])
    else:
        findings.slack[i] = highest
        findings.violation[i] = highest - lowest
    if problem.costs[i] == np.inf:
        findings.margin[i] = smallest_margin(i, f, problem, room.mark)


@compiled(inline=True)
def inspect_item(
    i: int, problem: Problem, W: Any, duals: Duals, findings: Findings, room: Room
) -> None:
    """Score an item at all categories and judge it."""
    score_row(problem.rows, problem.row_of[i], W, room.scores)
    category_scores(problem.attributes, room.scores, room.f)
    judge(i, problem, duals, findings, room)


@compiled()
def inspect(
    items: Codes, problem: Problem, W: Any, duals: Duals, most_new: int, findings: Findings
) -> None:
    """Inspect items at fixed weights; up to ``most_new`` pairs of each become active."""
    room = make_room(problem, W.shape[1], most_new, W)
    for i in items:
        inspect_item(i, problem, W, duals, findings, room)


@compiled()
def judge_scored(
    items: Codes, problem: Problem, f: Floats, duals: Duals, most_new: int, findings: Findings
) -> None:
    """Judge items whose scores, (n_items, n_categories), are known."""
    room = make_room(problem, 0, most_new, f)
    for i in items:
        room.f[:] = f[i]
        judge(i, problem, duals, findings, room)


# One item's QP --------------------------------------------------------------------------------


def make_scratch(n_attributes: int, largest_room: int, dtype: Any) -> Scratch:
    """Return room for QPs; few attributes all have a place, of many none has one yet."""
    few = n_attributes <= FEW_ATTRIBUTES
    return Scratch(
        place=np.arange(n_attributes) if few else np.full(n_attributes, -1, dtype=np.intp),
        used=np.arange(n_attributes),
        score=np.zeros(n_attributes),
        change=np.zeros(n_attributes),
        row=np.zeros(n_attributes, dtype=dtype),
        G=np.zeros(largest_room),
        before=np.zeros(largest_room),
    )


@compiled(inline=True)
def enter_attributes(attributes: Attributes, c: int, n_used: int, scratch: Scratch) -> int:
    """Give the attributes of a category a place, and return how many have one now."""
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        z = attributes.indices[k]
        if scratch.place[z] < 0:
            scratch.place[z] = n_used
            scratch.used[n_used] = z
            n_used += 1
    return n_used


@compiled(inline=True)
def enter_active(problem: Problem, i: int, duals: Duals, scratch: Scratch) -> int:
    """Give the attributes of item i's active pairs a place, and count them."""
    if len(scratch.place) <= FEW_ATTRIBUTES:
        return len(scratch.place)
    n_used = 0
    for a in range(duals.start[i], duals.start[i] + duals.size[i]):
        n_used = enter_attributes(problem.attributes, duals.own[a], n_used, scratch)
        n_used = enter_attributes(problem.attributes, duals.other[a], n_used, scratch)
    return n_used


@compiled(inline=True)
def leave(n_used: int, scratch: Scratch) -> None:
    """Take the places back."""
    if len(scratch.place) > FEW_ATTRIBUTES:
        for t in range(n_used):
            scratch.place[scratch.used[t]] = -1


@compiled(inline=True)
def write_used_scores(problem: Problem, i: int, W: Any, n_used: int, scratch: Scratch) -> None:
    """Write <w_z, x_i> for the attributes that have a place."""
    rows = problem.rows
    row = problem.row_of[i]
    if W.shape[1] <= FEW_ATTRIBUTES:
        score_row(rows, row, W, scratch.row)
        scratch.score[:] = scratch.row
        return
    scratch.score[:n_used] = 0.0
    start = rows.indptr[row]
    dense = len(rows.indices) == 0
    for k in range(start, rows.indptr[row + 1]):
        x = rows.data[k]
        w = W[k - start] if dense else W[rows.indices[k]]
        for t in range(n_used):
            scratch.score[t] += x * w[scratch.used[t]]


@compiled(inline=True)
def category_score(attributes: Attributes, c: int, scratch: Scratch) -> float:
    """Return the score of a category from those of its attributes."""
    total = 0.0
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        total += attributes.values[k] * scratch.score[scratch.place[attributes.indices[k]]]
    return total


@compiled(inline=True)
def write_gradients(problem: Problem, i: int, duals: Duals, scratch: Scratch) -> None:
    """Write G_iyc for the active pairs from the scores of attributes."""
    first = duals.start[i]
    y = -1
    own = 0.0
    for a in range(first, first + duals.size[i]):
        if duals.own[a] != y:
            y = duals.own[a]
            own = category_score(problem.attributes, y, scratch)
        other = category_score(problem.attributes, duals.other[a], scratch)
        scratch.G[a - first] = duals.delta[a] * (1.0 - own + other)


@compiled(inline=True)
def gradients_from_scores(i: int, f: Floats, duals: Duals, scratch: Scratch) -> None:
    """Write G_iyc for the active pairs from the scores of categories."""
    first = duals.start[i]
    for a in range(first, first + duals.size[i]):
        scratch.G[a - first] = duals.delta[a] * (1.0 - f[duals.own[a]] + f[duals.other[a]])


@compiled(inline=True)
def product(attributes: Attributes, c: int, d: int) -> float:
    """Return <Λ(c), Λ(d)>."""
    if len(attributes.products) > 0:
        return float(attributes.products[c, d])
    total = 0.0
    j, k = attributes.indptr[c], attributes.indptr[d]
    while j < attributes.indptr[c + 1] and k < attributes.indptr[d + 1]:
        here, there = attributes.indices[j], attributes.indices[k]
        if here == there:
            total += attributes.values[j] * attributes.values[k]
        j += here <= there
        k += there <= here
    return total


@compiled(inline=True)
def pair_product(attributes: Attributes, duals: Duals, a: int, b: int) -> float:
    """Return the product of Δ(y, c) (Λ(y) - Λ(c)) for two pairs."""
    y, c, r, d = duals.own[a], duals.other[a], duals.own[b], duals.other[b]
    across = product(attributes, y, d) + product(attributes, c, r)
    along = product(attributes, y, r) + product(attributes, c, d)
    return float(duals.delta[a] * duals.delta[b] * (along - across))


@compiled(inline=True)
def best_step(
    problem: Problem, i: int, free: float, duals: Duals, G: Floats
) -> tuple[int, int, float, float]:
    """Return where β should grow and shrink, the slope of that, and the longest step.

    -1 stands for no variable, or for the unused part of C_i, whose gradient is 0.
    """
    first, m, beta, cost = duals.start[i], duals.size[i], duals.beta, problem.costs[i]
    up = down = -1
    if problem.slack_per_pair:
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
    """Bring the gradients of the active pairs up to a step of the a-th of them."""
    if a >= 0:
        for b in range(m):
            G[b] -= step * pair_product(attributes, duals, first + b, first + a)


@compiled(inline=True)
def curvature_along(attributes: Attributes, first: int, up: int, down: int, duals: Duals) -> float:
    """Return the second derivative of ½ ||w||² / k(x, x) where one β grows as another shrinks."""
    total = 0.0
    if up >= 0:
        total += pair_product(attributes, duals, first + up, first + up)
    if down >= 0:
        total += pair_product(attributes, duals, first + down, first + down)
    if up >= 0 and down >= 0:
        total -= 2.0 * pair_product(attributes, duals, first + up, first + down)
    return total


@compiled(inline=True)
def ascend(problem: Problem, i: int, duals: Duals, scratch: Scratch, tol: float) -> float:
    """Maximise the dual over the active variables of item i, one or two at a time.

    ``scratch.G`` holds their gradients before and after. Return the gain.
    """
    attributes, G, norm, cost = problem.attributes, scratch.G, problem.norms[i], problem.costs[i]
    m, first, beta = duals.size[i], duals.start[i], duals.beta
    free = unused(problem, i, duals)
    gain = 0.0
    for _ in range(100 * (m + 1)):
        up, down, slope, most = best_step(problem, i, free, duals, G)
        if slope <= tol:
            break
        curvature = norm * curvature_along(attributes, first, up, down, duals)
        length = min(most, slope / curvature) if curvature > 0.0 else most
        if length == np.inf:
            break
        gain += length * (slope - 0.5 * length * curvature)
        follow(attributes, first, m, up, length * norm, duals, G)
        follow(attributes, first, m, down, -length * norm, duals, G)
        # What a full step uses up becomes exactly zero, and what it fills exactly C_i.
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
def write_change(problem: Problem, i: int, duals: Duals, scratch: Scratch) -> None:
    """Write what the change of item i's dual variables adds to the weights, for each attribute."""
    attributes = problem.attributes
    first = duals.start[i]
    for a in range(first, first + duals.size[i]):
        step = duals.delta[a] * (duals.beta[a] - scratch.before[a - first])
        if step == 0.0:
            continue
        y, c = duals.own[a], duals.other[a]
        for k in range(attributes.indptr[y], attributes.indptr[y + 1]):
            scratch.change[scratch.place[attributes.indices[k]]] += step * attributes.values[k]
        for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
            scratch.change[scratch.place[attributes.indices[k]]] -= step * attributes.values[k]


@compiled("contract", inline=True)
def apply_change(problem: Problem, i: int, W: Any, n_used: int, scratch: Scratch) -> None:
    """Add the change of item i's dual variables to the weights, and clear it."""
    rows = problem.rows
    start = rows.indptr[problem.row_of[i]]
    end = rows.indptr[problem.row_of[i] + 1]
    dense = len(rows.indices) == 0
    if problem.dual_form:
        for t in range(n_used):
            W[i, scratch.used[t]] += scratch.change[t]
    elif W.shape[1] <= FEW_ATTRIBUTES:
        scratch.row[:] = scratch.change
        for k in range(start, end):
            x = rows.data[k]
            w = W[k - start] if dense else W[rows.indices[k]]
            for z in range(len(w)):
                w[z] += x * scratch.row[z]
    else:
        for k in range(start, end):
            x = rows.data[k]
            w = W[k - start] if dense else W[rows.indices[k]]
            for t in range(n_used):
                w[scratch.used[t]] += x * scratch.change[t]
    scratch.change[:n_used] = 0.0


@compiled(inline=True)
def solve_active(
    problem: Problem,  # in
    i: int,
    duals: Duals,  # in/out
    scratch: Scratch,  # in: ``G``; out: ``change``
    tol: float,
) -> tuple[float, float]:
    """Solve one item's QP over its active pairs; return ψ_i within them, and the dual gain."""
    violation = best_step(problem, i, unused(problem, i, duals), duals, scratch.G)[2]
    if violation <= tol:
        return violation, 0.0
    m, first = duals.size[i], duals.start[i]
    for a in range(m):
        scratch.before[a] = duals.beta[first + a]
    gain = ascend(problem, i, duals, scratch, 0.5 * tol)
    write_change(problem, i, duals, scratch)
    return violation, gain


@compiled(inline=True)
def solve_item(
    problem: Problem, i: int, W: Any, duals: Duals, scratch: Scratch, tol: float
) -> tuple[float, float]:
    """Score one item at the attributes that its active pairs use, and solve its QP."""
    n_used = enter_active(problem, i, duals, scratch)
    write_used_scores(problem, i, W, n_used, scratch)
    write_gradients(problem, i, duals, scratch)
    violation, gain = solve_active(problem, i, duals, scratch, tol)
    if violation > tol:
        apply_change(problem, i, W, n_used, scratch)
    leave(n_used, scratch)
    return violation, gain


# Passes over items ----------------------------------------------------------------------------


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
    """Inspect and solve all items, one after another, with few attributes; return the gain."""
    room = make_room(problem, W.shape[1], most_new, W)
    gain = 0.0
    for i in items:
        inspect_item(i, problem, W, duals, findings, room)
        gradients_from_scores(i, room.f, duals, scratch)
        violation, more = solve_active(problem, i, duals, scratch, tol)
        if violation > tol:
            apply_change(problem, i, W, W.shape[1], scratch)
        gain += more
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
