"""Loops of the greedy solvers: solve one item's QP, and keep all gradients up to date.

Notation (see ``taxonomist.solvers.problem``): i, j items, c category, z attribute. S_i, the
selected categories of item i, begins with y_i itself, whose variable is the unused part of C_i and
whose gradient and loss are 0 [CH04, Eq. 27]: so each row of variables sums to C_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.joint import Attributes, Findings, Rows

MOST_STEPS = 100
"""Pairwise steps that one item's QP may take, for each of its variables."""


class Problem(NamedTuple):
    """What stays the same; item i's losses are row ``loss_of[i]`` of ``losses``."""

    y: Codes  # (n_items,)
    norms: Floats  # (n_items,)  k(x_i, x_i)
    attributes: Attributes
    n_attributes: int
    loss_of: Codes  # (n_items,)
    losses: Floats  # (n_labels, n_categories)  Δ of the labels that occur


class Selected(NamedTuple):
    """S_i and its variables are the first ``size[i]`` entries of row i."""

    size: Codes  # (n_items,)
    category: Codes  # (n_items, capacity)
    beta: Floats  # (n_items, capacity)


class Gradients(NamedTuple):
    """F_ic [CH04, Eq. 28] and what is selected by it."""

    F: Floats  # (n_items, n_categories)
    violation: Floats  # (n_items,)  ψ_i [CH04, Eq. 33]
    within: Floats  # (n_items,)  ψ_i over S_i only


@compiled()
def write_products(rows: Rows, columns: Rows, i: int, out: Floats) -> None:
    """Write <x_i, x_j> for every item j from the CSR rows and the CSC columns of one matrix."""
    out[:] = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        feature = rows.indices[k]
        for at in range(columns.indptr[feature], columns.indptr[feature + 1]):
            out[columns.indices[at]] += rows.data[k] * columns.data[at]


@compiled()
def select(i: int, c: int, selected: Selected) -> None:
    """Add category c to S_i, with its variable at zero, unless it is there."""
    m = selected.size[i]
    for a in range(m):
        if selected.category[i, a] == c:
            return
    selected.category[i, m] = c
    selected.beta[i, m] = 0.0
    selected.size[i] = m + 1


@compiled()
def select_most_violated(problem: Problem, i: int, F: Floats, selected: Selected) -> None:
    """Add the category with the largest F_ic to S_i."""
    best = -1
    for c in range(F.shape[1]):
        if c != problem.y[i] and (best < 0 or F[i, c] > F[i, best]):
            best = c
    select(i, best, selected)


@compiled()
def select_all(i: int, n_categories: int, selected: Selected) -> None:
    """Add every category to S_i."""
    for c in range(n_categories):
        select(i, c, selected)


@compiled()
def add_row(attributes: Attributes, c: int, scale: float, out: Floats) -> None:
    """Add a multiple of Λ(c)."""
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        out[attributes.indices[k]] += scale * attributes.values[k]


@compiled()
def row_product(attributes: Attributes, c: int, vector: Floats) -> float:
    """Return <Λ(c), vector>."""
    total = 0.0
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        total += attributes.values[k] * vector[attributes.indices[k]]
    return total


@compiled()
def extreme_pair(gradient: Floats, beta: Floats) -> tuple[int, int]:
    """Return where the gradient is largest, and where it is smallest among positive variables."""
    up = down = 0
    lowest = np.inf
    for a in range(len(gradient)):
        if gradient[a] > gradient[up]:
            up = a
        if beta[a] > 0.0 and gradient[a] < lowest:
            lowest = gradient[a]
            down = a
    return up, down


@compiled()
def ascend(
    problem: Problem,  # in
    i: int,
    category: Codes,  # in (m,)
    beta: Floats,  # in/out (m,)
    gradient: Floats,  # in/out (m,)
    tol: float,
) -> None:
    """Maximise the dual over S_i by pairwise steps until its violation is at most ``tol``."""
    attributes = problem.attributes
    y, losses = problem.y[i], problem.losses[problem.loss_of[i]]
    direction = np.zeros(problem.n_attributes)
    slope = np.zeros(len(beta))
    for _ in range(MOST_STEPS * len(beta)):
        up, down = extreme_pair(gradient, beta)
        violation = gradient[up] - gradient[down]
        if violation <= tol:
            return
        gains, loses = category[up], category[down]
        add_row(attributes, y, losses[gains] - losses[loses], direction)
        add_row(attributes, gains, -losses[gains], direction)
        add_row(attributes, loses, losses[loses], direction)
        own = row_product(attributes, y, direction)
        for a in range(len(beta)):
            other = row_product(attributes, category[a], direction)
            slope[a] = problem.norms[i] * losses[category[a]] * (other - own)
        direction[:] = 0.0
        curvature = slope[down] - slope[up]
        length = beta[down]
        if curvature * length > violation:
            length = violation / curvature
        if length == np.inf or length == 0.0:
            return
        beta[down] -= length
        beta[up] += length
        gradient += length * slope


