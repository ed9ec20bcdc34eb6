"""Scores of items in single blocks, looked up when they are needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Integers, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.block_scores import WeightBlocks
from taxonomist.compiled.jit import compiled


class BlockIndex(NamedTuple):
    """Which features each block has, and where.

    A pair of numbers tells of 32 ranges of 2^``shift`` features: a bit for each range of which the
    block has features, and how many features of lower ranges it has. A block has ``n_pairs`` pairs.
    """

    shift: int
    n_pairs: int
    pairs: Integers  # (2 * n_blocks * n_pairs,)


class Known(NamedTuple):
    """The margins of some items that were computed so far."""

    raw: Reals  # (n_items, n_columns)
    is_known: Bools  # (n_items, n_blocks)
    block_of: Codes  # (n_columns,)


class LookupRoom(NamedTuple):
    """Room for the segments of an item in a block."""

    starts: Codes  # (longest row + 1,)
    data: Reals  # (longest row + 1,)


@compiled(inline=True)
def n_bits(word: int) -> int:
    """Return how many of 32 bits are set."""
    word -= (word >> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return ((word * 0x01010101) & 0xFFFFFFFF) >> 24


@compiled(inline=True)
def find_segments(
    rows: Rows, item: int, block: int, table: WeightBlocks, index: BlockIndex, room: LookupRoom
) -> int:
    """Write where the weights of an item's features begin, and its data; return their number.

    The loops have few branches, which would often be predicted wrongly, so that the processor waits
    for many places of the memory at the same time.
    """
    n_maybe, n, first, shift = 0, 0, 2 * block * index.n_pairs, index.shift
    begin, end, start = table.indptr[block], table.indptr[block + 1], table.start[block]
    width = table.first[block + 1] - table.first[block]
    for k in range(rows.indptr[item], rows.indptr[item + 1]):
        place = int(rows.indices[k]) >> shift
        room.starts[n_maybe] = k
        n_maybe += (int(index.pairs[first + 2 * (place >> 5)]) >> (place & 31)) & 1
    for j in range(n_maybe):
        k = room.starts[j]
        feature = int(rows.indices[k])
        place = feature >> shift
        pair = first + 2 * (place >> 5)
        at = int(index.pairs[pair + 1])
        if shift == 0:
            at += n_bits(int(index.pairs[pair]) & ((1 << (place & 31)) - 1))
        else:
            while begin + at < end and table.features[begin + at] < feature:
                at += 1
            if begin + at == end or table.features[begin + at] != feature:
                continue
        room.starts[n] = start + at * width
        room.data[n] = rows.data[k] * table.scale[block]
        n += 1
    return n


@compiled(inline=True)
def add_segments(room: LookupRoom, n: int, table: WeightBlocks, margins: Reals) -> None:
    """Add the weights of n segments, times their data, to the margins.

    Four margins at a time stay in registers. Sums have the same order as in ``score_blocks``.
    """
    b, values = 0, table.values
    while b + 4 <= len(margins):
        m0, m1, m2, m3 = margins[b], margins[b + 1], margins[b + 2], margins[b + 3]
        for k in range(n):
            x, at = room.data[k], room.starts[k] + b
            m0 += x * np.float32(values[at])
            m1 += x * np.float32(values[at + 1])
            m2 += x * np.float32(values[at + 2])
            m3 += x * np.float32(values[at + 3])
        margins[b], margins[b + 1], margins[b + 2], margins[b + 3] = m0, m1, m2, m3
        b += 4
    while b < len(margins):
        total = margins[b]
        for k in range(n):
            total += room.data[k] * np.float32(values[room.starts[k] + b])
        margins[b] = total
        b += 1


@compiled(inline=True)
def score_block(
    rows: Rows,
    table: WeightBlocks,
    index: BlockIndex,
    block: int,
    first: int,
    items: Codes,
    following: Codes,
    known: Known,
    room: LookupRoom,
) -> None:
    """Compute the margins in one block of a list of items, except those that are known.

    The list begins with the entry ``first`` and goes on as ``following`` says, up to -1; ``items``
    has the item of each entry. The block's weights stay in the cache.
    """
    begin, end = table.first[block], table.first[block + 1]
    entry = first
    while entry >= 0:
        item = items[entry]
        if not known.is_known[item, block]:
            known.is_known[item, block] = True
            margins = known.raw[item, begin:end]
            for b in range(end - begin):
                margins[b] = table.bias[begin + b]
            add_segments(room, find_segments(rows, item, block, table, index, room), table, margins)
        entry = following[entry]


@compiled()
def score_block_by_block(
    rows: Rows,
    table: WeightBlocks,
    index: BlockIndex,
    items: Codes,
    following: Codes,
    known: Known,
    room: LookupRoom,
) -> None:
    """Compute the margins of all items in all blocks; the results are those of ``score_blocks``.

    This is faster where items have weights in most blocks.
    """
    for block in range(len(table.first) - 1):
        score_block(rows, table, index, block, 0, items, following, known, room)
