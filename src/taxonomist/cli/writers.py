"""Write rows as CSV, TSV or JSON lines, to standard output or atomically to a file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import secrets
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from taxonomist._files import move_into_place, naming
from taxonomist._spreadsheets import guarded
from taxonomist._terminals import visible
from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["WRITABLE", "format_of", "json_lines", "open_output", "table_rows"]

WRITABLE = ("csv", "tsv", "jsonl")
TEXT: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
"""How text is written. JSON input can hold lone surrogates, which UTF-8 cannot represent; they
are written as escapes, so that ids stay distinct."""
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def format_of(out: Path | None, wanted: str | None) -> str:
    """Return the wanted format, by default that of the suffix; CSV for standard output.

    Raises
    ------
    FormatError
        If the format is unknown.
    """
    if wanted is not None:
        if wanted not in WRITABLE:
            raise FormatError(f"--to must be one of {', '.join(WRITABLE)}. Got {wanted!r}.")
        return wanted
    if out is None:
        return "csv"
    suffix = Path(out.name.lower().removesuffix(".gz")).suffix
    if suffix not in _SUFFIXES:
        raise FormatError(
            f"{out}: cannot tell the format from the suffix; pass --to with one of "
            f"{', '.join(WRITABLE)}."
        )
    return _SUFFIXES[suffix]


@contextmanager
def open_output(out: Path | None) -> Iterator[IO[str]]:
    """Yield standard output, or a file that replaces ``out`` only after a complete write."""
    if out is None:
        yield _Shown(sys.stdout) if sys.stdout.isatty() else sys.stdout
        sys.stdout.flush()
        return
    if out.exists() and not out.is_file():
        with out.open("w", **TEXT) as stream:
            yield stream
        return
    temporary = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    opener: Any = gzip.open if out.suffix.lower() == ".gz" else io.open
    try:
        with naming(out), opener(temporary, "wt", **TEXT) as stream:
            yield stream
        move_into_place(temporary, out)
    finally:
        temporary.unlink(missing_ok=True)


class _Shown(io.StringIO):
    """A terminal that shows control characters as escapes."""

    def __init__(self, terminal: IO[str]) -> None:
        super().__init__()
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write a text."""
        return self._terminal.write(visible(text))


class _Lines:
    """A stream for csv.writer, which quotes only cells with characters of its line ends."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, row: str) -> int:
        """Write a row with a line feed at its end."""
        return self._stream.write(row.removesuffix("\r\n") + "\n")


def table_rows(
    stream: IO[str], format: str, *, raw_cells: bool = False
) -> Callable[[Sequence[object]], object]:
    """Return a function that writes the cells of a row.

    Parameters
    ----------
    stream
        Where to write.
    format
        ``"csv"`` or ``"tsv"``.
    raw_cells
        Whether to write cells as they are, even if a spreadsheet would run them as formulas.
    """
    delimiter = "\t" if format == "tsv" else ","
    write = csv.writer(_Lines(stream), delimiter=delimiter, lineterminator="\r\n").writerow
    return write if raw_cells else lambda cells: write([guarded(cell) for cell in cells])


def json_lines(stream: IO[str]) -> Callable[[object], object]:
    """Return a function that writes a JSON object per line."""
    encode = json.JSONEncoder(ensure_ascii=False).encode

    def write(record: object) -> None:
        stream.write(f"{encode(record)}\n")

    return write
