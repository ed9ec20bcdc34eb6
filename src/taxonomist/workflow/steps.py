"""How long tasks tell of their progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["OnStep", "silent"]

OnStep: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the name of a step, how much of it is done, and all of it where that is known."""


def silent(step: str, done: int, total: int | None) -> None:
    """Tell nothing."""
