"""Progress callbacks of long tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["OnStep", "silent"]

OnStep: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the name of a step, the amount done, and the total amount if it is known."""


def silent(step: str, done: int, total: int | None) -> None:
    """Ignore progress."""
