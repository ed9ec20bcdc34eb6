"""Scores from weights in blocks, compiled and without numba: the same to the last bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxonomist.compiled import block_scores as loops
from taxonomist.compiled import jit
from taxonomist.compiled.block_lookup import score_block_by_block
from taxonomist.inference import block_weights, frequent_features
from taxonomist.inference.block_weights import BlockWeights, sparse_rows
from taxonomist.inference.frequent_features import FrequentFeatures


def problem(seed, n_items=7, n_features=60):
    """Return items, and weights of blocks of different widths and features."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n_items, n_features), density=0.4, rng=rng, dtype=np.float32).tocsr()
    widths = np.array([1, 3, 8, 37])
    features = [rng.choice(n_features, 40, replace=False).astype(np.int32) for _ in widths]
    blocks, n_values = np.repeat(np.arange(4), 40), 40 * widths.sum()
    values, bias = (rng.normal(size=n).astype(np.float32) for n in (n_values, widths.sum()))
    return X, BlockWeights.join(n_features, np.concatenate(features), blocks, values, widths, bias)


def by_feature(loop):
    """Return a loop over features as a function of rows, weights and scores."""
    return lambda rows, weights, out: loop(rows, weights.table, weights.by_feature, out)


def block_by_block(loop):
    """Return a loop over blocks as a function of rows, weights and scores."""

    def work(rows, weights, out):
        items = np.arange(len(out))
        following = np.append(items[1:], -1)
        room = weights.lookup_room(rows)
        # The second time, the room is full of what the first time left there.
        for _ in range(2):
            known = weights.nothing_known(out)
            out[:] = np.nan
            loop(rows, weights.table, weights.index, items, following, known, room)
            assert known.is_known.all()

    return work


def few(rows, weights, out):
    loops.score_few_blocks(rows, weights.table, weights._few_by_feature(rows.indices), out)


def dense(loop, most_bytes=10**6):
    """Return the loop over dense rows as a function of rows, weights and scores."""

    def work(rows, weights, out):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frequent_features, "MOST_BYTES", most_bytes)
            found = FrequentFeatures(weights.table, weights.n_features)._made()
        assert (found.place >= 0).any() == (most_bytes > 0)
        assert (found.place < 0).any()
        sums = np.full(len(found.scale), np.nan, np.float32)
        loop(rows, weights.table, weights.by_feature, found, sums, out)

    return work


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("n_items", [1, 7])
@pytest.mark.parametrize("seed", range(5))
def test_all_ways_have_the_same_scores(seed, n_items, is_packed, monkeypatch):
    X, weights = problem(seed, n_items)
    X.data *= np.float32(10.0) ** np.random.default_rng(seed).integers(-8, 8, len(X.data))
    if is_packed:
        monkeypatch.setattr(block_weights, "LEAST_PACKED", 0)
        weights = weights.packed()
        assert weights.table.values.dtype == np.int16
    found = [np.empty((X.shape[0], weights.n_columns), np.float32) for _ in range(9)]
    all_at_once, in_turn = loops.score_blocks, score_block_by_block
    rowwise = loops.score_dense_rows
    twins = (
        by_feature(all_at_once),
        few,
        by_feature(getattr(all_at_once, "py_func", all_at_once)),
        block_by_block(in_turn),
        block_by_block(getattr(in_turn, "py_func", in_turn)),
        *(dense(rowwise, most_bytes) for most_bytes in (0, 1000, 10**6)),
        dense(getattr(rowwise, "py_func", rowwise)),
    )
    for loop, out in zip(twins, found, strict=True):
        loop(sparse_rows(X), weights, out)
    assert len({out.tobytes() for out in found}) == 1


@pytest.mark.parametrize("n_features", [60, 61, 700, 100_000])
def test_all_segments_are_found(n_features):
    """However many features there are, and however few of them a block has."""
    rng = np.random.default_rng(n_features)
    features = [rng.choice(n_features, 50, replace=False).astype(np.int32) for _ in range(3)]
    blocks, widths = np.repeat(np.arange(3), 50), np.array([2, 1, 5])
    values = rng.normal(size=50 * 8).astype(np.float32)
    bias = np.zeros(8, np.float32)
    weights = BlockWeights.join(n_features, np.concatenate(features), blocks, values, widths, bias)
    X = sparse.random_array((5, n_features), density=min(1, 600 / n_features), rng=rng)
    X = sparse.csr_array(X, dtype=np.float32)
    expected, out = np.empty((2, 5, 8), np.float32)
    by_feature(loops.score_blocks)(sparse_rows(X), weights, expected)
    block_by_block(score_block_by_block)(sparse_rows(X), weights, out)
    assert np.abs(expected).max() > 0
    assert (weights.index.shift > 0) == (n_features > 5000)
    assert out.tobytes() == expected.tobytes()


@given(st.data())
def test_a_few_features_are_found_by_bisection(data):
    n_features = data.draw(st.integers(1, 12))
    one_block = st.lists(st.integers(0, n_features - 1), unique=True)
    given_blocks = data.draw(st.lists(one_block, min_size=1, max_size=4))
    wanted = np.array(sorted(data.draw(one_block)), np.int32)
    sizes = [*map(len, given_blocks)]
    features = np.array([feature for one in given_blocks for feature in one], np.int32)
    values, widths = np.zeros(len(features), np.float32), np.ones(len(sizes), np.intp)
    blocks, bias = np.repeat(np.arange(len(sizes)), sizes), np.zeros(len(sizes), np.float32)
    weights = BlockWeights.join(n_features, features, blocks, values, widths, bias)
    np.testing.assert_array_equal(weights._searched(wanted), weights._selected(wanted))


