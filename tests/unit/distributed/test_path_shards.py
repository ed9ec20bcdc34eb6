"""Classifiers whose items are in shards: the same optimum as in one place, whatever the shards."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from taxonomist import PathSVC
from taxonomist.distributed import DaskPathSVC, memory, rounds
from taxonomist.distributed.engine import Capacity, LocalEngine
from taxonomist.distributed.path_batches import Batch
from taxonomist.distributed.path_fit import fit_paths
from taxonomist.distributed.path_shards import FamilyRounds, SetShards, features_of
from taxonomist.errors import ClusterError
from taxonomist.models.path_columns import Family
from taxonomist.solvers.changes import Change
from taxonomist.solvers.node_shards import (
    FamilyShard,
    NodeLoss,
    NodeRound,
    NodeShard,
    best_steps,
    part_way,
    solve_node_shard,
)
from taxonomist.solvers.node_svms import NodeOptions
from taxonomist.solvers.shards import SharedWeights
from tests.unit.distributed.problems import DAG, TREE, assert_same, cut, problem

SHARDS = [(0, 120), (0, 60, 120), (0, 30, 30, 60, 120)]
"""The ends of one, two and four shards, of which one is empty."""


def toy(is_sorted=False):
    """Return items, the columns in which each is positive, and costs."""
    X, y, _ = problem(n_items=120, n_features=40)
    labels = ["c0", "c1", "e0", "g"]
    own = np.array([[label == name for name in labels] for label in y])
    # Column 3 has positive items in the last shard only.
    own[:60, 3] = False
    order = np.argsort(own @ [1, 2, 4, 8], kind="stable") if is_sorted else np.arange(120)
    costs = np.random.default_rng(0).choice([0.5, 2.0], 120)
    return csr_array(X[order], dtype=np.float32), csr_array(own[order]), costs[order]


def rounds_of(X, own, costs, ends, loss, tol, engine=None, max_iter=5000):
    engine = engine or LocalEngine()
    shards = [
        engine.scatter(FamilyShard(NodeShard.of(X[a:b], costs[a:b]), own[a:b]))
        for a, b in pairwise(ends)
    ]
    given = SetShards(0, shards, engine.gather(engine.map(features_of, shards)))
    batch = Batch([Family(0, (0,), np.arange(own.shape[1]))], [0], np.arange(own.shape[1]))
    shape = X.shape[1] + 1, own.shape[1]
    options = NodeOptions(tol=tol, max_iter=max_iter)
    return FamilyRounds(engine, given, batch, loss, shape, options, 7, None)


def values(X, own, costs, W, loss):
    """Return the primal value of each column, by its definition."""
    signs = 2.0 * own.toarray() - 1
    slack = np.maximum(1 - signs * (X @ W[:-1] + loss.constant * W[-1]), 0)
    return 0.5 * (W**2).sum(axis=0) + costs @ (slack**2 if loss.is_squared else slack)


def weights(solved, n_features, constant):
    W = np.zeros((n_features + 1, len(solved.bias)))
    W[solved.features] = solved.values.reshape(len(solved.features), -1)
    W[-1] = solved.bias / constant
    return W


@pytest.mark.parametrize("ends", SHARDS, ids=["1", "2", "4"])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_the_optimum_is_that_of_a_general_solver(ends, is_sorted):
    X, own, costs = toy(is_sorted)
    loss = NodeLoss(0.5, is_squared=True)
    solved = rounds_of(X, own, costs, ends, loss, 1e-6).run()
    assert solved.converged
    W = weights(solved, X.shape[1], loss.constant)
    np.testing.assert_allclose(values(X, own, costs, W, loss), solved.primal, rtol=1e-5)
    for b in range(own.shape[1]):
        one = own[:, [b]]
        exact = minimize(
            lambda w, one=one: values(X, one, costs, w[:, None], loss)[0],
            np.zeros(len(W)),
            method="L-BFGS-B",
            options={"maxiter": 10_000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-9},
        )
        assert solved.primal[b] == pytest.approx(exact.fun, rel=1e-4)
        assert solved.dual[b] <= exact.fun * (1 + 1e-6)
        np.testing.assert_allclose(W[:, b], exact.x, atol=2e-2)


def test_rounds_alone_reach_the_optimum_of_the_hinge_loss():
    X, own, costs = toy()
    loss = NodeLoss(1.0, is_squared=False)
    one, two = (rounds_of(X, own, costs, ends, loss, 0.02).run() for ends in SHARDS[:2])
    assert one.converged
    assert two.converged
    W = weights(two, X.shape[1], 1.0)
    np.testing.assert_allclose(values(X, own, costs, W, loss), two.primal, rtol=1e-5)
    assert one.dual.sum() <= two.primal.sum() <= one.primal.sum() / 0.98


def test_the_dual_never_falls_in_rounds():
    X, own, costs = toy()
    fit = rounds_of(X, own, costs, SHARDS[2], NodeLoss(1.0, is_squared=True), 1e-3)
    before = np.full(4, -np.inf)
    for number in range(6):
        fit.certified_round(number)
        W = fit.w
        alpha = np.vstack([handle.toarray() for handle in fit.engine.gather(fit.duals)])
        dual = alpha.sum(axis=0) - (alpha.T**2 / 4) @ (1 / costs) - 0.5 * (W**2).sum(axis=0)
        assert (dual >= before - 1e-5).all()
        before = dual
        # The weights are those of the dual variables.
        np.testing.assert_allclose(
            X.T @ (alpha * (2.0 * own.toarray() - 1)), W[:-1], rtol=1e-4, atol=1e-4
        )


def test_one_round_of_one_shard_by_its_definition():
    """With σ' = 4, each item's step is that of a problem whose quadratic part is 4 times larger."""
    X, own, costs = toy()
    shard, loss = NodeShard.of(X, costs), NodeLoss(1.0, is_squared=True)
    W = np.random.default_rng(1).normal(0, 0.1, (len(shard.features), 1)).astype(np.float32)
    own = csr_array(own[:, [0]])
    nothing = csr_array((120, 1), dtype=np.float32)
    shared = SharedWeights(W, np.full(len(W), 4.0))
    found = solve_node_shard(shard, own, nothing, shared, loss, NodeRound(30, 5))
    rows = np.hstack([shard.X.toarray(), np.ones((120, 1))]) * (2.0 * own.toarray() - 1)
    quadratic = 4 * rows @ rows.T + np.diag(0.5 / costs)
    linear = 1 - rows @ W[:, 0].astype(float)
    exact = minimize(
        lambda a: (a @ quadratic @ a / 2 - linear @ a, quadratic @ a - linear),
        np.zeros(120),
        jac=True,
        bounds=[(0, None)] * 120,
        options={"maxiter": 5000, "maxfun": 10**5},
    )
    alpha = found.duals.toarray()[:, 0]
    assert linear @ alpha - alpha @ quadratic @ alpha / 2 == pytest.approx(-exact.fun, rel=1e-3)
    moved = np.zeros(len(W))
    values = found.change.values.toarray()[:, 0]
    moved[np.searchsorted(shard.features, found.change.rows)] = values
    np.testing.assert_allclose(moved, rows.T @ alpha, atol=1e-4)
    np.testing.assert_allclose(found.change.squares, values**2, rtol=1e-6)


def test_a_step_part_of_the_way():
    before, after = csr_array([[1.0, 0.0]]), csr_array([[3.0, 2.0]])
    steps = np.array([0.5, 1.0])
    assert part_way(before, after, steps).toarray().tolist() == [[2.0, 2.0]]
    assert part_way(before, after, np.ones(2)) is after


def test_the_coupling_of_a_feature_is_between_1_and_the_number_of_shards_that_have_it():
    one = Change.of(np.array([0, 1, 2]), np.array([[1.0], [1.0], [0.0]]))
    two = Change.of(np.array([0, 1]), np.array([[1.0], [-1.0]]))
    both = Change.joined([one, two])
    assert both.rows.tolist() == [0, 1]
    assert both.couplings().tolist() == [2.0, 1.0]


class SmallEngine(LocalEngine):
    """Three workers with room for a part of the items."""

    memory = 60_000.0

    def capacity(self):
        return Capacity(3, 3, self.memory)


@pytest.mark.parametrize(
    ("taxonomy", "options", "is_sets"),
    [
        (TREE, {"negatives": "both"}, False),
        (TREE, {"negatives": "siblings", "loss": "hinge", "C": 0.1, "tol": 0.05}, False),
        (DAG, {"negatives": "all"}, True),
    ],
)
def test_a_family_that_exceeds_a_worker_is_split(taxonomy, options, is_sets, caplog):
    X, y, w = problem(taxonomy, n_items=900, n_features=150, is_sets=is_sets)
    options = {"tol": 1e-3, "random_state": 3, **options}
    local = PathSVC(taxonomy, **options).fit(X, y, w)
    ends = (0, 100, 100, 200, 300, 450, 600, 700, 900)
    blocks = [cut(X, ends), cut(y, ends), cut(w, ends)]
    with caplog.at_level("INFO", logger="taxonomist"):
        model = fit_paths(SmallEngine(), blocks, PathSVC(taxonomy, **options))
    assert any("rounds" in record.message for record in caplog.records)
    assert model.converged_
    tol = options["tol"]
    assert model.duality_gap_ <= tol
    assert model.dual_objective_ <= local.objective_
    assert local.dual_objective_ <= model.objective_ <= local.objective_ / (1 - tol)
    one, other = (np.asarray(m.decision_function(X)) for m in (local, model))
    assert np.abs(one - other).mean() < 0.05 * np.abs(one).mean()


def test_what_fits_is_not_split():
    X, y, w = problem()
    local = PathSVC(TREE, random_state=3).fit(X, y, w)
    blocks = [cut(X), cut(y), cut(w)]
    engine = SmallEngine()
    engine.memory = 1e6
    assert_same(local, fit_paths(engine, blocks, PathSVC(TREE, random_state=3)))


def test_a_family_is_split_on_a_cluster(client, monkeypatch):
    import dask

    X, y, w = problem(n_items=400, n_features=60)
    options = {"negatives": "siblings", "cv": 0, "tol": 0.05, "random_state": 3}
    local = PathSVC(TREE, **options).fit(X, y, w)
    monkeypatch.setattr(memory, "VALUE_BYTES", 350_000)
    ends = np.linspace(0, 400, 3).astype(int)
    blocks = [[dask.delayed(part) for part in cut(given, ends)] for given in (X, y, w)]
    model = DaskPathSVC(TREE, client=client, **options).fit(*blocks)
    assert model.duality_gap_ <= 0.05
    assert local.dual_objective_ <= model.objective_ <= local.objective_ / 0.95
    # Not the same bits, as without a split.
    assert model.objective_ != local.objective_


def test_a_lost_worker_is_made_good(monkeypatch):
    """What it had comes back from copies in rounds, and is not needed by Newton's steps."""

    class Leaky(LocalEngine):
        n_gathered, lost = 0, None

        def gather(self, handles):
            self.n_gathered += 1
            if self.n_gathered in (4, 11, 25):
                raise ClusterError("lost")
            return super().gather(handles)

        def is_held(self, handle):
            self.lost = self.lost or handle
            return handle is not self.lost

    monkeypatch.setattr(rounds, "CHECKPOINT", 2)
    monkeypatch.setattr(rounds, "PAUSE", 0)
    X, own, costs = toy()
    loss, engine = NodeLoss(1.0, is_squared=True), Leaky()
    fit = rounds_of(X, own, costs, SHARDS[1], loss, 1e-4, engine)
    solved = fit.run()
    assert engine.n_gathered > 25
    assert fit.n_lost == 3
    expected = rounds_of(X, own, costs, SHARDS[1], loss, 1e-4).run()
    assert solved.converged
    np.testing.assert_allclose(solved.primal, expected.primal, rtol=1e-3)


def test_steps_of_columns_stay_between_0_and_1():
    class Findings:
        slope, curvature = np.array([-1.0, 5.0, 1.0]), np.array([1.0, 1.0, 0.0])

    nothing = Change(np.arange(0), csr_array((0, 3)), np.zeros(0), 0)
    assert best_steps(np.zeros((4, 3)), nothing, Findings()).tolist() == [0.0, 1.0, 1.0]
