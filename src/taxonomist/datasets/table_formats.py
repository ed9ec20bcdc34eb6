"""Table formats: CSV, TSV, JSON lines and Parquet.

A format is a function that parses an open file into columns and rows, and an entry in ``FORMATS``.
An unreadable row has an error message instead of values.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from taxonomist.datasets.table import Row
from taxonomist.errors import FormatError, closest, import_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.datasets.table_file import TableFile, TableSource

__all__ = ["FORMATS", "TableFormat", "format_of"]

LARGEST_CELL = 2**31 - 1
"""Maximum size of a CSV cell; the csv module allows only 128 KiB by default."""
N_LINES_FOR_COLUMNS = 100
"""Number of JSON lines to collect columns from, because an object may omit some of them."""

Parsed: TypeAlias = tuple[tuple[str, ...], Iterator[Row]]
"""The columns of a table and its rows."""


class TableFormat(NamedTuple):
    """A table format: its suffixes and its parser."""

    suffixes: tuple[str, ...]
    parse: Callable[[TableFile], Parsed]


def format_of(source: TableSource, head: bytes) -> str:
    """Return the format of a source: as specified, or by its suffix or its first bytes.

    Raises
    ------
    FormatError
        If the specified format is unknown.
    """
    if source.format is not None:
        if source.format not in FORMATS:
            hint = closest(source.format, FORMATS)
            raise FormatError(
                f"Unknown format {source.format!r}; the formats are {', '.join(FORMATS)}.{hint}"
            )
        return source.format
    for name, known in FORMATS.items():
        if source.suffix in known.suffixes:
            return name
    if head.startswith(b"PAR1"):
        return "parquet"
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return "jsonl" if start.startswith((b"{", b"[")) else "csv"


def _csv(file: TableFile) -> Parsed:
    return _delimited(file, file.source.delimiter)


def _tsv(file: TableFile) -> Parsed:
    return _delimited(file, file.source.delimiter or "\t")


def _delimited(file: TableFile, delimiter: str | None) -> Parsed:
    """Parse a delimited file whose first non-empty line is the header."""
    text, before, top = file.text(), 0, ""
    for top in text:
        if top.strip():
            break
        before += 1
    reader = csv.reader(chain([top], text), delimiter=delimiter or _delimiter(top), strict=True)
    file.on_close(csv.field_size_limit, csv.field_size_limit(LARGEST_CELL))
    columns = tuple(column.strip() for column in next(reader))
    return columns, _delimited_rows(file.source.name, reader, columns, before)


def _delimiter(top: str) -> str:
    """Return the most frequent delimiter of the first line, outside quotes."""
    return max(",;\t|", key=re.sub(r'"[^"]*"', "", top).count)


def _delimited_rows(name: str, reader: Any, columns: Sequence[str], before: int) -> Iterator[Row]:
    """Yield the rows below the header, which has ``before`` lines above it."""
    line = before + reader.line_num + 1
    try:
        for cells in reader:
            if len(cells) == len(columns):
                yield Row(line, dict(zip(columns, cells, strict=True)))
            elif cells:
                yield Row(line, {}, f"{len(cells)} cells, but the header has {len(columns)}")
            line = before + reader.line_num + 1
    except csv.Error as error:
        raise FormatError(
            f"{name}, line {line}: unbalanced quotes ({error}). Double the quotes inside a cell."
        ) from error


def _json_lines(file: TableFile) -> Parsed:
    """Parse a file with a JSON object on each line."""
    name = file.source.name
    rows = _objects(name, file)
    first = list(islice(rows, N_LINES_FOR_COLUMNS))
    columns = tuple(dict.fromkeys(column for row in first for column in row.values))
    if not columns:
        fault = first[0].fault or "the object is empty"
        raise FormatError(f"{name}, line {first[0].line}: {fault}.")
    return columns, chain(first, rows)


def _objects(name: str, file: TableFile) -> Iterator[Row]:
    for number, line in enumerate(file.text(), 1):
        if line.isspace():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == 1 and line.lstrip().startswith("["):
                raise FormatError(
                    f"{name} is a JSON list; write one object per line, without the brackets."
                ) from error
            yield Row(number, {}, f"not JSON ({error})")
            continue
        if isinstance(values, dict):
            yield Row(number, values)
        else:
            yield Row(number, {}, f"not a JSON object but {type(values).__name__}")


def _parquet(file: TableFile) -> Parsed:
    """Parse a Parquet file; line numbers are row numbers."""
    parquet = import_extra("pyarrow.parquet", "io")
    pyarrow = import_extra("pyarrow", "io")
    name, damaged = file.source.name, pyarrow.ArrowException
    try:
        opened = parquet.ParquetFile(file.seekable())
    except damaged as error:
        raise FormatError(f"{name} is not a Parquet file: {error}.") from error

    def rows() -> Iterator[Row]:
        try:
            batches = opened.iter_batches(batch_size=2_000)
            values = (row for batch in batches for row in batch.to_pylist())
            yield from (Row(k, row) for k, row in enumerate(values, 1))
        except damaged as error:
            raise FormatError(f"{name} is a damaged Parquet file: {error}.") from error

    return tuple(opened.schema_arrow.names), rows()


FORMATS = {
    "csv": TableFormat((".csv",), _csv),
    "tsv": TableFormat((".tsv", ".tab"), _tsv),
    "jsonl": TableFormat((".jsonl", ".ndjson"), _json_lines),
    "parquet": TableFormat((".parquet",), _parquet),
}
"""Table formats by name."""
