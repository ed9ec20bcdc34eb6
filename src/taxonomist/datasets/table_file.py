"""Open the file of a table as decompressed bytes or decoded text.

Files compressed with gzip are recognised by their first bytes; ``-`` is standard input.
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
"""Number of bytes to inspect before reading a file."""

DAMAGED = (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error)
"""Exceptions raised by reading a file that is damaged or has another encoding."""

GZIP_MARK = b"\x1f\x8b"
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TableSource(NamedTuple):
    """The source of a table.

    Attributes
    ----------
    path
        A file, or ``-`` for standard input.
    format
        One of ``taxonomist.datasets.table_formats.FORMATS``. If None, determined by the suffix or
        the first bytes.
    encoding
        Encoding of text formats.
    delimiter
        Delimiter of a CSV file. If None, the most frequent of ``,`` ``;`` tab and ``|`` in its
        first line.
    """

    path: str
    format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None

    @property
    def name(self) -> str:
        """The name of the source in messages."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    @property
    def suffix(self) -> str:
        """The suffix in lower case, without ``.gz``."""
        return Path(Path(self.path).name.lower().removesuffix(".gz")).suffix


class TableFile:
    """A context manager that opens a source and closes it at the end.

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
        """Return the file as a stream of decompressed bytes."""
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
            raise gzip.BadGzipFile(f"it starts with {mark!r}")
        return stream

    def seekable(self) -> BinaryIO:
        """Return the bytes as a seekable file, copied to a temporary file if necessary."""
        if self._stream.seekable():
            return cast("BinaryIO", self._stream)
        spooled = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        shutil.copyfileobj(self._stream, spooled)
        return cast("BinaryIO", spooled)

    def text(self) -> IO[str]:
        """Return the decoded text, with unchanged line breaks.

        Raises
        ------
        FormatError
            If the encoding is unknown or evidently wrong.
        """
        encoding = self._encoding()
        if encoding == "utf-8":
            if self.head.startswith(_UTF_16_MARKS):
                raise FormatError(
                    f"{self.source.name} is not UTF-8 but looks like utf-16. Specify its encoding."
                )
            encoding = "utf-8-sig"
        text = io.TextIOWrapper(self._stream, encoding, newline="")
        # Detach instead of closing: standard input must stay open.
        self._stack.callback(text.detach)
        return text

    def _encoding(self) -> str:
        """Return the standard name of the encoding."""
        try:
            io.TextIOWrapper(io.BytesIO(), self.source.encoding)
            return codecs.lookup(self.source.encoding).name
        except LookupError as error:
            raise FormatError(f"{self.source.name} cannot be decoded: {error}.") from error

    def on_close(self, function: Callable[..., object], *given: object) -> None:
        """Call a function when the file is closed."""
        self._stack.callback(function, *given)

    def fault(self, error: Exception, line: int | None = None) -> FormatError:
        """Return a ``FormatError`` that explains one of the errors in ``DAMAGED``.

        Parameters
        ----------
        error
            The error raised by reading the file.
        line
            The last line that could be read, if known.
        """
        name = self.source.name
        if not isinstance(error, UnicodeDecodeError):
            return FormatError(f"{name} is not a complete gzip file: {error}.")
        place = name if line is None else f"{name}, after line {line}"
        return FormatError(
            f"{place}: the text is not valid {self.source.encoding} ({error.reason}). Specify its "
            "encoding, such as cp1252 or utf-16."
        )
