"""Words of texts as numbers: the texts are split, and equal words get the same number.

Known terms are counted from these numbers.

Texts are code points, one after another. A word is a run of two or more characters that belong to
words, or a single digit; in texts that are split already, all between two separators is a word.
"""

from __future__ import annotations

from typing import NamedTuple

from taxonomist._typing import Bools, Codes, Floats, Integers
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.term_index import SPACE, TermIndex, find_term

OUTSIDE, INSIDE, DIGIT = 0, 1, 2
"""Kinds of characters. Digits are inside words, too."""


class PlainTexts(NamedTuple):
    """Texts in plain form."""

    points: Integers  # (n_characters,)
    ends: Codes  # (n_texts,)
    is_split: Bools  # (n_texts,)  whether the words are those between separators
    kinds: Integers  # (n_points,)  the kind of each character that texts which are not split have


class WordCodes(NamedTuple):
    """Room for the words of texts."""

    codes: Integers  # (n_characters,)  the number of each word of all texts, in order
    ends: Codes  # (n_texts,)  where each text ends among the codes
    begins: Integers  # (n_characters,)  where each distinct word occurs first
    sizes: Integers  # (n_characters,)  its number of characters
    hashes: Integers  # (n_characters,)
    slots: Integers  # (a power of two,)  distinct words by hash; -1 before


@compiled(inline=True)
def code_of(points: Integers, begin: int, end: int, n_words: int, last: int, out: WordCodes) -> int:
    """Return the number of a word; ``n_words`` if it is new. ``last`` is the last slot in use."""
    mixed = 2166136261
    for k in range(begin, end):
        mixed = ((mixed ^ int(points[k])) * 16777619) & 0xFFFFFFFF
    slot = mixed & last
    while out.slots[slot] >= 0:
        code = int(out.slots[slot])
        if int(out.hashes[code]) == mixed and out.sizes[code] == end - begin:
            other, k = int(out.begins[code]), 0
            while k < end - begin and points[other + k] == points[begin + k]:
                k += 1
            if k == end - begin:
                return code
        slot = (slot + 1) & last
    out.slots[slot] = n_words
    out.begins[n_words], out.sizes[n_words], out.hashes[n_words] = begin, end - begin, mixed
    return n_words


@compiled(inline=True)
def widen(last: int, n_words: int, out: WordCodes) -> int:
    """Use four times as many slots; return the last of them."""
    last = min(4 * last + 3, len(out.slots) - 1)
    for slot in range(last + 1):
        out.slots[slot] = -1
    for code in range(n_words):
        slot = int(out.hashes[code]) & last
        while out.slots[slot] >= 0:
            slot = (slot + 1) & last
        out.slots[slot] = code
    return last


@compiled()
def code_words(texts: PlainTexts, out: WordCodes) -> int:
    """Write the numbers of the words of texts, in order of first appearance; return how many.

    Few slots are used as long as there are few distinct words, so that these stay in the cache.
    """
    points, begin, n_codes, n_words, last_slot = texts.points, 0, 0, 0, 15
    for text in range(len(texts.ends)):
        end, is_split = texts.ends[text], texts.is_split[text]
        start, kind = begin, OUTSIDE
        for k in range(begin, end + 1):
            before = kind
            if k == end:
                kind = OUTSIDE
            elif is_split:
                kind = OUTSIDE if points[k] == 0 else INSIDE
            else:
                kind = int(texts.kinds[points[k]])
            if kind == OUTSIDE:
                if k - start > 1 or (k > start and (before == DIGIT or is_split)):
                    if 2 * n_words > last_slot and last_slot < len(out.slots) - 1:
                        last_slot = widen(last_slot, n_words, out)
                    code = code_of(points, start, k, n_words, last_slot, out)
                    if code == n_words:
                        n_words += 1
                    out.codes[n_codes] = code
                    n_codes += 1
                start = k + 1
        begin = end
        out.ends[text] = n_codes
    return n_words


class TermsOfWords(NamedTuple):
    """The terms of a vocabulary that words are or have.

    The character n-grams of word i are at ``begins[i]`` to ``ends[i]``, and its code points at
    ``starts[i]`` to ``stops[i]``.
    """

    term: Integers  # (n_distinct,)  the column of each word, or -1
    begins: Integers  # (n_distinct,)
    ends: Integers  # (n_distinct,)
    gram: Integers  # (n_grams,)  the columns of n-grams
    times: Integers  # (n_grams,)  how often the word has each
    points: Integers  # (n_points,)
    starts: Integers  # (n_distinct,)
    stops: Integers  # (n_distinct,)


