"""The papers' own solvers, for every kernel: they take the most violated item first.

Problem       the joint problem of ``taxonomist.solvers.problem``
Dual          as there
Notation      as there; S_i is the set of active pairs of item i
Step          Take the item with the largest ψ_i [CH04, Eq. 33], and maximise the dual over some of
              its variables, one or two at a time:
              "greedy"        the pair with the largest G_iyc joins S_i; over S_i      [8a]
              "greedy_joint"  likewise, then over all active variables of all items    [8b]
              "full"          over all pairs of the item                               [HCC03]
              Variables at zero leave S_i. All f(x_j, c) with k(x_i, x_j) != 0 follow the change.
Stopping      Largest ψ_i after any step, or duality gap after each pass of n_items steps. Both are
              known exactly at all times.
Cost          A step is O(n_items n_categories), and one row of the kernel; memory holds
              n_items x n_categories scores but no Gram matrix where items are rows of features.
Differences   A QP is solved until ``ACCURACY`` of its violation is left, the one of step 8b until
              ``JOINT_ACCURACY`` of the largest ψ_i at its start is left, item after item; each item
              drops its zeros. The papers use an interior-point program.
References    [CH04, Alg. 1 and section 4.3], [HCC03, Alg. 1], [CH07, Alg. 1]
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from taxonomist._typing import is_sparse
from taxonomist.compiled import greedy, inspection, joint, pair_qp
from taxonomist.compiled.arrays import MATRIX, Rows
from taxonomist.compiled.duals import add_all_pairs, count_positive
from taxonomist.compiled.joint_arrays import JointFindings
from taxonomist.compiled.rows import write_products
from taxonomist.solvers.duals import DualStore, no_duals, positive
from taxonomist.solvers.problem import GramRows
from taxonomist.solvers.solution import Certificate, Options, Pass, Solution, certify
from taxonomist.solvers.weights import coefficients, feature_matrix, weights_from_duals

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Floats
    from taxonomist.compiled.joint_arrays import QPScratch
    from taxonomist.solvers.problem import JointProblem

ACCURACY = 0.01
JOINT_ACCURACY = 0.1
ROUNDING = 1e-14
"""Violations below this part of the largest slack at the start are due to rounding."""


def solve(
    problem: JointProblem,
    options: Options,
    callback: Callable[[Pass], object] | None = None,
    start: Solution | None = None,
    *,
    variant: Literal["greedy", "greedy_joint", "full"] = "greedy",
) -> Solution:
    """Return the solution of a joint problem.

    Parameters
    ----------
    problem
        What to solve.
    options
        Tolerance and limits; nothing is random, and one thread is used.
    callback
        Called with each pass; a true answer stops.
    start
        A solution of a similar problem whose dual variables to go on from.
    variant
        Which variables a step is over.

    Returns
    -------
    Solution
        Weights, dual variables and certificate.
    """
    state = _State(problem, variant, start)
    tol = options.tol if options.stop == "violation" else 0.0
    certificate = state.certificate()
    history: list[Pass] = []
    for _ in range(options.max_iter):
        can_go_on = state.take_steps(problem.n_items, tol)
        certificate = state.certificate()
        history.append(state.entry(certificate))
        wants_stop = callback is not None and callback(history[-1])
        is_done = certificate.reaches(options) or problem.is_hopeless(certificate.dual)
        if wants_stop or is_done or not can_go_on:
            break
    duals = positive(state.store.duals)
    W = weights_from_duals(problem, duals, options.dtype)
    return Solution(W, duals, certificate, certificate.reaches(options), history)


class _State:
    """The state of the solver between steps."""

    def __init__(self, problem: JointProblem, variant: str, start: Solution | None) -> None:
        n_items, n_categories = problem.n_items, problem.n_categories
        self.started = perf_counter()
        self.problem, self.variant = problem, variant
        self.kernel_row = _kernel_rows(problem)
        self.arrays = problem.arrays()
        self.store = DualStore(no_duals(n_items) if start is None else start.duals)
        self.findings = JointFindings(*np.zeros((6, n_items)))
        self.f = np.zeros((n_items, n_categories))
        self.mark = np.zeros(n_categories, dtype=bool)
        self.joint_tol = np.inf
        self.scratch = self._make_scratch()
        if start is not None:
            changes = coefficients(problem, start.duals)
            for i in range(n_items):
                change = changes[[i]].toarray()[0]
                greedy.spread(self.arrays.attributes, change, self.kernel_row(i), self.f)
        self._judge(np.arange(n_items))
        self.rounding = ROUNDING * self.findings.slack.max(initial=0.0)

    def take_steps(self, n_steps: int, tol: float) -> bool:
        """Take ``n_steps`` steps; return False if no violation above ``tol`` can be lowered."""
        for _ in range(n_steps):
            if self.findings.violation.max(initial=0.0) <= max(tol, self.rounding):
                return False
            i = self._select()
            if not self._solve(i):
                return False
        return True

    def _select(self) -> int:
        """Select the variables of a step, and return their item."""
        violation, within = self.findings.violation, self.findings.within
        if self.variant == "greedy_joint" and within.max() > self.joint_tol:
            return int(within.argmax())
        i = int(violation.argmax())
        self.joint_tol = JOINT_ACCURACY * violation[i]
        self._add_pairs(i)
        return i

    def _add_pairs(self, i: int) -> None:
        """Make one pair of an item active, or all of them in the variant ``"full"``."""
        labels = self.problem.labels
        own = labels.indices[labels.indptr[i] : labels.indptr[i + 1]]
        at = np.array([i])
        if self.variant == "full":
            self._make_place(at, len(own) * (self.problem.n_categories - len(own)))
            losses = self.problem.loss.rows(own)
            add_all_pairs(i, self.arrays.labels, losses, self.store.duals, self.mark)
        else:
            self._make_place(at, 1)
            self._judge(at, 1)
            if not self.arrays.slack_per_pair:
                self._drop_second_best(i)
                if self.findings.slack[i] == 0.0:
                    self._add_satisfied(i, own)

    def _drop_second_best(self, i: int) -> None:
        """Drop the pair that has just become active if another active one has a larger G."""
        duals = self.store.duals
        last = duals.size[i] - 1
        pair_qp.gradients_from_scores(i, self.f[i], duals, self.scratch)
        if duals.beta[duals.start[i] + last] == 0.0:
            best = self.scratch.G[:last].max(initial=-np.inf)
            duals.size[i] -= best >= self.scratch.G[last]

    def _add_satisfied(self, i: int, own: Codes) -> None:
        """Make the pair with the largest G active if all pairs of the item are satisfied.

        Its G is not positive now, but rises as the QP lowers the other variables of the item.
        """
        loss, f, duals = self.arrays.loss, self.f[i], self.store.duals
        delta = loss.matrix[own] if loss.kind == MATRIX else self.problem.loss.rows(own)
        G = delta * (1.0 - f[own][:, None] + f)
        G[:, own] = -np.inf
        y, c = np.unravel_index(G.argmax(), G.shape)
        last = duals.start[i] + duals.size[i]
        active = slice(duals.start[i], last)
        best = duals.delta[active] * (1.0 - f[duals.own[active]] + f[duals.other[active]])
        if best.max(initial=-np.inf) < G[y, c]:
            duals.own[last], duals.other[last] = own[y], c
            duals.beta[last], duals.delta[last] = 0.0, delta[y, c]
            duals.size[i] += 1

    def _solve(self, i: int) -> bool:
        """Solve the QP over the active pairs of an item; return whether anything changed."""
        duals, scratch = self.store.duals, self.scratch
        pair_qp.gradients_from_scores(i, self.f[i], duals, scratch)
        tol = ACCURACY * self.findings.violation[i]
        at = slice(duals.start[i], duals.start[i] + duals.size[i])
        before = duals.beta[at].copy()
        pair_qp.solve_active(self.arrays, i, duals, scratch, tol)
        has_moved = bool((duals.beta[at] != before).any())
        kernel = self.kernel_row(i)
        greedy.spread(self.arrays.attributes, scratch.places.change, kernel, self.f)
        scratch.places.change[:] = 0.0
        touched = kernel != 0.0
        touched[i] = True
        self._judge(np.flatnonzero(touched))
        return has_moved

    def _judge(self, items: Codes, most_new: int = 0) -> None:
        """Update the findings about items after their scores changed."""
        arrays, duals = self.arrays, self.store.duals
        looks = inspection.inspection_scratch(arrays, self.f, most_new)
        inspection.judge_scored(items, arrays, self.f, duals, looks, self.findings)

    def _make_place(self, items: Codes, n_new: int) -> None:
        """Make room for ``n_new`` variables of each of some items."""
        self.store.make_place(items, n_new)
        if self.store.largest_room > len(self.scratch.G):
            self.scratch = self._make_scratch()

    def _make_scratch(self) -> QPScratch:
        """Return work arrays for QPs in which each attribute's place is its own number."""
        n_attributes = self.problem.attributes.shape[1]
        scratch = joint.qp_scratch(n_attributes, self.store.largest_room, np.float64)
        return scratch._replace(places=scratch.places._replace(place=np.arange(n_attributes)))

    def certificate(self) -> Certificate:
        """Return the certificate of the present dual variables."""
        return certify(self.problem, self.findings)

    def entry(self, known: Certificate) -> Pass:
        """Return an entry of the history."""
        return Pass(
            seconds=perf_counter() - self.started,
            primal=known.primal,
            dual=known.dual,
            violation=known.violation,
            n_active=count_positive(self.store.duals),
            is_exact=True,
        )


def _kernel_rows(problem: JointProblem) -> Callable[[int], Floats]:
    """Return a function from an item i to k(x_i, x_j) of all items j."""
    n_items = problem.n_items
    if isinstance(problem.items, GramRows):
        return problem.items.row
    X = feature_matrix(problem)
    if not is_sparse(X):
        return lambda i: np.asarray(X @ X[i])
    rows, columns = (Rows(M.indptr, M.indices, M.data) for M in (X, X.tocsc()))
    out = np.zeros(n_items)

    def from_columns(i: int) -> Floats:
        write_products(rows, columns, i, out)
        return out

    return from_columns
