"""Texts as numbers of words, from which all sets of terms are counted.

Texts are split only once. Word n-grams are found by sorting numbers, and the character n-grams of
all texts by those of every distinct word: the counts of words times the n-grams in each word.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from functools import partial
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array

from taxonomist._spill import BLOCK_BYTES, Spool, row_cuts
from taxonomist.compiled.arrays import fixed
from taxonomist.compiled.jit import can_spare
from taxonomist.compiled.term_index import TermIndex
from taxonomist.compiled.words import Counting, CountingRoom, TermsOfWords, count_terms
from taxonomist.features.count_rows import csr_of, side_by_side, whole_rows
from taxonomist.features.terms import grams_of
from taxonomist.features.word_codes import add_words
from taxonomist.features.word_terms import finder_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Codes, Floats, Integers
    from taxonomist.features.word_terms import KnownTerms, WordTerms

__all__ = ["TermBlock", "TokenTable"]

TOKENS_AT_ONCE = 2**21
"""Words of texts that are sorted at once, which bounds memory."""
MOST_SPARED = 2**19
"""Words that are counted without a compiled loop at most, which takes less time than numba."""
STEPS_OF_GRAMS = 2
"""As how many words one with its character n-grams counts: they take a second at most."""
NO_WORDS, NO_SEQUENCES = (1, 0), (2, 1)
"""Lengths of no words, and of no sequences of several words."""
ENTRIES_AT_ONCE = 2**23
"""Entries of a product of words and n-grams that are computed at once, about."""


class TermBlock(NamedTuple):
    """The terms of one kind.

    Attributes
    ----------
    n_having
        How many items have each term, (n_terms,).
    names
        Returns the terms with the given numbers.
    counts
        Returns the counts of terms, (n_items, n_columns), given the column of each term, or -1 for
        terms to leave out, and the number of columns.
    """

    n_having: Codes
    names: Callable[[Codes], list[str]]
    counts: Callable[[Codes, int], CSR]


class TokenTable(NamedTuple):
    """The words of items, each item with the same number of texts.

    Attributes
    ----------
    words
        The distinct words, and maybe others.
    codes
        The number of each word of all texts, in order.
    ends
        Where each text ends, after a 0, (n_items * n_columns + 1,).
    n_columns
        The number of texts of an item.
    """

    words: list[str]
    codes: NDArray[np.int32]
    ends: NDArray[np.int64]
    n_columns: int

    @classmethod
    def of(cls, items: Iterable[Sequence[str]], n_columns: int) -> TokenTable:
        """Return the table of items, each with its texts."""
        nothing = np.empty(0, dtype=np.int32)
        return cls([], nothing, np.zeros(1, dtype=np.int64), n_columns).extended(items)

    def extended(self, items: Iterable[Sequence[str]]) -> TokenTable:
        """Return the table with further items behind its own."""
        codes, ends = Spool(np.int32), Spool(np.int64)
        codes.add(self.codes)
        ends.add(self.ends)
        words = add_words(chain.from_iterable(items), self.words, codes, ends)
        numbers = cast("NDArray[np.int32]", codes.finish())
        places = cast("NDArray[np.int64]", ends.finish())
        return TokenTable(words, numbers, places, self.n_columns)

    @property
    def n_items(self) -> int:
        """The number of items."""
        return (len(self.ends) - 1) // self.n_columns

    def select(self, items: Codes) -> TokenTable:
        """Return the table of some items."""
        texts = (items[:, None] * self.n_columns + np.arange(self.n_columns)).ravel()
        sizes = (self.ends[1:] - self.ends[:-1])[texts]
        ends = np.append(0, np.cumsum(sizes))
        places = np.repeat(self.ends[:-1][texts] - ends[:-1], sizes) + np.arange(ends[-1])
        return TokenTable(self.words, self.codes[places], ends, self.n_columns)

    def parts(self) -> Iterator[TokenTable]:
        """Yield the items in portions, which bounds memory."""
        firsts, n_tokens = self.ends[:: self.n_columns], int(self.ends[-1])
        for begin, end in row_cuts(firsts, BLOCK_BYTES // TOKENS_AT_ONCE):
            ends = self.ends[begin * self.n_columns : end * self.n_columns + 1]
            whole = self.codes if ends[-1] - ends[0] == n_tokens else self.codes[ends[0] : ends[-1]]
            yield TokenTable(self.words, whole, ends - ends[0], self.n_columns)

    # Words -----------------------------------------------------------------------------------

    def ngrams(self, n: int, weights: Sequence[float]) -> TermBlock:
        """Return the counts of n words in sequence, times the weights of their columns.

        The terms of an item are in order of first appearance, and so are all terms.
        """
        if n == 1:
            return self._single_words(weights)
        starts, codes, parts = self._ngram_codes(n)
        rows = starts // self.n_columns
        factors = np.asarray(weights, dtype=np.float64)[starts % self.n_columns]
        used = factors > 0
        rows, factors, codes = rows[used], factors[used], codes[used]
        kinds, first = np.unique(codes, return_index=True)
        order = np.argsort(first, kind="stable")
        place = np.empty(len(kinds), dtype=np.intp)
        place[order] = np.arange(len(kinds))
        columns = place[np.searchsorted(kinds, codes)]
        kinds = kinds[order]

        def names(chosen: Codes) -> list[str]:
            at = parts[:, kinds[chosen]].T.tolist()
            return [" ".join([self.words[code] for code in codes]) for codes in at]

        counts = _counted(rows, columns, factors, (self.n_items, len(kinds)))
        n_having = np.bincount(counts.indices, minlength=len(kinds))
        return TermBlock(n_having, names, partial(_moved, counts))

    def _single_words(self, weights: Sequence[float]) -> TermBlock:
        """Return the counts of words, portion by portion."""
        factors = np.asarray(weights, dtype=np.float64)
        order = self._first_words(factors)
        spares = can_spare(count_terms, len(self.codes), MOST_SPARED)

        def blocks(place: Codes, n_columns: int) -> Iterator[CSR]:
            # The column of each word, given those of the words in order of first appearance.
            column = np.full(len(self.words), -1, np.int32)
            column[order] = place
            for part in self.parts():
                if spares:
                    yield part._counts(factors, column, n_columns)
                else:
                    given = _words_alone(part, factors, column)
                    yield from _compiled_counts(given, np.empty(0, np.intp), n_columns)

        def names(chosen: Codes) -> list[str]:
            return [self.words[code] for code in order[chosen].tolist()]

        def counts(place: Codes, n_columns: int) -> CSR:
            return whole_rows(blocks(place, n_columns), n_columns, len(self.codes))

        n_having = np.zeros(len(order), dtype=np.intp)
        for block in blocks(np.arange(len(order)), len(order)):
            n_having += np.bincount(block.indices, minlength=len(order))
        return TermBlock(n_having, names, counts)

    def _first_words(self, factors: Floats) -> Codes:
        """Return the words of columns with a weight, in order of first appearance."""
        is_new = np.ones(len(self.words), dtype=bool)
        found: list[Codes] = [np.empty(0, dtype=np.intp)]
        for part in self.parts():
            codes = part.codes
            if (factors <= 0).any():
                sizes = np.diff(part.ends)
                codes = codes[np.repeat(factors[np.arange(len(sizes)) % self.n_columns] > 0, sizes)]
            kinds, first = np.unique(codes[is_new[codes]], return_index=True)
            found.append(kinds[np.argsort(first, kind="stable")].astype(np.intp))
            is_new[kinds] = False
        return np.concatenate(found)

    def _counts(self, factors: Floats, column: Integers, n_columns: int) -> CSR:
        """Return the counts of words, given the column of each word or -1."""
        texts = np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))
        columns, weights = column[self.codes].astype(np.intp), factors[texts % self.n_columns]
        used = (weights > 0) & (columns >= 0)
        rows = (texts // self.n_columns)[used]
        return _counted(rows, columns[used], weights[used], (self.n_items, n_columns))

    def _ngram_codes(self, n: int) -> tuple[Codes, Codes, Codes]:
        """Return the text and the number of each n-gram, and the words of each number."""
        text_of = np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))
        codes: Codes = self.codes.astype(np.intp)
        parts: Codes = np.arange(len(self.words))[None, :]
        for k in range(1, n):
            # Another word behind the n-grams so far, if it is in the same text.
            codes = codes[:-1] * len(self.words) + self.codes[k:]
            kinds, codes = np.unique(codes, return_inverse=True)
            parts = np.vstack([parts[:, kinds // len(self.words)], kinds[None] % len(self.words)])
        is_whole = text_of[: len(codes)] == text_of[n - 1 :]
        return text_of[: len(codes)][is_whole], codes[is_whole], parts

    def totals(
        self,
        words: Sequence[int] | None,
        characters: Sequence[int] | None,
        weights: Sequence[float],
    ) -> Floats:
        """Return the number of terms of each item, times the weights of their columns."""
        sizes = np.diff(self.ends)
        sums = np.zeros(len(sizes))
        if words:
            sums += sum(np.maximum(sizes - n + 1, 0) for n in range(words[0], words[1] + 1))
        if characters:
            n_grams = np.array([sum(grams_of(word, *characters).values()) for word in self.words])
            total = np.append(0, np.cumsum(n_grams[self.codes] if len(self.codes) else []))
            sums += total[self.ends[1:]] - total[self.ends[:-1]]
        by_column = sums.reshape(-1, self.n_columns)
        found: Floats = by_column @ np.asarray(weights, dtype=np.float64)
        return found

    # Characters ------------------------------------------------------------------------------

    def characters(self, least: int, most: int, weights: Sequence[float]) -> TermBlock:
        """Return the counts of character n-grams within words, times the weights of columns."""
        block = self.ngrams(1, weights)
        words = block.counts(np.arange(len(block.n_having)), len(block.n_having))
        inside, grams = _inside(block.names(np.arange(words.shape[1])), least, most)
        n_having = np.zeros(len(grams), dtype=np.intp)
        for part in _blocks(words, inside):
            n_having += np.bincount((words[part] @ inside).indices, minlength=len(grams))

        def names(chosen: Codes) -> list[str]:
            return [f'"{grams[k]}"' for k in chosen.tolist()]

        def counts(place: Codes, n_columns: int) -> CSR:
            return _product(words, _moved(inside, place, n_columns))

        return TermBlock(n_having, names, counts)

    def known(
        self,
        words: Sequence[int] | None,
        characters: Sequence[int] | None,
        weights: Sequence[float],
        terms: WordTerms,
    ) -> CSR:
        """Return the counts of the terms of a vocabulary, in its column order.

        ``characters`` is None or has the lengths of ``terms``.
        """
        least, most = words or NO_WORDS
        n_steps = len(self.codes) * (STEPS_OF_GRAMS if characters else 1)
        if can_spare(count_terms, n_steps, MOST_SPARED):
            found = [self._known_ngrams(n, weights, terms) for n in range(least, most + 1)]
            if characters:
                found.append(self._known_grams(characters, weights, terms))
            return side_by_side(found)
        return self._counted_terms(words or NO_WORDS, weights, terms, has_grams=bool(characters))

    def _known_ngrams(self, n: int, weights: Sequence[float], terms: WordTerms) -> CSR:
        """Return the counts of n words in sequence that are terms."""
        block = self.ngrams(n, weights)
        names = block.names(np.arange(len(block.n_having)))
        return block.counts(_places(names, terms.vocabulary), terms.n_terms)

    def _known_grams(
        self, lengths: Sequence[int], weights: Sequence[float], terms: WordTerms
    ) -> CSR:
        """Return the counts of character n-grams that are terms."""
        block = self.ngrams(1, weights)
        counts = block.counts(np.arange(len(block.n_having)), len(block.n_having))
        inside, grams = _inside(block.names(np.arange(counts.shape[1])), *lengths)
        places = _places([f'"{gram}"' for gram in grams], terms.vocabulary)
        return _product(counts, _moved(inside, places, terms.n_terms))

    def _counted_terms(
        self, lengths: Sequence[int], weights: Sequence[float], terms: WordTerms, *, has_grams: bool
    ) -> CSR:
        """Return the counts of words, sequences of words and n-grams by a compiled loop."""
        counts = np.bincount(self.codes, minlength=len(self.words))
        used = np.flatnonzero(counts)
        number = np.empty(len(self.words), np.int32)
        number[used] = np.arange(len(used), dtype=np.int32)
        found = terms.of([self.words[code] for code in used.tolist()])
        least, most = lengths
        if least > 1 or most < 1:
            found = found._replace(term=np.full(len(used), -1, np.int32))
        if not has_grams:
            found = found._replace(ends=found.begins)
        factors, n = np.asarray(weights, dtype=np.float64), terms.n_terms
        whole = Counting(self.codes, self.ends, factors, found, (max(2, least), most), terms.index)
        most_values = int(counts[used] @ _bounds(whole))
        parts = (whole._replace(codes=number[each.codes], ends=each.ends) for each in self.parts())
        place = terms.take_places()
        blocks = (_compiled_counts(part, place, n) for part in parts)
        rows = whole_rows(chain.from_iterable(blocks), n, most_values)
        terms.give_back(place)
        return rows


def _words_alone(table: TokenTable, factors: Floats, column: Integers) -> Counting:
    """Return what to count if words have the given columns and there are no other terms."""
    nowhere, nothing = np.zeros(len(column), np.intp), np.empty(0, np.int32)
    points, no_slots = np.empty(0, np.uint32), np.full(1, -1, np.int64)
    words = TermsOfWords(column, nowhere, nowhere, nothing, nothing, points, nowhere, nowhere)
    # As those of a vocabulary: arrays of another type would compile the loop once more.
    index = TermIndex(fixed(points), np.zeros(1, np.intp), no_slots)
    return Counting(table.codes, table.ends, factors, words, NO_SEQUENCES, index)


def _bounds(given: Counting) -> Codes:
    """Return how many terms there are at most where each word occurs."""
    least, most = given.lengths
    found: Codes = max(0, most - least + 1) + 1 + given.words.ends - given.words.begins
    return found


def _compiled_counts(given: Counting, place: Codes, n_columns: int) -> Iterator[CSR]:
    """Yield the counts of terms by a compiled loop, in portions.

    ``place`` has a -1 for each column, unless only words are counted.
    """
    words, (_, most) = given.words, given.lengths
    firsts = given.ends[:: len(given.weights)]
    bounds = np.append(0, np.cumsum(_bounds(given)[given.codes]))[firsts]
    longest, n_words = int((words.stops - words.starts).max(initial=0)), len(words.term)
    room = CountingRoom(
        np.empty(n_words, np.intp),
        np.empty(n_words),
        np.full(n_words, -1, np.intp),
        place,
        np.empty(most * (longest + 1), np.uint32),
    )
    begin, n_items = 0, len(firsts) - 1
    while begin < n_items:
        last = np.searchsorted(bounds, bounds[begin] + ENTRIES_AT_ONCE, side="right") - 1
        end = max(begin + 1, int(last))
        size = int(bounds[end] - bounds[begin])
        indices, values = np.empty(size, np.int32), np.empty(size)
        ends = np.zeros(end - begin + 1, np.intp)
        count_terms(given, begin, indices, values, ends, room)
        n, begin = ends[-1], end
        # Bounds may be much larger than what is found.
        yield csr_of(indices[:n].copy(), values[:n].copy(), ends, n_columns)


def _counted(rows: Codes, columns: Codes, factors: Floats, shape: tuple[int, int]) -> CSR:
    """Return sums of factors by row and column; a row's columns in order of first appearance."""
    indices: list[Codes] = [np.empty(0, dtype=np.intp)]
    values: list[Floats] = [np.empty(0)]
    sizes = np.zeros(shape[0], dtype=np.intp)
    begin = 0
    while begin < len(rows):
        # A block ends where an item ends.
        end = int(np.searchsorted(rows, rows[min(begin + TOKENS_AT_ONCE, len(rows)) - 1], "right"))
        keys = rows[begin:end] * shape[1] + columns[begin:end]
        kinds, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        indices.append((kinds % shape[1])[order])
        sums: Floats = np.bincount(inverse, weights=factors[begin:end]).astype(np.float64)
        values.append(sums[order])
        sizes += np.bincount(kinds // shape[1], minlength=shape[0])
        begin = end
    ends = np.append(0, np.cumsum(sizes))
    return csr_of(np.concatenate(indices), np.concatenate(values), ends, shape[1])


def _inside(words: list[str], least: int, most: int) -> tuple[CSR, list[str]]:
    """Return how often each word has each of its n-grams, (n_words, n_grams), and the n-grams."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    codes, values, ends = array("q"), array("d"), array("q", [0])
    for word in words:
        grams = grams_of(word, least, most)
        codes.extend(map(number.__getitem__, grams))
        values.extend(grams.values())
        ends.append(len(codes))
    parts = np.frombuffer(codes, "q"), np.frombuffer(values), np.frombuffer(ends, "q")
    return csr_of(*parts, len(number)), list(number)


def _places(names: list[str], vocabulary: KnownTerms) -> Codes:
    """Return the columns of terms; -1 for unknown ones."""
    find = finder_in(vocabulary, len(names))
    return np.fromiter((find(name, -1) for name in names), np.intp, len(names))


def _moved(counts: CSR, place: Codes, n_columns: int) -> CSR:
    """Return columns at other places, without those at -1; a row's entries keep their order."""
    if not counts.nnz:
        return csr_array((counts.shape[0], n_columns))
    indices = place[counts.indices]
    is_kept = indices >= 0
    ends = np.append(0, np.cumsum(is_kept))[counts.indptr]
    return csr_of(indices[is_kept], counts.data[is_kept], ends, n_columns)


def _blocks(words: CSR, inside: CSR) -> list[slice]:
    """Return blocks of rows whose products with the n-grams of words are small enough."""
    sizes = np.append(0, np.cumsum(np.diff(inside.indptr)[words.indices]))[words.indptr]
    n_blocks = int(sizes[-1] // ENTRIES_AT_ONCE) + 1
    cuts = np.searchsorted(sizes, np.linspace(0, sizes[-1], n_blocks + 1)[1:-1])
    edges = [0, *np.unique(cuts[(cuts > 0) & (cuts < words.shape[0])]).tolist(), words.shape[0]]
    return [slice(begin, end) for begin, end in pairwise(edges)]


def _product(words: CSR, inside: CSR) -> CSR:
    """Return the counts of n-grams from those of words, block by block."""
    blocks = (csr_array(words[block] @ inside) for block in _blocks(words, inside))
    sizes = np.diff(inside.indptr)[words.indices]
    return whole_rows(blocks, inside.shape[1], int(sizes.sum()))
