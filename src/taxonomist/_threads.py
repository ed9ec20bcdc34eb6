"""The number of threads to use."""

from __future__ import annotations


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: None or -1 for all cores, -2 for all but one."""
    import joblib

    cores = int(joblib.cpu_count())
    if n_jobs is None:
        return cores
    return max(1, cores + 1 + n_jobs if n_jobs < 0 else n_jobs)
