"""Open the file of a table as decompressed bytes or decoded text.

Files compressed with gzip and zip archives are recognised by their first bytes; ``-`` is standard
input.
"""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self, cast

from taxonomist._encodings import AsUTF8, unicode_encoding
from taxonomist.datasets.archive import ZIP_MARKS, is_workbook, only_table
from taxonomist.errors import FormatError, refuse_address

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DAMAGED", "TableFile", "TableSource"]

STANDARD_INPUT = "-"
HEAD_BYTES = 1 << 16
"""Number of bytes to inspect before reading a file."""

DAMAGED = (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile)
"""Exceptions raised by reading a file that is damaged or has another encoding."""

GZIP_MARK = b"\x1f\x8b"


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
        Encoding of text formats. If None, it is found: UTF-8, UTF-16, cp1252 or Latin-1.
    delimiter
        Delimiter of a CSV file. If None, the one of ``,`` ``;`` tab and ``|`` that fits its first
        lines.
    sheet
        Name of the sheet of a workbook. If None, the first one.
    """

    path: str
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None

    @property
    def name(self) -> str:
        """The name of the source in messages."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    @property
    def suffix(self) -> str:
        """The suffix in lower case, without ``.gz``."""
        return suffix_of(self.path)


def suffix_of(path: str) -> str:
    """Return the suffix of a path in lower case, without ``.gz``."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


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
    suffix
        The suffix of the table, which may be a file in an archive.
    head
        The first bytes, decompressed.
    notes
        What users should know about how the file is read, such as its encoding.
    """

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self.suffix = source.suffix
        self.head = b""
        self.notes: list[str] = []
        self._stack = ExitStack()
        self._stream: Any = None

    def __enter__(self) -> Self:
        refuse_address(self.source.path)
        try:
            self._stream = self._opened()
            self.head = self._stream.peek(HEAD_BYTES)
        except BaseException as error:
            self._stack.close()
            if isinstance(error, DAMAGED):
                raise self.fault(error) from error
            raise
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
        mark = stream.peek(4)[:4]
        if mark.startswith(GZIP_MARK):
            unpacked: Any = self._stack.enter_context(gzip.GzipFile(fileobj=stream))
            return io.BufferedReader(unpacked)
        if mark and self.source.path.lower().endswith(".gz"):
            raise gzip.BadGzipFile(f"it starts with {mark[:2]!r}")
        return self._unzipped(stream) if mark in ZIP_MARKS else stream

    def _unzipped(self, stream: BinaryIO) -> BinaryIO:
        """Return the only file of a zip archive, or the archive itself if it is a workbook."""
        whole = self._seekable(stream)
        try:
            archive = self._stack.enter_context(zipfile.ZipFile(whole))
            if is_workbook(archive):
                whole.seek(0)
                return whole
            member = only_table(self.source.name, archive)
            self.suffix = suffix_of(member.filename)
            opened = self._stack.enter_context(archive.open(member))
            return io.BufferedReader(cast("io.RawIOBase", opened))
        except (NotImplementedError, OSError, struct.error) as error:
            # A damaged header asks for a version, a place or a compression that does not exist.
            raise zipfile.BadZipFile(str(error)) from error

    def seekable(self) -> BinaryIO:
        """Return the bytes as a seekable file, copied to a temporary file if necessary."""
        return self._seekable(self._stream)

    def _seekable(self, stream: BinaryIO) -> BinaryIO:
        if stream.seekable():
            return stream
        spooled = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        shutil.copyfileobj(stream, spooled)
        spooled.seek(0)
        return cast("BinaryIO", spooled)

    def text(self) -> IO[str]:
        """Return the decoded text, with unchanged line breaks.

        Raises
        ------
        FormatError
            If the encoding is unknown or evidently wrong.
        """
        stream, encoding = self._stream, self._encoding()
        if encoding is None:
            encoding = unicode_encoding(self.head)
            if encoding is None:
                stream = io.BufferedReader(AsUTF8(self._stream, self._note_encoding))
                encoding = "utf-8"
            elif encoding != "utf-8-sig":
                self._note_encoding(encoding)
        elif encoding == "utf-8":
            found = unicode_encoding(self.head)
            if found not in (None, "utf-8-sig"):
                raise FormatError(
                    f"{self.source.name} is not UTF-8 but looks like {found}. Specify its encoding."
                )
            encoding = "utf-8-sig"
        text = io.TextIOWrapper(stream, encoding, newline="")
        # Detach instead of closing: standard input must stay open.
        self._stack.callback(text.detach)
        return text

    def _note_encoding(self, encoding: str) -> None:
        self.notes.append(f"{self.source.name} is not UTF-8; it is read as {encoding}.")

    def _encoding(self) -> str | None:
        """Return the standard name of the given encoding."""
        if self.source.encoding is None:
            return None
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
            kind = "zip" if isinstance(error, zipfile.BadZipFile) else "gzip"
            return FormatError(f"{name} is not a complete {kind} file: {error}.")
        place = name if line is None else f"{name}, after line {line}"
        return FormatError(
            f"{place}: the text is not valid {error.encoding} ({error.reason}). Specify its "
            "encoding, such as cp1252 or utf-16."
        )
