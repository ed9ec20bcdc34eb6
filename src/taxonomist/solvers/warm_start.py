"""Starting points made from the dual variables of a similar problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taxonomist.solvers.duals import Entries, positive
from taxonomist.solvers.solution import Certificate, Solution
from taxonomist.solvers.weights import weights_from_duals

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Bools, Codes
    from taxonomist.compiled.arrays import Duals
    from taxonomist.solvers.problem import JointProblem


def carry_over(problem: JointProblem, old: Duals, moved: Codes, dtype: DTypeLike) -> Solution:
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
    entries = Entries.of(old)
    alpha = entries.beta * entries.delta
    own, other = moved[entries.own], moved[entries.other]
    kept = np.flatnonzero((entries.item < problem.n_items) & (own >= 0) & (other >= 0))
    item, own, other, alpha = entries.item[kept], own[kept], other[kept], alpha[kept]
    mine = problem.labels
    kept = np.flatnonzero(_marked(mine, item, own) & ~_marked(mine, item, other))
    item, own, other, alpha = item[kept], own[kept], other[kept], alpha[kept]
    delta = problem.loss.pairs(own, other)
    beta = alpha / delta
    if problem.slack == "pair":
        beta = np.minimum(beta, problem.costs[item])
    else:
        total = np.bincount(item, beta, minlength=problem.n_items)
        beta *= np.minimum(1.0, problem.costs / np.maximum(total, 1e-300))[item]
    duals = positive(Entries(item, own, other, beta, delta).stored(problem.n_items))
    nothing = Certificate(np.inf, 0.0, 1.0, np.inf)
    return Solution(weights_from_duals(problem, duals, dtype), duals, nothing, converged=False)


def _marked(labels: CSR, items: Codes, categories: Codes) -> Bools:
    """Return whether each item has each category."""
    n_items, n_categories = labels.shape
    rows = np.repeat(np.arange(n_items), np.diff(labels.indptr))
    return np.isin(items * n_categories + categories, rows * n_categories + labels.indices)
