"""The joint problem with a bias term for each category that is not penalised.

Problem       min_{w, b, ξ}  ½ ||w||² + Σ_i C_i ξ_i
              s.t.  f(x_i, y) + b_y - f(x_i, c) - b_c >= 1 - ξ_i / Δ(y, c),  ξ_i >= 0
              [CH04, Eq. 24], with the b_y of the paper's footnote
Dual          as in ``taxonomist.solvers.problem``, and for each category c
              Σ_{i,d} α_icd = Σ_{i,y} α_iyc:  what flows out of c flows into c
Notation      as there; the last feature of every item is the constant κ, and b = κ Λ u, where u
              is the last row of ``W``
Step          Proximal point: given u_k, the sequential solver minimises over (w, u) the problem
              with ½ ||u - u_k||² added, whose minimum is u_{k+1}. The dual of this problem is that
              of the constant feature with scores shifted by κ Λ u_k, so that the solver need only
              start from weights with the last row u_k.
Stopping      Gap: flows from categories with a surplus to categories with a deficit are taken out
              of α (see ``circulation``). The rest is feasible, so that its dual value, and the
              primal value at its weights and b, bound the optimum. Violation: the largest ψ_i
              before that, and the largest change of a b_c in the step, which is zero if and only
              if α is feasible.
Cost          A few dozen starts of the sequential solver, all but the first from a good point.
Differences   The paper names the term, but gives no algorithm.
References    [CH04, Sec. 2.1, footnote 1], [HCC03, Sec. 2, footnote 1]
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from taxonomist._typing import is_sparse
from taxonomist.solvers import sequential
from taxonomist.solvers.duals import Entries, no_duals, positive
from taxonomist.solvers.problem import FeatureRows
from taxonomist.solvers.solution import Certificate, Options, Pass, Solution
from taxonomist.solvers.weights import feature_matrix, weights_from_duals

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.compiled.arrays import Duals
    from taxonomist.solvers.problem import JointProblem

FIRST_TOLERANCE = 0.1
TIGHTER = 0.3
"""Factor of the solver's tolerance from one step to the next."""
LEAST_TOLERANCE = 1e-12
ROUNDING = 1e-14
"""Part of the whole flow below which a flow is due to rounding."""


def solve(
    problem: JointProblem,
    options: Options,
    callback: Callable[[Pass], object] | None = None,
    start: Solution | None = None,
) -> Solution:
    """Return the solution of a joint problem with bias terms.

    Parameters
    ----------
    problem
        What to solve; its items are rows of features, of which the last is constant.
    options
        Tolerance, limits, seed, threads. ``max_iter`` limits the steps of the biases, and the
        passes of each of them.
    callback
        Called with each step; a true answer stops.
    start
        A solution of a similar problem whose dual variables to start from.
    """
    started = perf_counter()
    if isinstance(problem.items, FeatureRows):
        # Loops for values and weights of different types would have to be compiled too.
        problem = replace(problem, items=problem.items.in_double())
    duals = no_duals(problem.n_items) if start is None else start.duals
    constant = _constant_feature(problem)
    u = np.zeros(problem.attributes.shape[1])
    inner = replace(options, stop="violation", tol=FIRST_TOLERANCE, dtype="float64")
    least = 0.5 * options.tol if options.stop == "violation" else LEAST_TOLERANCE
    history: list[Pass] = []
    for _ in range(options.max_iter):
        found = sequential.solve(problem, inner, None, _at(problem, duals, u))
        moved = np.abs(constant * (problem.attributes @ (found.W[-1] - u))).max(initial=0.0)
        duals, u = found.duals, found.W[-1]
        answer = _certified(problem, circulation(duals, problem.n_categories), u, inner)
        violation = max(found.certificate.violation, float(moved))
        known, n_active = answer.certificate._replace(violation=violation), len(answer.duals.beta)
        seconds = perf_counter() - started
        history.append(Pass(seconds, known.primal, known.dual, known.violation, n_active, True))
        wants_stop = callback is not None and callback(history[-1])
        if wants_stop or known.reaches(options) or problem.is_hopeless(known.dual):
            break
        inner = replace(inner, tol=max(TIGHTER * inner.tol, least))
    W = answer.W.astype(options.dtype)
    return Solution(W, answer.duals, known, known.reaches(options), history)


