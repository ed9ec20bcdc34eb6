"""``BlockWeights``: linear classifiers whose weights exist only for features of their items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.sparse import coo_array, csr_array

from taxonomist.compiled.arrays import Rows, read_only
from taxonomist.compiled.block_lookup import BlockIndex, Known, LookupRoom, score_block_by_block
from taxonomist.compiled.block_scores import (
    DenseRows,
    FeatureIndex,
    WeightBlocks,
    score_blocks,
    score_dense_rows,
    score_few_blocks,
)
from taxonomist.compiled.jit import can_spare, is_compiled
from taxonomist.errors import ModelFileError
from taxonomist.inference.frequent_features import FrequentFeatures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Bools, Codes, Integers, Reals
    from taxonomist.inference.scorers import Cut

DENSE = 4
"""How many blocks of a feature are looked up in vain in the time that one spares if it is found."""
LOOKUP = 16
"""How many features are read in the time of one bisection."""
MOST_SEGMENTS = 10**8
"""Segments that are added one by one at most, rather than compiling a faster loop."""
MOST_WEIGHTS = 10_000_000
"""Weights that are added up without numba at most: its import takes longer."""
FEATURES_AT_ONCE = 2**22
"""Features of segments that are counted at once, which bounds memory."""
LEAST_PACKED = 2**24
"""Weights from which on files have 16 bits of each: 64 MiB in single precision."""
LARGEST = 2**15 - 1
"""The largest 16-bit weight of a block."""


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """Weights of columns (classifiers), in blocks of columns that were trained on the same items.

    Attributes
    ----------
    table
        The weights, block by block.
    n_features
        The number of features.
    """

    file_version = 2

    table: WeightBlocks
    n_features: int

    @classmethod
    def join(
        cls,
        n_features: int,
        features: Integers,
        blocks: Integers,
        values: Reals,
        widths: Codes,
        bias: Reals,
    ) -> BlockWeights:
        """Join segments: the weights of one feature in all columns of one block.

        The segments of a block follow each other, in any order.

        Parameters
        ----------
        n_features
            The number of features.
        features, blocks
            The feature and the block of each segment.
        values
            The weights, segment by segment. They are sorted in place.
        widths
            The number of columns of each block; columns are numbered block by block.
        bias
            What is added to the score of each column.
        """
        sizes = np.bincount(blocks, minlength=len(widths))
        is_first = np.ones(len(blocks), dtype=bool)
        is_first[1:] = blocks[1:] != blocks[:-1]
        given = blocks[is_first]
        ends = np.cumsum((sizes * widths)[given])
        start, begin = np.zeros((2, len(widths)), np.intp)
        start[given] = ends - (sizes * widths)[given]
        begin[given] = np.cumsum(sizes[given]) - sizes[given]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        ordered = np.empty(len(features), np.int32)
        is_mixed = np.zeros(len(widths), dtype=bool)
        is_mixed[blocks[1:][(features[1:] < features[:-1]) & ~is_first[1:]]] = True
        for block in np.flatnonzero(sizes).tolist():
            n, width = int(sizes[block]), int(widths[block])
            found = features[begin[block] : begin[block] + n]
            if is_mixed[block]:
                order = np.argsort(found)
                found = found[order]
                rows = values[start[block] : start[block] + n * width].reshape(n, width)
                rows[:] = rows[order]
            ordered[indptr[block] : indptr[block + 1]] = found
        first = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        scale = np.ones(len(widths), np.float32)
        return cls(WeightBlocks(indptr, ordered, start, first, scale, values, bias), n_features)

    # Files -------------------------------------------------------------------------------------

    def hold_back(self, wait: Callable[[], object]) -> None:
        """Let the next use of the weights call a function first, which raises if they are damaged.

        Parameters
        ----------
        wait
            The function. It is called again until it raises nothing.
        """
        state = vars(self)
        state["_held"] = state.pop("table"), wait

    def __getattr__(self, name: str) -> WeightBlocks:
        """Return the weights that were held back."""
        held = vars(self).get("_held")
        if name != "table" or held is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        table, wait = held
        wait()
        vars(self)["table"] = table
        vars(self).pop("_held", None)
        found: WeightBlocks = table
        return found

    def __getstate__(self) -> dict[str, object]:
        """Return the state to copy, with weights that can be used."""
        return {"table": self.table} | vars(self)

    def file_state(self) -> dict[str, object]:
        """Return the state to save."""
        return {"table": self.table, "n_features": self.n_features}

    # Lookup ------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> BlockIndex:
        """Which features each block has, and where."""
        table, shift = self.table, 0
        self._check_features()
        while self.n_blocks * self._n_pairs(shift) > max(len(table.features), self.n_blocks):
            shift += 1
        n_pairs = self._n_pairs(shift)
        pairs = np.empty((self.n_blocks, n_pairs, 2), np.uint32)
        for found, (begin, end) in zip(pairs, pairwise(table.indptr.tolist()), strict=True):
            if (np.diff(table.features[begin:end]) <= 0).any():
                raise ModelFileError("The model is damaged: features of its weights have no order.")
            places = table.features[begin:end] >> shift
            counts = np.bincount(places >> 5, minlength=n_pairs)
            places = places[np.diff(places, prepend=-1) > 0]
            # Different powers of two, so that sums are unions of bits.
            found[:, 0] = np.bincount(places >> 5, 2.0 ** (places & 31), n_pairs)
            found[:, 1] = np.cumsum(counts) - counts
        return BlockIndex(shift, n_pairs, pairs.ravel())

    def _n_pairs(self, shift: int) -> int:
        return ((max(self.n_features, 1) - 1) >> shift >> 5) + 1

    @cached_property
    def by_feature(self) -> FeatureIndex:
        """The segments of each feature."""
        self._check_features()
        table = self.table
        numbers = np.arange(len(table.features), dtype=self._number_type)
        shape = self.n_blocks, self.n_features
        by_block = csr_array((numbers, table.features, table.indptr), shape=shape)
        return self._feature_index(by_block)

    def _few_by_feature(self, features: Integers) -> FeatureIndex:
        """Return the segments of some features."""
        wanted = np.unique(features)
        is_few = LOOKUP * len(wanted) * self.n_blocks < len(self.table.features)
        numbers = (self._searched if is_few else self._selected)(wanted)
        indptr = np.searchsorted(numbers, self.table.indptr)
        shape = self.n_blocks, self.n_features
        parts = numbers.astype(self._number_type), self.table.features[numbers], indptr
        return self._feature_index(csr_array(parts, shape=shape))

    def _selected(self, wanted: Integers) -> Codes:
        """Return the segments of some features, by reading all of them."""
        self._check_features()
        is_wanted = np.zeros(self.n_features, dtype=bool)
        is_wanted[wanted] = True
        return np.flatnonzero(is_wanted[self.table.features])

    def _searched(self, wanted: Integers) -> Codes:
        """Return the segments of some features, by bisection in every block at the same time."""
        table = self.table
        low = np.repeat(table.indptr[:-1], len(wanted))
        n, ends = (
            np.repeat(np.diff(table.indptr), len(wanted)),
            np.repeat(table.indptr[1:], len(wanted)),
        )
        features = np.tile(wanted, self.n_blocks)
        while n.any():
            half = n // 2
            is_before = (n > 0) & (table.features[np.minimum(low + half, ends - 1)] < features)
            low = np.where(is_before, low + half + 1, low)
            n = np.where(is_before, n - half - 1, half)
        is_there = low < ends
        is_there[is_there] = table.features[low[is_there]] == features[is_there]
        return low[is_there]

    def _feature_index(self, by_block: CSR) -> FeatureIndex:
        """Return the index of segments whose numbers are the data of a matrix."""
        found, table = by_block.tocsc(), self.table
        block, number = found.indices.astype(np.int32, copy=False), found.data
        start = number - table.indptr[block]
        start *= np.diff(table.first)[block]
        start += table.start[block]
        return FeatureIndex(found.indptr.astype(np.intp), block, start)

    @cached_property
    def _n_segments(self) -> Codes:
        """The number of segments of each feature."""
        self._check_features()
        counts = np.zeros(self.n_features, np.intp)
        for begin in range(0, len(self.table.features), FEATURES_AT_ONCE):
            some = self.table.features[begin : begin + FEATURES_AT_ONCE]
            counts += np.bincount(some, minlength=self.n_features)
        return counts

    @cached_property
    def _frequent(self) -> FrequentFeatures:
        self._check_features()
        return FrequentFeatures(self.table, self.n_features)

    @property
    def _number_type(self) -> type[np.signedinteger]:
        """The smaller type of integers that numbers all segments."""
        return np.int32 if len(self.table.features) < 2**31 else np.int64

    def _check_features(self) -> None:
        """Raise if there is a feature that cannot be; files are opened without reading all."""
        found = self.table.features
        if len(found) and not 0 <= int(found.min()) <= int(found.max()) < self.n_features:
            raise ModelFileError("The model is damaged: it has weights of features that are not.")

    def nothing_known(self, raw: Reals) -> Known:
        """Return room for the scores of items, of which none is known."""
        widths = np.diff(self.table.first)
        is_known = np.zeros((len(raw), len(widths)), dtype=bool)
        return Known(raw, is_known, np.repeat(np.arange(len(widths)), widths))

    def lookup_room(self, rows: Rows) -> LookupRoom:
        """Return room for looking up the weights of any of the rows."""
        longest = int(np.diff(rows.indptr).max(initial=0)) + 1
        return LookupRoom(np.empty(longest, np.intp), np.empty(longest, np.float32))

    # Parts -------------------------------------------------------------------------------------

    @property
    def n_columns(self) -> int:
        """The number of classifiers."""
        return len(self.table.bias)

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self.table.first) - 1

    def _values_of(self, block: int) -> Reals | Integers:
        """Return the values of a block as stored, (n_block_features, n_block_columns)."""
        table = self.table
        n, width = np.diff(table.indptr[block : block + 2]), np.diff(table.first[block : block + 2])
        begin = int(table.start[block])
        return table.values[begin : begin + int(n[0] * width[0])].reshape(int(n[0]), int(width[0]))

    def _weights_of(self, block: int) -> Reals:
        """Return the weights of a block, (n_block_features, n_block_columns)."""
        found: Reals = self._values_of(block) * self.table.scale[block]
        return found

    def blocks(self) -> Iterator[tuple[int, Integers, Reals]]:
        """Yield the first column of each block, its features, and their weights.

        The weights have the shape (n_block_features, n_block_columns).
        """
        table = self.table
        for block, (begin, end) in enumerate(pairwise(table.indptr.tolist())):
            yield int(table.first[block]), table.features[begin:end], self._weights_of(block)

    def segments(self, is_wanted: Bools) -> tuple[Integers, Codes, Reals]:
        """Return the features, the blocks and the weights of segments of some blocks."""
        table, wanted = self.table, np.flatnonzero(is_wanted)
        blocks = np.repeat(wanted, np.diff(table.indptr)[wanted])
        features = [table.features[slice(*table.indptr[k : k + 2])] for k in wanted.tolist()]
        weights = [self._weights_of(block).ravel() for block in wanted.tolist()]
        return (
            np.concatenate([np.empty(0, np.int32), *features]),
            blocks,
            np.concatenate([np.empty(0, np.float32), *weights]),
        )

    def of_column(self, column: int, features: Codes) -> Reals:
        """Return the weights of some features in one column."""
        table = self.table
        block = int(np.searchsorted(table.first, column, side="right")) - 1
        here = table.features[slice(*table.indptr[block : block + 2])]
        found = np.zeros(len(features), np.float32)
        at = np.minimum(np.searchsorted(here, features), max(len(here) - 1, 0))
        has = here[at] == features if len(here) else np.zeros(len(features), dtype=bool)
        weights = self._weights_of(block)[at[has], column - int(table.first[block])]
        found[has] = weights
        return found

    def beside(self, other: BlockWeights) -> BlockWeights:
        """Return these blocks of columns, and behind them those of other weights, as floats."""
        mine, yours = self.floats().table, other.floats().table
        table = WeightBlocks(
            np.concatenate([mine.indptr, yours.indptr[1:] + mine.indptr[-1]]),
            np.concatenate([mine.features, yours.features]),
            np.concatenate([mine.start, yours.start + len(mine.values)]),
            np.concatenate([mine.first, yours.first[1:] + mine.first[-1]]),
            *(np.concatenate([a, b]) for a, b in zip(mine[4:], yours[4:], strict=True)),
        )
        return BlockWeights(table, self.n_features)

    def first_blocks(self, n_blocks: int) -> BlockWeights:
        """Return the first blocks of columns."""
        table = self.table
        first = table.first[: n_blocks + 1]
        is_wanted = np.arange(self.n_blocks) < n_blocks
        return BlockWeights.join(
            self.n_features, *self.segments(is_wanted), np.diff(first), table.bias[: first[-1]]
        )

    def pruned(self, cut: Cut) -> BlockWeights:
        """Return the weights that ``cut`` returns."""
        floats = self.floats()
        values = cut(cast("Reals", floats.table.values))
        return replace(floats, table=floats.table._replace(values=values))

    # Precision ---------------------------------------------------------------------------------

    def floats(self) -> BlockWeights:
        """Return the same weights in single precision."""
        if self.table.values.dtype.kind == "f":
            return self
        features, blocks, values = self.segments(np.ones(self.n_blocks, dtype=bool))
        widths = np.diff(self.table.first)
        return BlockWeights.join(self.n_features, features, blocks, values, widths, self.table.bias)

    def packed(self) -> BlockWeights:
        """Return the weights with 16 bits each if there are many.

        A weight is rounded to a multiple of 1/32,767 of the largest weight of its block.
        """
        table = self.table
        if table.values.dtype.kind != "f" or len(table.values) < LEAST_PACKED:
            return self
        values, scale = np.zeros(len(table.values), np.int16), np.ones_like(table.scale)
        for block in range(self.n_blocks):
            weights = self._values_of(block)
            largest = np.abs(weights).max(initial=0)
            scale[block] = largest / LARGEST if largest > 0 else 1
            begin = table.start[block]
            rounded = np.rint(weights / scale[block])
            values[begin : begin + weights.size] = np.clip(rounded, -LARGEST, LARGEST).ravel()
        return replace(self, table=table._replace(values=values, scale=scale))

    # Scores ------------------------------------------------------------------------------------

    def _dense_rows(self, rows: Rows, n_segments: int) -> DenseRows | None:
        """Return dense rows of weights, if they make scoring these rows faster."""
        if not self._frequent.can_be or not (
            is_compiled(score_dense_rows)
            or not can_spare(score_dense_rows, n_segments, MOST_SEGMENTS)
        ):
            return None
        return self._frequent.rows_for(rows.indices, n_segments)

    def scores(self, X: CSR, out: Reals) -> None:
        """Write the scores of sparse rows, (n_items, n_columns)."""
        rows, table = sparse_rows(X), self.table
        n_lookups, widest = self.n_blocks * len(rows.indices), np.diff(table.first).max(initial=0)
        # Counting the segments of every feature takes longer than those of a few texts are worth.
        is_little = LOOKUP * n_lookups < len(table.features) and "_n_segments" not in vars(self)
        n_segments = n_lookups if is_little else int(self._n_segments[rows.indices].sum())
        n_weights = n_segments * int(widest)
        if not self._frequent.is_made and can_spare(score_blocks, n_weights, MOST_WEIGHTS):
            score_few_blocks(rows, table, self._few_by_feature(rows.indices), out)
            return
        n_segments = int(self._n_segments[rows.indices].sum())
        dense = self._dense_rows(rows, n_segments)
        if dense is not None:
            sums = np.empty(len(dense.scale), np.float32)
            score_dense_rows(rows, table, self.by_feature, dense, sums, out)
            return
        is_dense = DENSE * n_segments > n_lookups + len(table.features)
        if is_dense and (
            is_compiled(score_block_by_block)
            or not can_spare(score_block_by_block, n_segments, MOST_SEGMENTS)
        ):
            items = np.arange(len(out))
            following = np.append(items[1:], -1)
            known, room = self.nothing_known(out), self.lookup_room(rows)
            score_block_by_block(rows, table, self.index, items, following, known, room)
        else:
            score_blocks(rows, table, self.by_feature, out)


def in_order(
    values: NDArray[np.generic], rows: Integers, columns: Integers, shape: tuple[int, int]
) -> CSR:
    """Return entries as sparse rows with sorted columns, by two sorts that take linear time.

    No two entries are at the same place.
    """
    given = coo_array((values, (rows, columns)), shape=shape)
    given.has_canonical_format = True
    return given.tocsc().tocsr()


def sparse_rows(X: CSR) -> Rows:
    """Return sparse rows as compiled loops read them, in single precision."""
    indptr, indices = X.indptr.astype(np.intp, copy=False), X.indices.astype(np.int32, copy=False)
    return read_only(Rows(indptr, indices, X.data.astype(np.float32, copy=False)))
