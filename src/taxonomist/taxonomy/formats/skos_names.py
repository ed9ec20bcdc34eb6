"""The display names of SKOS concepts: preferred labels, SKOS-XL labels and languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

XL = "http://www.w3.org/2008/05/skos-xl#"
"""Namespace of SKOS-XL, in which labels are resources of their own."""


class ConceptNames:
    """Finds the names of concepts in an RDF graph.

    Parameters
    ----------
    graph
        The ``rdflib.Graph``.
    skos
        The SKOS namespace.
    xl
        The SKOS-XL namespace.
    """

    def __init__(self, graph: Any, skos: Any, xl: Any) -> None:
        self._graph = graph
        self._kinds = [(skos.prefLabel, xl.prefLabel), (skos.altLabel, xl.altLabel)]
        self._literal_form = xl.literalForm

    def name_of(self, uri: Any, language: str) -> str:
        """Return a concept's preferred label, or else an alternative one, or an empty string."""
        for plain, as_resource in self._kinds:
            ranked = [
                (rank(getattr(label, "language", None), language), str(label))
                for label in self._labels(uri, plain, as_resource)
            ]
            if ranked:
                return min(ranked)[1]
        return ""

    def _labels(self, uri: Any, plain: Any, as_resource: Any) -> Iterator[Any]:
        yield from self._graph.objects(uri, plain)
        for label in self._graph.objects(uri, as_resource):
            yield from self._graph.objects(label, self._literal_form)


def rank(tag: str | None, language: str) -> tuple[int, str]:
    """Return a sort key for a label's language, by the lookup of RFC 4647, section 3.4.

    The wanted language comes first, then, for ``en-GB``, the language without its last subtag,
    ``en``. At every step, variants of the language follow the language itself. Labels without a
    language come next, then all others in alphabetical order.
    """
    tag, wanted = (tag or "").lower(), language.lower()
    step = 0
    while wanted:
        if tag == wanted:
            return step, tag
        if tag.startswith(f"{wanted}-"):
            return step + 1, tag
        wanted = _shorter(wanted)
        step += 2
    return step, tag


def _shorter(language: str) -> str:
    """Remove the last subtag, and a single letter before it, which only introduces it."""
    subtags = language.split("-")[:-1]
    while subtags and len(subtags[-1]) == 1:
        subtags.pop()
    return "-".join(subtags)
