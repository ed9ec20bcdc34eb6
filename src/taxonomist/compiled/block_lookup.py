"""Scores of items in single blocks, looked up when they are needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Integers, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.block_scores import WeightBlocks
from taxonomist.compiled.jit import compiled


class BlockIndex(NamedTuple):
    """Where each block has the features of a range: shelves of 2^``shift`` features.

    Those of shelf s of block b are at ``ends[b * n_shelves + s]`` and before the next number. Most
    features that a block does not have are told by one bit, the one with the number of the feature
    modulo a power of two.
    """

    shift: int
    n_shelves: int
    ends: Integers  # (n_blocks * n_shelves + 1,)
    bits: Integers  # 8 in each number
    first_bits: Codes  # (n_blocks,)  where the bits of a block begin
    masks: Codes  # (n_blocks,)  its number of bits - 1


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
def find_segments(
    rows: Rows, item: int, block: int, table: WeightBlocks, index: BlockIndex, room: LookupRoom
) -> int:
    """Write where the weights of an item's features begin, and its data; return their number."""
    n_maybe, n, shelves = 0, 0, block * index.n_shelves
    width = table.first[block + 1] - table.first[block]
    offset = table.start[block] - table.indptr[block] * width
    bits, mask = index.first_bits[block], index.masks[block]
    for k in range(rows.indptr[item], rows.indptr[item + 1]):
        bit = rows.indices[k] & mask
        # Without a branch, which would often be predicted wrongly.
        room.starts[n_maybe] = k
        n_maybe += (index.bits[bits + (bit >> 3)] >> (bit & 7)) & 1
    for j in range(n_maybe):
        k = room.starts[j]
        feature = rows.indices[k]
        shelf = shelves + (feature >> index.shift)
        for at in range(index.ends[shelf], index.ends[shelf + 1]):
            if table.features[at] == feature:
                room.starts[n] = offset + at * width
                room.data[n] = rows.data[k] * table.scale[block]
                n += 1
                break
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
