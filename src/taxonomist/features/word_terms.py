"""The columns of words and of the character n-grams in them, which are kept for words that return.

Few words make up most of all texts, so that most n-grams are neither made nor looked up again.
"""

from __future__ import annotations

from itertools import chain, count, repeat
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from taxonomist.compiled.words import TermsOfWords
from taxonomist.features.terms import grams_of

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
"""Words whose n-grams are made at once, which bounds memory."""

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
            ends = self._ends.given
            found = TermsOfWords(
                self._term.given[numbers],
                ends[numbers],
                ends[numbers + 1],
                self._gram.given,
                self._times.given,
            )
            most_words = MOST_WORDS + len(self.vocabulary)
            if len(self._number) > most_words or len(found.gram) > MOST_GRAMS:
                self._forget()
        return found

    def _add(self, words: list[str]) -> None:
        """Keep the terms of new words."""
        lengths = self.characters
        grams = [grams_of(word, *lengths) for word in words] if lengths else []
        sizes = np.fromiter(map(len, grams), np.intp, len(grams))
        n_grams = int(sizes.sum())
        find = finder_in(self.vocabulary, len(words) + n_grams)
        # Words share most of their n-grams.
        column = {gram: find(f'"{gram}"', -1) for gram in set(chain.from_iterable(grams))}
        found = np.fromiter(map(column.__getitem__, chain.from_iterable(grams)), np.int32, n_grams)
        times = chain.from_iterable(one.values() for one in grams)
        is_known = found >= 0
        ends = np.append(0, np.cumsum(is_known))[np.cumsum(sizes)] if lengths else 0
        self._ends.extend(np.broadcast_to(self._gram.n + ends, len(words)))
        self._gram.extend(found[is_known])
        self._times.extend(np.fromiter(times, np.int32, n_grams)[is_known])
        self._term.extend(np.fromiter((find(word, -1) for word in words), np.int32, len(words)))
        self._number.update(zip(words, count(len(self._number)), strict=False))

    def take_places(self) -> Codes:
        """Return room for a place of each term, all -1; ``give_back`` expects it like that."""
        try:
            return self._places.pop()
        except IndexError:
            return np.full(len(self.vocabulary) if self.characters else 0, -1, np.intp)

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


def finder_in(vocabulary: KnownTerms, n: int) -> Callable[[str, int], int]:
    """Return a function that finds the columns of n terms, given the default for others."""
    return vocabulary.get if isinstance(vocabulary, dict) else vocabulary.finder(n)
