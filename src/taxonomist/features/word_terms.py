"""The columns of words and of the character n-grams in them, which are kept for words that return.

Few words make up most of all texts, so that most n-grams are neither made nor looked up again.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, count, repeat
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from taxonomist.compiled.term_index import (
    FoundTerms,
    TermIndex,
    WordPoints,
    fill_slots,
    find_terms,
)
from taxonomist.compiled.words import TermsOfWords
from taxonomist.features.terms import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Integers
    from taxonomist.features.term_table import TermTable

__all__ = ["KnownTerms", "WordTerms", "finder_in"]

KnownTerms: TypeAlias = "dict[str, int] | TermTable"
"""The columns of terms."""

MOST_WORDS = 2**17
"""Words that are kept at most, beside as many as there are terms."""
MOST_GRAMS = 2**21
"""Known n-grams of words that are kept at most."""
WORDS_AT_ONCE = 4096
"""Words whose n-grams are looked up at once, which bounds memory."""
AROUND = 4
"""Characters around a word, when it is written down: two quotes and two spaces."""

_lock = Lock()


class WordTerms:
    """The terms of a vocabulary that words are or have.

    Parameters
    ----------
    vocabulary
        The columns of terms. Character n-grams are in quotes.
    characters
        The smallest and largest number of characters in a term, or None for no such terms.
    """

    def __init__(self, vocabulary: KnownTerms, characters: tuple[int, int] | None) -> None:
        self.vocabulary, self.characters = vocabulary, characters
        self._places: list[Codes] = []
        self._forget()

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to copy this: without what is kept."""
        return type(self), (self.vocabulary, self.characters)

    def _forget(self) -> None:
        self._number: dict[str, int] = {}
        self._points = _Growing(np.empty(0, np.uint32))
        self._stops = _Growing(np.zeros(1, np.intp))
        self._term = _Growing(np.empty(0, np.int32))
        self._ends = _Growing(np.zeros(1, np.intp))
        self._gram = _Growing(np.empty(0, np.int32))
        self._times = _Growing(np.empty(0, np.int32))

    def of(self, words: list[str]) -> TermsOfWords:
        """Return what is known of distinct words."""
        with _lock:
            numbers = np.fromiter(map(self._number.get, words, repeat(-1)), np.intp, len(words))
            is_new = numbers < 0
            numbers[is_new] = np.arange(is_new.sum()) + len(self._number)
            new = [words[place] for place in np.flatnonzero(is_new).tolist()]
            for begin in range(0, len(new), WORDS_AT_ONCE):
                self._add(new[begin : begin + WORDS_AT_ONCE])
            ends, stops = self._ends.given, self._stops.given
            found = TermsOfWords(
                self._term.given[numbers],
                ends[numbers],
                ends[numbers + 1],
                self._gram.given,
                self._times.given,
                self._points.given,
                stops[numbers],
                stops[numbers + 1],
            )
            most_words = MOST_WORDS + len(self.vocabulary)
            if len(self._number) > most_words or len(found.gram) > MOST_GRAMS:
                self._forget()
        return found

    def _add(self, words: list[str]) -> None:
        """Keep the terms of new words."""
        least, most = self.characters or (1, 0)
        points, ends = _points_of(words)
        is_single = [most > 0 and is_unspaced(word) for word in words]
        given = WordPoints(points, ends[:-1], ends[1:], np.array(is_single))
        n_grams = (len(points) + 2 * len(words)) * max(0, most - least + 1)
        found = FoundTerms(
            np.empty(len(words), np.int32),
            np.empty(len(words), np.intp),
            np.empty(n_grams, np.int32),
            np.empty(n_grams, np.int32),
        )
        key = np.empty(np.diff(ends).max() + AROUND, np.uint32)
        place = self.take_places()
        find_terms(given, (least, most), self.index, key, place, found)
        self.give_back(place)
        n_found = found.ends[-1]
        self._term.extend(found.term)
        self._ends.extend(self._gram.n + found.ends)
        self._gram.extend(found.gram[:n_found])
        self._times.extend(found.times[:n_found])
        self._stops.extend(self._points.n + ends[1:])
        self._points.extend(points)
        self._number.update(zip(words, count(len(self._number)), strict=False))

    @cached_property
    def n_terms(self) -> int:
        """The number of columns. Several terms of old features may have become the same."""
        table = self.vocabulary
        return 1 + max(table.values(), default=-1) if isinstance(table, dict) else len(table)

    @cached_property
    def index(self) -> TermIndex:
        """The terms by hash."""
        table = self.vocabulary
        if isinstance(table, dict):
            names = [""] * self.n_terms
            for name, column in table.items():
                names[column] = name
            points, ends = _points_of(names)
        else:
            points, ends = table.points()
        n_slots = 1 << max(4, (len(ends) + len(ends) // 2).bit_length())
        index = TermIndex(points, ends, np.full(n_slots, -1, np.int64))
        fill_slots(index)
        return index

    def take_places(self) -> Codes:
        """Return room for a place of each term, all -1; ``give_back`` expects it like that."""
        try:
            return self._places.pop()
        except IndexError:
            return np.full(self.n_terms, -1, np.intp)

    def give_back(self, places: Codes) -> None:
        """Keep room for the next who asks."""
        self._places.append(places)


class _Growing:
    """An array that grows. What was given before never changes."""

    def __init__(self, first: Integers) -> None:
        self._room, self.n = first, len(first)

    @property
    def given(self) -> Integers:
        return self._room[: self.n]

    def extend(self, more: Integers) -> None:
        n = self.n + len(more)
        if n > len(self._room):
            room = np.empty(2 * n, self._room.dtype)
            room[: self.n] = self.given
            self._room = room
        self._room[self.n : n] = more
        self.n = n


def _points_of(words: list[str]) -> tuple[Integers, Codes]:
    """Return the code points of words, one after another, and where each word ends, after a 0."""
    points = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, np.fromiter(accumulate(map(len, words), initial=0), np.intp, len(words) + 1)


def finder_in(vocabulary: KnownTerms, n: int) -> Callable[[str, int], int]:
    """Return a function that finds the columns of n terms, given the default for others."""
    return vocabulary.get if isinstance(vocabulary, dict) else vocabulary.finder(n)
