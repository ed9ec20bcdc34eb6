"""Rows of a sheet of an Excel or OpenDocument workbook; needs the extra ``io``."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from taxonomist._unicode import nfc
from taxonomist.datasets.cells import word_of
from taxonomist.datasets.table import Row
from taxonomist.errors import FormatError, MissingExtraError, closest, import_extra, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taxonomist.datasets.table_file import TableFile

__all__ = ["WORKBOOK_MARKS", "parse_workbook"]

WORKBOOK_MARKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of .xlsx and .ods files, and of .xls files."""


def parse_workbook(file: TableFile) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Parse a sheet whose first row that is not empty is the header.

    Line numbers are the row numbers that spreadsheets show. A cell that is merged with those below
    it gives its value to all of these rows.
    """
    sheet = _sheet(file)
    lines = enumerate(sheet.iter_rows(), 1)
    header = next((cells for _, cells in lines if any(cell != "" for cell in cells)), None)
    if header is None:
        raise FormatError(f"{file.source.name}: the sheet {sheet.name!r} is empty.")
    columns = tuple(nfc(word_of(_plain(cell))) for cell in header)
    merged = _merged_down(sheet.merged_cell_ranges or (), sheet.start[1], sheet.end[1])
    return columns, (
        Row(line, dict(zip(columns, map(_plain, cells), strict=True)))
        for line, cells in _filled(lines, merged)
    )


def _merged_down(
    ranges: Iterable[tuple[tuple[int, int], tuple[int, int]]], first: int, last: int
) -> dict[int, list[tuple[int, int]]]:
    """Return the merged cells by their first line: column and last line of each.

    Columns count from the first one of the table.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for (top, column), (bottom, _) in ranges:
        if first <= column <= last:
            found.setdefault(top + 1, []).append((column - first, bottom + 1))
    return found


def _filled(
    lines: Iterable[tuple[int, list[object]]], merged: dict[int, list[tuple[int, int]]]
) -> Iterator[tuple[int, list[object]]]:
    """Yield the rows that are not empty, with the values of merged cells in every row of these."""
    held: dict[int, tuple[int, object]] = {}
    for line, cells in lines:
        held |= {column: (last, cells[column]) for column, last in merged.get(line, ())}
        if all(cell == "" for cell in cells):
            continue
        for column, (last, value) in held.items():
            if line <= last:
                cells[column] = value
        yield line, cells


def _sheet(file: TableFile) -> Any:
    """Return the wanted sheet, by default the first one."""
    name, wanted = file.source.name, file.source.sheet
    try:
        calamine = import_extra("python_calamine", "io")
    except MissingExtraError as error:
        raise MissingExtraError(f"{name}: {error} Or save the table as CSV.") from error
    try:
        workbook = calamine.CalamineWorkbook.from_object(file.seekable())
        visible = calamine.SheetVisibleEnum.Visible
        names = [each.name for each in workbook.sheets_metadata if each.visible == visible]
        if not names:
            raise FormatError(f"{name} has no sheet that is shown.")
        if wanted is None and len(names) > 1:
            file.notes.append(
                f"{name} has {len(names)} sheets; the first one, {names[0]!r}, is read."
            )
        if wanted is not None and wanted not in workbook.sheet_names:
            raise FormatError(
                f"{name} has no sheet {wanted!r}; its sheets are {some(names, 12)}."
                f"{closest(wanted, names)}"
            )
        return workbook.get_sheet_by_name(names[0] if wanted is None else wanted)
    except (calamine.CalamineError, OSError) as error:
        raise FormatError(f"{name} is not a workbook that can be read: {error}.") from error


def _plain(cell: object) -> object:
    """Return a cell as a text or a number."""
    if isinstance(cell, datetime) and cell.time() == time():
        cell = cell.date()
    if isinstance(cell, date | time | timedelta | bool):
        return str(cell)
    return cell
