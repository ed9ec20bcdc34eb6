"""Open a table in any format and iterate over its rows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from taxonomist.datasets.table import OpenTable
from taxonomist.datasets.table_file import DAMAGED, TableFile
from taxonomist.datasets.table_formats import FORMATS, format_of
from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taxonomist.datasets.table import Row
    from taxonomist.datasets.table_file import TableSource

__all__ = ["open_table"]


@contextmanager
def open_table(source: TableSource) -> Iterator[OpenTable]:
    """Open a table; its rows are read during the iteration.

    Parameters
    ----------
    source
        The file, its format and its encoding.

    Yields
    ------
    OpenTable
        Columns and rows.

    Raises
    ------
    FormatError
        If the format is unknown, or the file is empty, damaged, or has another encoding.
    """
    with TableFile(source) as file:
        format = format_of(file)
        if not file.head.strip(b"\r\n\t \xef\xbb\xbf"):
            raise FormatError(f"{source.name} is empty.")
        if source.sheet is not None and format != "excel":
            raise FormatError(
                f"{source.name} is not a workbook, so it has no sheet {source.sheet!r}."
            )
        try:
            columns, rows = FORMATS[format].parse(file)
        except DAMAGED as error:
            raise file.fault(error) from error
        yield OpenTable(source.name, columns, _explained(file, rows), file.notes)


def _explained(file: TableFile, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows; raise a ``FormatError`` if the file turns out to be damaged."""
    line = 0
    try:
        for row in rows:
            line = row.line
            yield row
    except DAMAGED as error:
        raise file.fault(error, line) from error
