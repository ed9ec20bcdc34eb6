"""The papers' own solvers, for every kernel: the most violated item first, gradients kept.

Problem       the joint problem of ``taxonomist.solvers.problem``
Dual          as there
Notation      as there; S_i, the selected categories of item i, are ``selected.category[i]``
Step          Take the item with the largest ψ_i [CH04, Eq. 33], and maximise the dual over some of
              its variables by pairwise steps:
              "greedy"        the category with the largest F_ic joins S_i; over S_i   [8a]
              "greedy_joint"  likewise, then over all selected variables of all items  [8b]
              "full"          over all categories of the item                          [HCC03]
              Variables at zero leave S_i. All F_jc with k(x_i, x_j) != 0 follow the change.
Stopping      Largest ψ_i after any step, or duality gap after each pass of n_items steps. Both are
              known exactly at all times.
Cost          A step is O(n_items n_categories), and one row of the kernel; memory holds
              n_items x n_categories gradients but no Gram matrix where items are rows of features.
Differences   A QP is solved until ``ACCURACY`` of its violation is left, the one of step 8b until
              ``JOINT_ACCURACY`` of the largest ψ_i at its start is left, item after item; each item
              drops its zeros. The papers use an interior-point program.
References    [CH04, Alg. 1 and section 4.3], [HCC03, Alg. 1]
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from taxonomist.compiled import greedy, joint
from taxonomist.solvers.solution import Certificate, Options, Pass, Solution, certify
from taxonomist.solvers.weights import coefficients, feature_matrix, weights_from_duals

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Floats
    from taxonomist.solvers.problem import JointProblem

ACCURACY = 0.01
JOINT_ACCURACY = 0.1
FIRST_CAPACITY = 8


def solve(
    problem: JointProblem,
    options: Options,
    callback: Callable[[Pass], Any] | None = None,
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
    duals = state.duals()
    W = weights_from_duals(problem, duals, options.dtype)
    return Solution(W, duals, certificate, certificate.reaches(options), history)


class _State:
    """Dual variables and gradients between steps."""

    def __init__(self, problem: JointProblem, variant: str, start: Solution | None) -> None:
        self.started = perf_counter()
        self.variant = variant
        self.kernel_row = _kernel_rows(problem)
        self.arrays = _arrays(problem)
        self.selected = _selected(problem, start)
        n_items = problem.n_items
        F = self.arrays.losses[self.arrays.loss_of]
        self.gradients = greedy.Gradients(F, np.zeros(n_items), np.zeros(n_items))
        self.findings = joint.Findings(*np.zeros((5, n_items)))
        self.problem = problem
        self.joint_tol = np.inf
        for i in range(n_items):
            greedy.drop_zeros(i, self.selected)
            greedy.write_violation(i, self.selected, self.gradients)
        if start is not None:
            changes = coefficients(problem, start.duals)
            for i in range(n_items):
                self._spread(i, changes[[i]].toarray()[0])

    def take_steps(self, n_steps: int, tol: float) -> bool:
        """Take so many steps; return False where no violation above ``tol`` can be lowered."""
        F, violation, _ = self.gradients
        for _ in range(n_steps):
            if violation.max() <= tol:
                return False
            i = self._select()
            change, has_moved = greedy.solve_item(self.arrays, i, F, self.selected, ACCURACY)
            if not has_moved:
                return False
            self._spread(i, change)
        return True

    def _select(self) -> int:
        """Select the variables of a step, and return their item."""
        violation, within = self.gradients.violation, self.gradients.within
        if self.variant == "greedy_joint" and within.max() > self.joint_tol:
            return int(within.argmax())
        i = int(violation.argmax())
        self.joint_tol = JOINT_ACCURACY * violation[i]
        self._add_categories(i)
        return i

    def _add_categories(self, i: int) -> None:
        """Add one category, or all, to the selected ones of an item."""
        F, capacity = self.gradients.F, self.selected.category.shape[1]
        needed = F.shape[1] if self.variant == "full" else self.selected.size[i] + 1
        if needed > capacity:
            self.selected = _with_capacity(self.selected, max(needed, 2 * capacity))
        if self.variant == "full":
            greedy.select_all(i, F.shape[1], self.selected)
        else:
            greedy.select_most_violated(self.arrays, i, F, self.selected)

    def _spread(self, i: int, change: Floats) -> None:
        """Bring the gradients up to a change of item i's part of the weights."""
        greedy.spread(self.arrays, i, self.kernel_row(i), change, self.selected, self.gradients)

    def certificate(self) -> Certificate:
        """Return the bounds of the objective here."""
        greedy.inspect(self.arrays, self.selected, self.gradients, self.findings)
        return certify(self.problem, self.findings)

    def entry(self, known: Certificate) -> Pass:
        """Return a pass for the history."""
        return Pass(
            seconds=perf_counter() - self.started,
            primal=known.primal,
            dual=known.dual,
            violation=known.violation,
            n_active=int((self.selected.size - 1).sum()),
            is_exact=True,
        )

    def duals(self) -> joint.Duals:
        """Return the positive dual variables."""
        size, category, beta = self.selected
        most = size.max()
        category, beta = category[:, 1:most].copy(), beta[:, 1:most].copy()
        delta = self.arrays.losses[self.arrays.loss_of[:, None], category]
        return joint.Duals(size - 1, category, beta, delta)


