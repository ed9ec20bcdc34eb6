r"""Text for terminals: control characters become visible escapes.

Names, ids and texts come from files of others. A terminal would obey the control characters in
them: move the cursor, overwrite lines, change the title, or reverse the order of letters.
Everything that people read is therefore shown with escapes such as ``\u001b``. Data for programs
(pipes, files) keep their characters.
"""

from __future__ import annotations

import re

__all__ = ["visible", "visible_line"]

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROLS = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}]")
_LINE_CONTROLS = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDI}]")


def visible(text: str) -> str:
    """Return a text with escapes for control characters, except tabs and line feeds.

    Control characters are those of ASCII and Latin-1 (with the escape character, carriage returns
    and backspaces), line and paragraph separators, and marks that change the direction of text.
    JSON stays the same data, because it has the same escapes.
    """
    return _CONTROLS.sub(_escape, text)


def visible_line(text: str) -> str:
    """Return a text on one line: as ``visible``, with escapes for tabs and line feeds too."""
    return _LINE_CONTROLS.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
