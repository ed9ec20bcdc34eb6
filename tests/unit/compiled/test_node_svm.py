"""Loops of independent binary SVMs: compiled against uncompiled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import node_svm as loops
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.block_scores import score_blocks
from taxonomist.compiled.node_svm import BlockArrays, BlockState, Scratch
from taxonomist.inference.block_weights import BlockWeights, sparse_rows
from tests.reference.joint_toys import assert_twins


def sparse_items(n=12, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    X[3] = 0
    return sparse.csr_array(X.astype(np.float32))


def block(n_columns=5, *, is_squared=True, seed=0):
    """Return a block and its variables after nothing, as a function that makes copies."""
    X = sparse_items(seed=seed)
    rng = np.random.default_rng(seed)
    own = sparse.csr_array(rng.random((X.shape[0], n_columns)) < 0.4)
    labels = Labels(own.indptr.astype(np.intp), own.indices.astype(np.intp))
    norms = (X.multiply(X).sum(axis=1) + 1).astype(np.float32)
    costs = rng.choice([0.5, 2.0], size=X.shape[0]).astype(np.float32)
    arrays = BlockArrays(sparse_rows(X), labels, norms, costs, 1.0, is_squared, 0, 0)

    def state(alpha=None):
        found = np.zeros((X.shape[0], n_columns), np.float32) if alpha is None else alpha.copy()
        W = np.zeros((X.shape[1] + 1, 8), np.float32)
        return BlockState(W, found, np.zeros(n_columns), np.zeros(n_columns))

    return arrays, state


def room(state):
    """Return room for the work on a block, with room for more items than there are."""
    return Scratch.of(len(state.alpha) + 2, state.W.shape[1])


def gathered(loop, X, items, first, last):
    """Return the rows of some items as the loop writes them, and their features."""
    place, used = np.full(X.shape[1], -1, np.int32), np.empty(X.shape[1], np.int32)
    rows = np.empty(last - first + 1, np.intp), np.empty(X.nnz, np.int32), np.empty(X.nnz, "f4")
    n_used = loop(items, first, last, sparse_rows(X), place, Rows(*rows), used)
    assert (place == -1).all()
    n_entries = rows[0][-1]
    return rows[0], rows[1][:n_entries], rows[2][:n_entries], used[:n_used]


def test_gathered_rows_are_those_of_the_items():
    X, items = sparse_items(), np.array([9, 1, 4, 5, 0], dtype=np.intp)
    loop = loops.gather
    indptr, indices, data, features = found = gathered(loop, X, items, 1, 4)
    for one, other in zip(found, gathered(loop.py_func, X, items, 1, 4), strict=True):
        np.testing.assert_array_equal(one, other)
    dense = np.zeros((3, X.shape[1]), np.float32)
    for t in range(3):
        here = slice(indptr[t], indptr[t + 1])
        dense[t, features[indices[here]]] = data[here]
    np.testing.assert_array_equal(dense, X[items[1:4]].toarray())
    np.testing.assert_array_equal(features, np.unique(X[items[1:4]].indices))


def test_no_items_are_gathered():
    found = gathered(loops.gather, sparse_items(), np.arange(0), 0, 0)
    assert [len(part) for part in found] == [1, 0, 0, 0]


@pytest.mark.parametrize("is_squared", [True, False])
@pytest.mark.parametrize("max_iter", [1, 4])
def test_a_few_passes(is_squared, max_iter):
    arrays, state = block(is_squared=is_squared)
    seed = np.uint64(7)
    one, other = state(), state()
    found = loops.solve_block(arrays, one, room(one), seed, 1e-3, max_iter)
    expected = loops.solve_block.py_func(arrays, other, room(other), seed, 1e-3, max_iter)
    assert found[0] == expected[0]
    assert found[1] == pytest.approx(expected[1], rel=1e-3)
    np.testing.assert_allclose(one.W, other.W, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(one.alpha, other.alpha, rtol=1e-4, atol=1e-5)


def test_resumed_weights_are_those_of_the_dual_variables():
    arrays, state = block()
    solved = state()
    loops.solve_block(arrays, solved, room(solved), np.uint64(3), 1e-4, 50)
    alpha = sparse_rows(sparse.csr_array(solved.alpha))
    items = np.arange(len(solved.alpha))
    assert_twins(loops.resume, lambda: (arrays, state(), items, alpha))
    again = state()
    loops.resume(arrays, again, items, alpha)
    np.testing.assert_array_equal(again.alpha, solved.alpha)
    np.testing.assert_allclose(again.W, solved.W, atol=1e-4)


@pytest.mark.parametrize("is_squared", [True, False])
def test_a_share_is_certified_before_its_passes(is_squared):
    """The weights are those of more items: here, of the same items with other dual variables."""
    arrays, state = block(is_squared=is_squared)
    other = state()
    loops.solve_block(arrays, other, room(other), np.uint64(3), 1e-3, 2)
    found = []
    for loop in (loops.ascend_share, loops.ascend_share.py_func):
        one = state()
        one.W[:] = other.W
        slack, linear = np.zeros(5), np.zeros(5)
        loop(arrays, one, room(one), slack, linear, np.uint64(7), 3)
        found.append((one.W, one.alpha, slack, linear))
    for compiled, plain in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-4, atol=1e-5)
    before = state()
    before.W[:] = other.W
    slack, linear = np.zeros(5), np.ones(5)
    loops.ascend_share(arrays, before, room(before), slack, linear, np.uint64(7), 0)
    np.testing.assert_array_equal(before.W, other.W)
    np.testing.assert_allclose(slack, found[0][2])
    assert not linear.any()


def test_a_block_may_be_a_part_of_all_places_and_columns():
    arrays, state = block(5)
    whole, solved = state(), state()
    loops.solve_block(arrays, whole, room(whole), np.uint64(3), 1e-3, 50)
    # The same items after two other places, and the same columns after three others.
    own = arrays.own
    places = np.concatenate([[0, 1], own.indptr + 2]), np.concatenate([[1, 4], own.indices + 3])
    norms, costs = (np.concatenate([[9, 9], part]).astype("f4") for part in arrays[2:4])
    padded = BlockArrays(arrays.rows, Labels(*places), norms, costs, *arrays[4:6], 2, 3)
    objectives = np.zeros(8), np.zeros(8)
    later = BlockState(solved.W, solved.alpha, *objectives)
    loops.solve_block(padded, later, room(later), np.uint64(3), 1e-3, 50)
    np.testing.assert_array_equal(solved.W, whole.W)
    np.testing.assert_array_equal(solved.alpha, whole.alpha)
    np.testing.assert_array_equal(objectives[0], [0, 0, 0, *whole.primal])
    np.testing.assert_array_equal(objectives[1], [0, 0, 0, *whole.dual])


def test_weights_may_have_more_columns_than_there_are_problems():
    """Further columns stay 0, also where places have columns of other blocks there."""
    arrays, state = block(5)
    narrow = arrays._replace(begin=1)
    one, other = state(), state()
    one, other = (
        BlockState(W, np.zeros((len(one.alpha), 4), np.float32), *objectives)
        for W, objectives in (
            (np.zeros((len(one.W), 4), np.float32), (one.primal, one.dual)),
            (np.zeros((len(one.W), 8), np.float32), (other.primal, other.dual)),
        )
    )
    rooms = room(one), room(other)
    passes = [
        loops.solve_block(narrow, it, its, np.uint64(3), 1e-3, 50)
        for it, its in zip((one, other), rooms, strict=True)
    ]
    assert passes[0] == passes[1]
    assert one.alpha.any()
    assert not other.W[:, 4:].any()
    for found, expected in zip(other, one, strict=True):
        np.testing.assert_array_equal(found[..., :4] if found.ndim == 2 else found, expected)


def test_left_out_rows_are_inspected_before_the_end():
    """Rows far on the right side are left out, but the certificate is that of all rows."""
    arrays, state = block(1, seed=5)
    solved = state()
    _, gap = loops.solve_block(arrays, solved, room(solved), np.uint64(3), 1e-5, 500)
    signs = -np.ones(len(solved.alpha))
    own = arrays.own
    signs[np.repeat(np.arange(len(signs)), np.diff(own.indptr))] = 1
    X = np.hstack([sparse_items(seed=5).toarray(), np.ones((len(signs), 1))])
    w = solved.W[:, 0].astype(np.float64)
    slack = np.maximum(1 - signs * (X @ w), 0)
    primal = w @ w / 2 + arrays.costs @ slack**2
    alpha = solved.alpha[:, 0].astype(np.float64)
    dual = alpha.sum() - w @ w / 2 - (alpha**2 / (4 * arrays.costs)).sum()
    assert solved.primal[0] == pytest.approx(primal, rel=1e-4)
    assert gap == pytest.approx((primal - dual) / primal, abs=1e-5)


def test_a_shuffled_order_has_every_entry_and_depends_on_the_seed():
    order = np.arange(20)
    seed = loops.shuffle(order, 15, np.uint64(9))
    twin = np.arange(20)
    assert loops.shuffle.py_func(twin, 15, np.uint64(9)) == seed
    np.testing.assert_array_equal(order, twin)
    assert sorted(order[:15]) == list(range(15))
    assert order[15:].tolist() == list(range(15, 20))
    assert order[:15].tolist() != list(range(15))


def two_blocks():
    """Return the weights of two blocks of columns, dense and as blocks."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(4, 3)), rng.normal(size=(6, 2))
    first[1] = 0
    features = np.array([5, 0, 7], np.int32), np.array([0, 1, 2, 7, 8], np.int32)
    dense = np.zeros((9, 5))
    dense[features[0], :3], dense[features[1], 3:] = first[:-1], second[:-1]
    bias = np.concatenate([first[-1], second[-1]]).astype("f4")
    values = np.concatenate([first[:-1].ravel(), second[:-1].ravel()]).astype("f4")
    blocks, widths = np.repeat([0, 1], [3, 5]), np.array([3, 2])
    weights = BlockWeights.join(9, np.concatenate(features), blocks, values, widths, bias)
    return dense, bias, weights


def test_scores_of_blocks_are_products():
    X = sparse_items()
    dense, bias, weights = two_blocks()
    room = np.empty((12, 5), np.float32)
    assert_twins(
        score_blocks, lambda: (sparse_rows(X), weights.table, weights.by_feature, room.copy())
    )
    out = np.empty((12, 5), np.float32)
    weights.scores(X, out)
    np.testing.assert_allclose(out, X @ dense + bias, rtol=1e-4, atol=1e-5)


def test_weights_of_a_column():
    dense, _, weights = two_blocks()
    for column in range(5):
        found = weights.of_column(column, np.arange(9))
        np.testing.assert_allclose(found, dense[:, column], rtol=1e-6)
