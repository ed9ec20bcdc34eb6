"""Rounds of tasks give the same PathSVC as all items in one place, to the last bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from taxonomist import PathSVC
from taxonomist.distributed import memory, path_batches
from taxonomist.distributed.engine import Capacity, LocalEngine
from taxonomist.distributed.path_fit import fit_paths
from taxonomist.errors import ClusterError, LabelError, ParameterError
from taxonomist.models.path_columns import ColumnPlan, Family
from tests.unit.distributed.problems import DAG, TREE, SendingEngine, assert_same, cut, problem


def both(X, y, weights=None, taxonomy=TREE, **options):
    """Return the model of all items, and that of the parts."""
    local = PathSVC(taxonomy, random_state=3, **options).fit(X, y, weights)
    blocks = [cut(X), cut(y), cut(weights)]
    return local, fit_paths(LocalEngine(), blocks, PathSVC(taxonomy, random_state=3, **options))


@pytest.mark.parametrize("negatives", ["all", "siblings", "both"])
@pytest.mark.parametrize("is_sets", [False, True])
@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
def test_same_as_in_one_place(negatives, is_sets, taxonomy):
    X, y, weights = problem(taxonomy, is_sets=is_sets)
    assert_same(*both(X, y, weights, taxonomy, negatives=negatives))


@pytest.mark.parametrize("options", [{"loss": "hinge"}, {"cv": 0}, {"constant": 0}, {"C": 0.1}])
def test_same_with_other_parameters(options):
    X, y, _ = problem()
    assert_same(*both(X, y, **options))


def test_same_if_all_that_is_sent_cannot_be_written_to():
    X, y, weights = problem()
    local = PathSVC(TREE, random_state=3).fit(X, y, weights)
    blocks = [cut(X), cut(y), cut(weights)]
    assert_same(local, fit_paths(SendingEngine(), blocks, PathSVC(TREE, random_state=3)))


def test_same_with_few_features():
    X, y, weights = problem(n_features=6)
    assert_same(*both(X, y, weights))


def test_same_without_a_taxonomy():
    X, y, _ = problem()
    assert_same(*both(X, y, taxonomy=None))
    assert_same(*both(X, [len(label) for label in y], taxonomy=None))


@pytest.mark.parametrize("negatives", ["siblings", "both"])
def test_same_if_families_are_split_and_folds_lack_nodes(negatives, monkeypatch):
    """Folds have other blocks of columns where a node has one item, which is held out."""
    X, y, _ = problem(seed=2)
    y = ["c0" if label == "c3" else label for label in y]
    y[7] = "c3"
    monkeypatch.setattr(path_batches, "LEAST_WORK", 1)
    monkeypatch.setattr(path_batches, "BATCHES_PER_THREAD", 30)
    assert_same(*both(X, y, negatives=negatives))


@pytest.mark.parametrize("form", [np.asarray, csr_array, pd.DataFrame])
def test_same_with_an_indicator_matrix(form):
    X, y, _ = problem(is_sets=True)
    nodes = list(TREE.nodes)
    table = np.array([[node in labels for node in nodes] for labels in y], dtype=int)
    given = pd.DataFrame(table, columns=nodes) if form is pd.DataFrame else form(table)
    local = PathSVC(TREE, random_state=3).fit(X, given)
    parts = cut(given.iloc) if form is pd.DataFrame else cut(given)
    other = fit_paths(LocalEngine(), [cut(X), parts, cut(None)], PathSVC(TREE, random_state=3))
    assert_same(local, other)
    np.testing.assert_array_equal(_dense(local.predict(X)), _dense(other.predict(X)))
    assert type(local.predict(X)) is type(other.predict(X))


def _dense(table):
    return table.toarray() if hasattr(table, "toarray") else table


def test_one_item():
    X, _, _ = problem()
    local = PathSVC(TREE, random_state=0).fit(X[:1], ["c0"])
    other = fit_paths(LocalEngine(), [[X[:1]], [["c0"]], [None]], PathSVC(TREE, random_state=0))
    assert_same(local, other)


def test_feature_names_and_integers_come_through():
    X, y, _ = problem(n_features=12)
    frame = pd.DataFrame(X.toarray(), columns=[f"word {k}" for k in range(12)])
    codes = pd.Series([len(label) + ord(label[0]) for label in y])
    blocks = [cut(frame.iloc), cut(codes.iloc), cut(None)]
    other = fit_paths(LocalEngine(), blocks, PathSVC(random_state=0))
    local = PathSVC(random_state=0).fit(frame, codes)
    assert_same(local, other)
    assert other.feature_names_in_.tolist() == local.feature_names_in_.tolist()
    assert other.predict(frame).dtype == local.predict(frame).dtype


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ([np.ones((2, 3))], [["c0"]], ParameterError, "Partition 0 has 2 items, but y has 1 there"),
        ([np.ones((1, 3)), np.ones((1, 4))], [["c0"], ["c1"]], ParameterError, "features: 3, 4"),
        ([np.ones((0, 3))], [[]], ParameterError, "All partitions are empty"),
        ([np.ones((1, 3))], [["c00"]], LabelError, "c00"),
        ([np.full((1, 3), np.nan)], [["c0"]], ValueError, "NaN"),
    ],
)
def test_wrong_parts_are_named(X, y, error, message):
    with pytest.raises(error, match=message):
        fit_paths(LocalEngine(), [X, y, [None] * len(X)], PathSVC(TREE))


def test_what_does_not_fit_is_refused_with_numbers():
    with pytest.raises(ClusterError, match=r"take 5 GB, but the 2 workers have 4 GB together"):
        memory.check_memory(Capacity(2, 2, 2e9), [10**9] * 5)
    with pytest.raises(ClusterError, match=r"largest partition takes 1 GB .* a worker has 2 GB"):
        memory.check_memory(Capacity(8, 8, 2e9), [10**9])
    memory.check_memory(Capacity(8, 8, 2e9), [10**8])


def test_what_a_thread_may_hold_is_a_share_of_its_worker():
    assert memory.most_values(Capacity(8, 8, 2.4e9)) == 10**8
    assert memory.most_values(Capacity(2, 8, 2.4e9)) == 10**8 / 4


def test_no_gathering_exceeds_what_may_come_together():
    families = [Family(1, (k,), np.array([2 * k + 1, 2 * k + 2])) for k in range(4)]
    nodes = np.concatenate([family.nodes for family in families])
    plan = ColumnPlan(families, nodes, 1 + 0 * nodes, nodes, nodes, nodes)
    values = np.array([90, 40, 50, 20])
    found = path_batches.batches_of(plan, values, 1, 80)
    assert [(gathering.n_values, gathering.is_split) for gathering in found] == [
        (90, True),
        (40, False),
        (70, False),
    ]
    assert [len(gathering.parents) for gathering in found] == [1, 1, 2]
    (whole,) = path_batches.batches_of(plan, values, 1)
    assert (whole.n_values, whole.is_split) == (200, False)
