"""The concepts of a SKOS vocabulary, collected from triples that pass by once."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING
from urllib.parse import unquote

from taxonomist.errors import FormatError, TaxonomyWarning, closest, some
from taxonomist.taxonomy.build import is_artificial
from taxonomist.taxonomy.formats.skos_names import SKOS, ConceptNames

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.taxonomy.formats.triples import Literal, Triple

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
OWL = "http://www.w3.org/2002/07/owl#"


class SkosVocabulary:
    """The concepts of an RDF graph and the edges between them.

    Only what makes a taxonomy is kept, and every address once, so that memory does not grow with
    notes, matches and other statements.

    Parameters
    ----------
    triples
        Subject, predicate and object of every statement.
    language
        Preferred language of the names.
    """

    def __init__(self, triples: Iterable[Triple], language: str) -> None:
        self.concepts: set[str] = set()
        self.edges: set[tuple[str, str]] = set()
        self.schemes: set[str] = set()
        self.names = ConceptNames(language)
        self.n_triples = 0
        self._described: dict[str, str] = {}
        self._members: dict[str, set[str]] = {}
        self._tops: dict[str, set[str]] = {}
        self._notations: dict[str, str] = {}
        self._deprecated: set[str] = set()
        self._has_classes = False
        self._collect(triples)
        self._keep(self.concepts)

    def _collect(self, triples: Iterable[Triple]) -> None:
        once = self._described.setdefault
        take = {
            f"{SKOS}broader": self._broader,
            f"{SKOS}narrower": lambda wide, narrow: self._broader(narrow, wide),
            f"{RDF}type": self._type,
            f"{SKOS}inScheme": self._in_scheme,
            f"{SKOS}topConceptOf": self._top_of,
            f"{SKOS}hasTopConcept": self._has_top,
            f"{SKOS}notation": self._notation,
            f"{OWL}deprecated": self._deprecate,
            **self.names.predicates,
        }
        known: dict[str, str] = {}
        for n, (subject, predicate, value) in enumerate(triples, start=1):
            subject = once(subject, subject)
            if predicate in take:
                if type(value) is str:
                    value = self._described.get(value) or known.setdefault(value, value)
                take[predicate](subject, value)
            elif value == f"{OWL}Class":
                self._has_classes = True
            self.n_triples = n

    def _broader(self, narrow: str | Literal, wide: str | Literal) -> None:
        ends = [end for end in (wide, narrow) if isinstance(end, str) and is_address(end)]
        self.concepts.update(ends)
        if len(ends) == 2:
            self.edges.add((ends[0], ends[1]))

    def _type(self, subject: str, kind: str | Literal) -> None:
        if kind == f"{SKOS}Concept" and is_address(subject):
            self.concepts.add(subject)
        elif kind == f"{SKOS}ConceptScheme":
            self.schemes.add(subject)
        elif kind == f"{OWL}Class":
            self._has_classes = True

    def _in_scheme(self, subject: str, scheme: str | Literal) -> None:
        name = _text(scheme)
        self.schemes.add(name)
        self._members.setdefault(name, set()).add(subject)

    def _top_of(self, subject: str, scheme: str | Literal) -> None:
        self._tops.setdefault(_text(scheme), set()).add(subject)

    def _has_top(self, scheme: str, subject: str | Literal) -> None:
        top = _text(subject)
        self._tops.setdefault(scheme, set()).add(self._described.setdefault(top, top))

    def _notation(self, subject: str, value: str | Literal) -> None:
        text = _text(value).strip()
        self._notations[subject] = min(text, self._notations.get(subject, text))

    def _deprecate(self, subject: str, value: str | Literal) -> None:
        if _text(value).lower() in ("true", "1"):
            self._deprecated.add(subject)

    def _keep(self, concepts: set[str]) -> None:
        """Drop all other concepts and their edges."""
        self.concepts = self.concepts & concepts
        self.edges = {edge for edge in self.edges if self.concepts.issuperset(edge)}

    def drop_outside(self) -> None:
        """Drop concepts of which the file says nothing, except that edges lead to them."""
        absent = self.concepts - self._described.keys()
        if not absent:
            return
        lost = [edge for edge in self.edges if not absent.isdisjoint(edge)]
        self._keep(self.concepts - absent)
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
        kept = self.concepts - self._deprecated
        if len(kept) == len(self.concepts):
            return
        # Dropping one in the middle would turn the concepts below it into tops.
        above: dict[str, list[str]] = {}
        for wide, narrow in self.edges:
            above.setdefault(narrow, []).append(wide)
        waiting = list(kept)
        while waiting:
            fresh = [wide for wide in above.get(waiting.pop(), ()) if wide not in kept]
            kept.update(fresh)
            waiting += fresh
        self._keep(kept)

    def why_empty(self) -> str:
        """Return the message for a file without concepts."""
        if self._has_classes:
            return (
                "there is no skos:Concept in the file, only classes of an OWL ontology; convert it "
                "to SKOS or OBO first."
            )
        return "there is no skos:Concept in the file."

    def keep_scheme(self, scheme: str) -> None:
        """Drop everything outside a concept scheme."""
        if scheme not in self.schemes:
            known = sorted(self.schemes)
            raise FormatError(
                f"no concept scheme {scheme!r}; the schemes are {some(known)}."
                f"{closest(scheme, known)}"
            )
        self.schemes = {scheme}
        self._keep(self._members.get(scheme, set()) | self._tops.get(scheme, set()))

    def artificial_root(self) -> tuple[str | None, set[str]]:
        """Return the scheme that represents a virtual root, if any, and its top concepts."""
        for uri in sorted(self.schemes):
            if is_artificial(self.notation(uri)):
                return uri, self._tops.get(uri, set()) & self.concepts
        return None, set()

    def notation(self, uri: str) -> str:
        """Return the alphabetically first notation, or an empty string."""
        return self._notations.get(uri, "")

    def id_of(self, uri: str, kind: str, base: str) -> str:
        """Return the id of a concept, as ``skos.read`` documents it."""
        if kind == "notation" and (notation := self.notation(uri)):
            return notation
        if uri.startswith(base):
            return unquote(uri.removeprefix(base))
        return re.split("[#/:]", uri.rstrip("#/:"))[-1] if kind == "fragment" else uri


def is_address(term: str) -> bool:
    """Return whether a term is an address, not a blank node."""
    return not term.startswith("_:")


def _text(term: str | Literal) -> str:
    return term if isinstance(term, str) else term.text
