"""A comparison of large files with their checksums that goes on after a model was opened."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from taxonomist.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LaterCheck"]


class LaterCheck:
    """Calls a function in a thread of its own, whose error is raised for everyone who waits.

    Parameters
    ----------
    check
        The function. It raises a ``ModelFileError`` if the files are damaged.
    """

    def __init__(self, check: Callable[[], object]) -> None:
        self._check = check
        self._is_done = False
        self._error: ModelFileError | None = None
        # A command that ends before anyone waits need not go on reading.
        self._thread = Thread(target=self._run, name="taxonomist-checksums", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._check()
        except ModelFileError as error:
            self._error = error
        self._is_done = True

    def wait(self) -> None:
        """Return when the files were compared; raise if they are damaged."""
        self._thread.join()
        if not self._is_done:  # a forked process has no other threads
            self._run()
        if self._error is not None:
            raise self._error
