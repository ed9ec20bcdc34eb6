"""Find the encoding of a text while it is read.

A text with a byte order mark has the encoding of that mark; one with many zero bytes is UTF-16.
Others are read as UTF-8 until a byte does not fit. If everything before it was ASCII, the text is
read on as Windows-1252 (cp1252), or as Latin-1 if it has bytes that Windows-1252 does not define.
"""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import WriteableBuffer

__all__ = ["AsUTF8", "decoded", "unicode_encoding"]

CHUNK_BYTES = 1 << 16
"""Number of bytes to read at a time."""
SAMPLE_BYTES = 4096
"""Number of bytes in which to look for zero bytes."""
LEAST_ZEROS = 0.002
"""Share of zero bytes in UTF-16. Every delimiter and line break has one; in other encodings, a few
stray ones occur in damaged texts."""

# UTF-32 comes first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def unicode_encoding(head: bytes) -> str | None:
    """Return the encoding that the first bytes prove, or None if they prove none."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    sample = head[:SAMPLE_BYTES]
    n_even, n_odd = sample[::2].count(0), sample[1::2].count(0)
    if max(n_even, n_odd) < LEAST_ZEROS * len(sample):
        return None
    if n_odd and not n_even:
        return "utf-16-le"
    return "utf-16-be" if n_even and not n_odd else None


def decoded(data: bytes, on_found: Callable[[str], object]) -> str:
    """Return the text of a whole file; the function is called as by ``AsUTF8``."""
    encoding = unicode_encoding(data)
    if encoding is None:
        return io.BufferedReader(AsUTF8(io.BytesIO(data), on_found)).read().decode()
    if encoding != "utf-8-sig":
        on_found(encoding)
    return data.decode(encoding)


class AsUTF8(io.RawIOBase):
    """The bytes of a text without a mark, converted to UTF-8 if they are not.

    Parameters
    ----------
    stream
        A buffered stream of bytes.
    on_found
        Called with the name of the encoding if it is not UTF-8.
    """

    def __init__(self, stream: io.BufferedIOBase, on_found: Callable[[str], object]) -> None:
        super().__init__()
        self._stream = stream
        self._on_found = on_found
        self._encoding = "utf-8"
        self._is_proven = False
        self._incomplete = b""
        self._ready = memoryview(b"")
        self._is_at_end = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer with UTF-8, and return the number of bytes."""
        while not self._ready and not self._is_at_end:
            chunk = self._stream.read1(CHUNK_BYTES)
            self._is_at_end = not chunk
            self._ready = memoryview(self._converted(chunk))
        target = memoryview(buffer).cast("B")
        n_bytes = min(len(target), len(self._ready))
        target[:n_bytes] = self._ready[:n_bytes]
        self._ready = self._ready[n_bytes:]
        return n_bytes

    def _converted(self, chunk: bytes) -> bytes:
        if self._encoding != "utf-8":
            return self._from_single_bytes(chunk)
        data, self._incomplete = self._incomplete + chunk, b""
        if data.isascii():
            return data
        try:
            _, n_used = codecs.utf_8_decode(data, "strict", self._is_at_end)
        except UnicodeDecodeError:
            if self._is_proven or _is_mostly_utf8(data):
                raise
            self._encoding = "cp1252"
            found = self._from_single_bytes(data)
            self._on_found(self._encoding)
            return found
        self._incomplete = data[n_used:]
        self._is_proven |= not data[:n_used].isascii()
        return data[:n_used]

    def _from_single_bytes(self, data: bytes) -> bytes:
        try:
            return data.decode(self._encoding).encode()
        except UnicodeDecodeError:
            # Latin-1 has the same letters, and defines all bytes.
            self._encoding = "latin-1"
            return data.decode(self._encoding).encode()


def _is_mostly_utf8(data: bytes) -> bool:
    """Return whether more characters beyond ASCII are valid than not: damaged UTF-8."""
    text = data.decode("utf-8", "replace")
    n_bad = text.count("\ufffd")
    n_beyond = sum(character > "\x7f" for character in text)
    return n_beyond - n_bad > n_bad
