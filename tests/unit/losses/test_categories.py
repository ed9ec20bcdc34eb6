"""Losses between categories against their definitions on sets."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxonomist import losses
from taxonomist.errors import LabelError, UnknownNodeError
from taxonomist.taxonomy import Taxonomy
from tests.strategies import taxonomies

TREE = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("a", "y"), ("b", "z")])


def above(taxonomy, node):
    return {node, *taxonomy.ancestors(node)}


def naive(taxonomy, ids, pair):
    """All losses between ids, from a function of the two sets of ancestors."""
    sets = [above(taxonomy, id_) for id_ in ids]
    return np.array([[pair(true, predicted) for predicted in sets] for true in sets])


def full(loss):
    """All losses by row, after checking that pairs agrees."""
    n = loss.n_categories
    block = loss.rows(range(n))
    i, j = np.divmod(np.arange(n * n), n)
    np.testing.assert_allclose(loss.pairs(i, j), block.ravel(), rtol=1e-12, atol=1e-12)
    return block


@st.composite
def weighted(draw):
    """A taxonomy, some of its nodes as categories, and loads and costs for its nodes."""
    taxonomy = draw(taxonomies())
    ids = draw(st.lists(st.sampled_from(taxonomy.nodes), min_size=1, unique=True))
    values = st.dictionaries(st.sampled_from(taxonomy.nodes), st.sampled_from((0.0, 0.3, 1.7)))
    return taxonomy, ids, draw(values), draw(values), draw(values)


@pytest.mark.equation("CH04:34")
@given(taxonomies())
def test_tree_is_half_the_symmetric_difference(taxonomy):
    found = full(losses.category_loss("tree", taxonomy, taxonomy.nodes))
    expected = naive(taxonomy, taxonomy.nodes, lambda y, u: len(y ^ u) / 2)
    np.testing.assert_array_equal(found, expected)
    for a, row in zip(taxonomy.nodes, found, strict=True):
        assert row.tolist() == [taxonomy.distance(a, b) / 2 for b in taxonomy.nodes]


@given(taxonomies())
def test_tree_is_a_metric(taxonomy):
    found = full(losses.category_loss("tree", taxonomy, taxonomy.nodes))
    np.testing.assert_array_equal(found == 0, np.eye(len(found), dtype=bool))
    np.testing.assert_array_equal(found, found.T)
    assert (found[:, :, None] + found[None, :, :] >= found[:, None, :]).all()


@given(taxonomies(trees_only=True))
def test_tree_is_half_the_path_length_on_trees(taxonomy):
    graph = taxonomy.edges
    steps = np.full((taxonomy.n_nodes,) * 2, np.inf)
    np.fill_diagonal(steps, 0)
    steps[graph[:, 0], graph[:, 1]] = steps[graph[:, 1], graph[:, 0]] = 1
    for via in range(taxonomy.n_nodes):
        steps = np.minimum(steps, steps[:, [via]] + steps[[via], :])
    found = full(losses.category_loss("tree", taxonomy, np.arange(taxonomy.n_nodes)))
    np.testing.assert_array_equal(found, steps / 2)


@pytest.mark.equation("CH04:23")
@given(weighted())
def test_weighted_sums_costs_over_differences(case):
    taxonomy, ids, load, miss, false_alarm = case

    def pair(true, predicted):
        missed = sum(load.get(z, 1.0) * miss.get(z, 0.5) for z in true - predicted)
        return missed + sum(load.get(z, 1.0) * false_alarm.get(z, 0.5) for z in predicted - true)

    expected = naive(taxonomy, ids, pair)
    spec = losses.weighted_tree(load, miss, false_alarm)
    if (expected + np.eye(len(ids)) == 0).any():
        with pytest.raises(LabelError, match="would cost nothing"):
            losses.category_loss(spec, taxonomy, ids)
        return
    found = full(losses.category_loss(spec, taxonomy, ids))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(found == 0, np.eye(len(ids), dtype=bool))


@pytest.mark.equation("HCC03:15")
@pytest.mark.parametrize(("miss", "false_alarm"), [(1.0, 2.0), (3.0, 0.0), (0.0, 1.0)])
def test_constant_costs_of_misses_and_false_alarms(miss, false_alarm):
    loss = losses.category_loss(losses.weighted_tree(1.0, miss, false_alarm), TREE)
    expected = naive(TREE, TREE.leaves, lambda y, u: miss * len(y - u) + false_alarm * len(u - y))
    np.testing.assert_allclose(full(loss), expected)


@given(taxonomies(), st.floats(0.1, 9), st.floats(0.1, 9))
def test_equal_costs_are_symmetric_and_load_scales(taxonomy, load, cost):
    spec = losses.weighted_tree(load, cost, cost)
    found = full(losses.category_loss(spec, taxonomy))
    np.testing.assert_allclose(found, found.T)
    tree = full(losses.category_loss("tree", taxonomy))
    np.testing.assert_allclose(found, 2 * load * cost * tree)


def test_a_loss_of_zero_in_one_direction_is_refused():
    one_way = losses.weighted_tree(miss={"x": 0.0}, false_alarm={"y": 0.0})
    with pytest.raises(LabelError, match="Predicting 'y' where 'x' is true would cost nothing"):
        losses.category_loss(one_way, TREE)
    losses.category_loss(one_way, TREE, ["x", "z"])


def test_no_cancellation_under_extreme_loads():
    loss = losses.category_loss(losses.weighted_tree({"r": 1e20, "a": 1e20}), TREE)
    x = loss.ids.index("x")
    assert loss.row(x)[loss.ids.index("y")] == 1.0
    assert loss.row(x)[x] == 0.0


def test_zero_one():
    loss = losses.category_loss("zero_one", TREE)
    assert isinstance(loss, losses.ZeroOneLoss)
    np.testing.assert_array_equal(full(loss), 1 - np.eye(3))
    assert loss.ids == TREE.leaves


def test_every_word_is_a_loss():
    for word in losses.CATEGORY_LOSSES:
        assert full(losses.category_loss(word, TREE)).shape == (3, 3)


def test_rows_of_nothing():
    assert losses.category_loss("tree", TREE).rows([]).shape == (0, 3)


def test_one_category():
    taxonomy = Taxonomy.from_edges([("r", "only")])
    for spec in ("zero_one", "tree", losses.weighted_tree(0.0), [[0.0]], lambda y, u: 0.0):
        assert losses.category_loss(spec, taxonomy).row(0).tolist() == [0.0]


def test_arrays_for_solvers():
    loss = losses.category_loss(losses.weighted_tree(miss={"a": 2.0}), TREE, ["z", "x"])
    assert TREE.codes(["z", "x"]).tolist() == loss.categories.tolist()
    for i, id_ in enumerate(loss.ids):
        start, end = loss.ancestors.indptr[i : i + 2]
        found = {TREE.nodes[code] for code in loss.ancestors.indices[start:end]}
        assert found == above(TREE, id_)
    assert loss.miss[TREE.code("a")] == 2.0
    assert loss.false_alarm.tolist() == [0.5] * TREE.n_nodes


MATRIX = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]])
FRAME = pd.DataFrame(MATRIX, list("xyz"), list("xyz"))


@pytest.mark.parametrize(
    "spec",
    [
        MATRIX,
        MATRIX.tolist(),
        sparse.csr_matrix(MATRIX),
        sparse.coo_array(MATRIX),
        FRAME.loc[list("zxy"), list("yxz")],
        lambda y, u: FRAME.loc[y, u],
    ],
    ids=["array", "list", "csr_matrix", "coo_array", "frame", "callable"],
)
def test_given_losses_are_what_was_given(spec):
    np.testing.assert_array_equal(full(losses.category_loss(spec, TREE, list("xyz"))), MATRIX)


def test_matrix_is_copied():
    given_matrix = MATRIX.copy()
    loss = losses.category_loss(given_matrix, TREE)
    given_matrix[0, 1] = 99.0
    assert loss.row(0)[1] == 1.0


def broken(i, j, value):
    matrix = MATRIX.copy()
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize(
    ("i", "j", "value", "message"),
    [
        (0, 1, 0.0, "predicting 'y' where 'x' is true is 0.0"),
        (2, 1, -1.0, "predicting 'y' where 'z' is true is -1.0"),
        (1, 2, np.nan, "predicting 'z' where 'y' is true is nan"),
        (1, 2, np.inf, "a finite number above 0"),
        (1, 1, 0.5, "predicting 'y' where 'y' is true is 0.5; it must be 0"),
    ],
)
def test_bad_values_are_named(i, j, value, message):
    matrix = broken(i, j, value)
    with pytest.raises(LabelError, match=message):
        losses.category_loss(matrix, TREE, list("xyz"))
    with pytest.raises(LabelError, match=message):
        losses.category_loss(sparse.csr_array(matrix), TREE, list("xyz"))
    frame = pd.DataFrame(matrix, list("xyz"), list("xyz"))
    loss = losses.category_loss(lambda y, u: frame.loc[y, u], TREE, list("xyz"))
    with pytest.raises(LabelError, match=message):
        loss.row(i)


def test_sparse_matrix_with_gaps_is_never_unfolded():
    n = 40_000
    loss = sparse.eye_array(n, k=1, format="csr")
    with pytest.raises(LabelError, match=r"is 0\.0; it must be a finite number above 0"):
        losses.category_loss(loss, Taxonomy.flat([f"c{k}" for k in range(n)]))


@pytest.mark.parametrize("spec", [np.zeros((2, 3)), np.zeros(3), None, sparse.eye_array(4)])
def test_matrix_of_another_shape(spec):
    with pytest.raises(LabelError, match="one row and one column for each of the 3 categories"):
        losses.category_loss(spec, TREE)


def test_frame_without_a_category():
    with pytest.raises(LabelError, match="columns of the loss matrix lacks 'y'"):
        losses.category_loss(FRAME.drop(columns="y"), TREE)


def test_callable_is_asked_once_per_row_and_pair():
    calls = []

    def count(y, u):
        calls.append((y, u))
        return float(y != u)

    loss = losses.category_loss(count, TREE)
    first = loss.row(1)
    assert loss.row(1) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 9.0
    assert len(calls) == 3
    assert loss.pairs(np.array([0, 2, 0]), np.array([2, 2, 2])).tolist() == [1.0, 0.0, 1.0]
    assert len(calls) == 5
    assert loss.pairs(np.array([], dtype=int), np.array([], dtype=int)).shape == (0,)


def test_callable_keeps_the_recent_rows_only(monkeypatch):
    monkeypatch.setattr("taxonomist.losses.given.CACHED_CELLS", 6)
    loss = losses.category_loss(lambda y, u: float(y != u), TREE)
    zero, one = loss.row(0), loss.row(1)
    assert loss.row(0) is zero
    loss.row(2)
    assert loss.row(0) is zero
    assert loss.row(1) is not one


def test_terminal_children_go_by_the_ids_of_their_nodes():
    expanded = TREE.with_terminals(["a"])
    seen = set()

    def record(y, u):
        seen.add(y)
        return float(y != u)

    loss = losses.category_loss(record, expanded)
    full(loss)
    assert seen == {"a", "x", "y", "z"}


def test_loss_that_fits_is_returned_as_it_is():
    loss = losses.category_loss("tree", TREE, ["z", "x"])
    assert losses.category_loss(loss, TREE) is loss
    assert losses.category_loss(loss, TREE, ["z", "x"]) is loss
    with pytest.raises(LabelError, match="or their order"):
        losses.category_loss(loss, TREE, ["x", "z"])
    with pytest.raises(LabelError, match="another taxonomy"):
        losses.category_loss(loss, Taxonomy.flat(["x", "z"]))


def test_losses_can_be_pickled():
    for spec in ("zero_one", "tree", MATRIX, max_of_ids):
        loss = losses.category_loss(spec, TREE)
        again = pickle.loads(pickle.dumps(loss))
        np.testing.assert_array_equal(full(again), full(loss))


def max_of_ids(y, u):
    return float(ord(max(y, u))) if y != u else 0.0


def test_unknown_word():
    with pytest.raises(LabelError, match=r"'zero_one', 'tree'\. Did you mean 'tree'"):
        losses.category_loss("tre", TREE)


def test_bad_categories():
    with pytest.raises(LabelError, match="'x' occur more than once"):
        losses.category_loss("tree", TREE, ["x", "y", "x"])
    with pytest.raises(LabelError, match="at least one category"):
        losses.category_loss("tree", TREE, [])
    with pytest.raises(LabelError, match="between 0 and 5; got -1 to 2"):
        losses.category_loss("tree", TREE, np.array([2, -1]))
    with pytest.raises(UnknownNodeError, match="w"):
        losses.category_loss("tree", TREE, ["x", "w"])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_bad_weights(value):
    with pytest.raises(LabelError, match="load of node 'a' is"):
        losses.category_loss(losses.weighted_tree(load={"a": value}), TREE)
    with pytest.raises(LabelError, match="false_alarm of node 'r' is"):
        losses.category_loss(losses.weighted_tree(false_alarm=value), TREE)
    with pytest.raises(UnknownNodeError, match="nowhere"):
        losses.category_loss(losses.weighted_tree(miss={"nowhere": 1.0}), TREE)


def test_fifty_thousand_categories_fit_in_memory():
    parents = {f"{i}-{j}": f"{i}" for i in range(250) for j in range(200)}
    taxonomy = Taxonomy.from_parents({**parents, **{f"{i}": "root" for i in range(250)}})
    i, j = np.random.default_rng(0).integers(50_000, size=(2, 100_000))
    uneven = losses.weighted_tree({"7": 3.0}, miss=0.0)
    for spec in ("tree", uneven, "zero_one", lambda y, u: float(y != u)):
        tracemalloc.start()
        loss = losses.category_loss(spec, taxonomy)
        row, pairs = loss.row(12_345), loss.pairs(i, j)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert row.shape == (50_000,)
        assert pairs.shape == (100_000,)
        assert peak < 100e6
    assert set(losses.category_loss("tree", taxonomy).row(0)) == {0.0, 1.0, 2.0}
