"""From the dual variables of one problem to a starting point of a similar one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.compiled.joint import Duals
from taxonomist.solvers.solution import Certificate, Solution
from taxonomist.solvers.weights import weights_from_duals

if TYPE_CHECKING:
    from taxonomist._typing import Codes
    from taxonomist.solvers.problem import JointProblem


def carry_over(problem: JointProblem, old: Duals, moved: Codes, dtype: Any) -> Solution:
    """Return a feasible starting point made from another problem's dual variables.

    Parameters
    ----------
    problem
        The problem to start; its first items are those of the old one, as far as they go.
    old
        Dual variables of the old problem.
    moved
        New column of each old category, -1 where it is gone.
    dtype
        Type of the weights.

    Returns
    -------
    Solution
        Dual variables that are as they were where that is feasible, scaled down to the item's
        cost where it is not; items and categories that are new start at zero.
    """
    n_shared = min(len(old.size), problem.n_items)
    shape = (problem.n_items, old.category.shape[1])
    category, alpha = np.zeros(shape, dtype=np.intp), np.zeros(shape)
    active = np.arange(shape[1]) < old.size[:n_shared, None]
    category[:n_shared] = np.where(active, moved[old.category[:n_shared]], -1)
    alpha[:n_shared] = old.beta[:n_shared] * old.delta[:n_shared]
    category[n_shared:] = -1
    alpha[(category < 0) | (category == problem.y[:, None])] = 0.0
    items, places = np.nonzero(alpha)
    delta, beta = np.ones(shape), np.zeros(shape)
    delta[items, places] = problem.loss.pairs(problem.y[items], category[items, places])
    beta[items, places] = alpha[items, places] / delta[items, places]
    total = beta.sum(axis=1)
    beta *= np.minimum(1.0, problem.costs / np.maximum(total, 1e-300))[:, None]
    duals = _packed(category, beta, delta)
    nothing = Certificate(np.inf, 0.0, 1.0, np.inf)
    return Solution(weights_from_duals(problem, duals, dtype), duals, nothing, converged=False)


def _packed(category: Codes, beta: Any, delta: Any) -> Duals:
    """Return dual variables with the positive ones of each item in its first places."""
    order = np.argsort(beta <= 0, axis=1, kind="stable")
    tables = [np.take_along_axis(table, order, axis=1) for table in (category, beta, delta)]
    size = (beta > 0).sum(axis=1).astype(np.intp)
    tables[0][tables[0] < 0] = 0
    return Duals(size, *tables)
