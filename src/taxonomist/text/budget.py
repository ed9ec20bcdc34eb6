"""The time that a search may take."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from taxonomist.compiled.compiling import working_clock

if TYPE_CHECKING:
    from collections.abc import Callable

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
        Returns the current time in seconds; by default, compiling does not count.
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = working_clock
    ) -> None:
        self.seconds = seconds
        self.clock = clock
        self._start = clock()

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
