"""Loops of the coupled binary SVMs: score an item, inspect its categories, solve its QP.

Notation (see ``taxonomist.solvers.binary``): i item, r category, z attribute (node), s_ir = +1 if
r is one of the item's categories and -1 if not; ``W`` holds the weights (features x attributes),
or in dual form the coefficients of the kernel expansion (items x attributes). The gradient of the
dual is G_ir = 1 - s_ir f(x_i, r), and 0 <= α_ir <= C_ir [CH04, Eq. 22].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Reals
from taxonomist.compiled.arrays import Attributes, Findings, Labels, Rows
from taxonomist.compiled.attributes import category_score
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.places import (
    Places,
    add_change,
    add_coefficients,
    change_category,
    enter_category,
    leave_places,
    placed_score,
    score_places,
)
from taxonomist.compiled.rows import score_row

MOST_ROUNDS = 3
"""Rounds through one item's categories before the weights are updated."""
ROUND_PROGRESS = 0.1
"""Rounds end when the largest gradient is at most this part of that in the first round."""
DENSE_SHARE = 16
"""Use whole rows of ``W`` if more than one of this many attributes is needed: that is faster."""


class BinaryArrays(NamedTuple):
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


class BinaryScratch(NamedTuple):
    """Work arrays for one item; each thread needs its own."""

    own: Bools  # (n_categories,)  whether s_ir = +1; False between items
    listed: Codes  # (n_categories,)  the categories that the QP is about
    places: Places  # of the attributes of listed categories


def binary_scratch(problem: BinaryArrays, W: Reals) -> BinaryScratch:
    """Return work arrays for the items of some categories."""
    n_categories, n_attributes = len(problem.squares), W.shape[1]
    return BinaryScratch(
        np.zeros(n_categories, np.bool_),
        np.zeros(n_categories, np.intp),
        Places(
            np.zeros(n_attributes, W.dtype),
            np.full(n_attributes, -1, np.intp),
            np.zeros(n_attributes, np.intp),
            np.zeros(n_attributes),
            np.zeros(n_attributes),
        ),
    )


@compiled(inline=True)
def mark_own(problem: BinaryArrays, i: int, scratch: BinaryScratch, value: bool) -> None:
    """Set the marks of item i's own categories to a value."""
    for k in range(problem.labels.indptr[i], problem.labels.indptr[i + 1]):
        scratch.own[problem.labels.indices[k]] = value


@compiled(inline=True)
def cost_of(problem: BinaryArrays, i: int, r: int, own: bool) -> float:
    """Return C_ir, the cost of item i in category r."""
    return float(problem.costs[i] * problem.positive_weight[r]) if own else float(problem.costs[i])


@compiled(inline=True)
def look_at_all(
    problem: BinaryArrays, i: int, alpha: Floats, findings: Findings, scratch: BinaryScratch
) -> int:
    """Write the findings about item i from the scores in ``scratch.places.row``.

    Also list the categories with a positive α or G, and return how many there are.
    """
    attributes = problem.attributes
    slack = violation = linear = quadratic = 0.0
    n_listed = 0
    for r in range(len(problem.squares)):
        f = category_score(attributes, r, scratch.places.row)
        margin = f if scratch.own[r] else -f
        gradient = 1.0 - margin
        a = alpha[i, r]
        if a <= 0.0 and gradient <= 0.0:
            continue
        scratch.listed[n_listed] = r
        n_listed += 1
        cost = cost_of(problem, i, r, scratch.own[r])
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
def inspect(
    items: Codes,
    problem: BinaryArrays,
    W: Reals,
    alpha: Floats,
    findings: Findings,
    scratch: BinaryScratch,
) -> None:
    """Write the findings about items at fixed weights."""
    for i in items:
        score_row(problem.rows, problem.row_of[i], W, scratch.places.row)
        mark_own(problem, i, scratch, True)
        look_at_all(problem, i, alpha, findings, scratch)
        mark_own(problem, i, scratch, False)


@compiled(inline=True)
def enter_listed(attributes: Attributes, n_listed: int, scratch: BinaryScratch) -> tuple[int, int]:
    """Give the attributes of listed categories a place.

    Return the number of these attributes, and the number of rounds to make: if no two categories
    share an attribute, the first round already solves the QP.
    """
    n_used = n_entries = 0
    for t in range(n_listed):
        r = scratch.listed[t]
        n_used = enter_category(attributes, r, n_used, scratch.places)
        n_entries += attributes.indptr[r + 1] - attributes.indptr[r]
    return n_used, MOST_ROUNDS if n_entries > n_used else 1


@compiled(inline=True)
def ascend_round(
    problem: BinaryArrays, i: int, alpha: Floats, n_listed: int, scratch: BinaryScratch
) -> tuple[float, float, float]:
    """Maximise the dual over one listed α after another.

    Return the gain, and the sum of the categories' parts of the duality gap and their largest
    violation, each measured just before the category's own step.
    """
    attributes, norm, places = problem.attributes, problem.norms[i], scratch.places
    gain = gap = violation = 0.0
    for t in range(n_listed):
        r = scratch.listed[t]
        sign = 1.0 if scratch.own[r] else -1.0
        gradient = 1.0 - sign * placed_score(attributes, r, places)
        a = alpha[i, r]
        bound = cost_of(problem, i, r, scratch.own[r]) if gradient > 0.0 else 0.0
        if a == bound or gradient == 0.0:
            continue
        gap += (bound - a) * gradient
        violation = max(violation, abs(gradient))
        curvature = norm * problem.squares[r]
        new = bound
        if curvature > 0.0:
            best = a + gradient / curvature
            new = min(best, bound) if gradient > 0.0 else max(best, bound)
        step = new - a
        alpha[i, r] = new
        gain += step * (gradient - 0.5 * step * curvature)
        for k in range(attributes.indptr[r], attributes.indptr[r + 1]):
            place = places.place[attributes.indices[k]]
            move = sign * step * attributes.values[k]
            places.change[place] += move
            places.score[place] += norm * move
    return gain, gap, violation


