"""The lines of a delimited file, of which those of a row can be read again."""

from __future__ import annotations

import csv
from collections import deque
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["RowLines"]

LARGEST_ROW = 2**28
"""Characters of a row at most. A quote that is never closed takes in all lines after it, which need
not fit into memory."""


class RowLines:
    """Lines of a text; it is an iterator for ``csv.reader``.

    Parameters
    ----------
    lines
        The lines, the first of them the header.
    before
        The number of lines above it.
    """

    def __init__(self, lines: Iterable[str], before: int) -> None:
        self._lines = iter(lines)
        self._again: deque[str] = deque()
        self._row: list[str] = []
        self._n_read = before
        self._size = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self._n_read += 1
        self._row.append(line)
        self._size += len(line)
        if self._size > LARGEST_ROW:
            raise csv.Error(f"more than {LARGEST_ROW:,} characters")
        return line

    def begin_row(self) -> int:
        """Return the number of the next line, with which a row begins."""
        self._row, self._size = [], 0
        return self._n_read + 1

    def go_back(self) -> str:
        """Let all lines of the row but its first one be read again; return the first one."""
        first, *rest = self._row
        self._again.extendleft(reversed(rest))
        self._n_read -= len(rest)
        return first
