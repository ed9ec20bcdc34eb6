"""Conditional gradient ascent in the marginals of one item after another: the paper's own solver.

Problem       the problem of ``taxonomist.solvers.markov_problem``
Dual          max_μ  Σ_i <ℓ_i, μ_i> - ½ ||w(μ)||²,  μ_e(i, u) = Σ_{y: y_e = u} α_iy,
              w_(e, u)(μ) = Σ_i ([y_ie = u] Σ_v μ_e(i, v) - μ_e(i, u)) x_i,
              μ >= 0,  Σ_u μ_e(i, u) <= C_i,  and edges that share a node agree on how much weight
              each of its labels has                                   [RSSS06, Eq. 5-8]
              With path features: μ_j(i) = Σ α_iy over labellings that are positive from the root to
              node j, w_j(μ) = Σ_i ([path j is in y_i] Σ_y α_iy - μ_j(i)) x_i; a path has no more
              weight than its prefixes                                 [RSSS06, Sec. 4]
              On a DAG the marginals are those of the edges to all parents, or of paths; Eq. 6 and
              7 are not enough there, and no others are written down: each step goes towards a
              labelling                                                [RSSS06, Sec. 2.5, 4]
Notation      as in ``markov_problem``; e edge, u one of its four labellings, (e, u) a code
              μ     ``mu``               (n_items, n_codes)
              ℓ_i   ``Slope.loss``       g_i = ℓ_i - K_i μ   ``Slope.gradient``   (n_codes,)
              μ*    ``Slope.target``     G_iy = Σ_e g_e(i, y_e)
              Δ_i = C_i ξ_i - <μ_i, g_i>, the item's part of the duality gap
Step          A working set of items is chosen, either by the conditions of optimality
              ("kkt"): items that leave some of C_i unused in spite of slack first, then others,
              but none without slack and weight; or by chance ("gap"): an item is drawn with
              probability ~ Δ_i - min Δ, and has its limit of steps multiplied by how often it is
              drawn. For each, up to that limit: find μ* = argmax <g_i, μ*>, by dynamic programming
              over labellings or by a general linear program; go from μ_i towards μ* by
              τ = min(1, <g_i, μ* - μ_i> / <μ* - μ_i, K_ii (μ* - μ_i)>) of the way; g_i follows.
              On a DAG, μ* is found as ``taxonomist.solvers.markov_graph`` says; where that is a
              relaxation, its bound takes the place of the slack in the certificate.
Stopping      After each pass all items are inspected: slacks by dynamic programming, with either
              oracle, and the duality gap Σ Δ_i, which bounds the distance from the optimum. The
              violation of an item is Δ_i / C_i.
Cost          A step O(n_codes), or a linear program; a look O(nnz n_codes); memory
              n_items x n_codes marginals, dense and float64, and n_features x n_codes weights. A
              kernel's rows are used block by block, and the joint kernel never.
Differences   Eq. 8 ties each edge to the one above it only, which leaves the edges below the root
              free to disagree on the root; they are tied here, as Eq. 7 wants. The dynamic
              program sums g_e, not g_e μ_e, and Δ_i has a minus sign, without which it is no part
              of the gap. Where no labelling has G > 0, μ* is 0 and not the vertex of the truth,
              which is as good but never lets an item become inactive. Items that use up part of
              C_i and have no slack are not given priority: they fulfil the condition that the
              paper gives as the reason, and could keep all others out. x-kernels need not be
              normalised. The box is C_i's own for each item. The marginal of a path is that of all
              labellings positive along it, where the paper gives weight to the longest paths only;
              each follows from the other.
References    [RSSS06, Alg. 1, 2], [RSSS06, Eq. 5-13], [RSSS06, Sec. 3.2, 3.4, 3.5, 4]
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled import markov
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.graph_arrays import LabelledDag
from taxonomist.compiled.labelling_search import mark_truth
from taxonomist.compiled.rows import score_row_by_threes
from taxonomist.errors import ParameterError
from taxonomist.solvers.labelling_store import no_labellings
from taxonomist.solvers.marginals import marginals_for
from taxonomist.solvers.markov import MarkovSolution, bounds, solve_parts
from taxonomist.solvers.solution import Options, Pass

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Floats
    from taxonomist.compiled.markov_arrays import MarkovArrays
    from taxonomist.solvers.markov_graph import GraphProblem
    from taxonomist.solvers.markov_problem import MarkovProblem

ORACLES = ("dynamic", "linear_program")
WORKING_SETS = ("kkt", "gap")


@dataclass(frozen=True)
class SubspaceOptions(Options):
    """How the marginalised dual is solved.

    Attributes
    ----------
    oracle
        What finds update directions: ``"dynamic"`` programming [RSSS06, Sec. 3.4], or a
        ``"linear_program"`` over the marginal polytope [RSSS06, Eq. 11].
    working_set
        How items are chosen: ``"kkt"`` or ``"gap"`` [RSSS06, Sec. 3.2].
    chunk_size
        Items in a working set, or draws of items. On the 7,770 items of Reuters-21578 4,000 and
        8,000 take equally long to a gap of 1 %, 1,000 nearly twice as long.
    steps_per_example
        Most steps for an item in a pass, for each time that it is drawn. On the same items 5, 10
        and 20 differ by no more than repeated runs do; 1 and 50 take longer.
    """

    stop: str = "gap"
    oracle: str = "dynamic"
    working_set: str = "gap"
    chunk_size: int = 4000
    steps_per_example: int = 10


def solve(
    problem: MarkovProblem | GraphProblem,
    options: SubspaceOptions,
    callback: Callable[[Pass], object] | None = None,
) -> MarkovSolution:
    """Return the solution of a problem.

    Parameters
    ----------
    problem
        What to solve.
    options
        Tolerance, limits, seed, working sets. One thread is used.
    callback
        Called at the start and after each pass; a true answer stops.

    Returns
    -------
    MarkovSolution
        Weights and certificate; the marginals are not turned into labellings.

    Raises
    ------
    ValueError
        If an option does not exist, or does not fit the slacks or the features.
    """
    _check(problem, options)
    if problem.slack == "edge":
        return solve_parts(problem, options, callback, solve)
    state = _State(problem, options)
    for _ in range(options.max_iter):
        if state.record(callback) or state.is_done():
            break
        state.visit(state.choose())
        state.look()
    else:
        state.record(callback)
    labellings = no_labellings(problem.n_items)
    return MarkovSolution(state.W, (labellings,), state.certificate, state.is_done(), state.history)


def _check(problem: MarkovProblem | GraphProblem, options: SubspaceOptions) -> None:
    """Raise an error if an option is unknown or does not fit the problem."""
    for name, words in (("oracle", ORACLES), ("working_set", WORKING_SETS)):
        word = getattr(options, name)
        if word not in words:
            raise ParameterError(f"{name} must be one of {', '.join(words)}. Got {word!r}.")
    for name in ("chunk_size", "steps_per_example"):
        if getattr(options, name) < 1:
            raise ParameterError(f"{name} must be at least 1. Got {getattr(options, name)!r}.")
    if np.isinf(problem.costs).any():
        raise ParameterError(
            "The subspace solver goes towards C times a labelling, so it needs a finite C: take "
            "the sequential solver for a hard margin."
        )
    if options.oracle == "linear_program":
        _check_program(problem)


def _check_program(problem: MarkovProblem | GraphProblem) -> None:
    """Raise an error if no linear program over marginals says which labellings there are."""
    if isinstance(problem.tree, LabelledDag):
        raise ParameterError(
            "On a graph with nodes of several parents, edges that agree at their nodes need not be "
            "the marginals of any labellings: take oracle='dynamic'."
        )
    is_free = problem.n_nodes > 1 and bool(np.isfinite(problem.tree.loss).all())
    if problem.tree.stride == 1 and is_free:
        raise ParameterError(
            "With features='path' the loss is linear in the marginals only for consistent "
            "labellings: take oracle='dynamic', or train_on='consistent'."
        )
    if problem.slack == "example_signed":
        raise ParameterError(
            "With slack='example_signed' the truth is no vertex, and linear constraints on "
            "marginals cannot say so: take oracle='dynamic'."
        )


class _State:
    """The state of the solver between passes."""

    def __init__(self, problem: MarkovProblem | GraphProblem, options: SubspaceOptions) -> None:
        self.started = perf_counter()
        self.problem, self.options = problem, options
        self.arrays = problem.arrays()
        self.rng = np.random.default_rng(options.random_state)
        self.history: list[Pass] = []
        dtype = np.float64 if problem.items.dual_form else np.dtype(options.dtype)
        self.W = np.zeros((problem.items.n_weights, problem.n_codes), dtype=dtype)
        self.scratch = problem.scratch(dtype)
        self.findings = Findings(*np.zeros((4, problem.n_items)))
        self.marginals = marginals_for(problem, options.oracle, self.scratch)
        if self.arrays.is_signed:
            self._use_up_costs()
        self.look()

    @property
    def mu(self) -> Floats:
        """The marginals of all items, (n_items, n_codes)."""
        return self.marginals.mu

    def is_done(self) -> bool:
        """Return whether the certificate meets the tolerance."""
        return self.certificate.reaches(self.options)

    def choose(self) -> Codes:
        """Return how often each item is in the next working set."""
        costs, found, options = self.problem.costs, self.findings, self.options
        if options.working_set == "gap":
            gaps = costs * found.slack - found.linear + found.quadratic
            return draw_by_gap(gaps, options.chunk_size, self.rng)
        share = options.tol * abs(self.certificate.primal) / self.problem.n_items
        used, size = self.marginals.used, options.chunk_size
        return choose_by_state(costs, used, found.slack, share, size, self.rng)

    def visit(self, times: Codes) -> None:
        """Take steps for the items of a working set, one after another."""
        for batch in self.problem.items.batches():
            members = self.rng.permutation(batch[times[batch] > 0])
            arrays = self._at(members)
            for i in members:
                self._begin(arrays, i)
                limit = self.options.steps_per_example * times[i]
                if self.marginals.ascend(arrays, i, limit) > 0.0:
                    markov.apply_change(arrays, i, self.W, self.scratch)
                self._end(arrays, i)

    def look(self) -> None:
        """Inspect all items at fixed weights, which gives the certificate."""
        for batch in self.problem.items.batches():
            arrays = self._at(batch)
            for i in batch:
                self._begin(arrays, i)
                self.marginals.look(arrays, i, self.findings)
                self._end(arrays, i)
        self.certificate = bounds(self.problem.costs, self.findings)

    def record(self, callback: Callable[[Pass], object] | None) -> bool:
        """Add a pass to the history; return whether the callback wants to stop."""
        primal, dual, _, violation = self.certificate
        seconds = perf_counter() - self.started
        n_active = int(np.count_nonzero(self.mu))
        entry = Pass(seconds, primal, dual, violation, n_active, is_exact=True)
        self.history.append(entry)
        return callback is not None and bool(callback(entry))

    def _use_up_costs(self) -> None:
        """Give all of C_i to the labelling with the largest loss: signed slacks need that sum."""
        for batch in self.problem.items.batches():
            arrays = self._at(batch)
            for i in batch:
                self._begin(arrays, i, is_first=True)
                self.marginals.use_up(arrays, i)
                markov.apply_change(arrays, i, self.W, self.scratch)
                self._end(arrays, i)

    def _at(self, group: Codes) -> MarkovArrays:
        """Return the arrays with the rows of a group, unless the group is empty."""
        if not len(group):
            return self.arrays
        return self.arrays._replace(rows=self.problem.items.rows(group, self.arrays.row_of))

    def _begin(self, arrays: MarkovArrays, i: int, is_first: bool = False) -> None:
        """Prepare the steps of an item at the present weights, or at weights of 0."""
        mark_truth(arrays.labels, i, self.scratch.truth, 1)
        if is_first:
            self.scratch.score[:] = 0.0
        else:
            score_row_by_threes(arrays.rows, arrays.row_of[i], self.W, self.scratch.score)
            markov.write_norms(arrays, i, self.scratch.norm)
        self.marginals.begin(arrays, i)

    def _end(self, arrays: MarkovArrays, i: int) -> None:
        """Clear the true labels of an item."""
        mark_truth(arrays.labels, i, self.scratch.truth, 0)


# Working sets ---------------------------------------------------------------------------------


def draw_by_gap(gaps: Floats, size: int, rng: np.random.Generator) -> Codes:
    """Return how often each item is drawn, with probabilities ~ Δ_i - min Δ [RSSS06, Sec. 3.2].

    Parameters
    ----------
    gaps
        Δ_i.
    size
        Number of draws.
    rng
        Random numbers.
    """
    weights = gaps - gaps.min()
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(gaps), 1 / len(gaps))
    return rng.multinomial(size, shares).astype(np.intp)


def choose_by_state(
    costs: Floats, used: Floats, slack: Floats, share: float, size: int, rng: np.random.Generator
) -> Codes:
    """Return 1 for the items to visit, by their conditions of optimality [RSSS06, Sec. 3.2].

    Parameters
    ----------
    costs
        C_i.
    used
        How much of it an item's dual variables take up.
    slack
        ξ_i.
    share
        (C_i - used) ξ_i may be so large without the item getting priority.
    size
        Most items to choose; among equals chance decides.
    rng
        Random numbers.
    """
    has_priority = (costs - used) * slack > share
    is_inactive = (used == 0.0) & (slack <= 0.0)
    order = rng.permutation(len(costs))
    order = order[np.argsort(~has_priority[order], kind="stable")]
    chosen = np.zeros(len(costs), dtype=np.intp)
    chosen[order[~is_inactive[order]][:size]] = 1
    return chosen
