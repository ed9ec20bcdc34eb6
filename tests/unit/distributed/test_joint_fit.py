"""Shards of a joint SVM: the certificate of all items, whatever the shards, and after losses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from taxonomist import HierarchicalSVC
from taxonomist.compiled import inspection, joint
from taxonomist.distributed import rounds as all_rounds
from taxonomist.distributed.dask_engine import DaskEngine
from taxonomist.distributed.engine import Capacity, LocalEngine
from taxonomist.distributed.joint_fit import fit_joint
from taxonomist.distributed.rounds import shares_of
from taxonomist.errors import ClusterError, LabelError, ParameterError
from taxonomist.losses import ZeroOneLoss
from taxonomist.solvers.duals import Entries, no_duals
from taxonomist.solvers.problem import one_label_each
from taxonomist.solvers.shards import (
    RoundOptions,
    Shard,
    SharedWeights,
    Window,
    batch_features,
    part_way,
    solve_shard,
    with_items,
)
from taxonomist.solvers.solution import Options
from tests.unit.distributed.problems import TREE, SendingEngine, cut, problem


def easy(n_items=300, seed=0):
    """Return items that have a feature of their category, and weights."""
    X, y, weights = problem(n_items=n_items, n_features=60, seed=seed)
    X = X.toarray()
    X[np.arange(n_items), [TREE.codes([label])[0] for label in y]] += 1
    return X, y, weights


def parts_of(X, y, weights, n_parts):
    ends = np.linspace(0, len(y), n_parts + 1).astype(int)
    return [cut(X, ends), cut(y, ends), cut(weights, ends)]


def primal(model, X, y, weights):
    """Return the objective, computed by its definition."""
    W, Lambda = model.scorer_.W.astype(float), model.scorer_.attributes.toarray()
    scores = X @ W @ Lambda.T
    own = [model.classes_.tolist().index(label) for label in y]
    above = [set(TREE.ancestors(label)) | {label} for label in model.classes_]
    delta = np.array([[len(a ^ b) / 2 for b in above] for a in above])
    # An inner node that is a category ends in a terminal of its own.
    inner = np.array([not TREE.is_leaf[TREE.codes([label])[0]] for label in model.classes_])
    delta += (inner[:, None].astype(float) + inner) / 2
    np.fill_diagonal(delta, 0)
    at = np.arange(len(y))
    slack = (delta[own] * (1 - scores[at, own][:, None] + scores)).max(axis=1).clip(0)
    return (W**2).sum() / 2 + weights @ slack


@pytest.mark.parametrize(("n_shards", "is_sparse"), [(1, False), (2, True), (4, False), (8, True)])
def test_shards_reach_the_gap(n_shards, is_sparse):
    from scipy.sparse import csr_array

    X, y, weights = easy()
    given = csr_array(X) if is_sparse else X
    local = HierarchicalSVC(TREE, tol=1e-4, dtype="float64", random_state=0).fit(X, y, weights)
    blocks = parts_of(given, y, weights, 2 * n_shards)
    options = {"tol": 1e-2, "dtype": "float64", "random_state": 0}
    model, rounds = fit_joint(LocalEngine(), blocks, HierarchicalSVC(TREE, **options), n_shards)
    assert model.converged_
    assert model.duality_gap_ <= 1e-2
    assert model.objective_ == pytest.approx(primal(model, X, y, weights))
    # The optimum lies between the bounds of either.
    assert model.dual_objective_ <= local.objective_
    assert local.dual_objective_ <= model.objective_ <= local.objective_ / (1 - 1e-2)
    assert len(rounds) == model.n_iter_ == len(model.history_)


@pytest.mark.parametrize("n_shards", [2, 4, 8])
@pytest.mark.parametrize("tol", [0.5, 1e-3])
def test_the_dual_never_falls(n_shards, tol):
    """Whether it is certified or not; the last round always is."""
    X, y, weights = easy()
    blocks = parts_of(X, y, weights, n_shards)
    options = {"dtype": "float64", "random_state": 0, "tol": tol}
    model, rounds = fit_joint(LocalEngine(), blocks, HierarchicalSVC(TREE, **options), n_shards)
    dual = [entry.dual for entry in model.history_]
    assert (np.diff(dual) >= -1e-9 * dual[-1]).all()
    solved = [entry for entry in rounds if entry.share]
    assert all(0 < entry.step <= 1 <= entry.coupling <= n_shards for entry in solved)
    assert all(entry.share <= 1 / 4 and entry.conflict <= n_shards for entry in solved)
    assert not model.history_[0].is_exact
    assert model.history_[-1].is_exact
    assert model.duality_gap_ <= tol


def test_estimates_know_the_dual_of_the_weights():
    """The last round certifies the weights, and finds the dual that was known before it."""
    X, y, weights = easy()
    options = {"dtype": "float64", "random_state": 0, "tol": 1e-3}
    duals = []
    for max_iter in (5, 6):
        model = HierarchicalSVC(TREE, max_iter=max_iter, **options)
        with pytest.warns(ConvergenceWarning):
            fit_joint(LocalEngine(), parts_of(X, y, weights, 4), model, 4)
        duals.append([(entry.is_exact, entry.dual) for entry in model.history_])
    assert [is_exact for is_exact, _ in duals[0]] == [False] * 4 + [True]
    assert [is_exact for is_exact, _ in duals[1]] == [False] * 5 + [True]
    assert duals[0][4][1] == pytest.approx(duals[1][3][1], rel=1e-9)
    assert model.objective_ == pytest.approx(primal(model, X, y, weights))


class Visits:
    """Counts the visits of items, inspected or solved."""

    def __init__(self, monkeypatch):
        self.n = 0
        for module, name in ((inspection, "inspect"), (joint, "visit"), (joint, "sweep")):
            monkeypatch.setattr(module, name, self._counting(getattr(module, name), name))

    def _counting(self, loop, name):
        def counted(items, *arguments):
            found = loop(items, *arguments)
            self.n += found[2] if name == "visit" else len(items)
            return found

        return counted


def texts(n_items=600, n_words=800):
    """Return normed rows of words that all items share and words of their category, and labels."""
    rng = np.random.default_rng(0)
    y = problem(n_items=n_items)[1]
    common = 1 / (3 + np.arange(n_words))
    words = rng.choice(n_words, (n_items, 30), p=common / common.sum())
    own = (37 * TREE.codes(y)[:, None] + rng.integers(0, 20, (n_items, 6))) % n_words
    X = np.zeros((n_items, n_words))
    np.add.at(X, (np.arange(n_items)[:, None], np.hstack([words, own])), 1)
    X = np.log1p(X)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@pytest.mark.parametrize("n_shards", [2, 4])
def test_shards_visit_items_little_oftener_than_one_machine(n_shards, monkeypatch):
    from scipy.sparse import csr_array

    X, y = texts()
    visits = Visits(monkeypatch)
    HierarchicalSVC(TREE, random_state=0, n_jobs=1).fit(csr_array(X), y)
    n_local, visits.n = visits.n, 0
    blocks = parts_of(csr_array(X), y, np.ones(len(y)), n_shards)
    model, _ = fit_joint(LocalEngine(), blocks, HierarchicalSVC(TREE, random_state=0), n_shards)
    assert model.duality_gap_ <= 0.01
    assert visits.n <= 3 * n_local


def test_one_shard_always_solves_all_its_items():
    """Its only change is the sum of all, but for rounding."""
    from scipy.sparse import csr_array

    X, y = texts()
    blocks = parts_of(csr_array(X), y, np.ones(len(y)), 1)
    _, rounds = fit_joint(LocalEngine(), blocks, HierarchicalSVC(TREE, random_state=0), 1)
    assert {entry.share for entry in rounds} == {0.0, 1.0}


def test_weights_that_do_not_fit_are_refused_before_the_work():
    class Small(LocalEngine):
        def capacity(self):
            return Capacity(2, 4, 30_000)

        def map(self, function, *columns, shared=()):
            assert function.__name__ != "make_shard"
            return super().map(function, *columns, shared=shared)

    X, y, weights = easy(n_items=40)
    parts = parts_of(X, y, weights, 8)
    with pytest.raises(ClusterError, match=r"weights of 60 features .* 2 threads needs .* 30 kB"):
        fit_joint(Small(), parts, HierarchicalSVC(TREE, dtype="float64"))


def test_shares_are_as_even_as_parts_allow():
    assert [share.tolist() for share in shares_of([9, 10, 9, 9, 9, 9, 9, 9], 8)] == [
        [k] for k in range(8)
    ]
    assert [share.tolist() for share in shares_of([5, 5, 10, 10], 3)] == [[0, 1], [2], [3]]
    assert [share.tolist() for share in shares_of([0, 0], 4)] == [[0], [1]]


def test_an_empty_shard_and_a_category_on_one_shard():
    X, y, _ = easy()
    order = np.argsort(y, kind="stable")
    X, y = X[order], [y[k] for k in order]
    blocks = [cut(X), cut(y), cut(None)]
    model, _ = fit_joint(LocalEngine(), blocks, HierarchicalSVC(TREE, random_state=0), 4)
    assert model.duality_gap_ <= 0.01
    assert model.objective_ == pytest.approx(primal(model, X, y, np.ones(len(y))), rel=1e-5)


def test_all_weights_of_a_part_may_be_0():
    X, y, weights = easy()
    weights[:100] = 0
    model, _ = fit_joint(
        LocalEngine(), parts_of(X, y, weights, 6), HierarchicalSVC(TREE, random_state=0), 3
    )
    assert model.duality_gap_ <= 0.01
    assert model.objective_ == pytest.approx(primal(model, X, y, weights), rel=1e-5)
    with pytest.raises(ParameterError, match="No item has a weight above 0"):
        fit_joint(LocalEngine(), parts_of(X, y, 0 * weights, 3), HierarchicalSVC(TREE))


def test_a_lost_worker_is_made_good(monkeypatch):
    """Dual variables that are lost are those of the last copy; weights follow from all."""

    class Leaky(LocalEngine):
        n_gathered, lost = 0, None

        def gather(self, handles):
            self.n_gathered += 1
            if self.n_gathered in (3, 12):
                raise ClusterError("lost")
            return super().gather(handles)

        def is_held(self, handle):
            self.lost = self.lost or handle
            return handle is not self.lost

    monkeypatch.setattr(all_rounds, "CHECKPOINT", 2)
    X, y, weights = easy()
    engine = Leaky()
    model, _ = fit_joint(
        engine, parts_of(X, y, weights, 3), HierarchicalSVC(TREE, random_state=0), 3
    )
    assert engine.n_gathered > 12
    assert model.duality_gap_ <= 0.01
    assert model.objective_ == pytest.approx(primal(model, X, y, weights), rel=1e-5)


def test_a_long_fit_may_lose_many_workers(monkeypatch):
    """A fit is given up if one round fails again and again."""

    class Leaky(LocalEngine):
        n_gathered, n_lost = 0, 0

        def gather(self, handles):
            self.n_gathered += 1
            if self.n_gathered % 7 == 0:
                self.n_lost += 1
                raise ClusterError("lost")
            return super().gather(handles)

    monkeypatch.setattr(all_rounds, "PAUSE", 0.0)
    X, y, weights = easy()
    engine, blocks = Leaky(), parts_of(X, y, weights, 3)
    model, _ = fit_joint(engine, blocks, HierarchicalSVC(TREE, random_state=0, tol=1e-3), 3)
    assert engine.n_lost > all_rounds.MOST_LOSSES
    assert model.duality_gap_ <= 1e-3


def test_too_many_losses_are_an_error():
    class Broken(LocalEngine):
        def gather(self, handles):
            if len(handles) > 1:
                raise ClusterError("lost")
            return super().gather(handles)

    X, y, weights = easy()
    with pytest.raises(ClusterError, match="lost"):
        fit_joint(Broken(), parts_of(X, y, weights, 3), HierarchicalSVC(TREE), 3)


def small_shard(is_sparse=True):
    """Return a shard of 40 items of 5 categories; its features are those that occur."""
    from scipy.sparse import csr_array, eye_array

    X = problem(n_items=40)[0]
    labels = one_label_each(np.arange(40) % 5, 5)
    given = csr_array(X) if is_sparse else X.toarray()
    attributes = csr_array(eye_array(5))
    return Shard.of(
        given, labels, np.ones(40), attributes, ZeroOneLoss(TREE, np.arange(5)), Options()
    )


def test_windows_of_a_pass_hold_every_item_once():
    shard = small_shard()
    ends = [0.0, 0.1, 0.35, 0.99, 1.0]
    windows = [Window(3, *pair) for pair in pairwise(ends)]
    members = [shard.members(window) for window in windows]
    assert sorted(np.concatenate(members)) == list(range(40))
    assert [len(part) for part in members] == [4, 10, 26, 0]
    assert shard.members(Window(4, 0.0, 0.1)).tolist() != members[0].tolist()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_round_needs_no_other_weights_than_a_shard_asks_for(is_sparse):
    shard, window = small_shard(is_sparse), Window(0, 0.0, 0.25)
    rng = np.random.default_rng(0)
    W = rng.normal(size=(200, 5)).astype(np.float32)
    whole = SharedWeights(W, rng.uniform(1, 3, 200))
    asked = batch_features(shard, window)
    used = np.unique(shard.X[shard.members(window)].indices) if is_sparse else range(200)
    assert asked.tolist() == (shard.features[used] if is_sparse else np.arange(200)).tolist()
    given = RoundOptions(window, 1e-3)
    begin = no_duals(40)
    found = [
        solve_shard(shard, begin, sent, Options(), given) for sent in (whole, whole.rows(asked))
    ]
    np.testing.assert_array_equal(found[0].change.values.data, found[1].change.values.data)
    assert found[0].findings == found[1].findings
    assert found[0].findings.n_active == len(found[0].duals.beta) > 0
    # The change is that of the dual variables, all of which are of items in the window.
    assert set(Entries.of(found[0].duals).item) <= set(shard.members(window))
    again = shard.weights(found[0].duals, np.float32)
    assert again.rows.tolist() == found[0].change.rows.tolist()
    np.testing.assert_allclose(
        again.values.toarray(), found[0].change.values.toarray(), rtol=1e-4, atol=1e-6
    )


def duals(*rows):
    columns = zip(*rows, strict=True)
    return Entries(*(np.array(column) for column in columns)).stored(3)


def test_dual_variables_of_some_items_are_replaced():
    before = duals((0, 1, 2, 0.5, 1.0), (1, 1, 2, 0.7, 1.0), (2, 0, 1, 1.0, 2.0))
    own = duals((0, 3, 4, 0.1, 1.0), (0, 3, 5, 0.2, 1.0), (1, 0, 2, 0.3, 1.0))
    found = Entries.of(with_items(before, np.array([2, 0]), own))
    assert found.item.tolist() == [0, 1, 2, 2]
    assert found.beta.tolist() == [0.3, 0.7, 0.1, 0.2]
    assert found.other.tolist() == [2, 2, 4, 5]


def test_part_way_between_dual_variables():
    before = duals((0, 1, 2, 0.5, 1.0), (2, 0, 1, 1.0, 2.0))
    after = duals((0, 1, 2, 1.0, 1.0), (0, 1, 3, 0.4, 3.0))
    found = Entries.of(part_way(before, after, 0.5))
    assert found.item.tolist() == [0, 0, 2]
    assert found.other.tolist() == [2, 3, 1]
    assert found.beta.tolist() == [0.75, 0.2, 0.5]
    assert found.delta.tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be 'linear'. Got 'rbf'"),
        ({"fit_intercept": True}, "fit_intercept must be False; constant=1.0 gives biases"),
        ({"solver": "greedy"}, "solver must be 'auto' or 'sequential'"),
        ({"C": float("inf")}, "C must be finite"),
    ],
)
def test_what_shards_cannot_do_is_refused(options, message):
    X, y, weights = easy()
    with pytest.raises(ParameterError, match=message):
        fit_joint(LocalEngine(), parts_of(X, y, weights, 2), HierarchicalSVC(TREE, **options))


def test_label_sets_are_refused():
    X, y, _ = problem(is_sets=True)
    with pytest.raises(LabelError, match="Use DaskPathSVC"):
        fit_joint(LocalEngine(), [cut(X), cut(y), cut(None)], HierarchicalSVC(TREE))


def test_workers_do_not_matter_if_shards_are_the_same(client):
    X, y, weights = easy()
    blocks = parts_of(X, y, weights, 4)
    found = []
    for engine in (LocalEngine(), DaskEngine(client)):
        model = HierarchicalSVC(TREE, random_state=0)
        found.append(fit_joint(engine, blocks, model, 4)[0].scorer_.W)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_was_sent_cannot_be_written_to(is_sparse):
    from scipy.sparse import csr_array

    X, y, weights = easy()
    blocks = parts_of(csr_array(X) if is_sparse else X, y, weights, 2)
    found = []
    for engine in (LocalEngine(), SendingEngine()):
        model = HierarchicalSVC(TREE, random_state=0)
        found.append(fit_joint(engine, blocks, model, 2)[0].scorer_.W)
    np.testing.assert_array_equal(*found)


def test_on_a_cluster(client):
    import dask

    from taxonomist.distributed import DaskHierarchicalSVC

    X, y, weights = easy()
    blocks = [[dask.delayed(part) for part in c] for c in parts_of(X, y, weights, 3)]
    model = DaskHierarchicalSVC(TREE, client=client, constant=1.0, tol=0.1).fit(*blocks)
    assert model.duality_gap_ <= 0.1
    assert len(model.rounds_) == model.n_iter_
    local = model.to_local()
    assert type(local) is HierarchicalSVC
    assert model.predict(blocks[0]).compute().tolist() == local.predict(X).tolist()
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(blocks[0])
