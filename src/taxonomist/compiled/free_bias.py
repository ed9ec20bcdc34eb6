"""Loops of the binary SVM with a free bias: kernel rows, and steps on pairs of items.

Notation (see ``taxonomist.solvers.free_bias``): i and j items of one problem, s their signs ±1,
f_i = Σ_j α_j s_j k(x_i, x_j) the margin without bias, E_i = s_i - f_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.jit import compiled


class KernelRows(NamedTuple):
    """The linear kernel of all items, by rows, of which as many are kept as there is room for."""

    indptr: Codes  # (n_all + 1,)  features of each item
    indices: Codes
    data: Floats
    ends: Codes  # (n_features + 1,)  items of each feature
    having: Codes
    values: Floats
    norms: Floats  # (n_all,)  k(x_i, x_i)
    table: Floats  # (n_slots, n_all)
    slot_of: Codes  # (n_all,)  -1: not kept
    owner: Codes  # (n_slots,)  -1: empty
    oldest: Codes  # (1,)  the slot that is filled next


class BinaryItems(NamedTuple):
    """The items of one binary problem."""

    items: Codes  # (n,)  among all items
    sign: Floats  # (n,)  1 or -1
    most: Floats  # (n,)  upper bound of α
    norm: Floats  # (n,)  k(x_i, x_i), plus what the squared hinge adds


@compiled()
def kernel_row(rows: KernelRows, i: int) -> int:
    """Return the slot of the kernel row of item i, computed if it is not kept."""
    if rows.slot_of[i] >= 0:
        found: int = rows.slot_of[i]
        return found
    slot: int = rows.oldest[0]
    rows.oldest[0] = (slot + 1) % len(rows.owner)
    if rows.owner[slot] >= 0:
        rows.slot_of[rows.owner[slot]] = -1
    rows.owner[slot], rows.slot_of[i] = i, slot
    row = rows.table[slot]
    row[:] = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        f, x = rows.indices[k], rows.data[k]
        for q in range(rows.ends[f], rows.ends[f + 1]):
            row[rows.having[q]] += x * rows.values[q]
    return slot


@compiled(inline=True)
def may_rise(problem: BinaryItems, alpha: Floats, i: int) -> bool:
    """Return whether s_i α_i may become larger."""
    return bool(alpha[i] < problem.most[i] if problem.sign[i] > 0.0 else alpha[i] > 0.0)


@compiled(inline=True)
def may_fall(problem: BinaryItems, alpha: Floats, i: int) -> bool:
    """Return whether s_i α_i may become smaller."""
    return bool(alpha[i] > 0.0 if problem.sign[i] > 0.0 else alpha[i] < problem.most[i])


@compiled()
def extremes(problem: BinaryItems, alpha: Floats, E: Floats) -> tuple[int, float, float]:
    """Return the item that may rise with the largest E, that E, and the smallest E to fall."""
    up, top, bottom = -1, -np.inf, np.inf
    for i in range(len(E)):
        if E[i] > top and may_rise(problem, alpha, i):
            top, up = E[i], i
        if E[i] < bottom and may_fall(problem, alpha, i):
            bottom = E[i]
    return up, top, bottom


@compiled(inline=True)
def partner(problem: BinaryItems, alpha: Floats, E: Floats, up: int, row: Floats) -> int:
    """Return the item to fall that gains most in a step with ``up``."""
    best, down = 0.0, -1
    for j in range(len(E)):
        rise = E[up] - E[j]
        if rise > 0.0 and may_fall(problem, alpha, j):
            curvature = problem.norm[up] + problem.norm[j] - 2.0 * row[problem.items[j]]
            gain = rise * rise / max(curvature, 1e-12)
            if gain > best:
                best, down = gain, j
    return down


@compiled(inline=True)
def room(problem: BinaryItems, alpha: Floats, i: int, sign: float) -> float:
    """Return how far s_i α_i may go up (``sign`` 1) or down (-1)."""
    left: float = problem.most[i] - alpha[i] if problem.sign[i] == sign else alpha[i]
    return left


@compiled()
def climb(
    problem: BinaryItems, rows: KernelRows, alpha: Floats, E: Floats, tol: float, limit: int
) -> int:
    """Take steps on pairs until E of all that may rise and fall agree; return their number.

    A step moves weight between the item that may rise with the largest E and the item that gains
    most with it by second-order information. α and E are updated in place.
    """
    for n_steps in range(limit):
        up, top, bottom = extremes(problem, alpha, E)
        if up < 0 or not top - bottom > tol:
            return n_steps
        i = problem.items[up]
        down = partner(problem, alpha, E, up, rows.table[kernel_row(rows, i)])
        j = problem.items[down]
        second = rows.table[kernel_row(rows, j)]
        first = rows.table[kernel_row(rows, i)]  # again: the other row may have taken its slot
        curvature = problem.norm[up] + problem.norm[down] - 2.0 * first[j]
        step = (E[up] - E[down]) / max(curvature, 1e-12)
        step = min(step, room(problem, alpha, up, 1.0), room(problem, alpha, down, -1.0))
        move(problem, alpha, up, step)
        move(problem, alpha, down, -step)
        for q in range(len(E)):
            k = problem.items[q]
            E[q] -= step * (first[k] - second[k])
        E[up] -= step * (problem.norm[up] - first[i])
        E[down] += step * (problem.norm[down] - second[j])
    return limit


@compiled(inline=True)
def move(problem: BinaryItems, alpha: Floats, i: int, step: float) -> None:
    """Add a step to s_i α_i; where it reaches a bound, up to rounding, α is that bound."""
    moved, most = alpha[i] + problem.sign[i] * step, problem.most[i]
    if moved <= 1e-14 * abs(step):
        moved = 0.0
    elif most < np.inf and moved >= most * (1.0 - 1e-14):
        moved = most
    alpha[i] = moved


@compiled()
def add_up(problem: BinaryItems, rows: KernelRows, alpha: Floats, w: Floats) -> None:
    """Add Σ_i α_i s_i x_i to the weights."""
    for q in range(len(alpha)):
        if alpha[q] > 0.0:
            i, amount = problem.items[q], alpha[q] * problem.sign[q]
            for k in range(rows.indptr[i], rows.indptr[i + 1]):
                w[rows.indices[k]] += amount * rows.data[k]
