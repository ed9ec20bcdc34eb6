"""Write taxonomies as SKOS vocabularies.

Turtle and N-Triples are written here, concept by concept, as rdflib would write them; rdflib itself
would need a graph in memory, a kilobyte for each statement. It writes the other syntaxes.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import quote

from taxonomist.errors import FormatError, import_extra
from taxonomist.taxonomy.formats.skos_names import SKOS
from taxonomist.taxonomy.formats.skos_vocabulary import RDF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from taxonomist.taxonomy.core import Taxonomy

BASE = "urn:taxonomist:"
"""Prefix for the URIs of ids that are not addresses themselves."""

# RFC 3987 allows letters of all scripts; "[" and "]" only around an IPv6 address.
_ADDRESS = re.compile(
    r"""(https?://|urn:|info:|tag:)[^\s\x00-\x20<>"{}|\\^`\[\]\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]+"""
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_Statement = tuple[str, list[str]]
"""A predicate, as a word of SKOS or ``a``, and its objects, each as it is written."""


def write(taxonomy: Taxonomy, *, syntax: str, base: str = BASE, language: str | None = None) -> str:
    """Write a taxonomy as a SKOS vocabulary.

    Parameters
    ----------
    taxonomy
        The taxonomy to write.
    syntax
        ``"turtle"``, ``"xml"``, ``"json-ld"``, ``"nt"`` or ``"n3"``.
    base
        Prefix for the URIs of ids that are not addresses; pass the same value to ``read``.
    language
        Language tag of names and texts; none by default.
    """
    uris = [_address(node, base) for node in taxonomy.nodes]
    # rdflib abbreviates addresses in a namespace with a prefix, wherever it finds them.
    if syntax in ("turtle", "nt") and not any(uri.startswith((SKOS, RDF)) for uri in uris):
        rows = _statements(
            taxonomy, uris, language, _quoted_long if syntax == "turtle" else _quoted
        )
        return _turtle(taxonomy, uris, rows) if syntax == "turtle" else _n_triples(uris, rows)
    return _by_rdflib(taxonomy, syntax, uris, language)


def _by_rdflib(taxonomy: Taxonomy, syntax: str, addresses: list[str], language: str | None) -> str:
    rdflib = import_extra("rdflib", "skos")
    skos, literal = rdflib.SKOS, rdflib.Literal
    if syntax == "xml":
        told = (text for texts in taxonomy.texts.values() for text in texts.all)
        _check_xml((*taxonomy.nodes, *taxonomy.names, *told))
    # Unlike the default store, this one keeps the insertion order.
    graph = rdflib.Graph("SimpleMemory", bind_namespaces="none")
    graph.bind("rdf", rdflib.RDF)
    graph.bind("skos", skos)
    uris = dict(zip(taxonomy.nodes, map(rdflib.URIRef, addresses), strict=True))
    scheme = taxonomy.root if taxonomy.has_artificial_root else None
    for node, uri in uris.items():
        kind = skos.ConceptScheme if node == scheme else skos.Concept
        graph.add((uri, rdflib.RDF.type, kind))
        if str(uri) != node:
            graph.add((uri, skos.notation, literal(node)))
        for word, texts in _labels(taxonomy, node):
            for text in texts:
                graph.add((uri, skos[word], literal(text, lang=language)))
        for parent in taxonomy.parents(node):
            relation = skos.topConceptOf if parent == scheme else skos.broader
            graph.add((uri, relation, uris[parent]))
    text = str(graph.serialize(format=syntax))
    return _sorted_json(text) if syntax == "json-ld" else text


def _statements(
    taxonomy: Taxonomy, uris: list[str], language: str | None, quoted: Callable[[str], str]
) -> Iterator[list[_Statement]]:
    """Yield what is said of each node, in code order."""
    scheme = 0 if taxonomy.has_artificial_root else None
    tag = f"@{language}" if language else ""
    above, starts = taxonomy.parent_indices.tolist(), taxonomy.parent_indptr.tolist()
    for code, (node, (start, end)) in enumerate(zip(taxonomy.nodes, pairwise(starts), strict=True)):
        said: list[_Statement] = [("a", ["ConceptScheme" if code == scheme else "Concept"])]
        if uris[code] != node:
            said.append(("notation", [quoted(node)]))
        for word, texts in _labels(taxonomy, node):
            said.append((word, [quoted(text) + tag for text in texts]))
        for relation, tops in (("topConceptOf", True), ("broader", False)):
            parents = [f"<{uris[p]}>" for p in above[start:end] if (p == scheme) == tops]
            if parents:
                said.append((relation, parents))
        yield said


def _labels(taxonomy: Taxonomy, node: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the words of SKOS for the name and the texts of a node, each with what it says."""
    texts = taxonomy.texts.get(node)
    # Without a preferred label, readers would take a synonym for the name.
    if node in taxonomy.raw_names or (texts and texts.synonyms):
        yield "prefLabel", (taxonomy.name(node),)
    if texts:
        for word, of_kind in zip(("altLabel", "definition", "scopeNote"), texts, strict=True):
            if of_kind:
                yield word, of_kind


def _n_triples(uris: list[str], statements: Iterable[list[_Statement]]) -> str:
    lines = []
    for uri, said in zip(uris, statements, strict=True):
        for predicate, values in said:
            is_type = predicate == "a"
            word = f"{RDF}type" if is_type else f"{SKOS}{predicate}"
            lines += [
                f"<{uri}> <{word}> {f'<{SKOS}{value}>' if is_type else value} .\n"
                for value in values
            ]
    return "".join(lines)


def _turtle(taxonomy: Taxonomy, uris: list[str], statements: Iterable[list[_Statement]]) -> str:
    """Return a block for each node, those with the fewest nodes below first, as rdflib does."""
    blocks = []
    n_below = (taxonomy.child_indptr[1:] - taxonomy.child_indptr[:-1]).tolist()
    for uri, said in zip(uris, statements, strict=True):
        lines = [f"a skos:{said[0][1][0]}"]
        lines += [
            f"skos:{predicate} " + ",\n        ".join(sorted(values))
            for predicate, values in sorted(said[1:])
        ]
        blocks.append(f"<{uri}> " + " ;\n    ".join(lines) + " .\n\n")
    order = sorted(range(len(uris)), key=lambda code: (n_below[code], uris[code]))
    return f"@prefix skos: <{SKOS}> .\n\n" + "".join(blocks[code] for code in order)


def _quoted(text: str) -> str:
    """Return a literal on one line."""
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"').replace("\r", "\\r")
    return f'"{text}"'


def _quoted_long(text: str) -> str:
    """Return a literal in Turtle, in which a text of several lines has three quotes around it."""
    if "\n" not in text:
        return _quoted(text)
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if text.endswith('"') and not text.endswith('\\"'):
        text = text[:-1] + '\\"'
    return f'"""{text}"""'.replace("\r", "\\r")


def _address(node: str, base: str) -> str:
    if _ADDRESS.fullmatch(node) and not node.startswith((base, BASE)):
        return node
    return base + quote(node, safe="")


def _sorted_json(text: str) -> str:
    """Sort the nodes of a JSON-LD document, which rdflib writes in arbitrary order."""
    nodes = sorted(json.loads(text), key=itemgetter("@id"))
    return json.dumps(nodes, ensure_ascii=False, indent=1) + "\n"


def _check_xml(texts: Iterable[str]) -> None:
    """Raise if a text has a character that XML cannot represent."""
    for text in texts:
        if _NOT_XML.search(text):
            raise FormatError(f"XML cannot hold a character of {text!r}; write Turtle instead.")
