"""Table formats: CSV, TSV, JSON, Excel and Parquet.

A format is a function that parses an open file into columns and rows, and an entry in ``FORMATS``.
An unreadable row has an error message instead of values.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from taxonomist._unicode import nfc
from taxonomist.datasets.delimiter import (
    N_LINES,
    has_spaced_quotes,
    likely_delimiters,
    matching_delimiter,
)
from taxonomist.datasets.json_rows import is_json, parse_json
from taxonomist.datasets.row_lines import RowLines
from taxonomist.datasets.table import Row
from taxonomist.datasets.workbook import WORKBOOK_MARKS, parse_workbook
from taxonomist.errors import FormatError, closest, import_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.datasets.table_file import TableFile

__all__ = ["FORMATS", "TableFormat", "format_of"]

EXCEL_HINT = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""A line above the header that tells Excel the delimiter."""
LARGEST_CELL = 2**31 - 1
"""Maximum size of a CSV cell; the csv module allows only 128 KiB by default."""

Parsed: TypeAlias = tuple[tuple[str, ...], Iterator[Row]]
"""The columns of a table and its rows."""


class TableFormat(NamedTuple):
    """A table format: its suffixes and its parser."""

    suffixes: tuple[str, ...]
    parse: Callable[[TableFile], Parsed]


def format_of(file: TableFile) -> str:
    """Return the format of a file: as specified, or by its first bytes or its suffix.

    Raises
    ------
    FormatError
        If the specified format is unknown.
    """
    wanted = file.source.format
    if wanted is not None:
        if wanted not in FORMATS:
            hint = closest(wanted, FORMATS)
            raise FormatError(
                f"Unknown format {wanted!r}; the formats are {', '.join(FORMATS)}.{hint}"
            )
        return wanted
    if file.head.startswith(b"PAR1"):
        return "parquet"
    if file.head.startswith(WORKBOOK_MARKS):
        return "excel"
    for name, known in FORMATS.items():
        if file.suffix in known.suffixes:
            return name
    return "json" if is_json(file.head) else "csv"


def _csv(file: TableFile) -> Parsed:
    return _delimited(file, file.source.delimiter)


def _tsv(file: TableFile) -> Parsed:
    return _delimited(file, file.source.delimiter or "\t")


def _delimited(file: TableFile, delimiter: str | None) -> Parsed:
    """Parse a delimited file whose first non-empty line is the header."""
    text, before, top = file.text(), 0, ""
    for top in text:
        if hint := EXCEL_HINT.fullmatch(top):
            delimiter = delimiter or hint[1]
        elif top.strip():
            break
        before += 1
    below: list[str] = []
    if not delimiter:
        candidates = likely_delimiters(top)
        below = list(islice(text, N_LINES)) if len(candidates) > 1 else []
        delimiter = matching_delimiter(top, below, candidates)
    lines = RowLines(chain([top], below, text), before)
    spaced = has_spaced_quotes(top, delimiter)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=spaced, strict=True)
    file.on_close(csv.field_size_limit, csv.field_size_limit(LARGEST_CELL))
    try:
        columns = tuple(nfc(column.strip()) for column in next(reader, ()))
    except csv.Error as error:
        raise FormatError(f"{file.source.name}, line {before + 1}: {_unbalanced(error)}") from error
    if not columns:
        raise FormatError(f"{file.source.name} is empty.")
    return columns, _delimited_rows(lines, reader, columns)


def _delimited_rows(lines: RowLines, reader: Any, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows below the header."""
    while True:
        line = lines.begin_row()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # The quote may have swallowed good lines: only the first one is bad.
            cells = lines.go_back().rstrip("\r\n").split("\t")
            if reader.dialect.delimiter != "\t" or len(cells) != len(columns):
                yield Row(line, {}, _unbalanced(error))
                continue
            # Between tabs, many programs write quotes as they are.
        n_cells = len(cells)
        if n_cells > len(columns) and not any(cells[len(columns) :]):
            n_cells = len(columns)
        fault = f"{n_cells} cells, but the header has {len(columns)}"
        if n_cells > len(columns):
            yield Row(line, {}, fault)
        elif cells:
            # Spreadsheets may leave out empty cells at the end of a row.
            is_short = n_cells < len(columns)
            yield Row(line, dict(zip(columns, cells, strict=False)), fault if is_short else "")


def _unbalanced(error: csv.Error) -> str:
    """Return what is wrong with a line that csv cannot parse."""
    return f"unbalanced quotes ({error}). Double the quotes inside a cell."


def _parquet(file: TableFile) -> Parsed:
    """Parse a Parquet file; line numbers are row numbers."""
    parquet = import_extra("pyarrow.parquet", "io")
    pyarrow = import_extra("pyarrow", "io")
    name, damaged = file.source.name, pyarrow.ArrowException
    try:
        opened = parquet.ParquetFile(file.seekable())
    except damaged as error:
        raise FormatError(f"{name} is not a Parquet file: {error}.") from error

    columns = tuple(map(nfc, opened.schema_arrow.names))

    def rows() -> Iterator[Row]:
        try:
            batches = opened.iter_batches(batch_size=2_000)
            values = (row for batch in batches for row in batch.to_pylist())
            for number, row in enumerate(values, 1):
                yield Row(number, dict(zip(columns, row.values(), strict=True)))
        except damaged as error:
            raise FormatError(f"{name} is a damaged Parquet file: {error}.") from error

    return columns, rows()


FORMATS = {
    "csv": TableFormat((".csv",), _csv),
    "tsv": TableFormat((".tsv", ".tab"), _tsv),
    "jsonl": TableFormat((".jsonl", ".ndjson"), parse_json),
    "json": TableFormat((".json",), parse_json),
    "excel": TableFormat((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), parse_workbook),
    "parquet": TableFormat((".parquet",), _parquet),
}
"""Table formats by name."""
