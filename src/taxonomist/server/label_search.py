"""Find nodes as people type: by words of their names and by codes."""

from __future__ import annotations

from bisect import bisect_right
from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import combining, normalize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taxonomist.taxonomy import Taxonomy

__all__ = ["LabelSearch", "folded", "rank"]

NOT_FOUND = 9
"""Rank of a node that does not match."""


def folded(text: str) -> str:
    """Return a text without accents, case and repeated spaces."""
    plain = "".join(c for c in normalize("NFKD", text) if not combining(c))
    return " ".join(plain.casefold().split())


class _Names(NamedTuple):
    """Folded id and names of a node, and its depth."""

    node: str
    code: str
    names: tuple[str, ...]
    depth: int


class LabelSearch:
    """An index of the nodes of a taxonomy.

    Parameters
    ----------
    taxonomy
        The taxonomy; a virtual root is not found.
    synonyms
        More names by node.
    """

    def __init__(
        self, taxonomy: Taxonomy, synonyms: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        first = int(taxonomy.has_artificial_root)
        more = synonyms or {}
        self.nodes = [
            _Names(
                node,
                folded(node),
                tuple(map(folded, [taxonomy.name(node), *more.get(node, ())])),
                int(taxonomy.depths[code]),
            )
            for code, node in enumerate(taxonomy.nodes)
            if code >= first
        ]
        # All codes and names in one text, which is searched much faster than node by node.
        parts = ["\0".join([each.code, *each.names]) for each in self.nodes]
        self._text = "\n".join(parts)
        self._ends = list(accumulate(len(part) + 1 for part in parts))

    def _candidates(self, word: str) -> Iterator[_Names]:
        """Yield the nodes whose code or names contain a word."""
        place = self._text.find(word)
        while place >= 0:
            node = bisect_right(self._ends, place)
            yield self.nodes[node]
            place = self._text.find(word, self._ends[node])

    def find(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best matches, best first.

        Whole codes and names come first, then beginnings of codes, of names and of words, then
        names with all words of the query; among equals, shorter names and higher nodes.
        """
        wanted = folded(query)
        if not wanted:
            return []
        words = wanted.split()
        longest = max(words, key=len)
        ranked = ((rank(each, wanted, words), each) for each in self._candidates(longest))
        found = [
            (place, len(each.names[0]), each.depth, each.node)
            for place, each in ranked
            if place < NOT_FOUND
        ]
        return [node for *_, node in nsmallest(limit, found)]


def rank(each: _Names, wanted: str, words: Sequence[str]) -> int:
    """Return how well a node matches, 0 for best."""
    if wanted == each.code or wanted in each.names:
        return 0
    if each.code.startswith(wanted):
        return 1
    return min(_rank_of_name(name, wanted, words) for name in each.names)


def _rank_of_name(name: str, wanted: str, words: Sequence[str]) -> int:
    if name.startswith(wanted):
        return 2
    if f" {wanted}" in name:
        return 3
    if all(f" {word}" in f" {name}" for word in words):
        return 4
    if wanted in name:
        return 5
    return 6 if all(word in name for word in words) else NOT_FOUND
