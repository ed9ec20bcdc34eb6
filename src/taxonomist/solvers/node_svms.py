"""Independent binary SVMs, one per column, over shared items.

Problem       for each column b:  min_{w, ξ}  ½ ||w||² + Σ_i C_i ξ_i²   (or Σ_i C_i ξ_i)
              s.t.  y_ib <w, x_i> >= 1 - ξ_i,  ξ_i >= 0,  i in the items of b's group;
              x_i ends in a constant feature, whose weight is the bias
Dual          max_α  Σ_i α_i - ½ ||w(α)||² - ½ Σ_i D_i α_i²,  w(α) = Σ_i α_i y_ib x_i,
              0 <= α_i <= U_i,  with D_i = 1/(2 C_i) and U_i = ∞  (or D_i = 0 and U_i = C_i)

Columns with the same items form a group. A group is solved in blocks of columns by dual coordinate
ascent, one item at a time: the scores of an item in all columns of a block are a sum of rows of
``W``, which runs in vector registers. Groups with few features are solved by Newton's method, see
``newton_svm``. Blocks are independent, so threads share them; the result
does not depend on the number of threads.

Notation
    i   item    n_items      x_i   ``rows``      C_i  ``costs``
    b   column  n_columns    y_ib  ``Group.own`` α    ``BlockState.alpha``
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from taxonomist.compiled.arrays import Labels, Rows, read_only
from taxonomist.compiled.node_svm import (
    BlockArrays,
    BlockState,
    gather,
    rebuild_block,
    solve_block,
)
from taxonomist.inference.block_weights import BlockWeights
from taxonomist.solvers.newton_svm import MOST_FEATURES, solve_newton

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from taxonomist._typing import CSR, Codes, Floats, Integers, Reals

MOST_COLUMNS = 16
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


class Group(NamedTuple):
    """Columns that have the same items.

    Attributes
    ----------
    items
        The items, in ascending order.
    own
        The columns in which each of these items is positive, (n_group_items, n_columns) CSR.
    """

    items: Codes
    own: CSR


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
    """

    rows: Rows
    n_features: int
    costs: Floats
    groups: Sequence[Group]
    constant: float = 1.0
    is_squared: bool = True

    @cached_property
    def norms(self) -> Reals:
        """||x_i||² of every item, with the constant feature."""
        squares = np.concatenate([[0.0], np.cumsum(np.square(self.rows.data, dtype=np.float64))])
        sums = np.diff(squares[self.rows.indptr])
        return (sums + self.constant**2).astype(np.float32)


