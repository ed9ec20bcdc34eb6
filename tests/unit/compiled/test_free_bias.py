"""Loops of the binary SVM with a free bias: compiled against uncompiled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random_array

from taxonomist.compiled import free_bias as loops
from taxonomist.compiled.free_bias import BinaryItems
from taxonomist.solvers.free_bias import kernel_rows


def problem(seed, n_bytes):
    """Return sparse items, some of them empty, and the binary problem of a few."""
    rng = np.random.default_rng(seed)
    X = random_array((25, 70_000), density=1e-4, rng=rng, format="csr")
    X = X + random_array((25, 70_000), density=1e-4, rng=rng, format="csr")
    rows, items = kernel_rows(X, n_bytes), rng.permutation(25)[:18]
    sign = np.where(rng.random(18) < 0.4, 1.0, -1.0)
    return X, rows, BinaryItems(items, sign, np.full(18, 0.7), rows.norms[items])


@pytest.mark.parametrize("n_bytes", [0, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_those_of_python(seed, n_bytes):
    found = []
    for climb, extremes, add_up in (
        (loops.climb, loops.extremes, loops.add_up),
        (loops.climb.py_func, loops.extremes.py_func, loops.add_up.py_func),
    ):
        X, rows, binary = problem(seed, n_bytes)
        alpha, E, w = np.zeros(18), binary.sign.copy(), np.zeros(X.shape[1])
        n_steps = climb(binary, rows, alpha, E, 1e-6, 500)
        add_up(binary, rows, alpha, w)
        found.append((n_steps, alpha, E, w, extremes(binary, alpha, E)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    X, _, binary = problem(seed, n_bytes)
    np.testing.assert_allclose(E, binary.sign - X[binary.items] @ w, atol=1e-9)
    assert abs(binary.sign @ alpha) < 1e-12


@pytest.mark.parametrize("n_bytes", [0, 1e6])
def test_rows_of_the_kernel(n_bytes):
    X, rows, _ = problem(0, n_bytes)
    K = (X @ X.T).toarray()
    for loop in (loops.kernel_row, loops.kernel_row.py_func):
        for i in (0, 3, 3, 7, 24, 0, 3):
            np.testing.assert_allclose(rows.table[loop(rows, i)], K[i], atol=1e-12)
    assert len(rows.owner) == (2 if n_bytes == 0 else 25)
