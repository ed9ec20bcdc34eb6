"""Scores from weights in blocks, compiled and without numba: the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import block_scores as loops
from taxonomist.compiled import jit
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


@pytest.mark.parametrize("seed", range(5))
def test_few_items_have_the_same_scores_as_many(seed):
    X, weights = problem(seed)
    X.data *= np.float32(10.0) ** np.random.default_rng(seed).integers(-8, 8, len(X.data))
    found = [np.empty((X.shape[0], weights.n_columns), np.float32) for _ in range(3)]
    twins = (
        loops.score_blocks,
        loops.score_few_blocks,
        getattr(loops.score_blocks, "py_func", loops.score_blocks),
    )
    for loop, out in zip(twins, found, strict=True):
        loop(sparse_rows(X), weights.table, out)
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def test_used_weights_are_counted():
    X, weights = problem(0)
    table, rows = weights.table, sparse_rows(X)
    each = np.diff(table.first)[table.block]
    expected = sum(each[slice(*table.indptr[f : f + 2])].sum() for f in rows.indices.tolist())
    assert loops.n_used_weights(rows, table, 10**9) == expected
    assert 10 < loops.n_used_weights(rows, table, 10) < expected


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


def test_little_work_needs_no_numba(monkeypatch):
    X, weights = problem(0)
    used = []
    for name in ("score_blocks", "score_few_blocks"):
        monkeypatch.setattr(block_weights, name, lambda *_, name=name: used.append(name))
    out = np.empty((X.shape[0], weights.n_columns), np.float32)
    for can in (True, False):
        monkeypatch.setattr(block_weights, "can_spare", lambda *_, can=can: can)
        weights.scores(X, out)
    assert used == ["score_few_blocks", "score_blocks"]
