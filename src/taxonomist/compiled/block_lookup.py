"""Scores of items in single blocks, looked up when they are needed."""

from __future__ import annotations

from typing import NamedTuple

from taxonomist._typing import Bools, Codes, Integers, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.block_scores import BlockTable
from taxonomist.compiled.jit import compiled

LOOKUP = 8
"""The work of searching for a segment, in multiples of that of noting one."""


class BlockIndex(NamedTuple):
    """The segments of every block of a ``BlockTable``, and their features."""

    indptr: Codes  # (n_blocks + 1,)
    features: Integers  # (n_segments,)
    starts: Codes  # (n_segments,)  where their weights begin


class Known(NamedTuple):
    """The margins of some items that were computed so far."""

    raw: Reals  # (n_items, n_columns)
    is_known: Bools  # (n_items, n_blocks)
    block_of: Codes  # (n_columns,)


class LookupRoom(NamedTuple):
    """Room for the segments of a block, and for those of an item in a block."""

    place: Integers  # (n_features,)  where the index has a feature in the block noted last
    starts: Codes  # (longest row + 1,)
    data: Reals  # (longest row + 1,)


@compiled(inline=True)
def segment_of(feature: int, block: int, table: BlockTable) -> int:
    """Return the segment of a feature in a block, or -1."""
    low, n = table.indptr[feature], table.indptr[feature + 1] - table.indptr[feature]
    last = low + n
    while n > 0:
        half = n // 2
        is_before = table.block[low + half] < block
        low = low + half + 1 if is_before else low
        n = n - half - 1 if is_before else half
    return low if low < last and table.block[low] == block else -1


@compiled(inline=True)
def find_segments(rows: Rows, item: int, block: int, table: BlockTable, room: LookupRoom) -> int:
    """Write where the weights of an item's features begin, and its data; return their number."""
    n = 0
    for k in range(rows.indptr[item], rows.indptr[item + 1]):
        segment = segment_of(rows.indices[k], block, table)
        # Without a branch, which would often be predicted wrongly.
        room.starts[n] = table.start[max(segment, 0)]
        room.data[n] = rows.data[k]
        n += segment >= 0
    return n


@compiled(inline=True)
def find_noted(
    rows: Rows, item: int, begin: int, end: int, index: BlockIndex, room: LookupRoom
) -> int:
    """Do the same as ``find_segments`` for the block that was noted last.

    The features of other blocks have places outside those from ``begin`` to ``end``.
    """
    n = 0
    for k in range(rows.indptr[item], rows.indptr[item + 1]):
        at = room.place[rows.indices[k]]
        room.starts[n] = index.starts[max(at, begin)]
        room.data[n] = rows.data[k]
        n += begin <= at < end
    return n


@compiled(inline=True)
def add_segments(room: LookupRoom, n: int, values: Reals, margins: Reals) -> None:
    """Add the weights of n segments, times their data, to the margins.

    Four margins at a time stay in registers. Sums have the same order as in ``score_blocks``.
    """
    b = 0
    while b + 4 <= len(margins):
        m0, m1, m2, m3 = margins[b], margins[b + 1], margins[b + 2], margins[b + 3]
        for k in range(n):
            x, at = room.data[k], room.starts[k] + b
            m0 += x * values[at]
            m1 += x * values[at + 1]
            m2 += x * values[at + 2]
            m3 += x * values[at + 3]
        margins[b], margins[b + 1], margins[b + 2], margins[b + 3] = m0, m1, m2, m3
        b += 4
    while b < len(margins):
        total = margins[b]
        for k in range(n):
            total += room.data[k] * values[room.starts[k] + b]
        margins[b] = total
        b += 1


@compiled(inline=True)
def n_lookups(
    rows: Rows, block: int, entry: int, items: Codes, following: Codes, known: Known
) -> int:
    """Return the number of values of listed items whose margins in a block are not known."""
    n = 0
    while entry >= 0:
        item = items[entry]
        if not known.is_known[item, block]:
            n += rows.indptr[item + 1] - rows.indptr[item]
        entry = following[entry]
    return n


@compiled(inline=True)
def score_block(
    rows: Rows,
    table: BlockTable,
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
    has the item of each entry. The block's segments are noted by feature if this is less work than
    searching for each item's.
    """
    begin, end = table.first[block], table.first[block + 1]
    low, high = index.indptr[block], index.indptr[block + 1]
    n_segments = high - low
    is_noted = LOOKUP * n_lookups(rows, block, first, items, following, known) > n_segments
    if is_noted:
        for k in range(low, high):
            room.place[index.features[k]] = k
    entry = first
    while entry >= 0:
        item = items[entry]
        if not known.is_known[item, block]:
            known.is_known[item, block] = True
            margins = known.raw[item, begin:end]
            for b in range(end - begin):
                margins[b] = table.bias[begin + b]
            if n_segments > 0:
                if is_noted:
                    n = find_noted(rows, item, low, high, index, room)
                else:
                    n = find_segments(rows, item, block, table, room)
                add_segments(room, n, table.values, margins)
        entry = following[entry]


@compiled()
def score_block_by_block(
    rows: Rows,
    table: BlockTable,
    index: BlockIndex,
    items: Codes,
    following: Codes,
    known: Known,
    room: LookupRoom,
) -> None:
    """Compute the margins of all items in all blocks; the results are those of ``score_blocks``.

    A block's weights stay in the cache. This is faster where items have weights in most blocks.
    """
    for block in range(len(table.first) - 1):
        score_block(rows, table, index, block, 0, items, following, known, room)
