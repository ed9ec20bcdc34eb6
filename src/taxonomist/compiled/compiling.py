"""Say when loops are being compiled, and how long that has taken."""

from __future__ import annotations

import logging
from time import perf_counter

from numba.core import event

logger = logging.getLogger(__name__)


class _Watch(event.Listener):
    """Adds up the time that numba compiles; loops compile the loops that they call."""

    def __init__(self) -> None:
        self.depth = 0
        self.start = 0.0
        self.seconds = 0.0
        self.is_announced = False

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002 (numba calls it)
        if self.depth == 0:
            self.start = perf_counter()
        self.depth += 1
        if not self.is_announced:
            self.is_announced = True
            logger.info(
                "Compiling what this model needs. It takes some seconds, and only the first time."
            )

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002 (numba calls it)
        self.depth -= 1
        if self.depth == 0:
            self.seconds += perf_counter() - self.start


_watch = _Watch()
event.register("numba:compile", _watch)  # type: ignore[no-untyped-call]


def working_clock() -> float:
    """Return the value of a clock, in seconds, that stands still while loops are compiled."""
    now = perf_counter()
    compiling = now - _watch.start if _watch.depth else 0.0
    return now - compiling - _watch.seconds
