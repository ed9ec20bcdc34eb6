"""The formats of tables: CSV, TSV, JSON lines and Parquet.

A format is a function from an open file to columns and rows, and a line in ``FORMATS``. A row that
cannot be read has a fault instead of values.
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
"""Documents may be longer than the 128 KiB that the csv module takes for a cell by default."""
N_LINES_FOR_COLUMNS = 100
"""JSON lines in which columns are looked for: an object may leave out some of them."""

Parsed: TypeAlias = tuple[tuple[str, ...], Iterator[Row]]
"""The columns of a table and its rows."""


class TableFormat(NamedTuple):
    """A format: the suffixes that name it, and the function that reads it."""

    suffixes: tuple[str, ...]
    parse: Callable[[TableFile], Parsed]


def format_of(source: TableSource, head: bytes) -> str:
    """Return the format that the source names, else its suffix, else its first bytes.

    Raises
    ------
    FormatError
        If the source names an unknown format.
    """
    if source.format is not None:
        if source.format not in FORMATS:
            hint = closest(source.format, FORMATS)
            raise FormatError(
                f"There is no format {source.format!r}; there are {', '.join(FORMATS)}.{hint}"
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
    """Read cells with the given delimiter, or with the one that the first line shows."""
    return _delimited(file, file.source.delimiter)


def _tsv(file: TableFile) -> Parsed:
    """Read cells with tabs between them."""
    return _delimited(file, file.source.delimiter or "\t")


def _delimited(file: TableFile, delimiter: str | None) -> Parsed:
    """Return columns and rows of a delimited file whose first line names the columns."""
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
    """Yield the rows below the header; ``before`` lines are above it."""
    line = before + reader.line_num + 1
    try:
        for cells in reader:
            if len(cells) == len(columns):
                yield Row(line, dict(zip(columns, cells, strict=True)))
            elif cells:
                yield Row(line, {}, f"{len(cells)} cells where the header has {len(columns)}")
            line = before + reader.line_num + 1
    except csv.Error as error:
        raise FormatError(
            f"{name}, line {line}: the quotes do not match ({error}). Double the quotes inside a "
            "cell."
        ) from error


def _json_lines(file: TableFile) -> Parsed:
    """Return columns and rows of a file with a JSON object on each line."""
    name = file.source.name
    rows = _objects(name, file)
    first = list(islice(rows, N_LINES_FOR_COLUMNS))
    columns = tuple(dict.fromkeys(column for row in first for column in row.values))
    if not columns:
        fault = first[0].fault or "the object is empty"
        raise FormatError(f"{name}, line {first[0].line}: {fault}.")
    return columns, chain(first, rows)


def _objects(name: str, file: TableFile) -> Iterator[Row]:
    """Yield the objects of JSON lines."""
    for number, line in enumerate(file.text(), 1):
        if line.isspace():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == 1 and line.lstrip().startswith("["):
                raise FormatError(
                    f"{name} is one JSON list; write one object on each line, without the brackets."
                ) from error
            yield Row(number, {}, f"not JSON ({error})")
            continue
        if isinstance(values, dict):
            yield Row(number, values)
        else:
            yield Row(number, {}, f"not a JSON object, but {type(values).__name__}")


def _parquet(file: TableFile) -> Parsed:
    """Return columns and rows of a Parquet file; lines are numbers of rows."""
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
"""The formats of tables by name."""
