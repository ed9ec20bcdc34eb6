"""SKOS vocabularies in Turtle, RDF/XML, JSON-LD, N-Triples and N3, read and written with rdflib.

``skos:broader`` and ``skos:narrower`` give the edges and ``skos:prefLabel`` the names, also as
SKOS-XL labels. Left out are blank nodes, concepts of other files to which only an edge leads, and
deprecated concepts unless there is one below them that is not deprecated. Concepts without a
broader one become top nodes, below a virtual root if there are several.

A virtual root is written as the concept scheme, not as a concept; the root's id becomes its
``skos:notation``, and the nodes below it become its top concepts. Ids that are addresses are kept:
``http:``, ``https:``, ``urn:``, ``info:`` and ``tag:``, with letters of any script. Other ids are
percent-encoded after a base address and kept as notations.
"""

from __future__ import annotations

import json
import re
import warnings
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from taxonomist.errors import (
    FormatError,
    ParameterError,
    TaxonomyWarning,
    closest,
    import_extra,
    some,
)
from taxonomist.taxonomy.build import is_artificial
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.formats.rdf_guard import checked_json_ld, checked_xml
from taxonomist.taxonomy.formats.skos_names import XL, ConceptNames

if TYPE_CHECKING:
    from collections.abc import Iterable

BASE = "urn:taxonomist:"
"""Prefix for the URIs of ids that are not addresses themselves."""

CHECKS = {"xml": checked_xml, "json-ld": checked_json_ld}
"""Checks of texts before they are parsed, by syntax."""

