"""The number of threads to use."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from threadpoolctl import ThreadpoolController

MOST_THREADS = 256
"""Maximum number of threads, unless there are more cores. A damaged model file may ask for any."""


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: None or -1 for all cores, -2 for all but one."""
    cores = n_cores()
    if n_jobs is None:
        return cores
    wanted = cores + 1 + n_jobs if n_jobs < 0 else min(n_jobs, max(cores, MOST_THREADS))
    return max(1, wanted)


@cache
def n_cores() -> int:
    """Return the number of cores that this process may use, which takes files to find out."""
    import joblib

    return int(joblib.cpu_count())


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which NumPy and SciPy use one thread.

    Small problems gain nothing from more threads, which would only wait in busy loops.
    """
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of linear algebra, which take milliseconds to find."""
    import scipy.linalg  # noqa: F401  # SciPy has a library of its own, which must be loaded.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