@compiled(inline=True)
def apply_change(problem: BinaryArrays, i: int, W: Reals, n_used: int, places: Places) -> None:
    """Add the change of item i's dual variables to the weights, and clear it."""
    if problem.dual_form:
        add_coefficients(i, W, n_used, places)
    else:
        whole_rows = n_used * DENSE_SHARE > W.shape[1]
        add_change(problem.rows, problem.row_of[i], W, n_used, whole_rows, places)


@compiled(inline=True)
def solve_listed(
    problem: BinaryArrays,  # in
    i: int,
    W: Reals,  # in/out
    alpha: Floats,  # in/out (n_items, n_categories)
    n_listed: int,
    n_used: int,
    scratch: BinaryScratch,  # in: ``score``, ``listed`` and the places
    most_rounds: int,
) -> tuple[float, float, float]:
    """Maximise the dual over item i's listed categories, and update the weights.

    Return the gain, and the categories' part of the duality gap and their largest violation before
    the steps.
    """
    gain, gap, violation = ascend_round(problem, i, alpha, n_listed, scratch)
    if violation == 0.0:
        return gain, gap, violation
    for _ in range(most_rounds - 1):
        more, _, left = ascend_round(problem, i, alpha, n_listed, scratch)
        gain += more
        if left <= ROUND_PROGRESS * violation:
            break
    apply_change(problem, i, W, n_used, scratch.places)
    return gain, gap, violation


@compiled()
def sweep(
    items: Codes,  # in
    problem: BinaryArrays,  # in
    W: Reals,  # in/out
    alpha: Floats,  # in/out (n_items, n_categories)
    findings: Findings,  # out: at the weights that each item meets
    scratch: BinaryScratch,
) -> float:
    """Inspect all categories of items and solve those with a positive α or G; return the gain."""
    gain = 0.0
    for i in items:
        score_row(problem.rows, problem.row_of[i], W, scratch.places.row)
        mark_own(problem, i, scratch, True)
        n_listed = look_at_all(problem, i, alpha, findings, scratch)
        if findings.violation[i] > 0.0:
            n_used, most_rounds = enter_listed(problem.attributes, n_listed, scratch)
            for t in range(n_used):
                scratch.places.score[t] = scratch.places.row[scratch.places.used[t]]
            gain += solve_listed(problem, i, W, alpha, n_listed, n_used, scratch, most_rounds)[0]
            leave_places(n_used, scratch.places)
        mark_own(problem, i, scratch, False)
    return gain


@compiled()
def visit(
    items: Codes,  # in
    problem: BinaryArrays,  # in
    active: Labels,  # in: the categories of each item to solve
    W: Reals,  # in/out
    alpha: Floats,  # in/out (n_items, n_categories)
    scratch: BinaryScratch,
) -> tuple[float, float, float]:
    """Solve the active categories of items.

    Return the gain, and the categories' part of the duality gap and their largest violation before
    the steps.
    """
    gain = gap = worst = 0.0
    for i in items:
        first = active.indptr[i]
        n_listed = active.indptr[i + 1] - first
        if n_listed == 0:
            continue
        for t in range(n_listed):
            scratch.listed[t] = active.indices[first + t]
        n_used, most_rounds = enter_listed(problem.attributes, n_listed, scratch)
        whole_rows = n_used * DENSE_SHARE > W.shape[1]
        score_places(problem.rows, problem.row_of[i], W, n_used, whole_rows, scratch.places)
        mark_own(problem, i, scratch, True)
        more, share, violation = solve_listed(
            problem, i, W, alpha, n_listed, n_used, scratch, most_rounds
        )
        mark_own(problem, i, scratch, False)
        leave_places(n_used, scratch.places)
        gain += more
        gap += share
        worst = max(worst, violation)
    return gain, gap, worst


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
def rebuild(
    items: Codes,
    problem: BinaryArrays,
    active: Labels,
    W: Reals,
    alpha: Floats,
    scratch: BinaryScratch,
) -> None:
    """Add Σ_r α_ir s_ir λ_z(r) φ(x_i) of items, over their active categories, to the weights."""
    attributes = problem.attributes
    for i in items:
        first = active.indptr[i]
        n_listed = active.indptr[i + 1] - first
        for t in range(n_listed):
            scratch.listed[t] = active.indices[first + t]
        n_used, _ = enter_listed(attributes, n_listed, scratch)
        mark_own(problem, i, scratch, True)
        for t in range(n_listed):
            r = scratch.listed[t]
            signed = alpha[i, r] if scratch.own[r] else -alpha[i, r]
            change_category(attributes, r, signed, scratch.places)
        mark_own(problem, i, scratch, False)
        apply_change(problem, i, W, n_used, scratch.places)
        leave_places(n_used, scratch.places)
