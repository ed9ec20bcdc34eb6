"""Loops of independent binary SVMs over the same items, several at a time.

Notation (see ``taxonomist.solvers.node_svms``): i item, b binary problem (column), y_ib = +1 if
item i is positive in b and -1 if not. ``W`` holds the weights (features x columns), so that the
scores of an item in all columns are a sum of contiguous rows. The gradient of the dual is
G_ib = 1 - y_ib s_ib - D_i α_ib, and 0 <= α_ib <= U_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats, Integers, Reals
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.rows import score_row
from taxonomist.compiled.vectors import IS_COMPILED, add_few, score_few

CHECK = 2.0
"""The exact gap is computed when its estimate is at most this multiple of the tolerance."""


class BlockArrays(NamedTuple):
    """The items of some binary problems: item i is at place ``first + i`` of the arrays.

    An item is positive in column b if its place has column ``begin + b``.
    """

    rows: Rows  # of the items, from 0
    own: Labels  # the columns of each place
    norms: Reals  # (n_places,)  ||x_i||² + constant²
    costs: Reals  # (n_places,)  C_i
    constant: float
    is_squared: bool
    first: int
    begin: int


class BlockState(NamedTuple):
    """The variables of some binary problems; the bias is the last row of ``W``."""

    W: Reals  # (n_features + 1, width): as many columns as one of ``FEW``; further ones stay 0
    alpha: Reals  # (n_items, n_columns)
    primal: Floats  # of column b at ``begin + b``
    dual: Floats  # of column b at ``begin + b``


class Scratch(NamedTuple):
    """Room for the work on a block."""

    order: Codes  # (n_items,) or more
    score: Reals  # as many as ``W`` has columns
    sign: Reals
    change: Reals

    @classmethod
    def of(cls, n_items: int, width: int) -> Scratch:
        """Return room for so many items, and columns of the weights."""
        return cls(np.empty(n_items, np.intp), *np.empty((3, width), np.float32))


@compiled(inline=True)
def sort_numbers(numbers: Integers, n: int) -> None:
    """Put the first n numbers into ascending order, by Shell's sort."""
    gap = 1
    while 3 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for t in range(gap, n):
            moved, at = numbers[t], t
            while at >= gap and numbers[at - gap] > moved:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = moved
        gap //= 3


@compiled(inline=True)
def gather(
    items: Codes, first: int, last: int, rows: Rows, place: Integers, out: Rows, used: Integers
) -> int:
    """Write the rows of some of the items with their features renumbered, and these features.

    ``place`` has an entry of -1 for every feature, before and after. Return the number of features,
    which are in ascending order.
    """
    n_used, at = 0, 0
    for t in range(first, last):
        for k in range(rows.indptr[items[t]], rows.indptr[items[t] + 1]):
            if place[rows.indices[k]] < 0:
                place[rows.indices[k]] = 0
                used[n_used] = rows.indices[k]
                n_used += 1
    sort_numbers(used, n_used)
    for k in range(n_used):
        place[used[k]] = k
    out.indptr[0] = 0
    for t in range(first, last):
        for k in range(rows.indptr[items[t]], rows.indptr[items[t] + 1]):
            out.indices[at] = place[rows.indices[k]]
            out.data[at] = rows.data[k]
            at += 1
        out.indptr[t - first + 1] = at
    for k in range(n_used):
        place[used[k]] = -1
    return n_used


@compiled(inline=True)
def score_columns(block: BlockArrays, i: int, W: Reals, score: Reals, sign: Reals) -> None:
    """Write s_ib and y_ib of item i for every column b."""
    if IS_COMPILED:
        score_few(block.rows, i, W, score)
    else:
        score_row(block.rows, i, W, score)
    last, constant = len(W) - 1, np.float32(block.constant)
    for b in range(len(score)):
        score[b] += W[last, b] * constant
        sign[b] = np.float32(-1)
    own, at = block.own, block.first + i
    for t in range(own.indptr[at], own.indptr[at + 1]):
        b = own.indices[t] - block.begin
        if 0 <= b < len(sign):
            sign[b] = np.float32(1)


