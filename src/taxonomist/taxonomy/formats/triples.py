"""The triples of RDF files: streamed by pyoxigraph where it is installed, or read by rdflib.

rdflib keeps a whole graph in memory. pyoxigraph gives one triple after the other, about 7 times as
fast; Turtle and N-Triples are read with it. What it cannot read goes to rdflib, which is more
tolerant and reads all other syntaxes.

Terms are plain here: an address is a string, a blank node a string that begins with ``_:``, and a
literal a ``Literal``.
"""

from __future__ import annotations

import gzip
import logging
import warnings
import zlib
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from taxonomist.errors import FormatError, import_extra
from taxonomist.taxonomy.formats.rdf_guard import checked_json_ld, checked_xml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

STREAMED = {"turtle": "TURTLE", "nt": "N_TRIPLES"}
"""Syntaxes that pyoxigraph reads, with its names for them."""

CHECKS = {"xml": checked_xml, "json-ld": checked_json_ld}
"""Checks of texts before they are parsed, by syntax."""

_XSD = "http://www.w3.org/2001/XMLSchema#"


class Literal(NamedTuple):
    """A text with its language, if it has one."""

    text: str
    language: str | None


Triple = tuple[str, str, "str | Literal"]


class NotStreamedError(FormatError):
    """A file that pyoxigraph cannot read; rdflib may."""


def can_stream(syntax: str) -> bool:
    """Return whether files of a syntax can be read triple by triple."""
    return syntax in STREAMED and find_spec("pyoxigraph") is not None


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, which may be compressed with gzip, after its byte order mark."""
    with path.open("rb") as raw, ExitStack() as stack:
        start = raw.peek(3)[:3]
        stream = raw if start[:2] != b"\x1f\x8b" else stack.enter_context(gzip.open(raw))
        if start == b"\xef\xbb\xbf":
            raw.seek(3)
        yield cast("BinaryIO", stream)


def streamed(source: BinaryIO, syntax: str) -> Iterator[Triple]:
    """Yield the triples of a file as it is read.

    Raises
    ------
    NotStreamedError
        If the file is not valid; the message gives the line.
    """
    oxigraph = import_extra("pyoxigraph", "skos")
    blank, literal = oxigraph.BlankNode, oxigraph.Literal
    format = getattr(oxigraph.RdfFormat, STREAMED[syntax])
    try:
        for triple in oxigraph.parse(source, format=format, lenient=True):
            subject, value = triple.subject, triple.object
            name = f"_:{subject.value}" if type(subject) is blank else subject.value
            if ":" not in name:
                raise NotStreamedError(f"invalid {syntax}: <{name}> is not a whole address.")
            if type(value) is literal:
                found: str | Literal = _literal(value)
            else:
                found = f"_:{value.value}" if type(value) is blank else value.value
            yield name, triple.predicate.value, found
    except (SyntaxError, OSError, EOFError, ValueError, zlib.error) as error:
        raise NotStreamedError(f"invalid {syntax}: {error}") from error


def _literal(value: Any) -> Literal:
    """Return a literal of pyoxigraph's; numbers and dates are spelled as rdflib spells them."""
    kind = value.datatype.value
    if kind.startswith(_XSD) and kind != f"{_XSD}string":
        rdflib = import_extra("rdflib", "skos")
        with _misspelt_values():
            return Literal(str(rdflib.Literal(value.value, datatype=rdflib.URIRef(kind))), None)
    return Literal(value.value, value.language)


@contextmanager
def _misspelt_values() -> Iterator[None]:
    """Keep rdflib from logging a traceback for every misspelt date or number; its text is kept."""
    log = logging.getLogger("rdflib.term")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def parsed(text: str, syntax: str) -> Iterator[Triple]:
    """Yield the triples of a text, which rdflib reads as a whole.

    Raises
    ------
    FormatError
        If the text is not valid, or refers to what is outside of it.
    """
    rdflib = import_extra("rdflib", "skos")
    if syntax in CHECKS:
        text = CHECKS[syntax](text)
    graph = rdflib.Graph(bind_namespaces="none")
    try:
        with warnings.catch_warnings(), _misspelt_values():
            # rdflib's own JSON-LD parser triggers rdflib's deprecation warnings.
            warnings.simplefilter("ignore", DeprecationWarning)
            graph.parse(data=text, format=syntax)
    except Exception as error:  # the parsers also raise IndexError and others
        reason = " ".join(str(error).split())
        raise FormatError(f"invalid {syntax}: {reason}") from error

    def plain(term: Any) -> str | Literal:
        if isinstance(term, rdflib.Literal):
            return Literal(str(term), term.language)
        return f"_:{term}" if isinstance(term, rdflib.BNode) else str(term)

    for subject, predicate, value in graph:
        # A literal as subject is possible in N3.
        yield str(plain(subject)), str(predicate), plain(value)
