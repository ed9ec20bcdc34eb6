"""Rows of a table, one at a time, with the line of each: CSV, TSV, JSON lines, Parquet.

A file may be compressed by gzip; ``-`` is standard input. The format is the one that is asked for,
or that the suffix names, or that the first bytes show. In CSV, the delimiter is the commonest of
``,`` ``;`` tab ``|`` in the first line. A row that cannot be read has a fault instead of values.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import shutil
import sys
import tempfile
import zlib
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from taxonomist.errors import FormatError, closest, import_extra, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["FORMATS", "Row", "Source", "Table", "open_table"]

FORMATS = ("csv", "tsv", "jsonl", "parquet")
STANDARD_INPUT = "-"
LARGEST_CELL = 2**31 - 1
SEEN_FOR_COLUMNS = 100
"""JSON lines in which columns are looked for: a line may leave out those that it has not."""

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Source(NamedTuple):
    """Where rows come from: a file or ``-``, its format (None for any), its encoding."""

    path: str
    format: str | None = None
    encoding: str = "utf-8"

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else self.path


class Row(NamedTuple):
    """A row: the line where it begins, its values by column, and why it cannot be read."""

    line: int
    values: Mapping[str, Any]
    fault: str = ""


class Table(NamedTuple):
    """Rows, in order, and the names of their columns."""

    name: str
    columns: tuple[str, ...]
    rows: Iterator[Row]

    def column(self, wanted: str) -> str:
        """Return a column's name, or say that it is not there.

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


@contextmanager
def open_table(source: Source) -> Iterator[Table]:
    """Open a table whose rows are read while they are iterated over.

    Parameters
    ----------
    source
        The file, its format and its encoding.

    Yields
    ------
    Table
        Columns and rows.

    Raises
    ------
    FormatError
        If the format is not known, or the file is empty, damaged, or not in this encoding.
    """
    if source.format is not None and source.format not in FORMATS:
        hint = closest(source.format, FORMATS)
        raise FormatError(
            f"There is no format {source.format!r}; there are {', '.join(FORMATS)}.{hint}"
        )
    with ExitStack() as stack:
        with _plain_faults(source):
            stream = _open_bytes(source, stack)
            head = cast("io.BufferedReader", stream).peek(1 << 16)
            if not head.strip(b"\r\n\t \xef\xbb\xbf"):
                raise FormatError(f"{source.name} is empty.")
            columns, rows = _parsed(source, stream, head, stack)
        yield Table(source.name, columns, _guarded(source, rows))


def _open_bytes(source: Source, stack: ExitStack) -> BinaryIO:
    """Return the bytes of a file, decompressed."""
    if source.path == STANDARD_INPUT:
        raw: Any = sys.stdin.buffer
    else:
        raw = stack.enter_context(Path(source.path).open("rb"))  # noqa: SIM115 (the stack closes it)
    stream = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
    if stream.peek(2)[:2] == b"\x1f\x8b":
        stream = io.BufferedReader(cast("Any", stack.enter_context(gzip.GzipFile(fileobj=stream))))
    return cast("BinaryIO", stream)


def _format_of(source: Source, head: bytes) -> str:
    """Return the format that is asked for, named by the suffix, or shown by the first bytes."""
    if source.format is not None:
        return source.format
    name = Path(source.path).name.lower().removesuffix(".gz")
    if Path(name).suffix in _SUFFIXES:
        return _SUFFIXES[Path(name).suffix]
    if head.startswith(b"PAR1"):
        return "parquet"
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return "jsonl" if start.startswith((b"{", b"[")) else "csv"


