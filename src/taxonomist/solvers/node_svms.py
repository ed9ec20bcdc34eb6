"""Independent binary SVMs, one per column, over shared items.

Problem       for each column b:  min_{w, ξ}  ½ ||w||² + Σ_i C_i ξ_i²   (or Σ_i C_i ξ_i)
              s.t.  y_ib <w, x_i> >= 1 - ξ_i,  ξ_i >= 0,  i in the items of b's group;
              x_i ends in a constant feature, whose weight is the bias
Dual          max_α  Σ_i α_i - ½ ||w(α)||² - ½ Σ_i D_i α_i²,  w(α) = Σ_i α_i y_ib x_i,
              0 <= α_i <= U_i,  with D_i = 1/(2 C_i) and U_i = ∞  (or D_i = 0 and U_i = C_i)

Columns with the same items form a group. A group is solved in blocks of columns by dual coordinate
ascent, one item at a time: the scores of an item in all columns of a block are a sum of rows of
``W``, which runs in vector registers. With few features, Newton's method solves the problems, see
``newton_svm``. Blocks are independent, so threads share them; the result does not depend on the
number of threads.

Notation
    i   item    n_items      x_i   ``rows``      C_i  ``costs``
    b   column  n_columns    y_ib  ``Groups.own`` α   ``NodeSolution.duals``
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist._threads import one_blas_thread
from taxonomist.compiled.node_jobs import (
    JobArrays,
    JobResults,
    JobRoom,
    Variables,
    solve_jobs,
)
from taxonomist.compiled.vectors import FEW
from taxonomist.inference.block_weights import BlockWeights, in_order
from taxonomist.solvers.checkpoints import KeptPortions
from taxonomist.solvers.newton_svm import MOST_FEATURES, solve_newton
from taxonomist.solvers.node_jobs import JobSizes, joined, mixed_seeds, start_rows, written
from taxonomist.solvers.row_norms import row_norms

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import CSR, Bools, Codes, Floats, Integers, Reals
    from taxonomist.compiled.arrays import Labels, Rows

MOST_COLUMNS = FEW[-1]
"""Most columns of a block: their weights of one feature fill a cache line."""


@dataclass(frozen=True)
class NodeOptions:
    """How the problems are solved.

    Attributes
    ----------
    tol
        The relative duality gap at which a block is solved.
    max_iter
        Most passes over the items of a block.
    random_state
        Seed of the order of items.
    n_threads
        Number of threads; the result does not depend on it.
    """

    tol: float = 0.01
    max_iter: int = 1000
    random_state: int = 0
    n_threads: int = 1


class Groups(NamedTuple):
    """Groups of columns that have the same items. An item of a group is a place.

    Attributes
    ----------
    items
        The items of all places, (n_places,), in ascending order within a group.
    first
        The first place of each group, (n_groups + 1,).
    own
        The columns in which the item of each place is positive.
    columns
        The first column of each group, (n_groups + 1,).
    seeds
        A number of each column, (n_columns,), on which the order of items depends. A column that
        keeps its number has the same solution whatever other columns there are.
    """

    items: Codes
    first: Codes
    own: Labels
    columns: Codes
    seeds: Codes

    @property
    def n_columns(self) -> int:
        """The number of columns of all groups."""
        return int(self.columns[-1])


@dataclass(frozen=True, eq=False)
class NodeProblems:
    """All binary problems.

    Attributes
    ----------
    rows
        The items, sparse and in single precision.
    n_features
        The number of features.
    costs
        C_i of every item, above 0.
    groups
        The groups of columns.
    constant
        The value of the constant feature.
    is_squared
        Whether the hinge loss is squared.
    given_norms
        ``norms`` if they are known, else None.
    """

    rows: Rows
    n_features: int
    costs: Floats
    groups: Groups
    constant: float = 1.0
    is_squared: bool = True
    given_norms: Reals | None = None

    @cached_property
    def norms(self) -> Reals:
        """||x_i||² of every item, with the constant feature."""
        if self.given_norms is not None:
            return self.given_norms
        return row_norms(self.rows, self.constant)


class NodeSolution(NamedTuple):
    """The classifiers of all columns.

    Attributes
    ----------
    weights
        The weights of all columns, group by group.
    duals
        α, (n_items, n_columns).
    primal, dual
        Both objectives of each column.
    converged
        Whether every block reached the tolerance.
    n_passes
        The largest number of passes over the items of a block.
    seconds
        Run time.
    """

    weights: BlockWeights
    duals: CSR
    primal: Floats
    dual: Floats
    converged: bool
    n_passes: int
    seconds: float


class KeptBlocks(NamedTuple):
    """Blocks with a known solution.

    Attributes
    ----------
    is_kept
        Whether each block is known, (n_blocks,).
    features, blocks, values
        The feature and the block of each segment of weights, and the weights.
    bias, primal, dual
        What is known of each column, (n_columns,), and 0 for other columns.
    alpha
        The dual variables, (n_items, n_columns).
    """

    is_kept: Bools
    features: Integers
    blocks: Codes
    values: Reals
    bias: Reals
    primal: Floats
    dual: Floats
    alpha: CSR


def solve(
    problem: NodeProblems,
    options: NodeOptions,
    callback: Callable[[int, int], object] | None = None,
    start: CSR | None = None,
    kept: KeptBlocks | None = None,
) -> NodeSolution:
    """Solve all problems.

    Parameters
    ----------
    problem
        The problems.
    options
        Tolerance, seed and number of threads.
    callback
        Called with the numbers of finished and of all portions of the work.
    start
        α for a warm start, (n_items, n_columns).
    kept
        Blocks that are not solved again.
    """
    begun = perf_counter()
    narrow = problem.is_squared and problem.n_features < MOST_FEATURES
    work = _solve_narrow if narrow else _solve_wide
    jobs = blocks_of(problem.groups.columns)
    results = _no_results(problem.groups.n_columns, len(jobs.group))
    todo = np.arange(len(jobs.group)) if kept is None else np.flatnonzero(~kept.is_kept)
    found = work(problem, jobs, todo, results, options, callback, start)
    if kept is not None:
        found = _with_kept(found, results, kept)
    widths = jobs.end - jobs.begin
    return NodeSolution(
        BlockWeights.join(
            problem.n_features, found.features, found.jobs, found.values, widths, results.bias
        ),
        found.alpha,
        results.primal,
        results.dual,
        bool((results.gap <= options.tol).all()),
        int(results.n_passes.max(initial=0)),
        perf_counter() - begun,
    )


class Blocks(NamedTuple):
    """Blocks of columns: the group, the first and the last column + 1 of each."""

    group: Codes
    begin: Codes
    end: Codes


class _Found(NamedTuple):
    """The weights of all jobs, and the dual variables.

    Attributes
    ----------
    features, jobs
        The feature and the job of each segment of weights.
    values
        The weights, segment by segment.
    alpha
        The dual variables, (n_items, n_columns).
    """

    features: Integers
    jobs: Integers
    values: Reals
    alpha: CSR


def blocks_of(columns: Codes) -> Blocks:
    """Return blocks of about equal numbers of columns, given the first column of each group."""
    n_blocks = -(-np.diff(columns) // MOST_COLUMNS)
    group = np.repeat(np.arange(len(n_blocks)), n_blocks)
    inside = np.arange(len(group)) - np.repeat(np.cumsum(n_blocks) - n_blocks, n_blocks)
    widths, shares = np.diff(columns)[group], n_blocks[group]
    begin = columns[group] + widths * inside // shares
    return Blocks(group, begin, columns[group] + widths * (inside + 1) // shares)


def _with_kept(found: _Found, results: JobResults, kept: KeptBlocks) -> _Found:
    """Add the blocks that were not solved."""
    for array, known in zip(results[:3], (kept.bias, kept.primal, kept.dual), strict=True):
        array += known
    return _Found(
        np.concatenate([found.features, kept.features]),
        np.concatenate([found.jobs, kept.blocks]),
        np.concatenate([found.values, kept.values]),
        csr_array(found.alpha + kept.alpha),
    )


def _no_results(n_columns: int, n_jobs: int) -> JobResults:
    """Return room for the results of all jobs."""
    return JobResults(
        np.zeros(n_columns, np.float32),
        np.zeros(n_columns),
        np.zeros(n_columns),
        np.zeros(n_jobs, np.intp),
        np.zeros(n_jobs),
        np.zeros(n_jobs, np.intp),
    )


def _solve_wide(
    problem: NodeProblems,
    jobs: Blocks,
    todo: Codes,
    results: JobResults,
    options: NodeOptions,
    callback: Callable[[int, int], object] | None,
    start: CSR | None,
) -> _Found:
    """Solve all jobs by dual coordinate ascent; threads take portions of them."""
    sizes = _sizes_of(problem, jobs)
    arrays = _job_arrays(problem, jobs, sizes, options)
    begin = start_rows(start)
    portions = sizes.portions(todo)
    done: dict[int, Variables] = {}
    waiting = iter(range(len(portions)))
    limits = np.array([problem.n_features, options.tol, options.max_iter], dtype=np.float64)
    kept = KeptPortions.of(arrays, (*begin, todo, limits), sizes.work)

    def solved(number: int, room: JobRoom) -> Variables:
        some = portions[number]
        found = None if kept is None else kept.load(number, some, arrays, results)
        if found is not None:
            return found
        out = sizes.variables(some)
        solve_jobs(some, arrays, begin, room, results, out, options.tol, options.max_iter)
        found = written(out)
        if kept is not None:
            kept.save(number, some, arrays, results, found)
        return found

    def work_off() -> None:
        room = sizes.room(len(problem.costs), problem.n_features)
        for number in waiting:
            done[number] = solved(number, room)
            if callback is not None:
                callback(len(done), len(portions))

    with ThreadPoolExecutor(options.n_threads) as pool:
        others = [pool.submit(work_off) for _ in range(min(options.n_threads, len(portions)) - 1)]
        work_off()
        for other in others:
            other.result()
    order = np.concatenate([np.arange(0), *portions])
    features, values, items, columns, alphas, _ = joined([done.pop(k) for k in sorted(done)])
    alpha = in_order(alphas, items, columns, (len(problem.costs), problem.groups.n_columns))
    owners = np.repeat(order.astype(np.int32), results.n_features[order])
    return _Found(features, owners, values, alpha)


def _job_arrays(
    problem: NodeProblems, jobs: Blocks, sizes: JobSizes, options: NodeOptions
) -> JobArrays:
    """Return the problems as compiled loops read them."""
    groups = problem.groups
    return JobArrays(
        problem.rows,
        problem.norms[groups.items],
        problem.costs[groups.items].astype(np.float32),
        float(problem.constant),
        problem.is_squared,
        *groups[:3],
        *jobs,
        sizes.widths,
        mixed_seeds(options.random_state, groups.seeds[jobs.begin]),
    )


def _sizes_of(problem: NodeProblems, jobs: Blocks) -> JobSizes:
    """Return how large each job is."""
    groups = problem.groups
    ends = np.concatenate([[0], np.cumsum(np.diff(problem.rows.indptr)[groups.items])])
    n_entries = np.diff(ends[groups.first])[jobs.group]
    n_features = np.minimum(n_entries, problem.n_features)
    return JobSizes(np.diff(groups.first)[jobs.group], n_entries, n_features, jobs.end - jobs.begin)


def _solve_narrow(
    problem: NodeProblems,
    jobs: Blocks,
    todo: Codes,
    results: JobResults,
    options: NodeOptions,
    callback: Callable[[int, int], object] | None,
    _: CSR | None,
) -> _Found:
    """Solve the problems of few features, column by column; this needs no warm start."""
    groups, n_items, n_features = problem.groups, len(problem.costs), problem.n_features
    indptr, indices, data = problem.rows
    X = csr_array((data, indices, indptr), shape=(n_items, n_features)).toarray()
    X = np.hstack([X, np.full((n_items, 1), problem.constant)], dtype=np.float64)
    shape = len(groups.items), groups.n_columns
    own = csr_array((np.ones(len(groups.own.indices), bool), *groups.own[::-1]), shape=shape)
    weights = [np.empty(0, np.float32)]
    alpha: CSR = csr_array((n_items, groups.n_columns), dtype=np.float32)
    for n_done, number in enumerate(todo.tolist(), 1):
        group, begin, end = (part[number] for part in jobs)
        places = slice(*groups.first[group : group + 2])
        items = groups.items[places]
        signs = np.where(own[places, begin:end].toarray().T, 1.0, -1.0)
        X_job, costs = X[items], problem.costs[items]
        with one_blas_thread():
            found = [
                solve_newton(X_job, sign, costs, options.tol, options.max_iter) for sign in signs
            ]
        W, found_alpha, primal, dual, n_steps = map(np.array, zip(*found, strict=True))
        results.bias[begin:end] = problem.constant * W[:, -1]
        results.primal[begin:end], results.dual[begin:end] = primal, dual
        results.n_passes[number] = n_steps.max()
        results.gap[number] = (primal.sum() - dual.sum()) / primal.sum()
        weights.append(W[:, :-1].T.ravel().astype(np.float32))
        where = found_alpha.nonzero()
        place = items[where[1]], begin + where[0]
        alpha += csr_array((found_alpha[where].astype(np.float32), place), shape=alpha.shape)
        if callback is not None:
            callback(n_done, len(todo))
    features = np.tile(np.arange(n_features, dtype=np.int32), len(todo))
    numbers = np.repeat(todo, n_features)
    return _Found(features, numbers, np.concatenate(weights), alpha)
