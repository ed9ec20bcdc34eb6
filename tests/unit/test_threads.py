"""The number of threads."""

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_info

from taxonomist._threads import MOST_THREADS, n_threads, one_blas_thread


def blas_threads():
    found = threadpool_info()
    return [library["num_threads"] for library in found if library["user_api"] == "blas"]


def test_numbers_of_threads(monkeypatch):
    monkeypatch.setattr("taxonomist._threads.n_cores", lambda: 4)
    assert [n_threads(n) for n in (None, -1, -2, -9, 1, 7)] == [4, 4, 3, 1, 1, 7]
    assert n_threads(2**63) == MOST_THREADS
    monkeypatch.setattr("taxonomist._threads.n_cores", lambda: 1000)
    assert n_threads(2**63) == 1000


def test_linear_algebra_uses_one_thread_in_the_context_only():
    before = blas_threads()
    with one_blas_thread():
        inside = blas_threads()
        assert linalg.norm(np.eye(2)) > 1
    assert set(inside) == {1}
    assert len(inside) == len(before)
    assert blas_threads() == before