class Counting(NamedTuple):
    """Words of items, whose terms are counted."""

    codes: Integers  # (n_words,)
    ends: Codes  # (n_texts + 1,)
    weights: Floats  # (n_columns,)  of the texts of an item
    words: TermsOfWords
    lengths: tuple[int, int]  # of the sequences of words that are counted; (2, 1) for none
    known: TermIndex  # the vocabulary, for sequences


class CountingRoom(NamedTuple):
    """Room for the words of an item. What is -1 before is -1 again behind."""

    words: Codes  # (n_distinct,)
    amounts: Floats  # (n_distinct,)
    word_place: Codes  # (n_distinct,)  -1 before
    term_place: Codes  # (n_terms,)  -1 before
    key: Integers  # (points of the longest sequence of words,)


@compiled(inline=True)
def count_item(given: Counting, item: int, room: CountingRoom) -> int:
    """Write the distinct words of an item and their weighted counts; return their number.

    They are in order of first appearance.
    """
    n_words, n_columns = 0, len(given.weights)
    for column in range(n_columns):
        weight, text = given.weights[column], item * n_columns + column
        if weight > 0:
            for k in range(given.ends[text], given.ends[text + 1]):
                code = given.codes[k]
                if room.word_place[code] < 0:
                    room.word_place[code] = n_words
                    room.words[n_words], room.amounts[n_words] = code, 0.0
                    n_words += 1
                room.amounts[room.word_place[code]] += weight
    for j in range(n_words):
        room.word_place[room.words[j]] = -1
    return n_words


@compiled(inline=True)
def write_sequence(
    words: TermsOfWords, codes: Integers, begin: int, end: int, key: Integers
) -> int:
    """Write words with spaces between them; return the number of code points."""
    size = 0
    for k in range(begin, end):
        if k > begin:
            key[size] = SPACE
            size += 1
        for point in range(words.starts[codes[k]], words.stops[codes[k]]):
            key[size] = words.points[point]
            size += 1
    return size


@compiled(inline=True)
def count_sequences(
    given: Counting, item: int, first: int, indices: Integers, values: Floats, room: CountingRoom
) -> int:
    """Write the weighted counts of sequences of words from ``first`` on; return where they end.

    They are in order of length and then of first appearance.
    """
    n, n_columns = first, len(given.weights)
    for length in range(given.lengths[0], given.lengths[1] + 1):
        for column in range(n_columns):
            weight, text = given.weights[column], item * n_columns + column
            if weight > 0:
                for k in range(given.ends[text], given.ends[text + 1] - length + 1):
                    size = write_sequence(given.words, given.codes, k, k + length, room.key)
                    term = find_term(room.key, size, given.known)
                    if term >= 0:
                        if room.term_place[term] < 0:
                            room.term_place[term] = n
                            indices[n], values[n] = term, 0.0
                            n += 1
                        values[room.term_place[term]] += weight
    for k in range(first, n):
        room.term_place[indices[k]] = -1
    return n


@compiled()
def count_terms(
    given: Counting,
    begin: int,
    indices: Integers,
    values: Floats,
    ends: Codes,
    room: CountingRoom,
) -> None:
    """Write the weighted counts of the terms of items from ``begin`` on as CSR rows.

    Words are in order of first appearance, behind them sequences of words, and behind these
    character n-grams, the last that appears first.
    """
    n, terms = 0, given.words
    for row in range(len(ends) - 1):
        n_words = count_item(given, begin + row, room)
        for j in range(n_words):
            column = terms.term[room.words[j]]
            if column >= 0:
                indices[n], values[n] = column, room.amounts[j]
                n += 1
        n = first = count_sequences(given, begin + row, n, indices, values, room)
        for j in range(n_words):
            code, amount = room.words[j], room.amounts[j]
            for t in range(terms.begins[code], terms.ends[code]):
                column = terms.gram[t]
                if room.term_place[column] < 0:
                    room.term_place[column] = n
                    indices[n], values[n] = column, 0.0
                    n += 1
                values[room.term_place[column]] += amount * terms.times[t]
        for k in range(first, n):
            room.term_place[indices[k]] = -1
        for k in range((n - first) // 2):
            a, b = first + k, n - 1 - k
            indices[a], indices[b] = indices[b], indices[a]
            values[a], values[b] = values[b], values[a]
        ends[row + 1] = n
