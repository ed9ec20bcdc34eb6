"""Dual block-coordinate ascent over items with working sets of labellings.

Problem       the problem of ``taxonomist.solvers.markov_problem``
Dual          as there
Notation      as there; S_i is the working set of item i, G_iy the gradient of the dual at α_iy
Step          Item after item, in random order: the labelling with the largest G_iy, found by
              dynamic programming, enters S_i; pairwise steps move weight within S_i and the
              truth, from the smallest G_iy with α_iy > 0 to the largest, as far as the dual rises;
              up to four labellings enter at a visit. Items with small violations are skipped in
              some sweeps.
Stopping      The certificate from inspecting all items at fixed weights: duality gap, or the
              largest difference of G_iy that a step could use. It is computed when the sums over a
              sweep are near the tolerance.
Cost          Sweep O(nnz n_codes + n_items (n_nodes + |S_i| |codes of a labelling|)); memory
              n_features x n_codes weights, plus the working sets: labellings are stored as their
              differences from the truth.
Differences   The paper climbs in the space of marginals towards one labelling at a time; see
              ``taxonomist.solvers.subspace``. Pairwise steps need several times fewer sweeps. Where
              the marginals of edges say all, ``taxonomist.solvers.edge_marginals`` takes the place
              of the labellings, with the same sweeps and certificates.
References    [RSSS06, Eq. 1, 2], [RSSS06, Sec. 3.4]
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.marginal_arrays import EdgeMarginals
from taxonomist.solvers.edge_marginals import MarginalSweeps, has_edge_marginals, marginals_of
from taxonomist.solvers.labelling_store import LabellingSweeps, packed
from taxonomist.solvers.problem import LEAST_MARGIN
from taxonomist.solvers.solution import Certificate, Options, Pass

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Floats, Reals
    from taxonomist.compiled.markov_arrays import ActiveLabellings, MarkovArrays
    from taxonomist.solvers.markov_graph import GraphProblem
    from taxonomist.solvers.markov_problem import MarkovProblem

MARKOV_DEFAULTS = Options(stop="gap")
SHARE = 0.2
"""Each item is solved to this part of its share of the gap; a half or a tenth is slower."""
MOST_SWEEPS = 64
SLOWLY = 0.8
"""If a pass leaves more than this part of the gap, the next one has twice as many sweeps, up to
``MOST_SWEEPS``."""
HARD_SHARE = 0.005
"""With a hard margin, each item is solved to this part of the largest violation. It is small enough
that items with a tenth of that violation are not skipped."""
HOPEFUL = 1.1
"""Compute a certificate if the estimate is at most this multiple of the tolerance."""


@dataclass(frozen=True)
class MarkovSolution:
    """The weights, the labellings with dual variables, and the certificate.

    Attributes
    ----------
    W
        Weights, (n_features, n_codes); in dual form coefficients, (n_items, n_codes).
    labellings
        The labellings whose dual variables are positive, or the positive marginals of edges; with a
        slack for each edge, those of each part of the problem.
    certificate
        Bounds of the objective.
    converged
        Whether the certificate is as good as the options asked.
    history
        One entry a pass, of one or more sweeps.
    """

    W: Reals
    labellings: tuple[ActiveLabellings | EdgeMarginals, ...]
    certificate: Certificate
    converged: bool
    history: list[Pass] = field(default_factory=list)

    def of_items(self, items: Codes) -> tuple[ActiveLabellings | EdgeMarginals, ...]:
        """Return the dual variables of some items, from which a similar problem may start."""
        return tuple(duals_of(duals, items) for duals in self.labellings)


def solve(
    problem: MarkovProblem | GraphProblem,
    options: Options,
    callback: Callable[[Pass], object] | None = None,
    start: tuple[ActiveLabellings | EdgeMarginals, ...] | None = None,
) -> MarkovSolution:
    """Return the solution of a problem.

    Parameters
    ----------
    problem
        What to solve.
    options
        Tolerance, limits, seed, threads.
    callback
        Called with each pass; a true answer stops.
    start
        The dual variables of a similar problem to start from.
    """
    if problem.slack == "edge":
        return solve_parts(problem, options, callback, solve, start)
    kind = MarginalSweeps if has_edge_marginals(problem) else LabellingSweeps
    return ascend(problem, options, callback, kind, None if start is None else start[0])


def ascend(
    problem: MarkovProblem | GraphProblem,
    options: Options,
    callback: Callable[[Pass], object] | None,
    kind: type[LabellingSweeps | MarginalSweeps],
    start: ActiveLabellings | EdgeMarginals | None = None,
) -> MarkovSolution:
    """Return the solution of a problem with a slack for each item.

    Parameters
    ----------
    problem, options, callback
        As for ``solve``.
    kind
        What sweeps over the items.
    start
        The dual variables to start from.
    """
    state = _State(problem, options, kind, start)
    with ThreadPoolExecutor(options.n_threads) as pool:
        for _ in range(options.max_iter):
            state.sweep_some()
            if state.is_hopeful():
                state.certify(pool)
            wants_stop = state.record(callback)
            if wants_stop or state.is_done() or state.is_hopeless():
                break
        if state.certificate is None:
            state.certify(pool)
            state.record(callback)
    duals = state.sweeps.result()
    return MarkovSolution(state.W, (duals,), state.known, state.is_done(), state.history)


class _State:
    """The state of the solver between sweeps."""

    def __init__(
        self,
        problem: MarkovProblem | GraphProblem,
        options: Options,
        kind: type[LabellingSweeps | MarginalSweeps],
        start: ActiveLabellings | EdgeMarginals | None,
    ) -> None:
        self.problem, self.options = problem, options
        self.arrays = problem.arrays()
        self.rng = np.random.default_rng(options.random_state)
        self.started = perf_counter()
        self.history: list[Pass] = []
        dtype = np.float64 if problem.items.dual_form else np.dtype(options.dtype)
        self.W = np.zeros((problem.items.n_weights, problem.n_codes), dtype=dtype)
        self.sweeps = kind(problem, dtype, start)
        self.findings = Findings(*np.zeros((4, problem.n_items)))
        self.rest = np.zeros(problem.n_items, dtype=np.intp)
        self.calm = np.zeros(problem.n_items, dtype=np.intp)
        self.dual = 0.0
        self.tol = 0.0
        self.n_sweeps = 1
        self.certificate: Certificate | None = None
        self.estimate = Certificate(np.inf, 0.0, np.inf, np.inf)
        if not self.sweeps.is_fresh:
            self._begin()

    @property
    def known(self) -> Certificate:
        """The certificate, or its estimate."""
        return self.certificate or self.estimate

    def is_done(self) -> bool:
        """Return whether the certificate meets the tolerance."""
        return self.certificate is not None and self.certificate.reaches(self.options)

    def is_hopeful(self) -> bool:
        """Return whether the estimate is near the tolerance."""
        return self.estimate.reaches(replace(self.options, tol=HOPEFUL * self.options.tol))

    def is_hopeless(self) -> bool:
        """Return whether no weights have the hard margin, or only by less than ``LEAST_MARGIN``.

        If unit weights give each labelling a margin of at least c times its loss, then the dual
        stays below 1 / (2 c²).
        """
        problem = self.problem
        if not is_hard(problem.costs):
            return False
        norms = problem.items.norms
        is_empty = len(problem.owner) == 0 and norms.min(initial=1.0) == 0
        return bool(is_empty or self.dual * norms.max(initial=0.0) > 1 / (2 * LEAST_MARGIN**2))

    def sweep_some(self) -> None:
        """Sweep once, or several times if the gap falls slowly."""
        before = self.estimate.gap
        for _ in range(self.n_sweeps):
            self.sweep()
            if self.is_hopeful():
                break
        if self.estimate.gap > SLOWLY * before:
            self.n_sweeps = min(2 * self.n_sweeps, MOST_SWEEPS)

    def sweep(self) -> None:
        """Solve all items once, and estimate the certificate."""
        self.certificate = None
        for group in self.problem.items.groups(self.rng, self.problem.n_items):
            arrays, done = self._at(group), 0
            while done < len(group):
                done, gain = self.sweeps.sweep(
                    group, done, arrays, self.W, self.findings, self.tol, self.rest, self.calm
                )
                self.dual += gain
                if done < len(group):
                    self.sweeps.make_place(group[done])
        found = bounds(self.problem.costs, self.findings)
        primal = self.dual + found.primal - found.dual
        self.estimate = with_gap(primal, self.dual, found.violation)
        self._set_tolerance()

    def certify(self, pool: ThreadPoolExecutor) -> None:
        """Inspect all items at fixed weights."""
        for batch in self.problem.items.batches():
            arrays = self._at(batch)
            parts = np.array_split(batch, self.options.n_threads)
            jobs = [
                pool.submit(self.sweeps.inspect, part, arrays, self.W, self.findings)
                for part in parts
            ]
            for job in jobs:
                job.result()
        self.rest[:] = 0
        self.certificate = self.estimate = bounds(self.problem.costs, self.findings)
        self.dual = self.certificate.dual

    def record(self, callback: Callable[[Pass], object] | None) -> bool:
        """Add a pass to the history; return whether the callback wants to stop."""
        known = self.known
        entry = Pass(
            seconds=perf_counter() - self.started,
            primal=known.primal,
            dual=known.dual,
            violation=known.violation,
            n_active=self.sweeps.n_used,
            is_exact=self.certificate is not None,
        )
        self.history.append(entry)
        return callback is not None and bool(callback(entry))

    def _begin(self) -> None:
        """Compute the weights and the dual value of the dual variables to start from."""
        for batch in self.problem.items.batches():
            self.sweeps.add_up(batch, self._at(batch), self.W)
        with ThreadPoolExecutor(self.options.n_threads) as pool:
            self.certify(pool)
        self._set_tolerance()

    def _at(self, group: Codes) -> MarkovArrays:
        return self.arrays._replace(rows=self.problem.items.rows(group, self.arrays.row_of))

    def _set_tolerance(self) -> None:
        """Set the tolerance for items to a part of their share of the gap."""
        total = float(self.problem.costs.sum())
        known = self.known
        if total == np.inf:
            share = HARD_SHARE * known.violation
        else:
            share = SHARE * (known.primal - known.dual) / total if total > 0 else 0.0
        if self.options.stop == "violation":
            share = min(share, 0.5 * self.options.tol)
        self.tol = max(share, float(np.finfo(self.W.dtype).eps))


def duals_of(
    duals: ActiveLabellings | EdgeMarginals, items: Codes
) -> ActiveLabellings | EdgeMarginals:
    """Return the dual variables of some items; those with unknown numbers have none."""
    if isinstance(duals, EdgeMarginals):
        return marginals_of(duals, items)
    return packed(duals, items)


def bounds(costs: Floats, findings: Findings) -> Certificate:
    """Return the certificate that follows from the findings about all items.

    With a hard margin, the primal point is w times the factor that all labellings need.
    """
    squared = float(findings.quadratic.sum())
    dual = float(findings.linear.sum()) - squared / 2
    if is_hard(costs):
        factor = float(findings.slack.max())
        primal = squared / 2 * factor**2 if factor < np.inf else np.inf
    else:
        primal = squared / 2 + float(costs @ findings.slack)
    return with_gap(primal, dual, float(findings.violation.max(initial=0.0)))


def is_hard(costs: Floats) -> bool:
    """Return whether the margin is hard: slack is infinitely costly."""
    return bool(np.isinf(costs).any())


def with_gap(primal: float, dual: float, violation: float) -> Certificate:
    """Return a certificate with the relative gap; signed slacks can make the primal negative."""
    if primal == np.inf:
        return Certificate(primal, dual, 1.0, violation)
    size = max(abs(primal), abs(dual))
    return Certificate(primal, dual, (primal - dual) / size if size > 0 else 0.0, violation)


def solve_parts(
    problem: MarkovProblem | GraphProblem,
    options: Options,
    callback: Callable[[Pass], object] | None,
    solve_part: Callable[..., MarkovSolution],
    start: tuple[ActiveLabellings | EdgeMarginals, ...] | None = None,
) -> MarkovSolution:
    """Return the solution of a problem with a slack for each edge, several edges at a time.

    Parameters
    ----------
    problem, options, callback, start
        As for ``solve``; the callback comes when all is done.
    solve_part
        What solves the problem of one edge.
    """
    parts = list(problem.parts())
    starts = [()] * len(parts) if start is None else [(None, (duals,)) for duals in start]
    alone = replace(options, n_threads=1)
    with ThreadPoolExecutor(options.n_threads) as pool:
        jobs = [
            pool.submit(solve_part, part, alone, *begin)
            for (_, part), begin in zip(parts, starts, strict=True)
        ]
        solutions = [job.result() for job in jobs]
    dtype = solutions[0].W.dtype
    W = np.zeros((problem.items.n_weights, problem.n_codes), dtype=dtype)
    for (columns, _), solution in zip(parts, solutions, strict=True):
        W[:, columns] = solution.W
    proofs = [solution.certificate for solution in solutions]
    certificate = with_gap(
        sum(proof.primal for proof in proofs),
        sum(proof.dual for proof in proofs),
        max(proof.violation for proof in proofs),
    )
    history = _joined([solution.history for solution in solutions])
    if callback is not None:
        for entry in history:
            callback(entry)
    return MarkovSolution(
        W,
        tuple(duals for solution in solutions for duals in solution.labellings),
        certificate,
        certificate.reaches(options),
        history,
    )


def _joined(histories: list[list[Pass]]) -> list[Pass]:
    """Return the sum of the parts' histories; a part that has ended keeps its last entry."""
    joined = []
    for k in range(max(map(len, histories))):
        entries = [history[min(k, len(history) - 1)] for history in histories]
        joined.append(
            Pass(
                seconds=sum(entry.seconds for entry in entries),
                primal=sum(entry.primal for entry in entries),
                dual=sum(entry.dual for entry in entries),
                violation=max(entry.violation for entry in entries),
                n_active=sum(entry.n_active for entry in entries),
                is_exact=all(entry.is_exact for entry in entries),
            )
        )
    return joined
