"""``BlockWeights``: linear classifiers whose weights exist only for features of their items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from taxonomist.compiled.arrays import Rows, read_only
from taxonomist.compiled.block_lookup import BlockIndex, Known, LookupRoom, score_block_by_block
from taxonomist.compiled.block_scores import (
    BlockTable,
    score_blocks,
    score_few_blocks,
    spread,
)
from taxonomist.compiled.jit import can_spare, is_compiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Bools, Codes, Integers, Reals
    from taxonomist.inference.scorers import Cut

DENSE = 4
"""How many blocks of a feature are looked up in vain in the time that one spares if it is found."""
MOST_SEGMENTS = 10**8
"""Segments that are added one by one at most, rather than compiling the faster loop over blocks."""
MOST_WEIGHTS = 10_000_000
"""Weights that are added up without numba at most: its import takes longer."""


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """Weights of columns (classifiers), in blocks of columns that were trained on the same items.

    Attributes
    ----------
    table
        The weights, indexed by feature.
    """

    table: BlockTable

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

        The segments of a feature are sorted by block.

        Parameters
        ----------
        n_features
            The number of features.
        features, blocks
            The feature and the block of each segment.
        values
            The weights, segment by segment.
        widths
            The number of columns of each block; columns are numbered block by block.
        bias
            What is added to the score of each column.
        """
        steps = widths[blocks]
        starts = np.cumsum(steps, dtype=np.intp)
        starts -= steps
        shape = n_features, len(widths)
        found = in_order(starts, features, blocks, shape)
        indptr, block = found.indptr.astype(np.intp), found.indices.astype(np.int32, copy=False)
        first = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        return cls(BlockTable(indptr, block, found.data, first, values, bias))

    @cached_property
    def index(self) -> BlockIndex:
        """The segments of each block."""
        table = self.table
        n_blocks, n_features = len(table.first) - 1, len(table.indptr) - 1
        numbers = np.arange(len(table.block), dtype=np.int32)
        by_feature = csr_array((numbers, table.block, table.indptr), shape=(n_features, n_blocks))
        found = by_feature.tocsc()
        return BlockIndex(found.indptr.astype(np.intp), found.indices, table.start[found.data])

    def nothing_known(self, raw: Reals) -> Known:
        """Return room for the scores of items, of which none is known."""
        widths = np.diff(self.table.first)
        is_known = np.zeros((len(raw), len(widths)), dtype=bool)
        return Known(raw, is_known, np.repeat(np.arange(len(widths)), widths))

    def lookup_room(self, rows: Rows) -> LookupRoom:
        """Return room for looking up the weights of any of the rows."""
        longest = int(np.diff(rows.indptr).max(initial=0)) + 1
        place = np.full(len(self.table.indptr) - 1, -1, np.int32)
        return LookupRoom(place, np.empty(longest, np.intp), np.empty(longest, np.float32))

    def segments(self, is_wanted: Bools) -> tuple[Integers, Codes, Reals]:
        """Return the features, the blocks and the weights of segments of some blocks."""
        table = self.table
        n_features = len(table.indptr) - 1
        features = np.repeat(np.arange(n_features, dtype=np.int32), np.diff(table.indptr))
        wanted = is_wanted[table.block]
        blocks = table.block[wanted].astype(np.intp)
        places = spread(table.start[wanted], np.diff(table.first)[blocks])
        return features[wanted], blocks, table.values[places]

    def beside(self, other: BlockWeights) -> BlockWeights:
        """Return these blocks of columns, and behind them those of other weights."""
        mine, yours = self.table, other.table
        n_mine, n_yours = np.diff(mine.indptr), np.diff(yours.indptr)
        indptr = mine.indptr + yours.indptr
        block = np.empty(int(indptr[-1]), np.int32)
        start = np.empty(len(block), np.intp)
        # Segments of a feature stay in the order of blocks.
        for part, to, n_blocks, n_values in (
            (mine, np.arange(len(mine.block)) + np.repeat(yours.indptr[:-1], n_mine), 0, 0),
            (
                yours,
                np.arange(len(yours.block)) + np.repeat(mine.indptr[1:], n_yours),
                len(mine.first) - 1,
                len(mine.values),
            ),
        ):
            block[to], start[to] = part.block + n_blocks, part.start + n_values
        first = np.concatenate([mine.first, yours.first[1:] + mine.first[-1]])
        values, bias = (np.concatenate([mine[k], yours[k]]) for k in (4, 5))
        return BlockWeights(BlockTable(indptr, block, start, first, values, bias))

    def first_blocks(self, n_blocks: int) -> BlockWeights:
        """Return the first blocks of columns."""
        table = self.table
        first = table.first[: n_blocks + 1]
        is_wanted = np.arange(len(table.first) - 1) < n_blocks
        return BlockWeights.join(
            len(table.indptr) - 1,
            *self.segments(is_wanted),
            np.diff(first),
            table.bias[: first[-1]],
        )

    @property
    def n_columns(self) -> int:
        """The number of classifiers."""
        return len(self.table.bias)

    def scores(self, X: CSR, out: Reals) -> None:
        """Write the scores of sparse rows, (n_items, n_columns)."""
        rows, table = sparse_rows(X), self.table
        n_blocks, n_entries = len(table.first) - 1, len(rows.indices)
        n_segments = int((table.indptr[rows.indices + 1] - table.indptr[rows.indices]).sum())
        is_dense = DENSE * n_segments > n_blocks * n_entries + len(table.block)
        n_weights = n_segments * int(np.diff(table.first).max(initial=0))
        if can_spare(score_blocks, n_weights, MOST_WEIGHTS):
            score_few_blocks(rows, table, out)
        elif is_dense and (
            is_compiled(score_block_by_block)
            or not can_spare(score_block_by_block, n_segments, MOST_SEGMENTS)
        ):
            items = np.arange(len(out))
            following = np.append(items[1:], -1)
            known, room = self.nothing_known(out), self.lookup_room(rows)
            score_block_by_block(rows, table, self.index, items, following, known, room)
        else:
            score_blocks(rows, table, out)

    def of_column(self, column: int, features: Codes) -> Reals:
        """Return the weights of some features in one column."""
        table = self.table
        block = int(np.searchsorted(table.first, column, side="right")) - 1
        inside = column - int(table.first[block])
        found = np.zeros(len(features), np.float32)
        for at, feature in enumerate(features.tolist()):
            segments = slice(*table.indptr[feature : feature + 2])
            here = np.flatnonzero(table.block[segments] == block)
            if len(here):
                found[at] = table.values[table.start[segments][here[0]] + inside]
        return found

    def blocks(self) -> Iterator[tuple[int, Codes, Reals]]:
        """Yield the first column of each block, its features, and their weights.

        The weights have the shape (n_block_features, n_block_columns).
        """
        table = self.table
        order = np.argsort(table.block, kind="stable")
        features = np.repeat(np.arange(len(table.indptr) - 1), np.diff(table.indptr))
        n_blocks = len(table.first) - 1
        ends = np.searchsorted(table.block[order], np.arange(n_blocks + 1))
        for block in range(n_blocks):
            found = order[ends[block] : ends[block + 1]]
            first = int(table.first[block])
            inside = np.arange(int(table.first[block + 1]) - first)
            yield first, features[found], table.values[table.start[found][:, None] + inside]

    def pruned(self, cut: Cut) -> BlockWeights:
        """Return the weights that ``cut`` returns."""
        return replace(self, table=self.table._replace(values=cut(self.table.values)))


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
