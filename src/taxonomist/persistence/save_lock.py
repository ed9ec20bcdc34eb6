"""Locks of running saves, which tell what an interrupted save left from what is in use.

The system releases the lock of a process when it ends, even if it is killed. Where the system has
no such locks, nothing is known to be abandoned.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, Any

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

__all__ = ["held", "is_abandoned"]


def held(path: Path) -> AbstractContextManager[IO[str] | None]:
    """Return a context that holds a lock on a new file and deletes the file at its end.

    The context gives the open file, or None where the system has no locks.
    """
    return nullcontext() if sys.platform == "win32" else _held(path)


@contextmanager
def _held(path: Path) -> Iterator[IO[str]]:
    with path.open("w", encoding="utf-8") as file:
        _lock(file)
        try:
            yield file
        finally:
            path.unlink(missing_ok=True)


def is_abandoned(path: Path) -> bool:
    """Return whether the file of a lock is there, but no process holds it."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("r+b") as file:
            return _lock(file)
    except OSError:
        return False


def _lock(file: Any) -> bool:
    """Lock an open file; return False if another process holds it, or there are no locks."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