@compiled(inline=True)
def add_row(block: BlockArrays, i: int, W: Reals, change: Reals) -> None:
    """Add the row of item i, times the change of every column, to the weights."""
    rows, last, constant = block.rows, len(W) - 1, np.float32(block.constant)
    for b in range(len(change)):
        W[last, b] += constant * change[b]
    if IS_COMPILED:
        add_few(rows, i, W, change)
    else:
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            x, w = rows.data[k], W[rows.indices[k]]
            for b in range(len(change)):
                w[b] += x * change[b]


@compiled(inline=True)
def ascend_row(
    block: BlockArrays,
    i: int,
    state: BlockState,
    is_fixed: bool,
    score: Reals,
    sign: Reals,
    change: Reals,
) -> tuple[float, float]:
    """Maximise the dual over each α_ib given the scores, unless the variables are fixed.

    Add item i's part of both objectives, as it was before the step. Return the largest violation of
    the optimality conditions, and the smallest excess of a margin over 1 (-inf if some α > 0).
    """
    zero, cost = np.float32(0), block.costs[block.first + i]
    D = np.float32(0.5) / cost if block.is_squared else zero
    U = np.float32(np.inf) if block.is_squared else cost
    curvature = block.norms[block.first + i] + D
    step_size = np.float32(1) / curvature if curvature > zero and not is_fixed else zero
    worst, excess = zero, np.float32(np.inf)
    for b in range(state.alpha.shape[1]):
        a = state.alpha[i, b]
        slack = np.float32(1) - sign[b] * score[b]
        gradient = slack - D * a
        new = min(max(a + gradient * step_size, zero), U)
        change[b] = (new - a) * sign[b]
        state.alpha[i, b] = new
        worst = max(worst, abs(gradient) if new != a else zero)
        excess = min(excess, -slack if new == zero else np.float32(-np.inf))
        xi = max(slack, zero)
        state.primal[block.begin + b] += cost * xi * (xi if block.is_squared else np.float32(1))
        state.dual[block.begin + b] += a - np.float32(0.5) * D * a * a
    return float(worst), float(excess)


@compiled(inline=True)
def relative_gap(state: BlockState, begin: int) -> float:
    """Add the squared weights to the sums over items; return the gap of all columns together."""
    primal = dual = 0.0
    for f in range(len(state.W)):
        for b in range(state.alpha.shape[1]):
            half = 0.5 * state.W[f, b] * state.W[f, b]
            state.primal[begin + b] += half
            state.dual[begin + b] -= half
    for b in range(begin, begin + state.alpha.shape[1]):
        primal += state.primal[b]
        dual += state.dual[b]
    return (primal - dual) / primal if primal > 0.0 else 0.0


@compiled(inline=True)
def shuffle(order: Codes, n: int, seed: np.uint64) -> np.uint64:
    """Put the first n entries into a random order, and return the next seed."""
    for t in range(n - 1, 0, -1):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
        other = np.intp((seed >> np.uint64(11)) % np.uint64(t + 1))
        order[t], order[other] = order[other], order[t]
    return seed


@compiled(inline=True)
def resume(block: BlockArrays, state: BlockState, items: Codes, start: Rows) -> None:
    """Write the α of a start and the weights that follow from it; both are 0 before."""
    own, rows, last = block.own, block.rows, len(state.W) - 1
    for i in range(len(state.alpha)):
        at = block.first + i
        for k in range(start.indptr[items[at]], start.indptr[items[at] + 1]):
            b = start.indices[k] - block.begin
            if 0 <= b < state.alpha.shape[1]:
                change = -start.data[k]
                for t in range(own.indptr[at], own.indptr[at + 1]):
                    if own.indices[t] == start.indices[k]:
                        change = start.data[k]
                state.alpha[i, b] = start.data[k]
                state.W[last, b] += np.float32(block.constant) * change
                for t in range(rows.indptr[i], rows.indptr[i + 1]):
                    state.W[rows.indices[t], b] += rows.data[t] * change


