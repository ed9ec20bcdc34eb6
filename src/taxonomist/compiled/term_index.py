"""Terms by hash: words, words in sequence and character n-grams are found without a string of each.

All are code points. A character n-gram is in quotes, and the words of a sequence have a space
between them, as in the names of terms.
"""

from __future__ import annotations

from typing import NamedTuple

from taxonomist._typing import Bools, Codes, Integers
from taxonomist.compiled.jit import compiled

QUOTE, SPACE = 34, 32
TERM_BITS = 31
"""Bits of a slot that hold the number of a term; its hash is above them."""


class TermIndex(NamedTuple):
    """Terms, and where they are by their hash."""

    points: Integers  # (n_points,)  the terms, one after another
    ends: Codes  # (n_terms + 1,)
    slots: Codes  # (a power of two,)  the hash and the number of a term, or -1


class WordPoints(NamedTuple):
    """Words as code points."""

    points: Integers  # (n_points,)
    begins: Codes  # (n_words,)
    ends: Codes  # (n_words,)
    is_unspaced: Bools  # (n_words,)  whether the n-grams of a word are its characters


class FoundTerms(NamedTuple):
    """Room for the terms that words are or have."""

    term: Integers  # (n_words,)  the number of each word, or -1
    ends: Codes  # (n_words,)  where the n-grams of each word end
    gram: Integers  # (n_grams,)
    times: Integers  # (n_grams,)  how often the word has each


@compiled(inline=True)
def hash_of(points: Integers, begin: int, end: int) -> int:
    """Return a hash of 32 bits."""
    mixed = 2166136261
    for k in range(begin, end):
        mixed = ((mixed ^ int(points[k])) * 16777619) & 0xFFFFFFFF
    return mixed


@compiled()
def fill_slots(index: TermIndex) -> None:
    """Write the slots, which are -1 before."""
    last = len(index.slots) - 1
    for term in range(len(index.ends) - 1):
        mixed = hash_of(index.points, index.ends[term], index.ends[term + 1])
        slot = mixed & last
        while index.slots[slot] >= 0:
            slot = (slot + 1) & last
        index.slots[slot] = (mixed << TERM_BITS) | term


@compiled(inline=True)
def find_term(key: Integers, size: int, index: TermIndex) -> int:
    """Return the number of the term that is the first ``size`` points of ``key``, or -1."""
    mixed, last = hash_of(key, 0, size), len(index.slots) - 1
    slot = mixed & last
    while index.slots[slot] >= 0:
        found = int(index.slots[slot])
        if found >> TERM_BITS == mixed:
            term = found & ((1 << TERM_BITS) - 1)
            begin, k = index.ends[term], 0
            if index.ends[term + 1] - begin == size:
                while k < size and index.points[begin + k] == key[k]:
                    k += 1
                if k == size:
                    return term
        slot = (slot + 1) & last
    return -1


@compiled()
def find_terms(
    words: WordPoints,
    lengths: tuple[int, int],
    index: TermIndex,
    key: Integers,
    place: Codes,
    out: FoundTerms,
) -> None:
    """Write the terms that words are, and those that are their n-grams of the given lengths.

    The n-grams of a word are in order of length and then of first appearance. ``key`` has room for
    every word and four more points, and ``place``, which is -1 before and behind, for every term.
    """
    n = 0
    key[0] = QUOTE
    for word in range(len(words.begins)):
        begin, end, first = words.begins[word], words.ends[word], n
        for k in range(end - begin):
            key[k + 1] = words.points[begin + k]
        out.term[word] = find_term(key[1:], end - begin, index)
        spaces = 0 if words.is_unspaced[word] else 1
        least, most = (1, 1) if words.is_unspaced[word] else lengths
        for size in range(least, min(most, end - begin + 2 * spaces) + 1):
            key[size + 1] = QUOTE
            for start in range(begin - spaces, end + spaces - size + 1):
                for k in range(start, start + size):
                    key[k - start + 1] = words.points[k] if begin <= k < end else SPACE
                term = find_term(key, size + 2, index)
                if term >= 0 and place[term] < 0:
                    place[term] = n
                    out.gram[n], out.times[n] = term, 0
                    n += 1
                if term >= 0:
                    out.times[place[term]] += 1
        for k in range(first, n):
            place[out.gram[k]] = -1
        out.ends[word] = n
