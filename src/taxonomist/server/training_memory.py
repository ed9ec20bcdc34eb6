"""The memory that a training may use, so that it does not take that of the service."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_out_of_memory", "limit_memory", "machine_memory"]

CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""File with the memory that a container may use, or the word max."""


def limit_memory(mib: int) -> None:
    """Let allocations of this process beyond a limit fail, where the system can do that.

    Parameters
    ----------
    mib
        The limit in MiB; 0 for half of the machine's memory.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    most = mib * 2**20 or machine_memory() // 2
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def machine_memory() -> int:
    """Return the bytes of memory of this machine, or of this container if it may use less."""
    found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    given = CONTAINER_LIMIT.read_text(encoding="ascii").strip() if CONTAINER_LIMIT.exists() else ""
    return min(found, int(given)) if given.isdecimal() else found


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error was caused by too little memory. A new thread needs some, too."""
    if error is None or isinstance(error, MemoryError):
        return error is not None
    is_thread = isinstance(error, RuntimeError) and "new thread" in str(error)
    return is_thread or is_out_of_memory(error.__cause__)
