"""Additive features of the Markov tree against enumeration and a general QP solver."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from taxonomist.models.markov_checks import shared_rows
from taxonomist.solvers import additive
from taxonomist.solvers.problem import FeatureRows
from taxonomist.solvers.solution import Options
from tests.combinations import every_pair
from tests.reference import markov_tree as reference
from tests.reference.joint_svm import minimise
from tests.reference.markov_toys import LOSSES, SHAPES, toy

EXACT = Options(tol=1e-4, stop="gap", max_iter=3000)


@cache
def local_toy(shape, loss, train_on, C, n_global):
    """Return a problem in which every node has two columns of X, in no order, and where each is."""
    case = toy(shape, loss, C, "example", "edge", train_on)
    n_nodes = case.Y.shape[1]
    rng = np.random.default_rng(3)
    owner = rng.permutation(
        np.concatenate([np.repeat(np.arange(1, n_nodes), 2), np.full(n_global, -1)])
    )
    X = rng.normal(size=(len(case.X), len(owner))) * (rng.random((len(case.X), len(owner))) < 0.8)
    X += 0.5 * np.column_stack([case.Y[:, max(j, 0)] for j in owner])
    return case._replace(X=X, owner=owner), shared_rows(case.loss.taxonomy, owner)


def joint_features(instance, shared, i, u):
    """Return Σ_e φ_e(x_i, u_e) by its definition, (n_shared, 4) [RSSS06, Sec. 2.3]."""
    found = np.zeros((shared.max() + 1, 4))
    for j in range(1, instance.n_nodes):
        code = 2 * u[instance.parent[j]] + u[j]
        for f, (row, own) in enumerate(zip(shared, instance.owner, strict=True)):
            if own in (-1, j):
                found[row, code] += instance.X[i, f]
    return found.ravel()


def constraints(instance, shared, i):
    others = instance.others(i)
    true = joint_features(instance, shared, i, instance.Y[i])
    differences = [true - joint_features(instance, shared, i, u) for u in others]
    return np.array(differences), reference.loss(instance, instance.Y[i], others)


def optimum(instance, shared):
    """Return the minimum of Eq. 1 with additive features; infinite costs allow no slack."""
    n_items, n_weights = len(instance.X), 4 * (int(shared.max()) + 1)
    rows, least = [np.eye(n_items, n_weights + n_items, n_weights)], [np.zeros(n_items)]
    is_hard = np.isinf(instance.C)
    rows.append(-rows[0][is_hard])
    least.append(np.zeros(is_hard.sum()))
    for i in range(n_items):
        differences, losses = constraints(instance, shared, i)
        slack = np.tile(np.eye(n_items)[i], (len(losses), 1))
        rows.append(np.column_stack([differences, slack]))
        least.append(losses)
    squared = np.concatenate([np.ones(n_weights), np.zeros(n_items)])
    linear = np.concatenate([np.zeros(n_weights), np.where(is_hard, 0.0, instance.C)])
    found, value = minimise(np.diag(squared), linear, np.concatenate(rows), np.concatenate(least))
    return value, found[:n_weights]


@every_pair(
    shape=SHAPES,
    loss=LOSSES,
    train_on=["all", "consistent"],
    C=[0.05, 1.0],
    n_global=[0, 2],
    is_sparse=[True, False],
)
def test_additive_features_are_optimal(shape, loss, train_on, C, n_global, is_sparse):
    case, shared = local_toy(shape, loss, train_on, C, n_global)
    rows = FeatureRows(sparse.csr_array(case.X) if is_sparse else case.X, "float64")
    solution = additive.solve(case.problem(rows), shared, EXACT)
    instance = case.instance()
    best, _ = optimum(instance, shared)
    primal, dual, gap, _ = solution.certificate
    assert solution.converged
    assert gap <= 1e-4
    assert primal == pytest.approx(best, rel=1.1e-4)
    assert dual <= best * (1 + 1e-7)
    check_certificate(instance, shared, solution)


def check_certificate(instance, shared, solution):
    """Check that edges share their weights, and that the objective is that of the weights."""
    W = np.full((shared.max() + 1, 4), np.nan)
    for f, (row, own) in enumerate(zip(shared, instance.owner, strict=True)):
        blocks = solution.W[f].reshape(-1, 4)
        mine = blocks if own == -1 else blocks[[own - 1]]
        if np.isnan(W[row, 0]):
            W[row] = mine[0]
        assert (mine == W[row]).all()
        assert own == -1 or not np.delete(blocks, own - 1, axis=0).any()
    slack = [max(0, np.max(losses - d @ W.ravel())) for d, losses in _all(instance, shared)]
    primal = np.sum(W**2) / 2 + instance.C @ slack
    assert solution.certificate.primal == pytest.approx(primal, rel=1e-9)


def _all(instance, shared):
    return [constraints(instance, shared, i) for i in range(len(instance.X))]


def test_a_hard_margin_of_additive_features():
    case, shared = local_toy("chain", "symmetric_difference", "all", 1.0, 2)
    case = case.select([0, 4])._replace(C=np.full(2, np.inf))
    solution = additive.solve(case.problem(), shared, Options(tol=1e-4, stop="gap", max_iter=3000))
    best, _ = optimum(case.instance(), shared)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(best, rel=2e-4)


def test_a_callback_sees_and_stops():
    case, shared = local_toy("tree", "costs", "all", 1.0, 0)
    seen = []
    solution = additive.solve(case.problem(), shared, EXACT, seen.append)
    assert seen == solution.history
    stopped = additive.solve(case.problem(), shared, EXACT, lambda entry: True)
    assert len(stopped.history) == 1
    assert not stopped.converged
