"""SKOS vocabularies in Turtle, RDF/XML, JSON-LD, N-Triples and N3.

Files in Turtle and N-Triples are read triple by triple with pyoxigraph, all others with rdflib.

``skos:broader`` and ``skos:narrower`` give the edges and ``skos:prefLabel`` the names, also as
SKOS-XL labels. ``skos:altLabel`` and ``skos:hiddenLabel`` give synonyms, ``skos:definition``
definitions and ``skos:scopeNote`` notes, each in the best language of the concept. Left out are
blank nodes, concepts of other files to which only an edge leads, and deprecated concepts unless
there is one below them that is not deprecated. Concepts without a broader one become top nodes,
below a virtual root if there are several.

A virtual root is written as the concept scheme, not as a concept; the root's id becomes its
``skos:notation``, and the nodes below it become its top concepts. Ids that are addresses are kept:
``http:``, ``https:``, ``urn:``, ``info:`` and ``tag:``, with letters of any script. Other ids are
percent-encoded after a base address and kept as notations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.errors import FormatError, ParameterError
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.formats.skos_vocabulary import SkosVocabulary
from taxonomist.taxonomy.formats.skos_writer import BASE, write
from taxonomist.taxonomy.formats.triples import NotStreamedError, parsed, streamed

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["BASE", "read", "write"]


def read(
    text: str | BinaryIO,
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
        The content of the file; or the file, opened in binary mode, of which one triple after the
        other is read. pyoxigraph must be installed for the latter.
    syntax
        ``"turtle"``, ``"xml"``, ``"json-ld"``, ``"nt"`` or ``"n3"``.
    id
        What to use as node id: ``"uri"``; ``"notation"`` if a concept has one, otherwise its
        URI; or ``"fragment"``, the last part of the URI, after ``#``, ``/`` or ``:``.
    language
        Preferred language of names and texts, such as ``"en"`` or ``"en-GB"``. If there is no
        label in it, ``"en-GB"`` falls back to ``"en"``; then a label without a language tag is
        used, or else the one in the alphabetically first language.
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
    if isinstance(text, str):
        vocabulary = SkosVocabulary(parsed(text, syntax), language)
    else:
        vocabulary = SkosVocabulary(streamed(text, syntax), language)
        if not vocabulary.n_triples:
            raise NotStreamedError("there is no skos:Concept in the file.")
    if scheme is not None:
        vocabulary.keep_scheme(scheme)
    if outside == "drop":
        vocabulary.drop_outside()
    vocabulary.drop_deprecated()
    root, below = vocabulary.artificial_root()
    if not vocabulary.concepts:
        raise FormatError(vocabulary.why_empty())
    ids = _distinct({uri: vocabulary.id_of(uri, id, base) for uri in vocabulary.concepts})
    names = {ids[uri]: vocabulary.names.name_of(uri) for uri in ids}
    edges = {(ids[parent], ids[child]) for parent, child in vocabulary.edges}
    if root is not None:
        top = vocabulary.notation(root)
        names[top] = vocabulary.names.name_of(root)
        edges |= {(top, ids[uri]) for uri in below}
    texts = {ids[uri]: told for uri in ids if (told := vocabulary.names.texts_of(uri))}
    if root is not None and (told := vocabulary.names.texts_of(root)):
        texts[vocabulary.notation(root)] = told
    return Taxonomy.from_edges(
        sorted(edges), names, nodes=sorted(names), cycles=cycles, texts=texts
    )


def _distinct(ids: dict[str, str]) -> dict[str, str]:
    """Return the ids by URI; raise if two concepts share an id."""
    taken: dict[str, str] = {}
    for uri in sorted(ids):
        other = taken.setdefault(ids[uri], uri)
        if other != uri:
            raise FormatError(
                f"the concepts {other!r} and {uri!r} would both have the id "
                f'{ids[uri]!r}; read with id="uri".'
            )
    return ids
