"""Loops of the joint SVM that pass over items and solve one after another.

Notation (see ``taxonomist.solvers.problem``): i item, y one of its categories, c one of the others,
z attribute (node); ``W`` holds the weights (features x attributes), or in dual form the
coefficients of the kernel expansion (items x attributes); β_iyc = α_iyc / Δ(y, c) are the scaled
dual variables, whose gradient is G_iyc = Δ(y, c) (1 - f(x_i, y) + f(x_i, c)) [CH04, Eq. 28; CH07,
Alg. 1]. Those of one item sum to at most C_i, or, with a slack for each pair, each is at most C_i.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist._typing import Codes, Reals
from taxonomist.compiled.arrays import Attributes, Duals
from taxonomist.compiled.inspection import inspect_item
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.joint_arrays import (
    InspectionScratch,
    JointArrays,
    JointFindings,
    QPScratch,
)
from taxonomist.compiled.pair_qp import gradients_from_scores, solve_active, write_gradients
from taxonomist.compiled.places import (
    FEW_ATTRIBUTES,
    Places,
    add_change,
    add_coefficients,
    enter_category,
    leave_places,
    score_places,
    uses_vectors,
)
from taxonomist.compiled.vectors import add_vectors, score_vectors

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

LEFT = 0.05
"""The part of an item's violation that its step may leave: the weights will have changed before its
next visit. 0 and 0.1 take a tenth longer to a gap of 1 % on 20 Newsgroups and on patents."""


def qp_scratch(n_attributes: int, largest_room: int, dtype: DTypeLike) -> QPScratch:
    """Return work arrays for QPs; if there are few attributes, all have a place for good."""
    few = n_attributes <= FEW_ATTRIBUTES
    places = Places(
        row=np.zeros(n_attributes, dtype=dtype),
        place=np.arange(n_attributes) if few else np.full(n_attributes, -1, dtype=np.intp),
        used=np.arange(n_attributes),
        score=np.zeros(n_attributes),
        change=np.zeros(n_attributes),
    )
    return QPScratch(places, G=np.zeros(largest_room), before=np.zeros(largest_room))


@compiled(inline=True)
def enter_active(attributes: Attributes, i: int, duals: Duals, places: Places) -> int:
    """Give the attributes of item i's active pairs a place; return how many there are."""
    if len(places.place) <= FEW_ATTRIBUTES:
        return len(places.place)
    n_used = 0
    for a in range(duals.start[i], duals.start[i] + duals.size[i]):
        n_used = enter_category(attributes, duals.own[a], n_used, places)
        n_used = enter_category(attributes, duals.other[a], n_used, places)
    return n_used


@compiled(inline=True)
def apply_change(problem: JointArrays, i: int, W: Reals, n_used: int, places: Places) -> None:
    """Add the change of item i's dual variables to the weights, and clear it."""
    if problem.dual_form:
        add_coefficients(i, W, n_used, places)
    elif uses_vectors(problem.rows, W):
        for z in range(n_used):
            places.row[z] = places.change[z]
            places.change[z] = 0.0
        add_vectors(problem.rows, problem.row_of[i], W, places.row)
    else:
        whole_rows = W.shape[1] <= FEW_ATTRIBUTES
        add_change(problem.rows, problem.row_of[i], W, n_used, whole_rows, places)


@compiled(inline=True)
def solve_item(
    problem: JointArrays,
    i: int,
    W: Reals,
    duals: Duals,
    scratch: QPScratch,
    tol: float,
    part: float,
) -> tuple[float, float]:
    """Score one item at the attributes that its active pairs use, and solve its QP.

    ``part`` is that of ``solve_active``.
    """
    places, few = scratch.places, W.shape[1] <= FEW_ATTRIBUTES
    n_used = enter_active(problem.attributes, i, duals, places)
    if uses_vectors(problem.rows, W):
        score_vectors(problem.rows, problem.row_of[i], W, places.row)
        for z in range(n_used):
            places.score[z] = places.row[z]
    else:
        score_places(problem.rows, problem.row_of[i], W, n_used, few, places)
    write_gradients(problem.attributes, i, duals, scratch)
    violation, gain = solve_active(problem, i, duals, scratch, tol, part)
    if violation > tol:
        apply_change(problem, i, W, n_used, places)
    if not few:
        leave_places(n_used, places)
    return violation, gain


@compiled()
def sweep(
    items: Codes,  # in
    problem: JointArrays,  # in
    W: Reals,  # in/out
    duals: Duals,  # in/out
    scratch: QPScratch,
    looks: InspectionScratch,
    findings: JointFindings,  # out
    tol: float,
) -> float:
    """Inspect and solve items, one after another, if there are few attributes; return the gain."""
    gain = 0.0
    for i in items:
        inspect_item(i, problem, W, duals, findings, looks)
        gradients_from_scores(i, looks.f, duals, scratch)
        violation, more = solve_active(problem, i, duals, scratch, tol, LEFT)
        if violation > tol:
            apply_change(problem, i, W, W.shape[1], scratch.places)
        gain += more
    return gain


@compiled()
def visit(
    items: Codes,  # in
    problem: JointArrays,  # in
    W: Reals,  # in/out
    duals: Duals,  # in/out
    scratch: QPScratch,
    tol: float,
    calm: Codes,  # in/out (n_items,)  visits in a row without a change, at most 3
    rest: Codes,  # in/out (n_items,)  passes in which the item is still skipped
) -> tuple[float, float, int]:
    """Solve items one after another; return the gain, the largest ψ_i and the number of visits.

    Shrinking: an item without violation at its last k visits is skipped in 2^k - 1 passes.
    """
    gain = worst = 0.0
    n_visits = 0
    for i in items:
        if duals.size[i] == 0:
            continue
        if rest[i] > 0:
            rest[i] -= 1
            continue
        violation, more = solve_item(problem, i, W, duals, scratch, tol, LEFT)
        calm[i] = min(calm[i] + 1, 3) if violation <= tol else 0
        rest[i] = (1 << calm[i]) - 1
        gain += more
        worst = max(worst, violation)
        n_visits += 1
    return gain, worst, n_visits
