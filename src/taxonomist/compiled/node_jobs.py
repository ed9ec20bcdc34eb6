"""Loops over blocks of binary SVMs, each with items of its own: gather, solve, keep the result."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from taxonomist._typing import Codes, Floats, Integers, Reals
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.node_svm import (
    BlockArrays,
    BlockState,
    gather,
    rebuild_block,
    solve_block,
)

Numbers = TypeVar("Numbers", Reals, Integers)
Seeds: TypeAlias = npt.NDArray[np.uint64]


class JobArrays(NamedTuple):
    """Jobs: the problems of some columns of a group. A place is an item of a group."""

    rows: Rows
    norms: Reals  # (n_items,)  ||x_i||² + constant²
    costs: Reals  # (n_items,)  C_i
    constant: float
    is_squared: bool
    items: Codes  # (n_places,)
    first: Codes  # (n_groups + 1,)  first place of each group
    own: Labels  # the columns in which the item of each place is positive
    group: Codes  # (n_jobs,)
    begin: Codes  # (n_jobs,)  first column
    end: Codes  # (n_jobs,)  last column + 1
    seed: Seeds  # (n_jobs,)  of the order of items, above 0


class JobResults(NamedTuple):
    """What jobs find, apart from weights and dual variables."""

    bias: Reals  # (n_columns,)
    primal: Floats  # (n_columns,)
    dual: Floats  # (n_columns,)
    n_passes: Codes  # (n_jobs,)
    gap: Floats  # (n_jobs,)
    n_features: Codes  # (n_jobs,)  features with a weight


@compiled()
def grown(array: Numbers, n_used: int, n_more: int) -> Numbers:
    """Return the array, or a longer copy if it has no room for more entries."""
    if n_used + n_more <= len(array):
        return array
    longer = np.empty(max(2 * len(array), n_used + n_more), array.dtype)
    for k in range(n_used):
        longer[k] = array[k]
    return longer


@compiled()
def block_of(problem: JobArrays, job: int, rows: Rows) -> BlockArrays:
    """Return the items of a job, given their rows."""
    place, n_items = problem.first[problem.group[job]], len(rows.indptr) - 1
    begin, end = problem.begin[job], problem.end[job]
    norms, costs = np.empty(n_items, np.float32), np.empty(n_items, np.float32)
    own, indptr = problem.own, np.empty(n_items + 1, np.intp)
    indptr[0] = n_own = 0
    for t in range(n_items):
        norms[t] = problem.norms[problem.items[place + t]]
        costs[t] = problem.costs[problem.items[place + t]]
        for k in range(own.indptr[place + t], own.indptr[place + t + 1]):
            n_own += begin <= own.indices[k] < end
        indptr[t + 1] = n_own
    indices = np.empty(n_own, np.intp)
    n_own = 0
    for k in range(own.indptr[place], own.indptr[place + n_items]):
        if begin <= own.indices[k] < end:
            indices[n_own] = own.indices[k] - begin
            n_own += 1
    labels = Labels(indptr, indices)
    return BlockArrays(rows, labels, norms, costs, problem.constant, problem.is_squared)


@compiled()
def first_state(problem: JobArrays, job: int, n_features: int, start: Rows) -> BlockState:
    """Return the variables of a job at its start; ``start`` has no rows for a cold start."""
    place = problem.first[problem.group[job]]
    n_items = problem.first[problem.group[job] + 1] - place
    begin, n_columns = problem.begin[job], problem.end[job] - problem.begin[job]
    alpha = np.zeros((n_items, n_columns), np.float32)
    if len(start.indptr) > 1:
        for t in range(n_items):
            item = problem.items[place + t]
            for k in range(start.indptr[item], start.indptr[item + 1]):
                if 0 <= start.indices[k] - begin < n_columns:
                    alpha[t, start.indices[k] - begin] = start.data[k]
    W = np.zeros((n_features + 1, n_columns), np.float32)
    return BlockState(W, alpha, np.zeros(n_columns), np.zeros(n_columns))


@compiled()
def keep_weights(
    W: Reals, used: Integers, features: Integers, n_features: int, values: Reals, n_values: int
) -> int:
    """Append the features that have weights, and these; return the new number of features."""
    n_columns = W.shape[1]
    for f in range(len(used)):
        is_used = False
        for b in range(n_columns):
            values[n_values + b] = W[f, b]
            is_used |= W[f, b] != 0
        if is_used:
            features[n_features] = used[f]
            n_features += 1
            n_values += n_columns
    return n_features


@compiled()
def n_positive(alpha: Reals) -> int:
    """Return the number of entries above 0."""
    found = 0
    for t in range(len(alpha)):
        for b in range(alpha.shape[1]):
            found += alpha[t, b] > 0
    return found


@compiled()
def solve_jobs(
    jobs: Codes,
    problem: JobArrays,
    start: Rows,
    results: JobResults,
    place: Integers,
    tol: float,
    max_iter: int,
) -> tuple[Integers, Reals, Integers, Integers, Reals]:
    """Solve some jobs.

    ``place`` has an entry of -1 for every feature, before and after. Return the features that have
    weights, job by job; their weights, all columns of a feature together; and the items, the
    columns and the values of the dual variables above 0.
    """
    features: Integers = np.empty(64, np.int32)
    items: Integers = np.empty(64, np.int32)
    columns: Integers = np.empty(64, np.int32)
    values, alphas = np.empty(64, np.float32), np.empty(64, np.float32)
    n_features = n_values = n_alphas = 0
    for job in jobs:
        first = problem.first[problem.group[job]]
        last = problem.first[problem.group[job] + 1]
        begin, n_columns = problem.begin[job], problem.end[job] - problem.begin[job]
        rows, used = gather(problem.items[first:last], problem.rows, place)
        block = block_of(problem, job, rows)
        state = first_state(problem, job, len(used), start)
        if len(start.indptr) > 1:
            rebuild_block(block, state)
        found = solve_block(block, state, problem.seed[job], tol, max_iter)
        results.n_passes[job], results.gap[job] = found
        n_before = n_features
        features = grown(features, n_features, len(used))
        values = grown(values, n_values, len(used) * n_columns)
        n_features = keep_weights(state.W, used, features, n_features, values, n_values)
        n_values += (n_features - n_before) * n_columns
        results.n_features[job] = n_features - n_before
        for b in range(n_columns):
            results.bias[begin + b] = np.float32(problem.constant) * state.W[len(used), b]
            results.primal[begin + b] = state.primal[b]
            results.dual[begin + b] = state.dual[b]
        n_more = n_positive(state.alpha)
        items, columns = grown(items, n_alphas, n_more), grown(columns, n_alphas, n_more)
        alphas = grown(alphas, n_alphas, n_more)
        for t in range(last - first):
            for b in range(n_columns):
                if state.alpha[t, b] > 0:
                    items[n_alphas] = problem.items[first + t]
                    columns[n_alphas] = begin + b
                    alphas[n_alphas] = state.alpha[t, b]
                    n_alphas += 1
    return (
        features[:n_features].copy(),
        values[:n_values].copy(),
        items[:n_alphas].copy(),
        columns[:n_alphas].copy(),
        alphas[:n_alphas].copy(),
    )
