"""Loops of the coupled binary SVMs: score an item, look at its categories, solve one item's QP.

Notation (see ``taxonomist.solvers.binary``): i item, r category, z attribute (node), s_ir = +1 if
r is one of the item's categories and -1 if not; ``W`` holds the weights (features x attributes),
or in dual form the coefficients of the kernel expansion (items x attributes). The gradient of the
dual is G_ir = 1 - s_ir f(x_i, r), and 0 <= α_ir <= C_ir [CH04, Eq. 22].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.arrays import Attributes, Labels, Rows
from taxonomist.compiled.jit import compiled

MOST_ROUNDS = 3
"""Rounds through one item's categories before the weights follow."""
ROUND_PROGRESS = 0.1
"""Rounds end when the largest step's gradient is this part of what it was in the first of them."""
DENSE_SHARE = 16
"""Running through whole rows of ``W`` beats picking out more than one of so many attributes."""


class Part(NamedTuple):
    """The arrays of the binary problems of some categories; ``row_of[i]`` is the row of item i."""

    rows: Rows
    row_of: Codes  # (n_items,)
    labels: Labels
    costs: Floats  # (n_items,)  C_i
    positive_weight: Floats  # (n_categories,)  what C_i is multiplied by for the item's categories
    norms: Floats  # (n_items,)  k(x_i, x_i)
    attributes: Attributes
    squares: Floats  # (n_categories,)  ||Λ(r)||²
    dual_form: bool


class Findings(NamedTuple):
    """What a look at all categories of each item finds."""

    slack: Floats  # (n_items,)  Σ_r C_ir ξ_ir
    violation: Floats  # (n_items,)  largest projected gradient
    linear: Floats  # (n_items,)  Σ_r α_ir
    quadratic: Floats  # (n_items,)  Σ_r α_ir s_ir f(x_i, r); sums to ||w||²


class Room(NamedTuple):
    """Room for one item; each thread needs its own."""

    row: Any  # (n_attributes,)  <w_z, x> or a change, of the type of ``W``
    own: Any  # (n_categories,)  whether s_ir = +1; False between items
    listed: Codes  # (n_categories,)  the categories that the QP is about
    place: Codes  # (n_attributes,)  where an attribute stands in the next three; -1 if nowhere
    used: Codes  # (n_attributes,)
    score: Floats  # (n_attributes,)  <w_z, x>
    change: Floats  # (n_attributes,)  what is added to the weights, 0 between items


@compiled()
def make_room(part: Part, W: Any) -> Room:
    """Return room for the items of some categories."""
    n_categories, n_attributes = len(part.squares), W.shape[1]
    return Room(
        np.zeros(n_attributes, W.dtype),
        np.zeros(n_categories, np.bool_),
        np.zeros(n_categories, np.intp),
        np.full(n_attributes, -1, np.intp),
        np.zeros(n_attributes, np.intp),
        np.zeros(n_attributes),
        np.zeros(n_attributes),
    )


# Scores ---------------------------------------------------------------------------------------


# Sums over features may be reordered, which lets them run in vector registers.
@compiled("reassoc", "contract", "nsz", inline=True)
def score_row(rows: Rows, row: int, W: Any, out: Any) -> None:
    """Write <w_z, x> for every attribute z as a sum of rows of ``W``."""
    out[:] = 0
    k = start = rows.indptr[row]
    end = rows.indptr[row + 1]
    dense = len(rows.indices) == 0
    # Four rows at a time: ``out`` is stored less often.
    while k + 4 <= end:
        x0, x1, x2, x3 = rows.data[k], rows.data[k + 1], rows.data[k + 2], rows.data[k + 3]
        f0 = k - start if dense else rows.indices[k]
        f1 = k + 1 - start if dense else rows.indices[k + 1]
        f2 = k + 2 - start if dense else rows.indices[k + 2]
        f3 = k + 3 - start if dense else rows.indices[k + 3]
        for z in range(len(out)):
            out[z] += x0 * W[f0, z] + x1 * W[f1, z] + x2 * W[f2, z] + x3 * W[f3, z]
        k += 4
    while k < end:
        x = rows.data[k]
        f = k - start if dense else rows.indices[k]
        for z in range(len(out)):
            out[z] += x * W[f, z]
        k += 1


@compiled(inline=True)
def score_used(part: Part, i: int, W: Any, n_used: int, room: Room) -> None:
    """Write <w_z, x_i> for the attributes that have a place."""
    rows, row = part.rows, part.row_of[i]
    if n_used * DENSE_SHARE > W.shape[1]:
        score_row(rows, row, W, room.row)
        for t in range(n_used):
            room.score[t] = room.row[room.used[t]]
        return
    for t in range(n_used):
        room.score[t] = 0.0
    start = rows.indptr[row]
    dense = len(rows.indices) == 0
    for k in range(start, rows.indptr[row + 1]):
        x = rows.data[k]
        f = k - start if dense else rows.indices[k]
        for t in range(n_used):
            room.score[t] += x * W[f, room.used[t]]


