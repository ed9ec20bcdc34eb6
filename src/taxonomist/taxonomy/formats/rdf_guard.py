"""Checks of RDF/XML and JSON-LD texts before rdflib reads them.

A vocabulary may come from anyone, so reading it must neither take unbounded time or memory nor open
anything else:

- RDF/XML may declare entities, which many editors use as abbreviations of addresses. Entities that
  contain other entities, refer to files or addresses, or make the text much longer are refused, and
  so are default attributes.
- JSON-LD may refer to contexts by address. These are neither downloaded nor opened: only contexts
  inside the text are used.
"""

from __future__ import annotations

import json
import re
from typing import Any
from xml.parsers import expat

from taxonomist.errors import FormatError

__all__ = ["checked_json_ld", "checked_xml"]

MAX_ENTITY_LENGTH = 2_000
"""Maximum length of an entity, which is enough for the address of a namespace."""

MAX_EXPANSION = 10
"""Maximum length of all expanded entities, as a multiple of the length of the text."""

_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*\?>")


class _Checked(Exception):  # noqa: N818
    """The part of an XML text that may contain declarations is over."""


def checked_xml(text: str) -> str:
    """Return an XML text that is safe to parse.

    The XML declaration is removed, because the text is decoded already: a parser that followed its
    encoding would read another text than the one that was checked.

    Raises
    ------
    FormatError
        If the text has declarations that can make a parser work endlessly or open other files.
    """
    text = _DECLARATION.sub(lambda found: re.sub(r"\S", " ", found.group()), text, count=1)
    declarations = _Declarations()
    try:
        declarations.read(text)
    except _Checked:
        pass
    except expat.ExpatError as error:
        raise FormatError(f"invalid xml: {error}") from error
    uses = re.findall("&([^&;#]+);", text)
    total = sum(declarations.lengths.get(name, 0) for name in uses)
    if total > MAX_EXPANSION * len(text):
        raise FormatError(
            f"the XML entities would expand a text of {len(text):,} characters to {total:,}; write "
            "the file without entities."
        )
    return text


class _Declarations:
    """The entities that an XML text declares before its first element."""

    def __init__(self) -> None:
        self.lengths: dict[str, int] = {}

    def read(self, text: str) -> None:
        """Parse the text up to the end of the declarations."""
        parser = expat.ParserCreate()
        parser.EntityDeclHandler = self._entity
        parser.AttlistDeclHandler = _refuse_attributes
        parser.EndDoctypeDeclHandler = _stop
        parser.StartElementHandler = _stop
        parser.Parse(text, True)

    def _entity(self, name: str, is_parameter: int, value: str | None, *_: Any) -> None:
        if is_parameter or value is None:
            raise FormatError(
                f"the XML entity {name!r} refers to another file or changes the document type, "
                "which is not supported; write the file without entities."
            )
        if "&" in value or "<" in value or len(value) > MAX_ENTITY_LENGTH:
            raise FormatError(
                f"the XML entity {name!r} contains other entities or markup, or is longer than "
                f"{MAX_ENTITY_LENGTH:,} characters; write the file without entities."
            )
        self.lengths.setdefault(name, len(value))


def _refuse_attributes(element: str, *_: Any) -> None:
    raise FormatError(
        f"the document type declares attributes of {element!r}, which is not supported; remove the "
        "<!ATTLIST ...> declarations."
    )


def _stop(*_: Any) -> None:
    raise _Checked


def checked_json_ld(text: str) -> str:
    """Return a JSON-LD text whose contexts are all inside the text.

    Raises
    ------
    FormatError
        If the text is not JSON, or refers to a context by its address.
    """
    try:
        document = json.loads(text)
        stack = [document]
        while stack:
            value = stack.pop()
            if isinstance(value, dict):
                _check_contexts(value)
                stack.extend(value.values())
            elif isinstance(value, list):
                stack.extend(value)
        # Written again, so that rdflib reads the same document, even if keys are repeated.
        return json.dumps(document)
    except json.JSONDecodeError as error:
        raise FormatError(f"invalid json-ld: {error}") from error
    except RecursionError as error:
        raise FormatError("invalid json-ld: the objects are nested too deeply.") from error


def _check_contexts(node: dict[str, Any]) -> None:
    """Raise if an object refers to a context by its address."""
    stack = [node.get("@context"), node.get("@import")]
    while stack:
        context = stack.pop()
        if isinstance(context, list):
            stack.extend(context)
        elif isinstance(context, str):
            raise FormatError(
                f"the JSON-LD context {context!r} is outside the file, and is neither downloaded "
                "nor opened. Copy its content into the file, or convert the file to Turtle."
            )
