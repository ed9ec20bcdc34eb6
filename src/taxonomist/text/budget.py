"""The time that a search may take."""

from __future__ import annotations

from contextlib import contextmanager
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["BUDGET", "Budget"]

BUDGET = 120.0
"""Default number of seconds for the search of ``TextClassifier(model="auto")``."""


class Budget:
    """A number of seconds, and how many of them are left.

    Parameters
    ----------
    seconds
        The seconds; None means no limit.
    clock
        Returns the current time in seconds.
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.seconds = seconds
        self.clock = clock
        self._start = clock()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time that the body takes."""
        start = self.clock()
        try:
            yield
        finally:
            self._start += self.clock() - start

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.seconds is not None

    @property
    def left(self) -> float:
        """The seconds left, at least 0; infinity without a limit."""
        if self.seconds is None:
            return inf
        return max(0.0, self.seconds - (self.clock() - self._start))