@compiled(inline=True)
def mark_own(part: Part, i: int, room: Room, value: bool) -> None:
    """Mark the categories of item i, or take the marks back."""
    for k in range(part.labels.indptr[i], part.labels.indptr[i + 1]):
        room.own[part.labels.indices[k]] = value


@compiled(inline=True)
def cost_of(part: Part, i: int, r: int, own: bool) -> float:
    """Return C_ir."""
    return float(part.costs[i] * part.positive_weight[r]) if own else float(part.costs[i])


# Looking --------------------------------------------------------------------------------------


@compiled(inline=True)
def look_at_all(part: Part, i: int, alpha: Floats, findings: Findings, room: Room) -> int:
    """Write what the scores in ``room.row`` tell; list the categories that are in play.

    Those are the ones with a positive α or G; return how many there are.
    """
    attributes = part.attributes
    slack = violation = linear = quadratic = 0.0
    n_listed = 0
    for r in range(len(part.squares)):
        f = 0.0
        for k in range(attributes.indptr[r], attributes.indptr[r + 1]):
            f += attributes.values[k] * room.row[attributes.indices[k]]
        margin = f if room.own[r] else -f
        gradient = 1.0 - margin
        a = alpha[i, r]
        if a <= 0.0 and gradient <= 0.0:
            continue
        room.listed[n_listed] = r
        n_listed += 1
        cost = cost_of(part, i, r, room.own[r])
        linear += a
        quadratic += a * margin
        if gradient > 0.0:
            slack += cost * gradient
            if a < cost:
                violation = max(violation, gradient)
        else:
            violation = max(violation, -gradient)
    findings.slack[i] = slack
    findings.violation[i] = violation
    findings.linear[i] = linear
    findings.quadratic[i] = quadratic
    return n_listed


@compiled()
def inspect(items: Codes, part: Part, W: Any, alpha: Floats, findings: Findings) -> None:
    """Look at all categories of items at fixed weights."""
    room = make_room(part, W)
    for i in items:
        score_row(part.rows, part.row_of[i], W, room.row)
        mark_own(part, i, room, True)
        look_at_all(part, i, alpha, findings, room)
        mark_own(part, i, room, False)


# One item's QP --------------------------------------------------------------------------------


@compiled(inline=True)
def enter_listed(attributes: Attributes, n_listed: int, room: Room) -> tuple[int, int]:
    """Give the attributes of listed categories a place.

    Return how many there are, and the most rounds that make sense: one if categories share none.
    """
    n_used = n_entries = 0
    for t in range(n_listed):
        r = room.listed[t]
        for k in range(attributes.indptr[r], attributes.indptr[r + 1]):
            z = attributes.indices[k]
            if room.place[z] < 0:
                room.place[z] = n_used
                room.used[n_used] = z
                n_used += 1
        n_entries += attributes.indptr[r + 1] - attributes.indptr[r]
    return n_used, MOST_ROUNDS if n_entries > n_used else 1


@compiled(inline=True)
def leave(n_used: int, room: Room) -> None:
    """Take the places back, and clear the change."""
    for t in range(n_used):
        room.place[room.used[t]] = -1
        room.change[t] = 0.0


@compiled(inline=True)
def category_score(attributes: Attributes, r: int, room: Room) -> float:
    """Return f(x, r) from the scores of attributes that have a place."""
    total = 0.0
    for k in range(attributes.indptr[r], attributes.indptr[r + 1]):
        total += attributes.values[k] * room.score[room.place[attributes.indices[k]]]
    return total


@compiled(inline=True)
def ascend_round(
    part: Part, i: int, alpha: Floats, n_listed: int, room: Room
) -> tuple[float, float, float]:
    """Maximise the dual over one listed α after another.

    Return the gain, what the categories added to the duality gap, and the largest violation, each
    category's as it was before its step.
    """
    attributes, norm = part.attributes, part.norms[i]
    gain = gap = violation = 0.0
    for t in range(n_listed):
        r = room.listed[t]
        sign = 1.0 if room.own[r] else -1.0
        gradient = 1.0 - sign * category_score(attributes, r, room)
        a = alpha[i, r]
        bound = cost_of(part, i, r, room.own[r]) if gradient > 0.0 else 0.0
        if a == bound or gradient == 0.0:
            continue
        gap += (bound - a) * gradient
        violation = max(violation, abs(gradient))
        curvature = norm * part.squares[r]
        new = bound
        if curvature > 0.0:
            best = a + gradient / curvature
            new = min(best, bound) if gradient > 0.0 else max(best, bound)
        step = new - a
        alpha[i, r] = new
        gain += step * (gradient - 0.5 * step * curvature)
        for k in range(attributes.indptr[r], attributes.indptr[r + 1]):
            place = room.place[attributes.indices[k]]
            move = sign * step * attributes.values[k]
            room.change[place] += move
            room.score[place] += norm * move
    return gain, gap, violation