def _kernel_rows(problem: JointProblem) -> Callable[[int], Floats]:
    """Return a function from an item i to k(x_i, x_j) of all items j."""
    n_items = problem.n_items
    if problem.items.dual_form:
        row_of = np.zeros(n_items, dtype=np.intp)

        def from_block(i: int) -> Floats:
            block = problem.items.rows(np.array([i]), row_of).data.reshape(-1, n_items)
            return np.asarray(block[row_of[i]])

        return from_block
    X = feature_matrix(problem)
    if not hasattr(X, "indptr"):
        return lambda i: np.asarray(X @ X[i])
    rows, columns = (joint.Rows(M.indptr, M.indices, M.data) for M in (X, X.tocsc()))
    out = np.zeros(n_items)

    def from_columns(i: int) -> Floats:
        greedy.write_products(rows, columns, i, out)
        return out

    return from_columns


def _arrays(problem: JointProblem) -> greedy.Problem:
    """Return what the compiled loops work on."""
    labels, loss_of = np.unique(problem.y, return_inverse=True)
    return greedy.Problem(
        y=problem.y,
        norms=problem.items.norms,
        attributes=problem.arrays().attributes,
        n_attributes=problem.attributes.shape[1],
        loss_of=loss_of,
        losses=problem.loss.rows(labels),
    )


def _selected(problem: JointProblem, start: Solution | None) -> greedy.Selected:
    """Return S_i = {y_i}, with the variables of a start if there is one."""
    size = np.ones(problem.n_items, dtype=np.intp)
    category, beta = problem.y[:, None], problem.costs[:, None]
    if start is not None:
        duals = start.duals
        given = np.where(np.arange(duals.beta.shape[1]) < duals.size[:, None], duals.beta, 0.0)
        used = given.sum(axis=1)
        # Only rounding keeps what is left from being 0 where it is so small.
        unused = np.where(used < problem.costs * (1 - 1e-12), problem.costs - used, 0.0)
        size = duals.size + 1
        category = np.column_stack([problem.y, duals.category])
        beta = np.column_stack([unused, given])
    selected = greedy.Selected(size, category, beta)
    return _with_capacity(selected, max(FIRST_CAPACITY, category.shape[1]))


def _with_capacity(selected: greedy.Selected, capacity: int) -> greedy.Selected:
    """Return a copy with room for so many variables an item."""
    size, *tables = selected
    more = capacity - tables[0].shape[1]
    return greedy.Selected(size, *(np.pad(table, ((0, 0), (0, more))) for table in tables))
