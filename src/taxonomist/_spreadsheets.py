"""Cells of CSV files that spreadsheets do not run as formulas.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break as a
formula, which can send data away or start programs. ``guarded`` puts an apostrophe in front of such
a cell, and ``unguarded`` takes it away. Numbers such as ``-0.5`` stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["guarded", "unguarded"]

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(cell: Any) -> Any:
    """Return a cell with an apostrophe in front if a spreadsheet would run it.

    A cell that already has apostrophes in front of a formula gets one more, so that ``unguarded``
    returns exactly what was written. Values that are not strings are returned as they are.
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """Return the cell that ``guarded`` was called with."""
    return cell[1:] if cell[:1] == "'" and guarded(cell) != cell else cell
