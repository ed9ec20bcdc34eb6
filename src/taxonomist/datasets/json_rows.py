"""Rows of JSON: an object on each line, or a list of objects."""

from __future__ import annotations

import json
from itertools import chain, islice
from typing import IO, TYPE_CHECKING

from taxonomist._unicode import nfc
from taxonomist.datasets.table import Row
from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taxonomist.datasets.table_file import TableFile

__all__ = ["is_json", "parse_json"]

N_ROWS_FOR_COLUMNS = 100
"""Number of objects to collect columns from, because an object may omit some of them."""
CHUNK_CHARACTERS = 1 << 16
"""Number of characters of a list to read at a time."""
BEFORE = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"
"""Byte order marks, blanks, and the zero bytes between characters in UTF-16."""


def is_json(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is likely to be JSON."""
    return head.lstrip(BEFORE).startswith((b"{", b"["))


def parse_json(file: TableFile) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Parse a file with a JSON object on each line, or with a list of objects."""
    name, text = file.source.name, file.text()
    is_list = file.head.lstrip(BEFORE).startswith(b"[")
    rows = _listed(name, text) if is_list else _lines(text)
    seen = list(islice(rows, N_ROWS_FOR_COLUMNS))
    columns = tuple(dict.fromkeys(column for row in seen for column in row.values))
    if len(seen) == 1:
        _check_single(name, seen[0].values)
    if not columns:
        first = seen[0] if seen else Row(1, {})
        raise FormatError(
            f"{name}, line {first.line}: {first.fault or 'there are no values'}. Expected one "
            "object on each line, or a list of objects."
        )
    found: Iterator[Row] = chain(seen, rows)
    if len(seen) > 1 and seen[0].line == seen[1].line:
        # All objects are on one line, so the number of the object says more.
        found = (row._replace(line=number) for number, row in enumerate(found, 1))
    return columns, found


def _check_single(name: str, values: Mapping[str, object]) -> None:
    """Raise if the rows of a table are inside its only object."""
    inside = [column for column, value in values.items() if _holds_rows(value)]
    if inside and not any(isinstance(value, str) for value in values.values()):
        places = " and ".join(map(repr, inside))
        raise FormatError(
            f"{name} is a single object, which holds the rows in {places}. "
            "Write the rows as a list of objects, or one object on each line."
        )


def _holds_rows(value: object) -> bool:
    """Return whether a value is an object, or a list of objects or of lists."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict | list)
    return isinstance(value, dict)


def _lines(text: Iterable[str]) -> Iterator[Row]:
    """Yield the objects on lines; a line that is not an object has a fault."""
    for number, line in enumerate(text, 1):
        if line.isspace():
            continue
        try:
            yield _row(number, json.loads(line))
        except (ValueError, RecursionError) as error:
            yield Row(number, {}, f"not JSON ({error})")


def _row(line: int, value: object) -> Row:
    if not isinstance(value, dict):
        return Row(line, {}, f"not a JSON object but {type(value).__name__}")
    if not all(map(str.isascii, value)):
        value = {nfc(column): cell for column, cell in value.items()}
    return Row(line, value)


def _listed(name: str, text: IO[str]) -> Iterator[Row]:
    """Yield the objects of a list, which is read in chunks."""
    decoder = json.JSONDecoder()
    chunk = text.read(CHUNK_CHARACTERS)
    at = chunk.find("[") + 1
    if not at:
        raise FormatError(f"{name} is not JSON: the list does not begin.")
    line = 1 + chunk.count("\n", 0, at)
    while True:
        begin = at
        while at < len(chunk) and chunk[at] in " \t\r\n,":
            at += 1
        line += chunk.count("\n", begin, at)
        if chunk.startswith("]", at):
            return
        try:
            value, end = decoder.raw_decode(chunk, at)
        except (ValueError, RecursionError) as error:
            # Perhaps the object does not end in this chunk. Each chunk is at least as long as all
            # that is left of those before it, so a long object is not parsed too often.
            more = text.read(max(CHUNK_CHARACTERS, len(chunk) - at))
            if not more:
                fault = "the list does not end" if at == len(chunk) else f"not JSON ({error})"
                raise FormatError(f"{name}, line {line}: {fault}.") from error
            chunk, at = chunk[at:] + more, 0
            continue
        yield _row(line, value)
        line += chunk.count("\n", at, end)
        at = end