@compiled(inline=True)
def pass_over(
    block: BlockArrays,
    state: BlockState,
    scratch: Scratch,
    n_active: int,
    limit: float,
    is_fixed: bool,
) -> tuple[int, float]:
    """Visit the first items of an order; make a step for each, unless the variables are fixed.

    Sum the objectives over these items. Those whose margins exceed 1 by more than the limit are put
    behind the others. Return the number of the others, and the largest violation.
    """
    for b in range(state.alpha.shape[1]):
        state.primal[block.begin + b] = state.dual[block.begin + b] = 0.0
    order, score, sign, change = scratch
    largest = 0.0
    t = 0
    while t < n_active:
        i = order[t]
        score_columns(block, i, state.W, score, sign)
        worst, excess = ascend_row(block, i, state, is_fixed, score, sign, change)
        if worst > 0.0:
            add_row(block, i, state.W, change)
            largest = max(largest, worst)
        if excess > limit:
            n_active -= 1
            order[t], order[n_active] = order[n_active], i
        else:
            t += 1
    return n_active, largest


@compiled(inline=True)
def start_order(scratch: Scratch, n_items: int) -> None:
    """Put the items in ascending order."""
    for i in range(n_items):
        scratch.order[i] = i
    for b in range(len(scratch.change)):
        scratch.change[b] = 0.0


@compiled(inline=True)
def solve_block(
    block: BlockArrays,
    state: BlockState,
    scratch: Scratch,
    seed: np.uint64,
    tol: float,
    max_iter: int,
) -> tuple[int, float]:
    """Solve the binary problems by dual coordinate ascent.

    A row is left out of the next passes while every column has α = 0 and a margin that exceeds 1 by
    more than the last pass's largest violation. When the gap seems small, a pass over all rows with
    fixed variables computes it. Return the number of passes and the relative duality gap, of all
    columns together.
    """
    n_items = n_active = len(state.alpha)
    start_order(scratch, n_items)
    limit, gap = np.inf, np.inf
    # A literal False would compile ``ascend_row`` a second time.
    n_passes, is_fixed = 0, max_iter < 0
    while True:
        seed = np.uint64(shuffle(scratch.order, n_active, seed))
        n_active, largest = pass_over(block, state, scratch, n_active, limit, is_fixed)
        gap = relative_gap(state, block.begin)
        if is_fixed and (gap <= tol or n_passes >= max_iter):
            return n_passes, gap
        if is_fixed:
            is_fixed = False
            continue
        n_passes += 1
        limit = largest
        if gap <= CHECK * tol or n_passes >= max_iter:
            is_fixed, limit, n_active = True, np.inf, n_items


@compiled()
def ascend_share(
    block: BlockArrays,
    state: BlockState,
    scratch: Scratch,
    slack: Floats,
    linear: Floats,
    seed: np.uint64,
    n_passes: int,
) -> None:
    """Write the sums of both objectives over the items, and then do some passes.

    The weights are those of more items than these, so no gap follows here; see
    ``taxonomist.solvers.node_shards``. ``slack`` and ``linear``, (n_columns,), are the parts of the
    primal and of the dual before the passes, without the squared weights.
    """
    n_active = len(state.alpha)
    start_order(scratch, n_active)
    limit = np.inf
    for number in range(n_passes + 1):
        is_fixed = number == 0
        if not is_fixed:
            seed = np.uint64(shuffle(scratch.order, n_active, seed))
        n_active, largest = pass_over(block, state, scratch, n_active, limit, is_fixed)
        if is_fixed:
            for b in range(len(slack)):
                slack[b], linear[b] = state.primal[b], state.dual[b]
        else:
            limit = largest