def _parsed(
    source: Source, stream: BinaryIO, head: bytes, stack: ExitStack
) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Return columns and rows."""
    format = _format_of(source, head)
    if format == "parquet":
        return _parquet_rows(source.name, stream, stack)
    try:
        encoding = codecs.lookup(source.encoding).name
    except LookupError as error:
        raise FormatError(f"--encoding: {error}.") from error
    mark = next((name for start, name in _MARKS.items() if head.startswith(start)), None)
    if mark is not None and encoding == "utf-8":
        raise FormatError(f"{source.name} is not UTF-8: it begins like {mark}; say --encoding.")
    if encoding == "utf-8":
        encoding = "utf-8-sig"
    text = io.TextIOWrapper(stream, encoding, newline="")
    # Standard input belongs to others too and stays open.
    stack.callback(text.detach)
    stack.callback(csv.field_size_limit, csv.field_size_limit(LARGEST_CELL))
    if format == "jsonl":
        return _json_rows(source.name, text)
    return _delimited_rows(source.name, text, "\t" if format == "tsv" else None)


def _delimited_rows(
    name: str, text: IO[str], delimiter: str | None
) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Return columns and rows of a delimited file whose first line names the columns."""
    before = 0
    top = ""
    for top in text:
        if top.strip():
            break
        before += 1
    reader = csv.reader(chain([top], text), delimiter=delimiter or _delimiter(top), strict=True)
    columns = tuple(column.strip() for column in next(reader))
    return columns, _cells(name, reader, columns, before)


def _delimiter(top: str) -> str:
    """Return the commonest delimiter of the first line, outside quotes."""
    return max(",;\t|", key=re.sub(r'"[^"]*"', "", top).count)


def _cells(name: str, reader: Any, columns: Sequence[str], before: int) -> Iterator[Row]:
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
            f"{name}, line {line}: the quotes do not fit ({error}). Quotes in a cell are doubled."
        ) from error


def _json_rows(name: str, text: IO[str]) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Return columns and rows of a file with a JSON object a line."""
    rows = _objects(name, text)
    first = list(islice(rows, SEEN_FOR_COLUMNS))
    columns = tuple(dict.fromkeys(column for row in first for column in row.values))
    if not columns:
        fault = first[0].fault or "the object is empty"
        raise FormatError(f"{name}, line {first[0].line}: {fault}.")
    return columns, chain(first, rows)


def _objects(name: str, text: IO[str]) -> Iterator[Row]:
    """Yield the objects of JSON lines."""
    for number, line in enumerate(text, 1):
        if line.isspace():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == 1 and line.lstrip().startswith("["):
                raise FormatError(
                    f"{name} is one JSON list; write one object a line, without the brackets."
                ) from error
            yield Row(number, {}, f"not JSON ({error})")
            continue
        if isinstance(values, dict):
            yield Row(number, values)
        else:
            yield Row(number, {}, f"not a JSON object, but {type(values).__name__}")


def _parquet_rows(
    name: str, stream: BinaryIO, stack: ExitStack
) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Return columns and rows of a Parquet file; lines are numbers of rows."""
    parquet = import_extra("pyarrow.parquet", "io")
    pyarrow = import_extra("pyarrow", "io")
    if not stream.seekable():
        spooled = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        shutil.copyfileobj(stream, spooled)
        stream = cast("BinaryIO", spooled)
    try:
        file = parquet.ParquetFile(stream)
    except pyarrow.ArrowInvalid as error:
        raise FormatError(f"{name} is not a Parquet file: {error}.") from error
    batches = file.iter_batches(batch_size=2_000)
    values = (row for batch in batches for row in batch.to_pylist())
    return tuple(file.schema_arrow.names), (Row(k, row) for k, row in enumerate(values, 1))


def _guarded(source: Source, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows; what goes wrong on the way is said plainly."""
    line = 0
    with _plain_faults(source):
        try:
            for row in rows:
                line = row.line
                yield row
        except UnicodeDecodeError as error:
            raise _not_decoded(source, error, f", after line {line}") from error


@contextmanager
def _plain_faults(source: Source) -> Iterator[None]:
    """Turn errors of reading into a sentence."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise _not_decoded(source, error) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"{source.name} is not a complete gzip file: {error}.") from error


def _not_decoded(source: Source, error: UnicodeDecodeError, place: str = "") -> FormatError:
    """Return the error of bytes that are no text in this encoding."""
    return FormatError(
        f"{source.name}{place}: this is not {source.encoding} ({error.reason}). Say what it is, "
        "such as --encoding cp1252 or --encoding utf-16."
    )