# RFC 3987 allows letters of all scripts; "[" and "]" only around an IPv6 address.
_ADDRESS = re.compile(
    r"""(https?://|urn:|info:|tag:)[^\s\x00-\x20<>"{}|\\^`\[\]\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]+"""
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(
    text: str,
    *,
    syntax: str,
    id: str = "uri",
    language: str = "en",
    scheme: str | None = None,
    base: str = BASE,
    outside: str = "drop",
    cycles: str = "error",
) -> Taxonomy:
    """Read a taxonomy from a SKOS vocabulary.

    Parameters
    ----------
    text
        The content of the file.
    syntax
        ``"turtle"``, ``"xml"``, ``"json-ld"``, ``"nt"`` or ``"n3"``.
    id
        What to use as node id: ``"uri"``; ``"notation"`` if a concept has one, otherwise its
        URI; or ``"fragment"``, the last part of the URI, after ``#``, ``/`` or ``:``.
    language
        Preferred language of the names, such as ``"en"`` or ``"en-GB"``. If there is no label in
        it, ``"en-GB"`` falls back to ``"en"``; then a label without a language tag is used, or
        else the one in the alphabetically first language.
    scheme
        URI of the concept scheme to read; all by default.
    base
        URIs with this prefix are ids that ``write`` encoded with this base; they are decoded.
    outside
        What to do with concepts to which ``skos:broader`` or ``skos:narrower`` leads but of which
        the file says nothing: ``"drop"`` counts them in a ``TaxonomyWarning`` and leaves them out;
        ``"keep"`` makes them nodes.
    cycles
        ``"error"``, or ``"break"`` to leave out edges; see ``Taxonomy.from_edges``.
    """
    if id not in ("uri", "notation", "fragment"):
        raise ParameterError(f"id must be 'uri', 'notation' or 'fragment'. Got {id!r} instead.")
    if outside not in ("drop", "keep"):
        raise ParameterError(f"outside must be 'drop' or 'keep'. Got {outside!r} instead.")
    vocabulary = _Vocabulary(text, syntax)
    if scheme is not None:
        vocabulary.keep_scheme(scheme)
    if outside == "drop":
        vocabulary.drop_outside()
    vocabulary.drop_deprecated()
    root, below = vocabulary.artificial_root()
    if not vocabulary.concepts:
        raise FormatError(vocabulary.why_empty())
    ids = _distinct({uri: vocabulary.id_of(uri, id, base) for uri in vocabulary.concepts})
    names = {ids[uri]: vocabulary.labels.name_of(uri, language) for uri in ids}
    edges = {(ids[parent], ids[child]) for parent, child in vocabulary.edges}
    if root is not None:
        top = vocabulary.notation(root)
        names[top] = vocabulary.labels.name_of(root, language)
        edges |= {(top, ids[uri]) for uri in below}
    return Taxonomy.from_edges(sorted(edges), names, nodes=sorted(names), cycles=cycles)


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
        Language tag of the names; none by default.
    """
    rdflib = import_extra("rdflib", "skos")
    skos, literal = rdflib.SKOS, rdflib.Literal
    if syntax == "xml":
        _check_xml((*taxonomy.nodes, *taxonomy.names))
    # Unlike the default store, this one keeps the insertion order.
    graph = rdflib.Graph("SimpleMemory", bind_namespaces="none")
    graph.bind("rdf", rdflib.RDF)
    graph.bind("skos", skos)
    uris = {node: rdflib.URIRef(_address(node, base)) for node in taxonomy.nodes}
    scheme = taxonomy.root if taxonomy.has_artificial_root else None
    for node, uri in uris.items():
        kind = skos.ConceptScheme if node == scheme else skos.Concept
        graph.add((uri, rdflib.RDF.type, kind))
        if str(uri) != node:
            graph.add((uri, skos.notation, literal(node)))
        if node in taxonomy.raw_names:
            graph.add((uri, skos.prefLabel, literal(taxonomy.name(node), lang=language)))
        for parent in taxonomy.parents(node):
            relation = skos.topConceptOf if parent == scheme else skos.broader
            graph.add((uri, relation, uris[parent]))
    text = str(graph.serialize(format=syntax))
    return _sorted_json(text) if syntax == "json-ld" else text


class _Vocabulary:
    """The concepts of an RDF graph and the edges between them."""

    def __init__(self, text: str, syntax: str) -> None:
        rdflib = import_extra("rdflib", "skos")
        if syntax in CHECKS:
            text = CHECKS[syntax](text)
        self.skos = rdflib.SKOS
        self.graph = rdflib.Graph(bind_namespaces="none")
        try:
            with warnings.catch_warnings():
                # rdflib's own JSON-LD parser triggers rdflib's deprecation warnings.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.graph.parse(data=text, format=syntax)
        except Exception as error:  # the parsers also raise IndexError and others
            reason = " ".join(str(error).split())
            raise FormatError(f"invalid {syntax}: {reason}") from error
        edges = {*self.graph.subject_objects(self.skos.narrower)}
        edges |= {(wide, narrow) for narrow, wide in self.graph.subject_objects(self.skos.broader)}
        concepts = {*self.graph.subjects(rdflib.RDF.type, self.skos.Concept)}.union(*edges)
        self.concepts = {uri for uri in concepts if isinstance(uri, rdflib.URIRef)}
        self.edges = edges
        self._keep(self.concepts)
        self.schemes = {
            *self.graph.subjects(rdflib.RDF.type, self.skos.ConceptScheme),
            *self.graph.objects(None, self.skos.inScheme),
        }
        self.labels = ConceptNames(self.graph, self.skos, rdflib.Namespace(XL))
        self._owl = rdflib.OWL

    def _keep(self, concepts: set[Any]) -> None:
        """Drop all other concepts and their edges."""
        self.concepts = self.concepts & concepts
        self.edges = {edge for edge in self.edges if self.concepts.issuperset(edge)}

    def drop_outside(self) -> None:
        """Drop concepts of which the file says nothing, except that edges lead to them."""
        described = {*self.graph.subjects(), *self.graph.objects(None, self.skos.hasTopConcept)}
        absent = self.concepts - described
        if not absent:
            return
        lost = [(str(a), str(b)) for a, b in self.edges if a in absent or b in absent]
        self._keep(described)
        warnings.warn(
            TaxonomyWarning(
                f"Left out concepts that are not in the file ({len(absent):,}) and the edges to "
                f"them ({len(lost):,}): {some(sorted(absent), 3)}. To make them nodes, read with "
                "outside='keep'.",
                lost,
            ),
            stacklevel=3,
        )

    def drop_deprecated(self) -> None:
        """Drop deprecated concepts unless there is one below them that is not deprecated."""
        deprecated = {
            uri
            for uri, value in self.graph.subject_objects(self._owl.deprecated)
            if str(value).lower() in ("true", "1")
        }
        # Dropping one in the middle would turn the concepts below it into tops.
        above: dict[Any, list[Any]] = {}
        for wide, narrow in self.edges:
            above.setdefault(narrow, []).append(wide)
        kept = self.concepts - deprecated
        waiting = list(kept)
        while waiting:
            fresh = [wide for wide in above.get(waiting.pop(), ()) if wide not in kept]
            kept.update(fresh)
            waiting += fresh
        self._keep(kept)

    def why_empty(self) -> str:
        """Return the message for a file without concepts."""
        if (None, None, self._owl.Class) in self.graph:
            return (
                "there is no skos:Concept in the file, only classes of an OWL ontology; convert it "
                "to SKOS or OBO first."
            )
        return "there is no skos:Concept in the file."

    def keep_scheme(self, scheme: str) -> None:
        """Drop everything outside a concept scheme."""
        found = {uri for uri in self.schemes if str(uri) == scheme}
        if not found:
            known = sorted(map(str, self.schemes))
            raise FormatError(
                f"no concept scheme {scheme!r}; the schemes are {some(known)}."
                f"{closest(scheme, known)}"
            )
        self.schemes = found
        uri = min(found)
        self._keep({*self.graph.subjects(self.skos.inScheme, uri)} | self._tops(uri))

    def artificial_root(self) -> tuple[Any, set[Any]]:
        """Return the scheme that represents a virtual root, if any, and its top concepts."""
        for uri in sorted(self.schemes):
            if is_artificial(self.notation(uri)):
                return uri, self._tops(uri) & self.concepts
        return None, set()

    def notation(self, uri: Any) -> str:
        """Return the alphabetically first notation, or an empty string."""
        notations = self.graph.objects(uri, self.skos.notation)
        return min((str(notation).strip() for notation in notations), default="")

    def id_of(self, uri: Any, kind: str, base: str) -> str:
        """Return the id of a concept, as ``read`` documents it."""
        if kind == "notation" and (notation := self.notation(uri)):
            return notation
        if uri.startswith(base):
            return unquote(uri.removeprefix(base))
        return re.split("[#/:]", uri.rstrip("#/:"))[-1] if kind == "fragment" else str(uri)

    def _tops(self, scheme: Any) -> set[Any]:
        return {
            *self.graph.objects(scheme, self.skos.hasTopConcept),
            *self.graph.subjects(self.skos.topConceptOf, scheme),
        }


def _distinct(ids: dict[Any, str]) -> dict[Any, str]:
    """Return the ids by URI; raise if two concepts share an id."""
    taken: dict[str, Any] = {}
    for uri in sorted(ids):
        other = taken.setdefault(ids[uri], uri)
        if other != uri:
            raise FormatError(
                f"the concepts {str(other)!r} and {str(uri)!r} would both have the id "
                f'{ids[uri]!r}; read with id="uri".'
            )
    return ids


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
