"""How many threads to use."""

from __future__ import annotations


def n_threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means: for None all cores, below 0 counted back."""
    import joblib

    cores = int(joblib.cpu_count())
    if n_jobs is None:
        return cores
    return max(1, cores + 1 + n_jobs if n_jobs < 0 else n_jobs)