def test_packed_weights_are_near_and_can_be_unpacked(monkeypatch):
    _, weights = problem(0)
    assert weights.packed() is weights
    monkeypatch.setattr(block_weights, "LEAST_PACKED", 0)
    packed = weights.packed()
    again = packed.floats()
    assert again.table.values.dtype == np.float32
    for (_, features, before), (_, same, after) in zip(
        weights.blocks(), again.blocks(), strict=True
    ):
        np.testing.assert_array_equal(features, same)
        assert np.abs(after - before).max() <= 0.51 * np.abs(before).max() / block_weights.LARGEST
    columns = np.arange(60)
    for column in range(weights.n_columns):
        np.testing.assert_array_equal(
            packed.of_column(column, columns), again.of_column(column, columns)
        )


def test_blocks_without_weights_have_scores():
    none, widths = np.empty(0, np.intp), np.array([2, 1])
    bias = np.array([1.0, 2.0, 3.0], np.float32)
    weights = BlockWeights.join(4, none, none, np.empty(0, np.float32), widths, bias)
    out = np.empty((3, 3), np.float32)
    rows = sparse_rows(sparse.csr_array(np.eye(3, 4)))
    for work in (block_by_block(score_block_by_block), by_feature(loops.score_blocks), few):
        work(rows, weights, out)
        np.testing.assert_array_equal(out, np.tile(bias, (3, 1)))


def test_numba_is_for_much_work(tmp_path, monkeypatch):
    def work():
        return 1

    monkeypatch.setattr("taxonomist.compiled.cache.cache_folder", lambda: tmp_path)
    loop = jit.Loop(work, {"error_model": "numpy", "forceinline": False, "fastmath": False})
    assert [jit.can_spare(loop, 4, 10) for _ in range(4)] == [True, True, False, False]
    assert jit.can_spare(loop, 2, 10)
    with jit.sparing_nothing():
        assert not jit.can_spare(loop, 0, 10)
    assert not loop.is_ready
    assert not jit.is_compiled(loop)
    assert loop() == 1
    assert jit.is_compiled(loop)
    assert jit.is_compiled(jit.Loop(work, loop._rules))
    assert jit.is_compiled(work)
    assert not jit.can_spare(loop, 0, 10)
    assert not jit.can_spare(work, 0, 10)


def test_the_way_depends_on_the_work(monkeypatch):
    X, weights = problem(0)
    used = []
    monkeypatch.setattr(frequent_features, "LEAST_SHARE", 0)
    for name in ("score_blocks", "score_few_blocks", "score_block_by_block"):
        monkeypatch.setattr(block_weights, name, lambda *_, name=name: used.append(name))
    sparser = sparse.csr_array(X.toarray() * (np.arange(X.shape[1]) < 3))
    loops = block_weights.score_blocks, block_weights.score_block_by_block
    for spared, compiled, rows in (
        (loops, False, X),
        ((), False, X),
        (loops[1:], False, X),
        (loops[1:], True, X),
        ((), True, sparser),
    ):
        monkeypatch.setattr(block_weights, "can_spare", lambda loop, *_, s=spared: loop in s)
        monkeypatch.setattr(block_weights, "is_compiled", lambda _, found=compiled: found)
        weights.scores(rows, np.empty((X.shape[0], weights.n_columns), np.float32))
    by_block, at_once = "score_block_by_block", "score_blocks"
    assert used == ["score_few_blocks", by_block, at_once, by_block, at_once]


def test_frequent_features_have_dense_rows_once_they_are_used_much(monkeypatch):
    _, weights = problem(0)
    many = np.arange(weights.n_features)
    n_segments = len(weights.table.features)
    frequent = FrequentFeatures(weights.table, weights.n_features)
    assert frequent.rows_for(many, n_segments) is None
    found = frequent.rows_for(many, frequent_features.USES * n_segments)
    counts = np.zeros(weights.n_features)
    for _, features, of_block in weights.blocks():
        counts[features] += of_block.shape[1]
    most = frequent_features.LEAST_SHARE * counts >= weights.n_columns
    assert ((found.place >= 0) == most).all()
    rare = np.flatnonzero(found.place < 0)
    assert len(rare)
    assert frequent.rows_for(rare, 1) is None
    assert frequent.rows_for(np.flatnonzero(found.place >= 0), 1) is found
    assert pickle.loads(pickle.dumps(frequent))._rows is None
    with jit.sparing_nothing():
        at_once = FrequentFeatures(weights.table, weights.n_features)
        assert at_once.rows_for(many, 1) is not None
        assert at_once.can_be
        monkeypatch.setattr(frequent_features, "LEAST_SHARE", 1)
        assert not FrequentFeatures(weights.table, weights.n_features).can_be


def test_much_used_weights_are_scored_by_dense_rows(monkeypatch):
    X, weights = problem(1)
    expected, out = np.empty((2, X.shape[0], weights.n_columns), np.float32)
    few(sparse_rows(X), weights, expected)
    used, loop = [], block_weights.score_dense_rows
    monkeypatch.setattr(
        block_weights, "score_dense_rows", lambda *given: (used.append(1), loop(*given))
    )
    with jit.sparing_nothing():
        weights.scores(X, out)
    assert used
    assert out.tobytes() == expected.tobytes()