def _constant_feature(problem: JointProblem) -> float:
    """Return κ, the last feature of all items."""
    X = feature_matrix(problem)[:1]
    dense = X.toarray() if is_sparse(X) else X
    return float(dense[:, -1].sum())


def _at(problem: JointProblem, duals: Duals, u: Reals) -> Solution:
    """Return a point of the proximal problem at ``u`` as a start of the sequential solver."""
    W = weights_from_duals(problem, duals, "float64")
    W[-1] += u
    nothing = Certificate(np.inf, 0.0, 1.0, np.inf)
    return Solution(W, duals, nothing, converged=False)


def _certified(problem: JointProblem, duals: Duals, u: Reals, options: Options) -> Solution:
    """Return balanced dual variables with their weights, the given biases, and a certificate."""
    point = _at(problem, duals, u)
    point.W[-1] = u
    return sequential.solve(problem, replace(options, max_iter=0), None, point)


def circulation(duals: Duals, n_categories: int) -> Duals:
    """Reduce dual variables until as much flows out of every category as into it.

    Parameters
    ----------
    duals
        Dual variables; α_iyc is a flow from y to c.
    n_categories
        Number of categories.

    Returns
    -------
    Duals
        Smaller or equal variables. Every flow is a sum of cycles, and of paths from categories
        with a surplus to categories with a deficit; the paths are taken away.
    """
    entries = Entries.of(duals)
    alpha = entries.beta * entries.delta
    flow = np.zeros((n_categories, n_categories))
    np.add.at(flow, (entries.own, entries.other), alpha)
    left = flow.copy()
    least = ROUNDING * flow.sum()
    left[left <= least] = 0.0
    surplus = left.sum(axis=1) - left.sum(axis=0)
    for c in np.flatnonzero(surplus > 0).tolist():
        while surplus[c] > least:
            path = _path(left, c, surplus < 0)
            if path is None:
                break
            tails, heads = path[:-1], path[1:]
            amount = min(surplus[c], -surplus[path[-1]], left[tails, heads].min())
            left[tails, heads] -= amount
            surplus[c] -= amount
            surplus[path[-1]] += amount
    share = np.divide(left, flow, out=np.zeros_like(flow), where=flow > 0)
    kept = entries.beta * share[entries.own, entries.other]
    return positive(entries._replace(beta=kept).stored(len(duals.size)))


def _path(flow: Floats, source: int, is_target: Floats) -> Codes | None:
    """Return a shortest path of positive flows to a target, or None if there is none."""
    before = np.full(len(flow), -1, dtype=np.intp)
    before[source] = source
    waiting = deque([source])
    while waiting:
        c = waiting.popleft()
        for d in np.flatnonzero((flow[c] > 0) & (before < 0)).tolist():
            before[d] = c
            if is_target[d]:
                path = [d]
                while path[-1] != source:
                    path.append(int(before[path[-1]]))
                return np.array(path[::-1])
            waiting.append(d)
    return None


def free_biases(attributes: CSR) -> bool:
    """Return whether b = κ Λ u reaches every vector of biases, up to a constant.

    Parameters
    ----------
    attributes
        Λ, (n_categories, n_attributes) CSR.
    """
    columns = attributes.tocsc()
    alone = np.flatnonzero(np.diff(columns.indptr) == 1)
    owners = columns.indices[columns.indptr[alone]]
    if len(np.unique(owners)) == attributes.shape[0]:
        return True
    with_ones = np.column_stack([attributes.toarray(), np.ones(attributes.shape[0])])
    return bool(np.linalg.matrix_rank(with_ones) == attributes.shape[0])
