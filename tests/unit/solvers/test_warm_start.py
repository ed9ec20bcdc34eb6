"""Starting points from another problem's dual variables, against a plain loop over them."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.solvers import sequential
from taxonomist.solvers.solution import Options
from taxonomist.solvers.warm_start import carry_over
from tests.reference import pair_svm as reference
from tests.reference.joint_toys import SLACKS, pair_alpha, set_toy

ROUGH = Options(tol=0.01, dtype="float64")


def carried(case, old, moved):
    """Return α where it stays allowed, scaled down to the costs where it is too large."""
    instance = case.instance()
    alpha = np.zeros((*case.Y.shape, case.Y.shape[1]))
    for i, y, c in np.argwhere(old > 0):
        if i < len(case.Y) and moved[y] >= 0 and moved[c] >= 0:
            to = i, moved[y], moved[c]
            if case.Y[to[:2]] and not case.Y[i, to[2]]:
                alpha[to] = old[i, y, c]
    for group in instance.sharing:
        used = sum(alpha[t] / instance.loss[t[1:]] for t in group)
        cost = instance.costs[group[0][0]]
        for triple in group:
            alpha[triple] *= min(1.0, cost / used) if used > 0 else 1.0
    return alpha


def change_of(case, name):
    """Return a changed problem, and where the old categories went."""
    n = case.Y.shape[1]
    same = np.arange(n)
    if name == "labels":
        Y = case.Y.copy()
        Y[5:15] ^= np.random.default_rng(1).random((10, n)) < 0.3
        return case._replace(Y=Y), same
    if name == "fewer items":
        return case.select(np.arange(10)), same
    if name == "more items":
        return case.select(np.concatenate([np.arange(24), [7, 8]])), same
    if name == "cheaper":
        return case._replace(costs=case.costs * np.linspace(0, 1, len(case.costs))), same
    if name == "other loss":
        return case._replace(loss=set_toy("dag", "matrix").loss), same
    order = np.random.default_rng(1).permutation(n)
    if name == "order of categories":
        return case._replace(Y=case.Y[:, order]), np.argsort(order)
    return case, np.where(same == 2, -1, same) if name == "a category less" else same


CHANGES = (
    "nothing",
    "a category less",
    "labels",
    "fewer items",
    "more items",
    "cheaper",
    "other loss",
    "order of categories",
)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("slack", SLACKS)
def test_variables_stay_where_they_are_allowed(slack, change):
    case = set_toy("dag", "weighted", C=2.0, slack=slack)
    solution = sequential.solve(case.problem(), ROUGH)
    old = pair_alpha(solution.duals, case.Y.shape)
    new, moved = change_of(case, change)
    start = carry_over(new.problem(), solution.duals, moved, np.float64)
    found = pair_alpha(start.duals, new.Y.shape)
    expected = carried(new, old, moved)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert start.duals.size.sum() == len(start.duals.beta) == (expected > 0).sum()
    np.testing.assert_allclose(
        start.W, new.X.T @ reference.coefficients(new.instance(), expected), atol=1e-9
    )
    assert not start.converged


def test_nothing_can_be_carried_over():
    case = set_toy()
    solution = sequential.solve(case.problem(), ROUGH)
    gone = np.full(case.Y.shape[1], -1)
    start = carry_over(case.problem(), solution.duals, gone, "float32")
    assert not start.W.any()
    assert start.W.dtype == np.float32
    assert start.duals.size.tolist() == [0] * len(case.Y)
    found = sequential.solve(case.problem(), ROUGH, start=start)
    assert found.converged