@compiled()
def drop_zeros(i: int, selected: Selected) -> None:
    """Take the categories whose variables are zero out of S_i, y_i excepted [CH04, Alg. 1, 9]."""
    m = 1
    for a in range(1, selected.size[i]):
        if selected.beta[i, a] > 0.0:
            selected.category[i, m] = selected.category[i, a]
            selected.beta[i, m] = selected.beta[i, a]
            m += 1
    selected.beta[i, m : selected.size[i]] = 0.0
    selected.size[i] = m


@compiled()
def weight_change(problem: Problem, i: int, selected: Selected, before: Floats) -> Floats:
    """Return by how much of φ(x_i) each w_z changed since S_i had the variables ``before``."""
    attributes = problem.attributes
    change = np.zeros(problem.n_attributes)
    total = 0.0
    for a in range(1, len(before)):
        c = selected.category[i, a]
        loss = problem.losses[problem.loss_of[i], c]
        alpha = loss * (selected.beta[i, a] - before[a])
        add_row(attributes, c, -alpha, change)
        total += alpha
    add_row(attributes, problem.y[i], total, change)
    return change


@compiled()
def solve_item(
    problem: Problem,  # in
    i: int,
    F: Floats,  # in
    selected: Selected,  # in/out
    accuracy: float,
) -> tuple[Floats, bool]:
    """Solve the QP over S_i until little of its violation is left.

    Return the change of the weights, and whether any variable changed.
    """
    m = selected.size[i]
    category, beta = selected.category[i, :m], selected.beta[i, :m]
    before = beta.copy()
    gradient = F[i][category]
    up, down = extreme_pair(gradient, beta)
    tol = accuracy * (gradient[up] - gradient[down])
    ascend(problem, i, category, beta, gradient, tol)
    has_moved = (beta != before).any()
    change = weight_change(problem, i, selected, before)
    drop_zeros(i, selected)
    return change, has_moved


@compiled()
def spread(
    problem: Problem,  # in
    i: int,
    kernel: Floats,  # in (n_items,)  k(x_i, x_j) for every item j
    change: Floats,  # in (n_attributes,)
    selected: Selected,  # in
    gradients: Gradients,  # in/out
) -> None:
    """Add the effect of item i's change to the gradients of all items that it touches."""
    n_categories = gradients.F.shape[1]
    score = np.zeros(n_categories)
    for c in range(n_categories):
        score[c] = row_product(problem.attributes, c, change)
    for j in range(len(kernel)):
        if kernel[j] == 0.0 and j != i:
            continue
        row = gradients.F[j]
        losses = problem.losses[problem.loss_of[j]]
        own = score[problem.y[j]]
        for c in range(n_categories):
            row[c] += kernel[j] * losses[c] * (score[c] - own)
        write_violation(j, selected, gradients)


@compiled()
def write_violation(j: int, selected: Selected, gradients: Gradients) -> None:
    """Write ψ_j over all categories and over S_j."""
    row = gradients.F[j]
    highest = within = 0.0
    lowest = 0.0 if selected.beta[j, 0] > 0.0 else np.inf
    for a in range(1, selected.size[j]):
        value = row[selected.category[j, a]]
        lowest = min(lowest, value)
        within = max(within, value)
    for c in range(len(row)):
        if row[c] > highest:
            highest = row[c]
    gradients.violation[j] = highest - lowest
    gradients.within[j] = within - lowest


@compiled()
def inspect(problem: Problem, selected: Selected, gradients: Gradients, findings: Findings) -> None:
    """Write what the gradients tell about each item."""
    for i in range(len(problem.y)):
        row = gradients.F[i]
        losses = problem.losses[problem.loss_of[i]]
        findings.linear[i] = findings.quadratic[i] = 0.0
        for a in range(1, selected.size[i]):
            c = selected.category[i, a]
            findings.linear[i] += selected.beta[i, a] * losses[c]
            findings.quadratic[i] += selected.beta[i, a] * (losses[c] - row[c])
        findings.slack[i], findings.margin[i] = 0.0, np.inf
        for c in range(len(row)):
            if c != problem.y[i]:
                findings.slack[i] = max(findings.slack[i], row[c])
                findings.margin[i] = min(findings.margin[i], 1.0 - row[c] / losses[c])
        findings.violation[i] = gradients.violation[i]
