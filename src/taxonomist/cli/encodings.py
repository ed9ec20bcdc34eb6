r"""The encoding of standard output and standard error, chosen so that no character is lost.

Files and pipes get UTF-8, whatever the locale, the code page or ``PYTHONIOENCODING``, so that the
same command writes the same bytes everywhere. A terminal keeps its encoding. Characters that it
cannot show are written as escapes such as ``\u0416``; the lines of drawn trees and tables become
``|``, ``-`` and ``+``.
"""

from __future__ import annotations

import codecs
import unicodedata
from typing import IO

__all__ = ["keep_characters"]

ESCAPED = "taxonomist.escaped"
"""Name under which the error handler for terminals is registered."""

_LINES = {"─": "-", "│": "|", "…": "...", "–": "-", "’": "'"}


def keep_characters(stream: IO[str]) -> None:
    """Configure a stream so that every character is written, if need be as an escape."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:
        return
    if stream.isatty():
        codecs.register_error(ESCAPED, _escape)
        reconfigure(errors=ESCAPED)
    else:
        # Lone surrogates, for example from file names, are all that UTF-8 cannot represent.
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _escape(error: UnicodeError) -> tuple[str | bytes, int]:
    """Draw lines in ASCII, and write other characters that cannot be encoded as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_LINES.get(character) or _ascii(character) for character in text), error.end


def _ascii(character: str) -> str:
    if unicodedata.name(character, "").startswith("BOX DRAWINGS"):
        return "+"
    return character.encode("ascii", "backslashreplace").decode("ascii")
