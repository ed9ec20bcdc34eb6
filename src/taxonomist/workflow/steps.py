"""Progress callbacks of long tasks."""

from __future__ import annotations

from typing import Protocol

__all__ = ["OnStep", "silent", "span"]


class OnStep(Protocol):
    """Called with the progress of a task."""

    def __call__(self, step: str, done: int, total: int | None, note: str = "", /) -> None:
        """Receive the progress.

        Parameters
        ----------
        step
            Name of the step.
        done, total
            The amount done, and the total amount if it is known.
        note
            Details for people, such as how long the step will take.
        """


def silent(step: str, done: int, total: int | None, note: str = "", /) -> None:
    """Ignore progress."""


def span(seconds: float) -> str:
    """Return a time for people, such as ``"45 s"`` or ``"4 min"``."""
    if seconds < 1:
        return "1 s"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