class NodeSolution(NamedTuple):
    """The classifiers of all columns.

    Attributes
    ----------
    weights
        The weights of all columns, group by group.
    duals
        α of each group, (n_group_items, n_columns).
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
    duals: list[CSR]
    primal: Floats
    dual: Floats
    converged: bool
    n_passes: int
    seconds: float


class _Block(NamedTuple):
    """The classifiers of one block."""

    features: Integers
    W: Reals
    alpha: CSR
    primal: Floats
    dual: Floats
    n_passes: int
    gap: float


def solve(
    problem: NodeProblems,
    options: NodeOptions,
    callback: Callable[[int, int], object] | None = None,
    start: Sequence[CSR] | None = None,
) -> NodeSolution:
    """Solve all problems.

    Parameters
    ----------
    problem
        The problems.
    options
        Tolerance, seed and number of threads.
    callback
        Called with the numbers of solved and of all blocks.
    start
        α of each group for a warm start.
    """
    begun = perf_counter()
    jobs = list(_jobs(problem))
    done: list[_Block | None] = [None] * len(jobs)
    waiting = iter(sorted(range(len(jobs)), key=lambda job: -jobs[job].size))

    def work_off() -> None:
        place = np.full(problem.n_features, -1, dtype=np.int32)
        for number in waiting:
            job = jobs[number]
            given = None if start is None else start[job.group][:, job.columns]
            done[number] = _solve(problem, job, options, number, given, place)
            if callback is not None:
                callback(len(done) - done.count(None), len(done))

    with ThreadPoolExecutor(options.n_threads) as pool:
        others = [pool.submit(work_off) for _ in range(min(options.n_threads, len(jobs)) - 1)]
        work_off()
        for other in others:
            other.result()
    blocks = [block for block in done if block is not None]
    return _joined(problem, jobs, blocks, options.tol, perf_counter() - begun)


class _Job(NamedTuple):
    """Some columns of a group, to be solved together."""

    group: int
    columns: slice
    size: int


def _jobs(problem: NodeProblems) -> Iterator[_Job]:
    """Yield blocks of about equal numbers of columns for each group."""
    for number, group in enumerate(problem.groups):
        n_columns = group.own.shape[1]
        n_blocks = -(-n_columns // MOST_COLUMNS)
        ends = [n_columns * k // n_blocks for k in range(n_blocks + 1)]
        for begin, end in pairwise(ends):
            yield _Job(number, slice(begin, end), len(group.items) * (end - begin))


def _solve(
    problem: NodeProblems,
    job: _Job,
    options: NodeOptions,
    number: int,
    given: CSR | None,
    place: Integers,
) -> _Block:
    """Solve the problems of a block."""
    items = problem.groups[job.group].items
    own = problem.groups[job.group].own[:, job.columns]
    if len(items) == len(problem.costs):
        rows: Rows = problem.rows
        features: Integers = np.arange(problem.n_features, dtype=np.int32)
    else:
        found, features = gather(items, problem.rows, place)
        rows = read_only(found)
    if problem.is_squared and len(features) < MOST_FEATURES:
        return _solve_narrow(problem, items, own, rows, features, options)
    n_columns = own.shape[1]
    block = BlockArrays(
        rows,
        Labels(own.indptr.astype(np.intp), own.indices.astype(np.intp)),
        problem.norms[items],
        problem.costs[items].astype(np.float32),
        float(problem.constant),
        problem.is_squared,
    )
    state = BlockState(
        np.zeros((len(features) + 1, n_columns), np.float32),
        np.zeros((len(items), n_columns), np.float32) if given is None else given.toarray(),
        np.zeros(n_columns),
        np.zeros(n_columns),
    )
    if given is not None:
        rebuild_block(block, state)
    seed = np.random.default_rng([options.random_state, number]).integers(1, 2**63)
    n_passes, gap = solve_block(block, state, np.uint64(seed), options.tol, options.max_iter)
    alpha = csr_array(state.alpha)
    return _Block(features, state.W, alpha, state.primal, state.dual, n_passes, gap)


def _solve_narrow(
    problem: NodeProblems,
    items: Codes,
    own: CSR,
    rows: Rows,
    features: Integers,
    options: NodeOptions,
) -> _Block:
    """Solve the problems of a block with few features, column by column."""
    table = csr_array((rows.data, rows.indices, rows.indptr), shape=(len(items), len(features)))
    X = np.hstack([table.toarray(), np.full((len(items), 1), problem.constant)], dtype=np.float64)
    signs, costs = np.where(own.toarray().T, 1.0, -1.0), problem.costs[items]
    found = [solve_newton(X, sign, costs, options.tol, options.max_iter) for sign in signs]
    W, alpha, primal, dual, n_steps = zip(*found, strict=True)
    gap = (sum(primal) - sum(dual)) / sum(primal)
    return _Block(
        features,
        np.array(W, dtype=np.float32).T.copy(),
        csr_array(np.array(alpha, dtype=np.float32).T),
        np.array(primal),
        np.array(dual),
        max(n_steps),
        gap,
    )


def _joined(
    problem: NodeProblems,
    jobs: Sequence[_Job],
    blocks: Sequence[_Block],
    tol: float,
    seconds: float,
) -> NodeSolution:
    """Return the solution of all blocks."""
    parts: list[list[CSR]] = [[] for _ in problem.groups]
    for job, block in zip(jobs, blocks, strict=True):
        parts[job.group].append(block.alpha)
    found = [(block.features, block.W) for block in blocks]
    return NodeSolution(
        BlockWeights.join(problem.n_features, found, problem.constant),
        [csr_array(hstack(part)) for part in parts],
        np.concatenate([np.empty(0), *(block.primal for block in blocks)]),
        np.concatenate([np.empty(0), *(block.dual for block in blocks)]),
        all(block.gap <= tol for block in blocks),
        max((block.n_passes for block in blocks), default=0),
        seconds,
    )
