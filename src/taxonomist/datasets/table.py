"""An open table: its column names and an iterator over its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taxonomist._unicode import nfc
from taxonomist.errors import FormatError, closest, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["OpenTable", "Row"]


class Row(NamedTuple):
    """A row: its first line number, its values by column, and what is wrong with it.

    A faulty row has no values, or those of its first columns.
    """

    line: int
    values: Mapping[str, object]
    fault: str = ""


class OpenTable(NamedTuple):
    """An open table.

    Attributes
    ----------
    name
        Its name in messages.
    columns
        Names of its columns.
    rows
        An iterator over its rows.
    notes
        What users should know about how it is read, such as its encoding; complete once all rows
        are read.
    """

    name: str
    columns: tuple[str, ...]
    rows: Iterator[Row]
    notes: Sequence[str] = ()

    def column(self, wanted: str) -> str:
        """Return the name of a column, in composed form (NFC), after checking that it exists.

        Raises
        ------
        FormatError
            If the column does not exist, or exists more than once.
        """
        wanted = nfc(wanted.strip())
        if self.columns.count(wanted) > 1:
            raise FormatError(f"{self.name} has two columns named {wanted!r}; rename one.")
        if wanted not in self.columns:
            hint = closest(wanted, dict.fromkeys(self.columns))
            named = [column for column in self.columns if column]
            have = some(named, 12) or "none"
            # A title above the header is a single cell, and the others are empty.
            if len(named) < 2:
                hint += " The first line must contain the names of the columns."
            raise FormatError(
                f"{self.name} has no column {wanted!r}; its columns are {have}.{hint}"
            )
        return wanted
