"""Sparse changes of weights against dense matrices, and loops against their uncompiled twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist.compiled import changes as loops
from taxonomist.solvers.changes import Change, squared_norm, summed_rows

dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])


def sparse(n_rows, n_columns, seed, dtype="float64"):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.4)
    dense[n_rows // 2] = 0
    return dense.astype(dtype)


@pytest.fixture(params=[False, True], ids=["compiled", "plain"])
def _plain(request, monkeypatch):
    if request.param:
        for name in ("add_rows", "product_with", "add_steps", "sum_of_squares"):
            monkeypatch.setattr(loops, name, getattr(loops, name).py_func)


pytestmark = pytest.mark.usefixtures("_plain")


@dtypes
def test_sums_of_rows_are_a_product_of_matrices(dtype):
    factors, table = sparse(9, 6, 0, dtype), sparse(6, 40, 1)
    found = summed_rows(csr_array(factors), csr_array(table))
    assert found.dtype == dtype
    np.testing.assert_allclose(found.toarray(), factors @ table, rtol=1e-5, atol=1e-6)
    # No column is twice in a row.
    assert found.nnz == np.count_nonzero((factors != 0).astype(int) @ (table != 0))


def test_rows_that_meet_take_no_more_room_than_they_have_columns():
    ones, table = np.ones((1, 500)), np.ones((500, 3))
    found = summed_rows(csr_array(ones), csr_array(table))
    assert found.toarray().tolist() == [[500.0] * 3]
    assert len(found.data) == 3


def test_nothing_changes():
    found = Change.joined([Change.of(np.arange(3), np.zeros((3, 2)))] * 2)
    assert len(found.rows) == 0
    w = np.ones((3, 2))
    found.add_to(w, 1.0)
    assert (w == 1).all()
    assert found.along(w) == found.squared() == 0
    assert found.conflict() == 1


@dtypes
def test_changes_of_shards_are_added(dtype):
    features = [np.array([1, 3, 4, 8]), np.array([0, 3, 8, 9]), np.array([2, 3, 5, 6])]
    parts = [sparse(4, 7, seed, dtype) for seed in range(3)]
    both = Change.joined([Change.of(*pair) for pair in zip(features, parts, strict=True)])
    dense, apart = np.zeros((10, 7)), np.zeros(10)
    for rows, part in zip(features, parts, strict=True):
        dense[rows] += part
        apart[rows] += np.square(part.astype(float)).sum(axis=1)
    at = both.rows
    assert at.tolist() == sorted(np.flatnonzero(apart))
    np.testing.assert_allclose(both.values.toarray(), dense[at], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(both.squares, apart[at], rtol=1e-6)
    ratios = np.square(dense[at]).sum(axis=1) / apart[at]
    np.testing.assert_allclose(both.couplings(), np.maximum(1, ratios), rtol=1e-5)
    assert both.squared() == pytest.approx(np.square(dense).sum())
    assert both.conflict() == pytest.approx(np.square(dense).sum() / apart.sum())
    w = sparse(10, 7, 5, dtype)
    assert both.along(w) == pytest.approx(float((w * dense).sum()), rel=1e-5)
    steps = np.linspace(0, 1, 7)
    for step in (0.25, steps):
        moved = w.copy()
        both.add_to(moved, step)
        np.testing.assert_allclose(moved, w + step * dense, rtol=1e-5, atol=1e-6)


@dtypes
def test_the_squared_norm_is_summed_in_double_precision(dtype):
    w = np.full((2000, 7), 0.1, dtype)
    assert squared_norm(w) == pytest.approx(14_000 * float(w[0, 0]) ** 2, rel=1e-12)
