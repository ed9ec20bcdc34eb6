"""Scores from weights in blocks, compiled and without numba: the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import block_scores as loops
from taxonomist.compiled import jit
from taxonomist.compiled.block_lookup import score_block_by_block
from taxonomist.inference import block_weights
from taxonomist.inference.block_weights import BlockWeights, sparse_rows


def problem(seed, n_items=7, n_features=60):
    """Return items, and weights of blocks of different widths and features."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n_items, n_features), density=0.4, rng=rng, dtype=np.float32).tocsr()
    widths = np.array([1, 3, 8, 37])
    features = [rng.choice(n_features, 40, replace=False).astype(np.int32) for _ in widths]
    blocks, n_values = np.repeat(np.arange(4), 40), 40 * widths.sum()
    values, bias = (rng.normal(size=n).astype(np.float32) for n in (n_values, widths.sum()))
    return X, BlockWeights.join(n_features, np.concatenate(features), blocks, values, widths, bias)


def block_by_block(loop):
    """Return a loop over blocks as one that has the arguments of ``score_blocks``."""

    def work(rows, table, out):
        weights = BlockWeights(table)
        items = np.arange(len(out))
        following = np.append(items[1:], -1)
        room = weights.lookup_room(rows)
        # The second time, the room is full of what the first time left there.
        for _ in range(2):
            known = weights.nothing_known(out)
            out[:] = np.nan
            loop(rows, table, weights.index, items, following, known, room)
            assert known.is_known.all()

    return work


@pytest.mark.parametrize("n_items", [1, 7])
@pytest.mark.parametrize("seed", range(5))
def test_all_ways_have_the_same_scores(seed, n_items):
    X, weights = problem(seed, n_items)
    X.data *= np.float32(10.0) ** np.random.default_rng(seed).integers(-8, 8, len(X.data))
    found = [np.empty((X.shape[0], weights.n_columns), np.float32) for _ in range(5)]
    by_feature, by_block = loops.score_blocks, score_block_by_block
    twins = (
        by_feature,
        loops.score_few_blocks,
        getattr(by_feature, "py_func", by_feature),
        block_by_block(by_block),
        block_by_block(getattr(by_block, "py_func", by_block)),
    )
    for loop, out in zip(twins, found, strict=True):
        loop(sparse_rows(X), weights.table, out)
    assert len({out.tobytes() for out in found}) == 1


def test_blocks_without_weights_have_scores():
    none, widths = np.empty(0, np.intp), np.array([2, 1])
    bias = np.array([1.0, 2.0, 3.0], np.float32)
    weights = BlockWeights.join(4, none, none, np.empty(0, np.float32), widths, bias)
    out = np.empty((3, 3), np.float32)
    block_by_block(score_block_by_block)(
        sparse_rows(sparse.csr_array(np.eye(3, 4))), weights.table, out
    )
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
    for name in ("score_blocks", "score_few_blocks", "score_block_by_block"):
        monkeypatch.setattr(block_weights, name, lambda *_, name=name: used.append(name))
    few = sparse.csr_array(X.toarray() * (np.arange(X.shape[1]) < 3))
    loops = block_weights.score_blocks, block_weights.score_block_by_block
    for spared, compiled, rows in (
        (loops, False, X),
        ((), False, X),
        (loops[1:], False, X),
        (loops[1:], True, X),
        ((), True, few),
    ):
        monkeypatch.setattr(block_weights, "can_spare", lambda loop, *_, s=spared: loop in s)
        monkeypatch.setattr(block_weights, "is_compiled", lambda _, found=compiled: found)
        weights.scores(rows, np.empty((X.shape[0], weights.n_columns), np.float32))
    by_block, by_feature = "score_block_by_block", "score_blocks"
    assert used == ["score_few_blocks", by_block, by_feature, by_block, by_feature]
