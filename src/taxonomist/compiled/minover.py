"""Loops of the MinOver perceptron: find the triple with the smallest margin, and take a step.

The scores <w_z, φ(x_j)> of all items at all attributes are kept. Of the margins
min_y f(x_j, y) - max_c f(x_j, c), only lower bounds are kept. How far a step can lower a margin is
known without scoring the item's categories, and the search only scores items whose bound is below
the smallest margin found so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats
from taxonomist.compiled.arrays import Attributes, Labels, Loss, Rows
from taxonomist.compiled.attributes import category_score, write_category_scores
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.losses import loss_between
from taxonomist.compiled.rows import write_products

TIED = 1e-13
"""Margins count as equal if they differ by less than this part of the largest possible score, so
that rounding does not decide which item comes first."""

STEPPED, SATISFIED, ROW_WANTED, STUCK = 0, 1, 2, 3
"""Why ``take_steps`` returned."""


class Kernel(NamedTuple):
    """The source of k(x_i, x_j): rows and columns of a sparse matrix, or a table of kernel rows."""

    rows: Rows  # of the items as CSR
    columns: Rows  # the same as CSC
    table: Floats  # (n_kept, n_items)  k(x_i, x_j) for all j; (0, 0): products of ``rows``
    place: Codes  # (n_items,)  row of the table that belongs to item i; -1: none
    ridge: float  # added to k(x_i, x_i)


class MinOverArrays(NamedTuple):
    """The arrays of a problem, which the loops only read."""

    kernel: Kernel
    labels: Labels
    attributes: Attributes
    loss: Loss


class MinOverState(NamedTuple):
    """Scores and bounds of margins, which every step changes."""

    scores: Floats  # (n_items, n_attributes)  <w_z, φ(x_i)>; stale where an item has no triples
    bound: Floats  # (n_items,)  lower bound of the item's margin; inf: it has no triples
    is_exact: Bools  # (n_items,)  whether the bound is the margin
    reach: Floats  # (1,)  no score of a category is larger


class Steps(NamedTuple):
    """The triples of the steps so far."""

    item: Codes  # (n_steps or more,)  i
    own: Codes  # likewise  y
    other: Codes  # likewise  c


class MinOverScratch(NamedTuple):
    """Work arrays for one search and one step."""

    f: Floats  # (n_categories,)  f(x_i, c)
    mark: Bools  # (max(n_categories, n_nodes),)  False between uses
    row: Floats  # (n_items,)  k(x_i, x_j)
    change: Floats  # (n_attributes,)  of the weights, in units of φ(x_i); 0 between uses
    used: Codes  # (n_attributes,)  attributes whose weights change
    gain: Floats  # (n_categories,)  of the scores, in units of k(x_i, x_j)


def minover_scratch(
    n_items: int, n_categories: int, n_attributes: int, n_nodes: int
) -> MinOverScratch:
    """Return work arrays for problems of the given size."""
    return MinOverScratch(
        f=np.zeros(n_categories),
        mark=np.zeros(max(n_categories, n_nodes), dtype=np.bool_),
        row=np.zeros(n_items),
        change=np.zeros(n_attributes),
        used=np.zeros(n_attributes, dtype=np.intp),
        gain=np.zeros(n_categories),
    )


@compiled(inline=True)
def margin_of(
    j: int, data: MinOverArrays, scores: Floats, scratch: MinOverScratch
) -> tuple[float, float]:
    """Write f(x_j, c) for all categories; return the lowest own score and the highest other."""
    labels, attributes, f, mark = data.labels, data.attributes, scratch.f, scratch.mark
    lowest, highest = np.inf, -np.inf
    for k in range(labels.indptr[j], labels.indptr[j + 1]):
        mark[labels.indices[k]] = True
    for c in range(len(f)):
        total = category_score(attributes, c, scores[j])
        f[c] = total
        if mark[c]:
            lowest = min(lowest, total)
        else:
            highest = max(highest, total)
    for k in range(labels.indptr[j], labels.indptr[j + 1]):
        mark[labels.indices[k]] = False
    return lowest, highest


@compiled()
def settle(
    data: MinOverArrays, state: MinOverState, at_least: float, scratch: MinOverScratch
) -> float:
    """Return the smallest margin, and make it and the bounds up to ``at_least`` exact."""
    bound, is_exact = state.bound, state.is_exact
    tie = TIED * state.reach[0]
    worst = np.inf
    if len(bound) == 0:
        return worst
    first = 0
    for j in range(len(bound)):
        if bound[j] < bound[first]:
            first = j
    for turn in range(-1, len(bound)):
        j = first if turn < 0 else turn
        if bound[j] <= max(worst + tie, at_least):
            if not is_exact[j]:
                lowest, highest = margin_of(j, data, state.scores, scratch)
                bound[j] = lowest - highest
                is_exact[j] = True
            worst = min(worst, bound[j])
    return worst


@compiled()
def count_errors(data: MinOverArrays, state: MinOverState, scratch: MinOverScratch) -> int:
    """Return how many items have a category that does not score above all others."""
    settle(data, state, 0.0, scratch)
    n_errors = 0
    for j in range(len(state.bound)):
        if state.bound[j] <= 0.0:
            n_errors += 1
    return n_errors


@compiled(inline=True)
def choose(
    worst: float, data: MinOverArrays, state: MinOverState, scratch: MinOverScratch
) -> tuple[int, int, int]:
    """Return the triple with the smallest margin; of equal ones, the first by item, y and c."""
    tie = TIED * state.reach[0]
    i = 0
    while state.bound[i] > worst + tie:
        i += 1
    lowest, highest = margin_of(i, data, state.scores, scratch)
    labels, f = data.labels, scratch.f
    y = len(f)
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        scratch.mark[labels.indices[k]] = True
        if f[labels.indices[k]] <= lowest + tie:
            y = min(y, labels.indices[k])
    c = 0
    while scratch.mark[c] or f[c] < highest - tie:
        c += 1
    for k in range(labels.indptr[i], labels.indptr[i + 1]):
        scratch.mark[labels.indices[k]] = False
    return i, y, c


@compiled(inline=True)
def write_kernel_row(kernel: Kernel, i: int, out: Floats) -> None:
    """Write k(x_i, x_j) for every item j."""
    if len(kernel.table):
        at = kernel.place[i]
        for j in range(len(out)):
            out[j] = kernel.table[at, j]
    else:
        write_products(kernel.rows, kernel.columns, i, out)
    out[i] += kernel.ridge


@compiled(inline=True)
def write_change(
    attributes: Attributes, y: int, c: int, size: float, scratch: MinOverScratch
) -> int:
    """Write Δ(y, c) (Λ(y) - Λ(c)) and what it adds to scores; return how many weights change."""
    change, used, gain = scratch.change, scratch.used, scratch.gain
    for k in range(attributes.indptr[y], attributes.indptr[y + 1]):
        change[attributes.indices[k]] += size * attributes.values[k]
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        change[attributes.indices[k]] -= size * attributes.values[k]
    n_used = 0
    for z in range(len(change)):
        if change[z] != 0.0:
            used[n_used] = z
            n_used += 1
    write_category_scores(attributes, change, gain)
    return n_used


@compiled(inline=True)
def spread(n_used: int, labels: Labels, state: MinOverState, scratch: MinOverScratch) -> None:
    """Update all scores after a change of the weights, and lower the bounds accordingly.

    With k = k(x_i, x_j) > 0, the own scores of item j rise by at least k times the smallest gain
    of its categories, and the others by at most k times the largest gain of all.
    """
    scores, bound, change, used = state.scores, state.bound, scratch.change, scratch.used
    least, most = np.inf, -np.inf
    for c in range(len(scratch.gain)):
        least, most = min(least, scratch.gain[c]), max(most, scratch.gain[c])
    longest = 0.0
    for j in range(len(bound)):
        k = scratch.row[j]
        if k == 0.0 or bound[j] == np.inf:
            continue
        longest = max(longest, abs(k))
        for a in range(n_used):
            scores[j, used[a]] += k * change[used[a]]
        own_least, own_most = np.inf, -np.inf
        for a in range(labels.indptr[j], labels.indptr[j + 1]):
            own_least = min(own_least, scratch.gain[labels.indices[a]])
            own_most = max(own_most, scratch.gain[labels.indices[a]])
        bound[j] += k * (own_least - most if k > 0.0 else own_most - least)
        state.is_exact[j] = False
    state.reach[0] += longest * max(most, -least)


@compiled()
def take_steps(
    data: MinOverArrays,  # in
    state: MinOverState,  # in/out
    steps: Steps,  # in/out  from n_taken on
    n_taken: int,
    n_wanted: int,
    target: float,
    scratch: MinOverScratch,
) -> tuple[int, int, int]:
    """Take steps until ``n_wanted`` are taken [CH07, Alg. 2].

    Return why the search stopped, the number of steps so far, and the item whose kernel row is
    wanted. It stops early if the smallest margin is above ``target``, the row of the chosen item
    is not in the table, or the two categories have the same attributes.
    """
    kernel = data.kernel
    while n_taken < n_wanted:
        worst = settle(data, state, -np.inf, scratch)
        if worst > target or worst == np.inf:
            return SATISFIED, n_taken, -1
        i, y, c = choose(worst, data, state, scratch)
        if len(kernel.table) and kernel.place[i] < 0:
            return ROW_WANTED, n_taken, i
        size = loss_between(data.loss, y, c, scratch.mark)
        n_used = write_change(data.attributes, y, c, size, scratch)
        if n_used == 0:
            return STUCK, n_taken, -1
        write_kernel_row(kernel, i, scratch.row)
        spread(n_used, data.labels, state, scratch)
        for a in range(n_used):
            scratch.change[scratch.used[a]] = 0.0
        steps.item[n_taken], steps.own[n_taken], steps.other[n_taken] = i, y, c
        n_taken += 1
    return STEPPED, n_taken, -1