@compiled("contract", inline=True)
def apply_change(part: Part, i: int, W: Any, n_used: int, room: Room) -> None:
    """Add the change of item i's dual variables to the weights."""
    rows = part.rows
    start, end = rows.indptr[part.row_of[i]], rows.indptr[part.row_of[i] + 1]
    dense = len(rows.indices) == 0
    if part.dual_form:
        for t in range(n_used):
            W[i, room.used[t]] += room.change[t]
    elif n_used * DENSE_SHARE > W.shape[1]:
        room.row[:] = 0
        for t in range(n_used):
            room.row[room.used[t]] = room.change[t]
        for k in range(start, end):
            x = rows.data[k]
            f = k - start if dense else rows.indices[k]
            for z in range(W.shape[1]):
                W[f, z] += x * room.row[z]
    else:
        for k in range(start, end):
            x = rows.data[k]
            f = k - start if dense else rows.indices[k]
            for t in range(n_used):
                W[f, room.used[t]] += x * room.change[t]


@compiled(inline=True)
def solve_listed(
    part: Part,  # in
    i: int,
    W: Any,  # in/out
    alpha: Floats,  # in/out (n_items, n_categories)
    n_listed: int,
    n_used: int,
    room: Room,  # in: ``score``, ``listed`` and the places
    most_rounds: int,
) -> tuple[float, float, float]:
    """Maximise the dual over item i's listed categories, and update the weights.

    Return the gain, and what the categories added to the duality gap and the largest violation
    before.
    """
    gain, gap, violation = ascend_round(part, i, alpha, n_listed, room)
    if violation == 0.0:
        return gain, gap, violation
    for _ in range(most_rounds - 1):
        more, _, left = ascend_round(part, i, alpha, n_listed, room)
        gain += more
        if left <= ROUND_PROGRESS * violation:
            break
    apply_change(part, i, W, n_used, room)
    return gain, gap, violation


# Passes over items ----------------------------------------------------------------------------


@compiled()
def sweep(
    items: Codes,  # in
    part: Part,  # in
    W: Any,  # in/out
    alpha: Floats,  # in/out (n_items, n_categories)
    findings: Findings,  # out: at the weights that each item meets
) -> float:
    """Look at all categories of items and solve those in play; return the gain."""
    room = make_room(part, W)
    gain = 0.0
    for i in items:
        score_row(part.rows, part.row_of[i], W, room.row)
        mark_own(part, i, room, True)
        n_listed = look_at_all(part, i, alpha, findings, room)
        if findings.violation[i] > 0.0:
            n_used, most_rounds = enter_listed(part.attributes, n_listed, room)
            for t in range(n_used):
                room.score[t] = room.row[room.used[t]]
            gain += solve_listed(part, i, W, alpha, n_listed, n_used, room, most_rounds)[0]
            leave(n_used, room)
        mark_own(part, i, room, False)
    return gain


@compiled()
def visit(
    items: Codes,  # in
    part: Part,  # in
    active: Labels,  # in: the categories of each item to solve
    W: Any,  # in/out
    alpha: Floats,  # in/out (n_items, n_categories)
) -> tuple[float, float, float]:
    """Solve the active categories of items.

    Return the gain, and what the categories added to the duality gap and the largest violation
    before.
    """
    room = make_room(part, W)
    gain = gap = worst = 0.0
    for i in items:
        first = active.indptr[i]
        n_listed = active.indptr[i + 1] - first
        if n_listed == 0:
            continue
        for t in range(n_listed):
            room.listed[t] = active.indices[first + t]
        n_used, most_rounds = enter_listed(part.attributes, n_listed, room)
        score_used(part, i, W, n_used, room)
        mark_own(part, i, room, True)
        more, share, violation = solve_listed(
            part, i, W, alpha, n_listed, n_used, room, most_rounds
        )
        mark_own(part, i, room, False)
        leave(n_used, room)
        gain += more
        gap += share
        worst = max(worst, violation)
    return gain, gap, worst


# Dual variables that are given ----------------------------------------------------------------


@compiled()
def list_positive(alpha: Floats, indptr: Codes, indices: Codes) -> None:
    """Write the categories with a positive α of every item as CSR rows."""
    n = 0
    for i in range(len(alpha)):
        for r in range(alpha.shape[1]):
            if alpha[i, r] > 0.0:
                indices[n] = r
                n += 1
        indptr[i + 1] = n


@compiled()
def rebuild(items: Codes, part: Part, active: Labels, W: Any, alpha: Floats) -> None:
    """Add Σ_r α_ir s_ir λ_z(r) φ(x_i) of items, over their active categories, to the weights."""
    attributes = part.attributes
    room = make_room(part, W)
    for i in items:
        first = active.indptr[i]
        n_listed = active.indptr[i + 1] - first
        for t in range(n_listed):
            room.listed[t] = active.indices[first + t]
        n_used, _ = enter_listed(attributes, n_listed, room)
        mark_own(part, i, room, True)
        for t in range(n_listed):
            r = room.listed[t]
            signed = alpha[i, r] if room.own[r] else -alpha[i, r]
            for k in range(attributes.indptr[r], attributes.indptr[r + 1]):
                room.change[room.place[attributes.indices[k]]] += signed * attributes.values[k]
        mark_own(part, i, room, False)
        apply_change(part, i, W, n_used, room)
        leave(n_used, room)
