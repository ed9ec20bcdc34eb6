"""OBO, the format of biological ontologies: ``[Term]`` stanzas with ``id``, ``name``, ``is_a``.

``synonym``, ``def`` and ``comment`` become the texts of a node. Obsolete terms, other stanzas and
other tags are ignored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.errors import FormatError, closest
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.formats.edges import EdgeLines
from taxonomist.taxonomy.node_texts import NodeTexts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_ESCAPES = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", "!": "\\!", "{": "\\{"}
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}

# A value ends before a comment; an id also ends before modifiers in braces. Many files do not
# escape an exclamation mark within a name, as in "Yahoo!".
_ID = re.compile(r"(?:\\.|[^\\!{])*")
_NAME = re.compile(r"(?:\\.|[^\\!]|(?<! )!)*")

_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"')

_MARKS = re.compile(r"[\\!{]")
"""Letters without which a value is as it stands."""

_ESCAPE_MARKS = re.compile(r"[\n\t\\!{\r]|^ | $")
"""What ``_escape`` changes or refuses."""


class _Term(NamedTuple):
    """The tags of a ``[Term]`` stanza with their lines."""

    line: int
    tags: list[tuple[int, str, str]]

    def first(self, tag: str) -> str:
        """Return the first value of a tag, or an empty string."""
        for _, other, value in self.tags:
            if other == tag:
                return value
        return ""


def read(text: str, *, relations: Collection[str] = ("is_a",), cycles: str = "error") -> Taxonomy:
    """Read a taxonomy from OBO terms.

    Parameters
    ----------
    text
        The content of the file.
    relations
        The relations that lead from a term to its parent: ``is_a``, or a type of
        ``relationship`` such as ``part_of``.
    cycles
        ``"error"``, or ``"break"`` to leave out edges; see ``Taxonomy.from_edges``.
    """
    wanted = {relations} if isinstance(relations, str) else set(relations)
    terms: dict[str, _Term] = {}
    for term in _terms(text):
        node = _value(_ID, term.first("id")).strip()
        if not node:
            raise FormatError(f"line {term.line}: the term has no id.")
        if node in terms:
            raise FormatError(
                f"line {term.line}: the term {node!r} is already on line {terms[node].line}."
            )
        if _value(_ID, term.first("is_obsolete")) != "true":
            terms[node] = term
    if not terms:
        raise FormatError("the file has no [Term] that is not obsolete.")
    names = {node: _value(_NAME, term.first("name")) for node, term in terms.items()}
    texts = {node: _texts(term) for node, term in terms.items()}
    edges = dict[tuple[str, str], None]()
    for relation in sorted(wanted):
        edges |= dict.fromkeys(_edges(terms, relation, cycles))
    return Taxonomy.from_edges(edges, names, nodes=terms, cycles=cycles, texts=texts)


def write(taxonomy: Taxonomy) -> str:
    """Write a taxonomy as OBO terms.

    Raises
    ------
    FormatError
        If an id, a name or a text contains a carriage return, which OBO cannot escape.
    """
    lines = ["format-version: 1.2"]
    ids = list(map(_escape, taxonomy.nodes))
    above, starts = taxonomy.parent_indices.tolist(), taxonomy.parent_indptr.tolist()
    for code, node in enumerate(taxonomy.nodes):
        lines += ["", "[Term]", f"id: {ids[code]}"]
        if node in taxonomy.raw_names:
            lines.append(f"name: {_escape(taxonomy.raw_names[node])}")
        lines += _written_texts(taxonomy.texts.get(node, NodeTexts()))
        lines += [f"is_a: {ids[parent]}" for parent in above[starts[code] : starts[code + 1]]]
    return "\n".join(lines) + "\n"


def _terms(text: str) -> Iterator[_Term]:
    term: _Term | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip(" \t\r")
        if line.startswith("["):
            if term:
                yield term
            term = _Term(number, []) if line.startswith("[Term]") else None
        elif term and line and not line.startswith("!"):
            tag, colon, value = line.partition(":")
            if not colon:
                raise FormatError(f"line {number}: expected 'tag: value'; got {line!r}.")
            term.tags.append((number, tag, value.strip(" \t")))
    if term:
        yield term


def _edges(terms: dict[str, _Term], relation: str, cycles: str) -> EdgeLines:
    """Return the edges of one relation."""
    edges = EdgeLines(cycles)
    for node, term in terms.items():
        for line, tag, value in term.tags:
            if tag == "relationship":
                tag, _, value = value.partition(" ")
            if tag != relation:
                continue
            parent = _value(_ID, value).strip()
            if parent not in terms:
                raise FormatError(
                    f"line {line}: the parent {parent!r} is not a term of the file, or is obsolete."
                    f"{closest(parent, terms)}"
                )
            edges.add(parent, node, line)
    return edges


def _texts(term: _Term) -> NodeTexts:
    """Return the texts of a term; those in quotes without what follows them."""
    found: dict[str, list[str]] = {tag: [] for tag in ("synonym", "def", "comment")}
    for _, tag, raw in term.tags:
        if tag in found:
            quoted = None if tag == "comment" else _QUOTED.match(raw)
            found[tag].append(_unescape(quoted[1]) if quoted else _value(_NAME, raw))
    return NodeTexts.of(*found.values())


def _written_texts(texts: NodeTexts) -> list[str]:
    """Return the lines for the texts of a term."""
    lines = [f'synonym: "{_escape_quoted(text)}" EXACT []' for text in texts.synonyms]
    lines += [f'def: "{_escape_quoted(text)}" []' for text in texts.definitions]
    return lines + [f"comment: {_escape(text)}" for text in texts.notes]


def _value(pattern: re.Pattern[str], raw: str) -> str:
    """Return a value without comment, modifiers and escapes."""
    if not _MARKS.search(raw):
        return raw.rstrip(" \t")
    match = pattern.match(raw)
    return _unescape(match[0].rstrip(" \t") if match else "")


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", lambda escape: _ESCAPED.get(escape[1], escape[1]), value)


def _escape_quoted(value: str) -> str:
    return _escape(value).replace('"', '\\"')


def _escape(value: str) -> str:
    if not _ESCAPE_MARKS.search(value):
        return value
    if "\r" in value:
        raise FormatError(f"OBO cannot hold the carriage return in {value!r}; rename the node.")
    escaped = "".join(_ESCAPES.get(letter, letter) for letter in value)
    # Readers would strip unescaped blanks at the ends.
    return re.sub(r"^ | $", r"\\W", escaped)
