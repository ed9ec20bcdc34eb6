"""Whether the workers have enough memory, asked before the work begins."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from taxonomist.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.distributed.engine import Capacity

VALUE_BYTES = 8
"""Bytes of a stored value and its column number."""
COPIES = 3
"""Rows that come together are there as pieces, joined, and in the room of the solver."""


def most_values(capacity: Capacity) -> float:
    """Return how many stored values may come together for a thread of a worker."""
    return capacity.memory * capacity.n_workers / (capacity.n_threads * COPIES * VALUE_BYTES)


def check_memory(capacity: Capacity, part_bytes: Sequence[int]) -> None:
    """Raise if the data of all parts, or the work on the largest one, exceed the memory.

    Parameters
    ----------
    capacity
        What the workers have.
    part_bytes
        The bytes of each part.
    """
    total, room = sum(part_bytes), capacity.memory * capacity.n_workers
    if total > room:
        raise ClusterError(
            f"The rows of all items take {_size(total)}, but the {capacity.n_workers} workers have "
            f"{_size(room)} together. Use more workers, or drop features."
        )
    largest = max(part_bytes, default=0)
    if COPIES * largest > capacity.memory:
        raise ClusterError(
            f"The largest partition takes {_size(largest)} and its work {COPIES} times as much, "
            f"but a worker has {_size(capacity.memory)}. Use smaller partitions, for example with "
            "rechunk or repartition."
        )


def check_weights(capacity: Capacity, n_features: int, n_nodes: int, n_bytes: int) -> None:
    """Raise if the weights that the threads of a worker need exceed its memory.

    Parameters
    ----------
    capacity
        What the workers have.
    n_features, n_nodes
        The numbers of rows and columns of the weights.
    n_bytes
        The bytes of a weight.
    """
    n_threads = ceil(capacity.n_threads / capacity.n_workers)
    once = n_features * n_nodes * n_bytes
    # Those that all shards share, and for each thread its own ones and their change.
    needed = (1 + 2 * n_threads) * once
    if needed > capacity.memory:
        raise ClusterError(
            f"The weights of {n_features:,} features and {n_nodes:,} nodes take {_size(once)}, and "
            f"a worker with {n_threads} threads needs {_size(needed)} for them, but has "
            f"{_size(capacity.memory)}. Use fewer features, workers with fewer threads or more "
            "memory, or DaskPathSVC, whose weights are sparse."
        )


def _size(n_bytes: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
