"""The papers' own solvers, for every kernel: they take the most violated item first.

Problem       the joint problem of ``taxonomist.solvers.problem``
Dual          as there
Notation      as there; S_i is the set of active pairs of item i
Step          Take the item with the largest ψ_i [CH04, Eq. 33], and maximise the dual over some of
              its variables, one or two at a time:
              "greedy"        the pair with the largest G_iyc joins S_i; over S_i      [8a]
              "greedy_joint"  likewise, then over all active variables of all items    [8b]
              "full"          over all pairs of the item                      [CH04, Sec. 6.4]
              "hcc03"         likewise, by the rule of HCC03: the first item is drawn at random,
                              later ones by ψ_i = max_yc G_iyc - min_{yc: α_iyc > 0} G_iyc
              Variables at zero leave S_i. All f(x_j, c) with k(x_i, x_j) != 0 follow the change.
Stopping      Largest ψ_i after any step, or duality gap after each pass of n_items steps. Both are
              known exactly at all times. HCC03's ψ_i differs from that of CH04 in that the unused
              part of C_i does not count as a positive variable with gradient 0. It may be zero
              where the dual can still be raised; the certificate has CH04's.
Cost          A step is O(n_items n_categories), and one row of the kernel; memory holds
              n_items x n_categories scores but no Gram matrix where items are rows of features.
Differences   A QP is solved until ``ACCURACY`` of its violation is left, the one of step 8b until
              ``JOINT_ACCURACY`` of the largest ψ_i at its start is left, item after item; each item
              drops its zeros. The papers use an interior-point program; so does ``qp``, if given.
              HCC03 writes G with the opposite sign, and defines ψ_i only where some α_iyc > 0 (all
              are 0 at first, and it would stop after one step); elsewhere the minimum is taken as
              0, the gradient of the unused C_i.
References    [CH04, Alg. 1 and section 4.3], [HCC03, Alg. 1 and Eq. 19], [CH07, Alg. 1]
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
    from typing import TypeAlias

    from taxonomist._typing import Codes, Floats
    from taxonomist.compiled.joint_arrays import QPScratch
    from taxonomist.solvers.problem import JointProblem

    QPSolver: TypeAlias = Callable[[Floats, Floats, float, float], Floats]
    """Returns the β >= 0 with Σ β <= C that maximises g'β - ½ β'Qβ, given Q, g, C and a bound on
    the violation that may be left."""

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
    variant: Literal["greedy", "greedy_joint", "full", "hcc03"] = "greedy",
    qp: QPSolver | None = None,
) -> Solution:
    """Return the solution of a joint problem.

    Parameters
    ----------
    problem
        What to solve.
    options
        Tolerance and limits; only the first item of the variant ``"hcc03"`` is random, and one
        thread is used.
    callback
        Called with each pass; a true answer stops.
    start
        A solution of a similar problem, whose dual variables the solver starts from.
    variant
        Which variables a step is over.
    qp
        Solves the QP of a step in place of pairwise steps. With one slack per item only.

    Returns
    -------
    Solution
        Weights, dual variables and certificate. It has converged if the rule of the variant is met.
    """
    state = _State(problem, variant, start, qp)
    state.next_item = _first_item(problem, options) if variant == "hcc03" else -1
    tol = options.tol if options.stop == "violation" else 0.0
    certificate = state.certificate()
    history: list[Pass] = []
    for _ in range(options.max_iter):
        can_go_on = state.take_steps(problem.n_items, tol)
        certificate = state.certificate()
        history.append(state.entry(certificate))
        wants_stop = callback is not None and callback(history[-1])
        is_done = state.reaches(options, certificate) or problem.is_hopeless(certificate.dual)
        if wants_stop or is_done or not can_go_on:
            break
    duals = positive(state.store.duals)
    W = weights_from_duals(problem, duals, options.dtype)
    return Solution(W, duals, certificate, state.reaches(options, certificate), history)


def _first_item(problem: JointProblem, options: Options) -> int:
    """Return a random item to start with, or -1 if there are none."""
    rng = np.random.default_rng(options.random_state)
    return int(rng.integers(problem.n_items)) if problem.n_items else -1


class _State:
    """The state of the solver between steps."""

    next_item = -1
    """The item of the next step, if it is not the one with the largest violation."""

    def __init__(
        self,
        problem: JointProblem,
        variant: str,
        start: Solution | None,
        qp: QPSolver | None = None,
    ) -> None:
        n_items, n_categories = problem.n_items, problem.n_categories
        self.started = perf_counter()
        self.problem, self.variant, self.qp = problem, variant, qp
        self.kernel_row = _kernel_rows(problem)
        self.arrays = problem.arrays()
        self.store = DualStore(no_duals(n_items) if start is None else start.duals)
        self.findings = JointFindings(*np.zeros((6, n_items)))
        self.lowest = np.zeros(n_items)
        self.f = np.zeros((n_items, n_categories))
        self.mark = np.zeros(n_categories, dtype=bool)
        self.joint_tol = np.inf
        # Then scores and findings can be updated in one pass, several times as fast.
        self.is_plain = (
            problem.slack == "example"
            and bool((np.diff(problem.labels.indptr) == 1).all())
            and bool(np.isfinite(problem.costs).all())
            and self.arrays.loss.kind == MATRIX
        )
        self.scratch = self._make_scratch()
        if start is not None:
            changes = coefficients(problem, start.duals)
            for i in range(n_items):
                change = changes[[i]].toarray()[0]
                greedy.spread(self.arrays.attributes, change, self.kernel_row(i), self.f)
        self._judge(np.arange(n_items))
        self.rounding = ROUNDING * self.findings.slack.max(initial=0.0)

    @property
    def psi(self) -> Floats:
        """ψ_i of every item, as the variant defines it."""
        if self.variant == "hcc03" and not self.arrays.slack_per_pair:
            return self.findings.slack - self.lowest
        return self.findings.violation

    def reaches(self, options: Options, certificate: Certificate) -> bool:
        """Return whether the stopping rule of the variant is met."""
        if self.variant == "hcc03" and options.stop == "violation":
            return bool(self.psi.max(initial=0.0) <= options.tol)
        return certificate.reaches(options)

    def take_steps(self, n_steps: int, tol: float) -> bool:
        """Take ``n_steps`` steps; return False if no violation above ``tol`` can be lowered."""
        for _ in range(n_steps):
            is_drawn = self.next_item >= 0
            if not is_drawn and self.psi.max(initial=0.0) <= max(tol, self.rounding):
                return False
            i = self._select()
            if not self._solve(i) and not is_drawn:
                return False
        return True

    def _select(self) -> int:
        """Select the variables of a step, and return their item."""
        violation, within = self.psi, self.findings.within
        if self.variant == "greedy_joint" and within.max() > self.joint_tol:
            return int(within.argmax())
        i = self.next_item if self.next_item >= 0 else int(violation.argmax())
        self.next_item = -1
        self.joint_tol = JOINT_ACCURACY * violation[i]
        self._add_pairs(i)
        return i

    def _add_pairs(self, i: int) -> None:
        """Make one pair of an item active, or all of them."""
        labels = self.problem.labels
        own = labels.indices[labels.indptr[i] : labels.indptr[i + 1]]
        at = np.array([i])
        if self.variant in ("full", "hcc03"):
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
        if self.qp is None:
            pair_qp.solve_active(self.arrays, i, duals, scratch, tol, 0.0)
        else:
            self._solve_by(self.qp, i, tol)
        has_moved = bool((duals.beta[at] != before).any())
        self._follow(i)
        return has_moved

    def _follow(self, i: int) -> None:
        """Update scores and findings after item i changed the weights."""
        kernel, change = self.kernel_row(i), self.scratch.places.change
        if self.is_plain:
            duals = self.store.duals
            greedy.spread_and_judge(self.arrays, i, change, kernel, self.f, duals, self.findings)
        else:
            greedy.spread(self.arrays.attributes, change, kernel, self.f)
        change[:] = 0.0
        if not self.is_plain or self.variant == "hcc03":
            touched = kernel != 0.0
            touched[i] = True
            self._judge(np.flatnonzero(touched))

    def _solve_by(self, qp: QPSolver, i: int, tol: float) -> None:
        """Solve the QP over the active pairs of an item with a given program."""
        duals, scratch = self.store.duals, self.scratch
        m = duals.size[i]
        at = slice(duals.start[i], duals.start[i] + m)
        own, other, delta = duals.own[at], duals.other[at], duals.delta[at]
        difference = (self.problem.attributes[own] - self.problem.attributes[other]).toarray()
        difference *= np.sqrt(self.problem.items.norms[i]) * delta[:, None]
        Q = difference @ difference.T
        scratch.before[:m] = duals.beta[at]
        linear = scratch.G[:m] + Q @ scratch.before[:m]
        duals.beta[at] = qp(Q, linear, float(self.problem.costs[i]), tol)
        pair_qp.write_change(self.arrays.attributes, i, duals, scratch)

    def _judge(self, items: Codes, most_new: int = 0) -> None:
        """Update the findings about items after their scores changed."""
        arrays, duals = self.arrays, self.store.duals
        looks = inspection.inspection_scratch(arrays, self.f, most_new)
        inspection.judge_scored(items, arrays, self.f, duals, looks, self.findings)
        if self.variant == "hcc03":
            greedy.write_lowest(items, self.f, duals, self.lowest)

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
