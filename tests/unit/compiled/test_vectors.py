"""Loops in vector registers against products of matrices."""

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled.places import FEW_ATTRIBUTES, uses_vectors
from taxonomist.compiled.rows import score_row
from taxonomist.compiled.vectors import FEW, add_few, add_vectors, score_few, score_vectors
from taxonomist.inference.linear_scorer import as_rows

types = pytest.mark.parametrize("dtype", ["float32", "float64"])
widths = pytest.mark.parametrize("n_columns", [8, 16, 24, 32, 40, 56, 64, 72])


def sparse_rows(dtype):
    """Return seven rows, one without entries, and the same as a matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 50)) * (rng.random((7, 50)) < 0.4)
    X[3] = 0
    return as_rows(sparse.csr_array(X), dtype), X


@types
@widths
def test_scores(n_columns, dtype):
    rows, X = sparse_rows(dtype)
    W = np.random.default_rng(1).normal(size=(50, n_columns)).astype(dtype)
    assert uses_vectors(rows, W)
    scores = np.full((7, n_columns), 9, dtype)
    for row in range(7):
        score_vectors(rows, row, W, scores[row])
    np.testing.assert_allclose(scores, X @ W, rtol=1e-12 if dtype == "float64" else 1e-4, atol=1e-5)


@types
@widths
def test_changes(n_columns, dtype):
    rows, X = sparse_rows(dtype)
    W = np.random.default_rng(1).normal(size=(50, n_columns)).astype(dtype)
    change = np.random.default_rng(2).normal(size=n_columns).astype(dtype)
    for row in (0, 3, 6):
        before = W.copy()
        add_vectors(rows, row, W, change)
        np.testing.assert_allclose(W, before + np.outer(X[row], change), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(W[X[row] == 0], before[X[row] == 0])


def test_rows_of_another_type():
    rows, X = sparse_rows("float64")
    W = np.random.default_rng(1).normal(size=(50, 24)).astype("float32")
    scores = np.zeros(24, "float32")
    score_vectors(rows, 0, W, scores)
    np.testing.assert_allclose(scores, X[0] @ W, rtol=1e-4, atol=1e-5)


def test_other_matrices_are_left_to_other_loops():
    rows, X = sparse_rows("float32")
    assert not uses_vectors(rows, np.zeros((50, 27), "float32"))
    assert not uses_vectors(rows, np.zeros((50, FEW_ATTRIBUTES + 8), "float32"))
    assert not uses_vectors(as_rows(X, "float32"), np.zeros((50, 32), "float32"))


@types
@pytest.mark.parametrize("n_columns", FEW)
def test_few_columns(n_columns, dtype):
    """They have the scores of any number of columns, and the same changes."""
    rows, X = sparse_rows(dtype)
    W = np.random.default_rng(1).normal(size=(50, n_columns)).astype(dtype)
    for row in range(7):
        scores, expected = np.full((2, n_columns), 9, dtype)
        score_few(rows, row, W, scores)
        score_row(rows, row, W, expected)
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
        before = W.copy()
        add_few(rows, row, W, expected)
        np.testing.assert_allclose(W, before + np.outer(X[row], expected), rtol=1e-4, atol=1e-4)
