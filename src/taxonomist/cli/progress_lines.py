"""Progress as lines on standard error, for output that is not a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taxonomist.workflow.steps import OnStep

__all__ = ["progress_lines"]

SECONDS_BETWEEN = 10.0
"""Time between two lines; nothing is printed about shorter tasks."""


class _State:
    """The step that a task is at."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._lock = Lock()
        self._step = ""
        self._rest = ""
        self._factor = 0.0
        self._start = monotonic()

    def update(self, step: str, done: int, total: int | None, note: str = "") -> None:
        """Store what ``OnStep`` was called with."""
        with self._lock:
            if step != self._step:
                self._step, self._start = step, monotonic()
            counts = f"{_amount(done, self._unit)} of {_amount(total, self._unit)}" if total else ""
            if not total and done:
                counts = _amount(done, self._unit)
            unit = f"{counts} {self._unit}" if counts and self._unit != "bytes" else counts
            self._rest = ", ".join(part for part in (unit, note) if part)
            # A note has its own estimate.
            self._factor = (total - done) / done if total and done and not note else 0.0

    def line(self) -> str:
        """Return a line about the step; empty before the first one."""
        with self._lock:
            seconds = monotonic() - self._start
            times = f"{seconds:.0f} s so far"
            if self._factor:
                times += f", about {seconds * self._factor:.0f} s left"
            rest = f"{self._rest}, {times}" if self._rest else times
            return f"{self._step}: {rest}" if self._step else ""


def _amount(count: int | None, unit: str) -> str:
    if unit == "bytes":
        return f"{(count or 0) / 1e6:,.1f} MB"
    return f"{count:,}"


@contextmanager
def progress_lines(unit: str, print_line: Callable[[str], None]) -> Iterator[OnStep]:
    """Yield a callback, and print what it was last called with every ten seconds.

    Parameters
    ----------
    unit
        Unit of the progress.
    print_line
        Prints a line.
    """
    state, ended = _State(unit), Event()

    def print_lines() -> None:
        while not ended.wait(SECONDS_BETWEEN):
            if line := state.line():
                print_line(line)

    thread = Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield state.update
    finally:
        ended.set()
        thread.join()
