"""Dual block-coordinate ascent over items with column generation: fast for linear kernels.

Problem       the joint problem of ``taxonomist.solvers.problem``
Dual          as there
Notation      as there; S_i is the set of active pairs of item i
Step          Full pass: a group of items is scored at all categories at once; up to eight violated
              pairs with the largest G_iyc enter S_i; then item after item the dual is
              maximised over {β_iyc : (y, c) in S_i} by pairwise steps, and the weights are
              updated. Active passes between full ones do only the last part, which needs the
              scores of few attributes. Items that stay without violation are skipped in some
              active passes.
Stopping      The certificate of a full pass at fixed weights: largest ψ_i, or duality gap. The gap
              bounds the distance of either objective from the optimum. While the estimated gap is
              large, full passes also update the weights, and give no certificate.
Cost          Full pass O(nnz n_attributes + n_items (Σ_c |Λ(c)| + |Y_i| n_categories)), active
              pass O(nnz |S_i| depth); memory n_features x n_attributes weights, plus active sets.
Differences   The papers always take the item with the largest ψ_i and one pair at a time; here
              items are visited in random order, and up to eight pairs enter.
References    [CH04, Alg. 1, step 8a], [CH04, Eq. 28, 33], [CH07, Alg. 1]
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.compiled import inspection, joint
from taxonomist.compiled.arrays import MATRIX
from taxonomist.compiled.duals import count_positive, drop_all_zeros
from taxonomist.compiled.joint_arrays import JointFindings
from taxonomist.compiled.places import FEW_ATTRIBUTES
from taxonomist.compiled.vectors import LANES
from taxonomist.solvers.duals import DualStore, no_duals, of_items, positive
from taxonomist.solvers.problem import FeatureRows
from taxonomist.solvers.solution import Certificate, Options, Pass, Solution, certify

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Reals
    from taxonomist.compiled.joint_arrays import JointArrays, QPScratch
    from taxonomist.solvers.problem import JointProblem

MANY_ITEMS = 4_096
"""Number of items from which their rows are copied in a random order, and neighbours are visited
one after another, so that what an item needs is near what was read before it."""
GROUP = 256
"""Items that are scored at one state of the weights before these are updated."""
CACHE_LINE = 64
SMALL_GROUP = 64
MOST_NEW = 8
MOST_ACTIVE_PASSES = 64
"""Most active passes after a full pass. There is one at first; full passes that certify a point
far from the tolerance, or that lower the gap too slowly, multiply the number by ``MORE_PASSES``."""
MORE_PASSES = 4
NEAR = 1.5
"""A point is near if this many times the tolerance would do."""
SLOWLY = 0.8
"""A full pass lowers the gap too slowly if more than this part of it is left."""
FIRST_TOLERANCE = 0.01
MUCH_BETTER = 0.1
"""Active passes end when the largest violation is this part of that in an earlier one."""
CERTIFIED_GAP = 0.05
"""Below this estimated gap, or near the tolerance, full passes keep the weights fixed, which gives
a certificate."""


def solve(
    problem: JointProblem,
    options: Options,
    callback: Callable[[Pass], object] | None = None,
    start: Solution | None = None,
) -> Solution:
    """Return the solution of a joint problem.

    Parameters
    ----------
    problem
        What to solve.
    options
        Tolerance, limits, seed, threads.
    callback
        Called with each pass; a true answer stops.
    start
        A solution of a similar problem to start from.
    """
    if problem.n_items < MANY_ITEMS or not isinstance(problem.items, FeatureRows):
        return _solve(problem, options, callback, start)
    order = np.random.default_rng(options.random_state).permutation(problem.n_items)
    shuffled = replace(
        problem,
        items=problem.items.take(order),
        labels=problem.labels[order],
        costs=problem.costs[order],
    )
    if start is not None:
        start = replace(start, duals=of_items(start.duals, order))
    solution = _solve(shuffled, options, callback, start)
    return replace(solution, duals=of_items(solution.duals, np.argsort(order)))


def _solve(
    problem: JointProblem,
    options: Options,
    callback: Callable[[Pass], object] | None,
    start: Solution | None,
) -> Solution:
    """Return the solution of a problem whose items are stored as they are given."""
    state = PassState(problem, options, start)
    with ThreadPoolExecutor(options.n_threads) as pool:
        state.pool = pool
        if start is not None:
            state.look_around()
        for _ in range(options.max_iter):
            state.full_pass()
            wants_stop = state.record(callback)
            if wants_stop or state.is_done() or problem.is_hopeless(state.dual):
                break
            state.active_passes()
        if state.certificate is None:
            state.certificate = state.inspect_all()
            state.record(callback)
    W = np.ascontiguousarray(state.W[:, : problem.attributes.shape[1]])
    duals = positive(state.store.duals)
    return Solution(W, duals, state.certificate, state.is_done(), state.history)


def _width(problem: JointProblem) -> int:
    """Return the number of columns of the weights, which fill whole vectors if they are few."""
    n_attributes = int(problem.attributes.shape[1])
    return n_attributes + (-n_attributes % LANES if n_attributes <= FEW_ATTRIBUTES else 0)


def _aligned_zeros(n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> Reals:
    """Return zeros that begin at a cache line, so that a short row is in as few as possible."""
    size = n_rows * n_columns * dtype.itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    begin = -room.ctypes.data % CACHE_LINE
    zeros: Reals = room[begin : begin + size].view(dtype).reshape(n_rows, n_columns)
    return zeros


class PassState:
    """The state of the solver between passes."""

    pool: ThreadPoolExecutor

    def __init__(
        self,
        problem: JointProblem,
        options: Options,
        start: Solution | None,
        arrays: JointArrays | None = None,
    ) -> None:
        n_items = problem.n_items
        self.problem, self.options = problem, options
        self.nearly = replace(options, tol=NEAR * options.tol)
        self.arrays = problem.arrays() if arrays is None else arrays
        self.rng = np.random.default_rng(options.random_state)
        self.started = perf_counter()
        self.history: list[Pass] = []
        dtype = np.dtype(np.float64 if problem.items.dual_form else options.dtype)
        self.W = _aligned_zeros(problem.items.n_weights, _width(problem), dtype)
        if start is not None:
            self.W[:, : start.W.shape[1]] = start.W
        self.store = DualStore(no_duals(n_items) if start is None else start.duals)
        # Where scoring is cheap threads do not pay, and scores need not be computed twice.
        self.is_swept = self.W.shape[1] <= FEW_ATTRIBUTES
        self.findings = JointFindings(*np.zeros((6, n_items)))
        self.calm = np.zeros(n_items, dtype=np.intp)
        self.rest = np.zeros(n_items, dtype=np.intp)
        self.scratch = self._make_scratch()
        self.certificate: Certificate | None = None
        self.estimate = Certificate(np.inf, 0.0, np.inf, np.inf)
        self.dual = 0.0
        self.tol = FIRST_TOLERANCE * self._largest_loss()
        self.most_active_passes = 1
        self.strictness = 1.0

    def _make_scratch(self) -> QPScratch:
        return joint.qp_scratch(self.W.shape[1], self.store.largest_room, self.W.dtype)

    def is_done(self) -> bool:
        """Return whether the certificate meets the tolerance."""
        return self.certificate is not None and self.certificate.reaches(self.options)

    def full_pass(self) -> None:
        """Inspect all items; far from the optimum, also solve one group after another."""
        gap = self.estimate.gap
        if gap < CERTIFIED_GAP or self.estimate.reaches(self.nearly):
            self.certificate = self.look_around()
        else:
            size = self.problem.n_items if self.is_swept else GROUP
            for group in self.problem.items.groups(self.rng, size):
                self._solve_group(group)
            self.estimate = self._estimate()
            self._lower_tolerance()
        far = self.certificate is not None and not self.certificate.reaches(self.nearly)
        if far or self.estimate.gap > SLOWLY * gap:
            self.most_active_passes = min(MORE_PASSES * self.most_active_passes, MOST_ACTIVE_PASSES)

    def look_around(self) -> Certificate:
        """Certify the present point, and set the dual value and the tolerance by it."""
        before, self.estimate = self.estimate, self.inspect_all()
        if self.estimate.gap > 0.5 * before.gap:
            self.strictness *= 0.5
        self.dual = self.estimate.dual
        self._lower_tolerance()
        return self.estimate

    def inspect_all(self) -> Certificate:
        """Inspect all items at fixed weights, and return the certificate."""
        for batch in self.problem.items.batches():
            self._inspect(self._at(batch), batch)
        return certify(self.problem, self.findings)

    def active_passes(self) -> None:
        """Solve items within their active sets until the largest violation is small."""
        self.certificate = None
        self.rest[:] = 0
        enough = self.tol
        for _ in range(self.most_active_passes):
            groups = self.problem.items.groups(self.rng, self.problem.n_items)
            worst = max(self._visit(self._at(group), group) for group in groups)
            if worst <= enough:
                break
            enough = max(enough, MUCH_BETTER * worst)
            # New pairs that did not help at once would only slow down the passes to come.
            drop_all_zeros(self.store.duals)

    def solve_all(self, tol: float) -> None:
        """Inspect all items; solve one group after another."""
        self.tol = tol
        size = self.problem.n_items if self.is_swept else SMALL_GROUP
        for group in self.problem.items.groups(self.rng, size):
            self._solve_group(group)

    def record(self, callback: Callable[[Pass], object] | None) -> bool:
        """Add a pass to the history; return whether the callback wants to stop."""
        known = self.certificate or self.estimate
        entry = Pass(
            seconds=perf_counter() - self.started,
            primal=known.primal,
            dual=known.dual,
            violation=known.violation,
            n_active=count_positive(self.store.duals),
            is_exact=self.certificate is not None,
        )
        self.history.append(entry)
        return callback is not None and bool(callback(entry))

    def _at(self, group: Codes) -> JointArrays:
        return self.arrays._replace(rows=self.problem.items.rows(group, self.arrays.row_of))

    def _inspect(self, arrays: JointArrays, group: Codes) -> None:
        """Inspect a group of items in threads."""
        self._make_place(group)
        first, *others = np.array_split(group, self.options.n_threads)

        def inspect(part: Codes) -> None:
            looks = inspection.inspection_scratch(arrays, self.W, MOST_NEW)
            inspection.inspect(part, arrays, self.W, self.store.duals, looks, self.findings)

        jobs = [self.pool.submit(inspect, part) for part in others]
        inspect(first)
        for job in jobs:
            job.result()

    def _largest_loss(self) -> float:
        """Return the largest loss of the first items: their slack while the weights are 0."""
        some = np.unique(self.problem.labels[:GROUP].indices)
        known = self.arrays.loss
        rows = known.matrix[some] if known.kind == MATRIX else self.problem.loss.rows(some)
        return float(rows.max(initial=0.0))

    def _solve_group(self, group: Codes) -> None:
        """Inspect the items of a group and solve them."""
        arrays = self._at(group)
        if not self.is_swept:
            self._inspect(arrays, group)
            self._visit(arrays, group)
            return
        self._make_place(group)
        self.dual += joint.sweep(
            group,
            arrays,
            self.W,
            self.store.duals,
            self.scratch,
            inspection.inspection_scratch(arrays, self.W, MOST_NEW),
            self.findings,
            self.tol,
        )

    def _visit(self, arrays: JointArrays, group: Codes) -> float:
        """Solve the items of a group; return the largest violation before."""
        gain, worst, _ = joint.visit(
            group, arrays, self.W, self.store.duals, self.scratch, self.tol, self.calm, self.rest
        )
        self.dual += gain
        return worst

    def _estimate(self) -> Certificate:
        """Return the certificate as it would be if the weights had not changed during the pass."""
        found = certify(self.problem, self.findings)
        primal = self.dual + found.primal - found.dual
        gap = (primal - self.dual) / primal if 0 < primal < np.inf else float(primal > 0)
        return Certificate(primal, self.dual, gap, found.violation)

    def _lower_tolerance(self) -> None:
        """Lower the tolerance for items to their share of the gap, or below if that stays."""
        total = float(self.problem.costs.sum())
        share = self.estimate.gap * abs(self.dual) / total if total > 0 else 0.0
        share *= self.strictness
        if self.options.stop == "violation" or share == 0:
            share = max(share, 0.1 * self.options.tol)
        self.tol = max(min(0.6 * self.tol, share), 0.1 * share)

    def _make_place(self, group: Codes) -> None:
        """Make room for new variables of the items of a group."""
        self.store.make_place(group, MOST_NEW)
        if self.store.largest_room > len(self.scratch.G):
            self.scratch = self._make_scratch()
