"""The file that a table is read from: decompressed bytes, or decoded text.

A file may be compressed by gzip, which its first bytes show; ``-`` is standard input.
"""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import sys
import tempfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self, cast

from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DAMAGED", "TableFile", "TableSource"]

STANDARD_INPUT = "-"
HEAD_BYTES = 1 << 16
"""First bytes of a file that can be looked at before it is read."""

DAMAGED = (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error)
"""What is raised while a file is read that is damaged or has another encoding."""

GZIP_MARK = b"\x1f\x8b"
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TableSource(NamedTuple):
    """Where a table comes from.

    Attributes
    ----------
    path
        A file, or ``-`` for standard input.
    format
        One of ``taxonomist.datasets.table_formats.FORMATS``. None goes by the suffix, then by the
        first bytes.
    encoding
        Encoding of text formats.
    delimiter
        What separates the cells of a CSV file. None takes the most frequent of ``,`` ``;`` tab
        and ``|`` in its first line.
    """

    path: str
    format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None

    @property
    def name(self) -> str:
        """What messages call the source."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    @property
    def suffix(self) -> str:
        """The suffix in lower case, that before ``.gz`` if there are two."""
        return Path(Path(self.path).name.lower().removesuffix(".gz")).suffix


class TableFile:
    """An open source; a context manager that closes what it opened.

    Parameters
    ----------
    source
        The source.

    Attributes
    ----------
    source
        The source.
    head
        The first bytes, decompressed.
    """

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self.head = b""
        self._stack = ExitStack()
        self._stream: Any = None

    def __enter__(self) -> Self:
        try:
            self._stream = self._opened()
            self.head = self._stream.peek(HEAD_BYTES)
        except DAMAGED as error:
            self._stack.close()
            raise self.fault(error) from error
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _opened(self) -> Any:
        """Return the bytes of the file, decompressed."""
        if self.source.path == STANDARD_INPUT:
            raw: Any = sys.stdin.buffer
        else:
            raw = self._stack.enter_context(Path(self.source.path).open("rb"))  # noqa: SIM115 (the stack closes it)
        stream = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
        mark = stream.peek(2)[:2]
        if mark == GZIP_MARK:
            unpacked: Any = self._stack.enter_context(gzip.GzipFile(fileobj=stream))
            return io.BufferedReader(unpacked)
        if mark and self.source.path.lower().endswith(".gz"):
            raise gzip.BadGzipFile(f"it begins with {mark!r}")
        return stream

    def seekable(self) -> BinaryIO:
        """Return the bytes as a file in which formats with an index can jump."""
        if self._stream.seekable():
            return cast("BinaryIO", self._stream)
        spooled = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        shutil.copyfileobj(self._stream, spooled)
        return cast("BinaryIO", spooled)

    def text(self) -> IO[str]:
        """Return the decoded text, with line breaks as they are.

        Raises
        ------
        FormatError
            If the encoding is unknown, or evidently another one.
        """
        encoding = self._encoding()
        if encoding == "utf-8":
            if self.head.startswith(_UTF_16_MARKS):
                raise FormatError(
                    f"{self.source.name} is not UTF-8: it begins like utf-16. Name its encoding."
                )
            encoding = "utf-8-sig"
        text = io.TextIOWrapper(self._stream, encoding, newline="")
        # Standard input belongs to others too and stays open.
        self._stack.callback(text.detach)
        return text

    def _encoding(self) -> str:
        """Return the usual name of the encoding."""
        try:
            io.TextIOWrapper(io.BytesIO(), self.source.encoding)
            return codecs.lookup(self.source.encoding).name
        except LookupError as error:
            raise FormatError(f"{self.source.name} cannot be decoded: {error}.") from error

    def on_close(self, function: Callable[..., object], *given: object) -> None:
        """Call a function when the file is closed."""
        self._stack.callback(function, *given)

    def fault(self, error: Exception, line: int | None = None) -> FormatError:
        """Return what is wrong with the file, given one of the errors in ``DAMAGED``.

        Parameters
        ----------
        error
            What was raised while the file was read.
        line
            The last line that could be read, if known.
        """
        name = self.source.name
        if not isinstance(error, UnicodeDecodeError):
            return FormatError(f"{name} is not a complete gzip file: {error}.")
        place = name if line is None else f"{name}, after line {line}"
        return FormatError(
            f"{place}: this is not {self.source.encoding} ({error.reason}). Name its encoding, "
            "such as cp1252 or utf-16."
        )
