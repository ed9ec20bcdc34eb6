"""What each paper contains: every model, equation, algorithm, table, figure and claim.

There is one file per paper. A line says what the paper has, where the code is, which test proves it
and, for tables, figures and claims, which judged claims give the verdict. ``lines`` defines lines.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taxonomist.experiments.contents.lines import Line


def contents_of(key: str) -> tuple[Line, ...]:
    """Return the lines of a paper, or none if its contents are not listed."""
    if key not in LISTED:
        return ()
    module = import_module(f"taxonomist.experiments.contents.{key.lower()}")
    lines: tuple[Line, ...] = module.LINES
    return lines


LISTED = ("CH04", "HCC03", "TCPH01", "RSSS06", "CH07")
"""The papers whose contents are listed."""
