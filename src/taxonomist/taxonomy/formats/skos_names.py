"""The names and texts of SKOS concepts: labels, SKOS-XL labels, notes and languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.taxonomy.node_texts import KINDS, NodeTexts

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist.taxonomy.formats.triples import Literal

SKOS = "http://www.w3.org/2004/02/skos/core#"
XL = "http://www.w3.org/2008/05/skos-xl#"
"""Namespace of SKOS-XL, in which labels are resources of their own."""

Ranked = tuple[tuple[int, str], str]
"""Rank of a label's language, and the label."""
RankedTexts = tuple[tuple[int, str], list[str]]
"""Rank of a language, and texts in it."""


class ConceptNames:
    """Collects the labels and notes of concepts, and finds their names and texts.

    Only the best preferred and the best alternative label of every concept are kept, and the texts
    in the best language.

    Parameters
    ----------
    language
        Preferred language of the names.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._ranks: dict[str | None, tuple[int, str]] = {}
        self._plain: dict[str, dict[str, Ranked]] = {"prefLabel": {}, "altLabel": {}}
        self._resources: dict[str, dict[str, list[str]]] = {"prefLabel": {}, "altLabel": {}}
        self._forms: dict[str, Ranked] = {}
        self._texts: dict[str, dict[str, RankedTexts]] = {kind: {} for kind in KINDS}

    @property
    def predicates(self) -> dict[str, Callable[[str, str | Literal], None]]:
        """What takes subject and object of the statements about labels, by predicate."""
        return {
            f"{SKOS}prefLabel": lambda uri, label: self._take(self._plain["prefLabel"], uri, label),
            f"{SKOS}altLabel": lambda uri, label: self._take(self._plain["altLabel"], uri, label),
            f"{XL}prefLabel": lambda uri, label: self._refer("prefLabel", uri, label),
            f"{XL}altLabel": lambda uri, label: self._refer("altLabel", uri, label),
            f"{XL}literalForm": lambda label, form: self._take(self._forms, label, form),
            f"{SKOS}hiddenLabel": lambda uri, label: self._tell("synonyms", uri, label),
            f"{SKOS}definition": lambda uri, text: self._tell("definitions", uri, text),
            f"{SKOS}scopeNote": lambda uri, text: self._tell("notes", uri, text),
        }

    def _take(self, best: dict[str, Ranked], uri: str, label: str | Literal) -> None:
        found = self._ranked(label)
        known = best.get(uri)
        if known is None or found < known:
            best[uri] = found
        if best is self._plain["altLabel"]:
            self._tell("synonyms", uri, label)

    def _tell(self, kind: str, uri: str, label: str | Literal) -> None:
        """Keep a text, and drop the texts of worse languages."""
        language, text = self._ranked(label)
        known = self._texts[kind].get(uri)
        if known is None or language < known[0]:
            self._texts[kind][uri] = language, [text]
        elif language == known[0]:
            known[1].append(text)

    def _ranked(self, label: str | Literal) -> Ranked:
        text, tag = (label, None) if isinstance(label, str) else label
        if tag not in self._ranks:
            self._ranks[tag] = rank(tag, self._language)
        return self._ranks[tag], text

    def _refer(self, kind: str, uri: str, label: str | Literal) -> None:
        if isinstance(label, str):
            self._resources[kind].setdefault(uri, []).append(label)

    def name_of(self, uri: str) -> str:
        """Return a concept's preferred label, or else an alternative one, or an empty string."""
        for kind, plain in self._plain.items():
            labels = self._resources[kind].get(uri, ())
            ranked = [self._forms[label] for label in labels if label in self._forms]
            if uri in plain:
                ranked.append(plain[uri])
            if ranked:
                return min(ranked)[1]
        return ""

    def texts_of(self, uri: str) -> NodeTexts | None:
        """Return a concept's texts; None if there are none."""
        for label in self._resources["altLabel"].get(uri, ()):
            if label in self._forms:
                (language, text), best = self._forms[label], self._texts["synonyms"]
                known = best.get(uri, (language, []))
                if language <= known[0]:
                    kept = known[1] if language == known[0] else []
                    best[uri] = language, [*kept, text]
        found = [of_kind[uri][1] if uri in of_kind else [] for of_kind in self._texts.values()]
        if not any(found):
            return None
        if uri not in self._plain["prefLabel"] and uri not in self._resources["prefLabel"]:
            # An alternative label that stands for the name is no synonym.
            name = self.name_of(uri)
            found[0] = [text for text in found[0] if text != name]
        return NodeTexts.of(*found)


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
