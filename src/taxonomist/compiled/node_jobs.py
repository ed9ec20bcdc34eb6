"""Loops over blocks of binary SVMs, each with items of its own: gather, solve, keep the result."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from taxonomist._typing import Codes, Floats, Integers, Reals
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.node_svm import (
    BlockArrays,
    BlockState,
    Scratch,
    gather,
    resume,
    solve_block,
)

Seeds: TypeAlias = npt.NDArray[np.uint64]


class JobArrays(NamedTuple):
    """Jobs: the problems of some columns of a group. A place is an item of a group."""

    rows: Rows
    norms: Reals  # (n_places,)  ||x_i||² + constant²
    costs: Reals  # (n_places,)  C_i
    constant: float
    is_squared: bool
    items: Codes  # (n_places,)
    first: Codes  # (n_groups + 1,)  first place of each group
    own: Labels  # the columns in which the item of each place is positive
    group: Codes  # (n_jobs,)
    begin: Codes  # (n_jobs,)  first column
    end: Codes  # (n_jobs,)  last column + 1
    width: Codes  # (n_jobs,)  columns of the weights, of which the last may be of no use
    seed: Seeds  # (n_jobs,)  of the order of items, above 0


class JobResults(NamedTuple):
    """What jobs find, apart from weights and dual variables."""

    bias: Reals  # (n_columns,)
    primal: Floats  # (n_columns,)
    dual: Floats  # (n_columns,)
    n_passes: Codes  # (n_jobs,)
    gap: Floats  # (n_jobs,)
    n_features: Codes  # (n_jobs,)  features with a weight


class JobRoom(NamedTuple):
    """Room for the work on one job: as many entries as the largest job needs.

    A job of all items needs no copy of their rows, unless it has fewer entries than there are
    features.
    """

    rows: Rows
    copied: Rows  # ``rows`` as they are read
    used: Integers  # features that occur, in ascending order
    place: Integers  # (n_features,)  -1, before and after
    weights: Reals
    alphas: Reals
    scratch: Scratch


class Variables(NamedTuple):
    """The weights and dual variables of some jobs, one job after the other."""

    features: Integers  # that have weights
    values: Reals  # of each of these features, in all columns of its job
    items: Integers  # of dual variables above 0
    columns: Integers  # of dual variables above 0
    alphas: Reals  # dual variables above 0
    counts: Codes  # (3,)  numbers of features, values and dual variables so far


@compiled(inline=True)
def gather_all(n: int, used: Integers) -> int:
    """Do what ``gather`` does for all items, without a copy: features keep their numbers."""
    for f in range(n):
        used[f] = f
    return n


@compiled(inline=True)
def keep_weights(W: Reals, n_columns: int, used: Integers, out: Variables) -> int:
    """Append the features that have weights, and these; return the number of these features."""
    n_before = out.counts[0]
    for f in range(len(W) - 1):
        is_used = False
        for b in range(n_columns):
            out.values[out.counts[1] + b] = W[f, b]
            is_used |= W[f, b] != 0
        if is_used:
            out.features[out.counts[0]] = used[f]
            out.counts[0] += 1
            out.counts[1] += n_columns
    return int(out.counts[0] - n_before)


@compiled(inline=True)
def keep_alphas(alpha: Reals, items: Codes, first: int, begin: int, out: Variables) -> None:
    """Append the dual variables above 0."""
    for t in range(len(alpha)):
        for b in range(alpha.shape[1]):
            if alpha[t, b] > 0:
                n = out.counts[2]
                out.items[n] = items[first + t]
                out.columns[n] = begin + b
                out.alphas[n] = alpha[t, b]
                out.counts[2] += 1


@compiled(inline=True)
def clear(values: Reals) -> None:
    """Write zeros. An assignment to a slice takes long to compile."""
    for k in range(len(values)):
        values[k] = 0.0


@compiled()
def solve_jobs(
    jobs: Codes,
    problem: JobArrays,
    start: Rows,
    room: JobRoom,
    results: JobResults,
    out: Variables,
    tol: float,
    max_iter: int,
) -> None:
    """Solve some jobs; ``start`` has no rows for a cold start."""
    for job in jobs:
        first, last = problem.first[problem.group[job]], problem.first[problem.group[job] + 1]
        begin, n_columns = problem.begin[job], problem.end[job] - problem.begin[job]
        n_rows, n_all = len(problem.rows.indptr) - 1, len(room.place)
        if last - first == n_rows and problem.rows.indptr[n_rows] >= n_all:
            rows, n_used = problem.rows, gather_all(n_all, room.used)
        else:
            rows, n_used = (
                room.copied,
                gather(problem.items, first, last, problem.rows, room.place, room.rows, room.used),
            )
        block = BlockArrays(
            rows,
            problem.own,
            problem.norms,
            problem.costs,
            problem.constant,
            problem.is_squared,
            first,
            begin,
        )
        width = problem.width[job]
        weights = room.weights[: (n_used + 1) * width]
        alphas = room.alphas[: (last - first) * n_columns]
        clear(weights)
        clear(alphas)
        W, alpha = weights.reshape((-1, width)), alphas.reshape((-1, n_columns))
        state = BlockState(W, alpha, results.primal, results.dual)
        if len(start.indptr) > 1:
            resume(block, state, problem.items, start)
        order, score, sign, change = room.scratch
        scratch = Scratch(order, score[:width], sign[:width], change[:width])
        found = solve_block(block, state, scratch, problem.seed[job], tol, max_iter)
        results.n_passes[job], results.gap[job] = found
        for b in range(n_columns):
            results.bias[begin + b] = np.float32(problem.constant) * W[n_used, b]
        results.n_features[job] = keep_weights(W, n_columns, room.used, out)
        keep_alphas(alpha, problem.items, first, begin, out)
