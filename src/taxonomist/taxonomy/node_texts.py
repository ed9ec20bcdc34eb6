"""Further texts of nodes: synonyms, definitions and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.errors import TaxonomyError, closest

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import NodeTextsLike

__all__ = ["KINDS", "NodeTexts", "as_data", "kind_of", "texts_of_nodes"]


class NodeTexts(NamedTuple):
    """The texts of a node beside its name, those of each kind in alphabetical order.

    Attributes
    ----------
    synonyms
        Other names.
    definitions
        What belongs to the node.
    notes
        Other texts.
    """

    synonyms: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        synonyms: Iterable[str] = (),
        definitions: Iterable[str] = (),
        notes: Iterable[str] = (),
    ) -> NodeTexts:
        """Return texts in alphabetical order, each once and none blank."""
        kinds = (synonyms, definitions, notes)
        return cls(*(tuple(sorted({text for text in kind if text.strip()})) for kind in kinds))

    @property
    def all(self) -> tuple[str, ...]:
        """All texts: synonyms, definitions, notes."""
        return tuple(chain.from_iterable(self))

    def changed(self, change: Callable[[str], str]) -> NodeTexts:
        """Return the texts after a change of each."""
        return NodeTexts.of(*(map(change, texts) for texts in self))


KINDS = NodeTexts._fields
"""The kinds of texts."""

_ALIASES = {
    "synonyms": ("synonym", "altlabel", "alt label", "alternative label", "hiddenlabel", "aliases"),
    "definitions": ("definition", "description", "descriptions"),
    "notes": ("note", "scopenote", "scope note", "comment", "comments"),
}
_KIND_OF = {name: kind for kind, names in _ALIASES.items() for name in (kind, *names)}


def kind_of(name: str) -> str | None:
    """Return the kind of texts that a column or a key holds, by its name; None if it holds none."""
    return _KIND_OF.get(name.strip().casefold().replace("_", " "))


def texts_of_nodes(
    given: NodeTextsLike | None, as_id: Callable[[object], str]
) -> dict[str, NodeTexts]:
    """Return ``NodeTexts`` by id, without nodes that have none.

    Parameters
    ----------
    given
        Texts by node: a string or several strings, which become notes; or a mapping from kinds
        (``"synonyms"``, ``"definitions"``, ``"notes"``) to them.
    as_id
        Returns the id of a node.

    Raises
    ------
    TaxonomyError
        If a kind is unknown, or if a text is not a string.
    """
    found = {}
    for node, texts in (given or {}).items():
        checked = _checked(node, texts._asdict() if isinstance(texts, NodeTexts) else texts)
        if any(checked):
            found[as_id(node)] = checked
    return found


def as_data(texts: NodeTexts) -> dict[str, list[str]]:
    """Return texts by kind, without kinds that have none."""
    return {kind: list(of_kind) for kind, of_kind in texts._asdict().items() if of_kind}


def _checked(node: object, texts: object) -> NodeTexts:
    """Return the texts of a node by kind."""
    by_kind: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name, of_kind in (texts if isinstance(texts, Mapping) else {"notes": texts}).items():
        kind = kind_of(name) if isinstance(name, str) else None
        if kind is None:
            raise TaxonomyError(
                f"The texts of {node!r} have the kind {name!r}; the kinds are {', '.join(KINDS)}."
                f"{closest(str(name), KINDS)}"
            )
        by_kind[kind] += _several(node, of_kind)
    return NodeTexts.of(**by_kind)


def _several(node: object, texts: object) -> list[str]:
    if texts is None or isinstance(texts, str):
        return [texts] if texts else []
    found: list[str] = []
    for text in texts if isinstance(texts, Iterable) else [texts]:
        if not isinstance(text, str):
            raise TaxonomyError(f"The texts of {node!r} must be strings. Got {text!r}.")
        found.append(text)
    return found
