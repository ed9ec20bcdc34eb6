"""Say when loops are being compiled, and how long that has taken."""

from __future__ import annotations

import logging
from time import perf_counter

logger = logging.getLogger(__name__)


class _Watch:
    """Adds up the time that numba compiles; loops compile the loops that they call."""

    def __init__(self) -> None:
        self.depth = 0
        self.since = 0.0
        self.seconds = 0.0
        self.is_announced = False

    def start(self) -> None:
        """Note that a loop is being compiled."""
        if self.depth == 0:
            self.since = perf_counter()
        self.depth += 1
        if not self.is_announced:
            self.is_announced = True
            logger.info(
                "Compiling what this model needs. It takes some seconds, and only the first time."
            )

    def end(self) -> None:
        """Note that a loop has been compiled."""
        self.depth -= 1
        if self.depth == 0:
            self.seconds += perf_counter() - self.since


watch = _Watch()
"""The time that compiling has taken."""


def working_clock() -> float:
    """Return the value of a clock, in seconds, that stands still while loops are compiled."""
    now = perf_counter()
    compiling = now - watch.since if watch.depth else 0.0
    return now - compiling - watch.seconds
