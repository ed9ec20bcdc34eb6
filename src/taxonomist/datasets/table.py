"""A table as it is read: rows one at a time, each with its line, and the columns' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taxonomist.errors import FormatError, closest, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["OpenTable", "Row"]


class Row(NamedTuple):
    """A row: the line where it begins, its values by column, and why it cannot be read."""

    line: int
    values: Mapping[str, Any]
    fault: str = ""


class OpenTable(NamedTuple):
    """Rows, in order, and the names of their columns."""

    name: str
    columns: tuple[str, ...]
    rows: Iterator[Row]

    def column(self, wanted: str) -> str:
        """Return a column's name after checking that the table has it.

        Raises
        ------
        FormatError
            If there is no such column, or more than one.
        """
        if self.columns.count(wanted) > 1:
            raise FormatError(f"{self.name} names the column {wanted!r} twice; rename one.")
        if wanted not in self.columns:
            hint = closest(wanted, self.columns)
            have = some(self.columns, 12) or "none"
            raise FormatError(
                f"{self.name} has no column {wanted!r}; its columns are {have}.{hint}"
            )
        return wanted
