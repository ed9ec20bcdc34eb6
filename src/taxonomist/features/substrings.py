"""Number and count the substrings of items, contiguous or with gaps.

A substring is identified by a *key*: the number of its prefix without the last letter, times the
number of letters, plus the code of the last letter. The sorted keys that occur become the numbers
for the next length, so substrings of any length have small numbers in lexicographic order.

Cost          For each length l and each way to spread at most g gaps over its letters (there are
              (l - 1 + g) over g), a few array operations over all letters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.features.letters import Letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Codes, Integers

BLOCK_LETTERS = 2**20
"""Number of letters processed at a time; each array takes 8 MB."""

LARGEST_TABLE = 2**24
"""Keys below this are looked up in a table of at most 64 MB, others by bisection."""


class Occurrences(NamedTuple):
    """Occurrences of substrings of one length, all with the same offsets of letters.

    ``numbers[j]`` is the number of the substring that starts at letter j, or -1 if there is none.
    """

    offset: int  # of the last letter
    numbers: Integers  # (n_letters_in_all - offset,)


class Keys:
    """The keys of the substrings of one length.

    Parameters
    ----------
    keys
        Distinct keys in ascending order.
    """

    def __init__(self, keys: Integers) -> None:
        self.keys = keys
        self._table = None
        if len(keys) and keys[-1] < LARGEST_TABLE:
            # The extra last entry is -1, for keys that are too large or -1.
            self._table = np.full(keys[-1] + 2, -1, dtype=np.int32)
            self._table[keys] = np.arange(len(keys))

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.keys)

    def __reduce__(self) -> tuple[type[Keys], tuple[Integers]]:
        """Pickle without the lookup table."""
        return Keys, (self.keys,)

    def numbers(self, keys: Integers) -> Integers:
        """Return the position of each key, or -1 if it is unknown."""
        if self._table is not None:
            return self._table[np.minimum(keys, len(self._table) - 1)]
        if not len(self.keys):
            return np.full(len(keys), -1)
        # Sorting first keeps the bisection within the processor's cache.
        order = np.argsort(keys)
        ordered = keys[order]
        places = np.minimum(np.searchsorted(self.keys, ordered), len(self.keys) - 1)
        numbers = np.empty(len(keys), dtype=np.intp)
        numbers[order] = np.where(self.keys[places] == ordered, places, -1)
        return numbers


class ItemBlock:
    """A run of consecutive items.

    Parameters
    ----------
    letters
        Their encoded letters.
    n_kinds
        Number of distinct letters.
    max_gaps
        Maximum number of letters that a substring may skip between its first and last letter.
    """

    def __init__(self, letters: Letters, n_kinds: int, max_gaps: int) -> None:
        codes, ends = letters
        self.codes = codes
        self.n_items = len(ends) - 1
        self.item = np.repeat(np.arange(self.n_items), np.diff(ends))
        self._left = ends[self.item + 1] - np.arange(len(codes))
        self._n_kinds = n_kinds
        self._max_gaps = max_gaps

    def extend(self, found: list[Occurrences] | None, length: int) -> list[Occurrences]:
        """Return the keys of substrings of a length, from the numbers of those one shorter."""
        if found is None:
            return [Occurrences(0, self.codes)]
        furthest = length - 1 + self._max_gaps
        return [
            Occurrences(offset, self._keys(shorter.numbers, offset))
            for shorter in found
            for offset in range(shorter.offset + 1, furthest + 1)
        ]

    def _keys(self, numbers: Integers, offset: int) -> Codes:
        """Return the keys with the letter at an offset appended; -1 where there is none."""
        n_starts = max(0, len(self.codes) - offset)
        before, letter = numbers[:n_starts], self.codes[offset:]
        is_there = (before >= 0) & (letter >= 0) & (self._left[:n_starts] > offset)
        return np.where(is_there, before * np.intp(self._n_kinds) + letter, -1)

    def matrix(
        self, found: list[tuple[Occurrences, int, float]], n_columns: int, dtype: DTypeLike
    ) -> CSR:
        """Return items x substrings: the sum of the weights of all occurrences.

        ``found`` holds occurrences, the column of substring number 0, and their weight.
        """
        from scipy.sparse import coo_array, csr_array, get_index_dtype

        index = get_index_dtype(maxval=max(self.n_items, n_columns))
        rows, columns, values = [], [], []
        for (_, numbers), first, weight in found:
            starts = np.flatnonzero(numbers >= 0)
            rows.append(self.item[starts].astype(index))
            columns.append(numbers[starts].astype(index) + first)
            values.append(np.full(len(starts), weight, dtype=dtype))
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return csr_array(coo_array(entries, shape=(self.n_items, n_columns)))


@dataclass(frozen=True)
class Substrings:
    """The substrings that occur in some items, as columns of a matrix.

    Attributes
    ----------
    shortest
        Length of the shortest substrings that have columns.
    n_kinds
        Number of distinct letters.
    max_gaps
        Maximum number of letters that an occurrence may skip.
    decay
        Factor by which each skipped letter reduces the weight of an occurrence.
    levels
        The keys of the substrings of lengths 1, 2, ...
    """

    shortest: int
    n_kinds: int
    max_gaps: int
    decay: float
    levels: tuple[Keys, ...]

    @property
    def n_columns(self) -> int:
        """Number of substrings that have columns."""
        return sum(map(len, self.levels[self.shortest - 1 :]))

    def count(self, letters: Letters, dtype: DTypeLike) -> CSR:
        """Return the weighted number of occurrences, items x substrings.

        Parameters
        ----------
        letters
            The items.
        dtype
            Dtype of the values.

        Returns
        -------
        csr_array, shape (n_items, n_columns)
        """
        parts = []
        for block in _blocks(letters, self.n_kinds, self.max_gaps):
            kept, found = [], None
            for length, keys in enumerate(self.levels, 1):
                found = _numbered(block.extend(found, length), keys)
                kept.append(found)
            parts.append(self.matrix(block, kept, dtype))
        return _stacked(parts, self.n_columns, dtype)

    def matrix(self, block: ItemBlock, kept: list[list[Occurrences]], dtype: DTypeLike) -> CSR:
        """Return the matrix of a block from its numbered substrings of lengths 1, 2, ..."""
        found, first = [], 0
        for length in range(self.shortest, len(self.levels) + 1):
            for occurrences in kept[length - 1]:
                n_gaps = occurrences.offset - (length - 1)
                found.append((occurrences, first, self.decay**n_gaps))
            first += len(self.levels[length - 1])
        return block.matrix(found, self.n_columns, dtype)

    def names(self, letters: Sequence[str], separator: str) -> list[str]:
        """Return the substrings in column order."""
        names, before = [], [""]
        for length, level in enumerate(self.levels, 1):
            between = separator if length > 1 else ""
            pairs = zip(*np.divmod(level.keys, self.n_kinds), strict=True)
            before = [before[prefix] + between + letters[letter] for prefix, letter in pairs]
            if length >= self.shortest:
                names += before
        return names


def learn_substrings(
    letters: Letters,
    n_kinds: int,
    lengths: tuple[int, int],
    max_gaps: int,
    decay: float,
    dtype: DTypeLike,
) -> tuple[Substrings, CSR]:
    """Return the substrings that occur in items, and their counts as in ``Substrings.count``.

    Parameters
    ----------
    letters
        The items.
    n_kinds
        Number of distinct letters.
    lengths
        The smallest and the largest length.
    max_gaps, decay
        See ``Substrings``.
    dtype
        Dtype of the counts.

    Returns
    -------
    substrings : Substrings
    counts : csr_array, shape (n_items, n_columns)
    """
    blocks = list(_blocks(letters, n_kinds, max_gaps))
    kept: list[list[list[Occurrences]]] = [[] for _ in blocks]
    found: list[list[Occurrences] | None] = [None] * len(blocks)
    levels: list[Keys] = []
    for length in range(1, lengths[1] + 1):
        keyed = [block.extend(before, length) for block, before in zip(blocks, found, strict=True)]
        keys = _distinct(keyed, n_kinds * (len(levels[-1]) if levels else 1))
        levels.append(keys)
        for b, occurrences in enumerate(keyed):
            numbered = _numbered(occurrences, keys)
            found[b] = numbered
            kept[b].append(numbered if length >= lengths[0] else [])
    substrings = Substrings(lengths[0], n_kinds, max_gaps, decay, tuple(levels))
    parts = [substrings.matrix(*pair, dtype) for pair in zip(blocks, kept, strict=True)]
    return substrings, _stacked(parts, substrings.n_columns, dtype)


def _blocks(letters: Letters, n_kinds: int, max_gaps: int) -> Iterator[ItemBlock]:
    """Yield blocks of whole items with about BLOCK_LETTERS letters each."""
    codes, ends = letters
    first, n_items = 0, len(ends) - 1
    while first < n_items:
        last = int(np.searchsorted(ends, ends[first] + BLOCK_LETTERS, side="right")) - 1
        last = min(max(last, first + 1), n_items)
        part = Letters(codes[ends[first] : ends[last]], ends[first : last + 1] - ends[first])
        yield ItemBlock(part, n_kinds, max_gaps)
        first = last


def _distinct(keyed: list[list[Occurrences]], n_possible: int) -> Keys:
    """Return the keys that occur in any block, out of ``n_possible`` keys."""
    parts = [numbers for occurrences in keyed for _, numbers in occurrences]
    if n_possible < LARGEST_TABLE:
        occurs = np.zeros(n_possible + 1, dtype=bool)  # the last is for -1
        for numbers in parts:
            occurs[numbers] = True
        return Keys(np.flatnonzero(occurs[:-1]))
    keys = _ascending(np.concatenate([_ascending(numbers) for numbers in parts]))
    return Keys(keys[keys >= 0])


def _ascending(keys: Integers) -> Integers:
    """Return the distinct keys, sorted; several times faster than ``np.unique`` in numpy 2.4."""
    ordered = np.sort(keys)
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def _numbered(occurrences: list[Occurrences], keys: Keys) -> list[Occurrences]:
    """Replace the keys of occurrences by numbers."""
    return [Occurrences(offset, keys.numbers(numbers)) for offset, numbers in occurrences]


def _stacked(parts: list[CSR], n_columns: int, dtype: DTypeLike) -> CSR:
    from scipy.sparse import csr_array, vstack

    if len(parts) == 1:
        return parts[0]
    empty = csr_array((0, n_columns), dtype=dtype)
    return csr_array(vstack([empty, *parts]))
