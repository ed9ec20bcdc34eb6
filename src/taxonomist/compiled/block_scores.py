"""Scores of items with weights that are stored block by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Integers, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled


class WeightBlocks(NamedTuple):
    """Weights of blocks of columns; a block has weights only for features that occur in it.

    The segments of block b are numbered from ``indptr[b]`` to ``indptr[b + 1]``. A segment holds
    the weights of one feature in all columns of the block; those of a block follow each other from
    ``values[start[b]]`` on. A weight is a value times the scale of its block: 1 for floats, and
    less for 16-bit integers, which take half the memory.
    """

    indptr: Codes  # (n_blocks + 1,)
    features: Integers  # (n_segments,)  ascending in each block
    start: Codes  # (n_blocks,)
    first: Codes  # (n_blocks + 1,)  first column of each block
    scale: Reals  # (n_blocks,)
    values: Reals | Integers
    bias: Reals  # (n_columns,)


class FeatureIndex(NamedTuple):
    """The segments of every feature, in the order of blocks."""

    indptr: Codes  # (n_features + 1,)
    block: Integers  # (n_segments,)
    start: Codes  # (n_segments,)  where their weights begin


# Every product and every sum is rounded, so that ``score_few_blocks`` has the same results.
@compiled()
def score_blocks(rows: Rows, table: WeightBlocks, index: FeatureIndex, out: Reals) -> None:
    """Write the score of every row in every column."""
    for i in range(len(out)):
        score = out[i]
        # Assigning a slice would take two seconds to compile.
        for b in range(len(score)):
            score[b] = table.bias[b]
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            f = rows.indices[k]
            for t in range(index.indptr[f], index.indptr[f + 1]):
                block = index.block[t]
                x = rows.data[k] * table.scale[block]
                begin, end = table.first[block], table.first[block + 1]
                weights = table.values[index.start[t] : index.start[t] + end - begin]
                for b in range(end - begin):
                    score[begin + b] += x * np.float32(weights[b])


class DenseRows(NamedTuple):
    """Weights of frequent features: a row has those of all columns, and zeros behind them."""

    place: Codes  # (n_features,)  the row of each feature, or -1
    values: Reals | Integers  # (n_rows, width)
    scale: Reals  # (width,)  of each column


@compiled(inline=True)
def add_one(
    f: int, x: float, table: WeightBlocks, index: FeatureIndex, dense: DenseRows, sums: Reals
) -> None:
    """Add the weights of a feature."""
    if dense.place[f] >= 0:
        weights = dense.values[dense.place[f]]
        for b in range(len(sums)):
            sums[b] += (x * dense.scale[b]) * np.float32(weights[b])
        return
    for t in range(index.indptr[f], index.indptr[f + 1]):
        block = index.block[t]
        scaled = x * table.scale[block]
        begin, end, at = table.first[block], table.first[block + 1], index.start[t]
        for b in range(end - begin):
            sums[begin + b] += scaled * np.float32(table.values[at + b])


@compiled(inline=True)
def add_four(rows: Rows, k: int, dense: DenseRows, sums: Reals) -> bool:
    """Add the weights of four features at once if all have dense rows; return whether they have.

    The sums are read and written once instead of four times, and their order is the same.
    """
    p0, p1 = dense.place[rows.indices[k]], dense.place[rows.indices[k + 1]]
    p2, p3 = dense.place[rows.indices[k + 2]], dense.place[rows.indices[k + 3]]
    if min(p0, p1) < 0 or min(p2, p3) < 0:
        return False
    w0, w1, w2, w3 = dense.values[p0], dense.values[p1], dense.values[p2], dense.values[p3]
    x0, x1, x2, x3 = rows.data[k], rows.data[k + 1], rows.data[k + 2], rows.data[k + 3]
    for b in range(len(sums)):
        scale = dense.scale[b]
        two = sums[b] + (x0 * scale) * np.float32(w0[b]) + (x1 * scale) * np.float32(w1[b])
        sums[b] = two + (x2 * scale) * np.float32(w2[b]) + (x3 * scale) * np.float32(w3[b])
    return True


@compiled()
def score_dense_rows(
    rows: Rows,
    table: WeightBlocks,
    index: FeatureIndex,
    dense: DenseRows,
    sums: Reals,
    out: Reals,
) -> None:
    """Do the same as ``score_blocks``, with dense rows of weights where there are any.

    The processor adds to many columns at once. ``sums`` has room for the scores of one row.
    """
    n_columns = len(table.bias)
    for i in range(len(out)):
        for b in range(n_columns):
            sums[b] = table.bias[b]
        for b in range(n_columns, len(sums)):
            sums[b] = 0.0
        k, end = rows.indptr[i], rows.indptr[i + 1]
        while k < end:
            if k + 4 <= end and add_four(rows, k, dense, sums):
                k += 4
                continue
            add_one(rows.indices[k], rows.data[k], table, index, dense, sums)
            k += 1
        for b in range(n_columns):
            out[i, b] = sums[b]


def score_few_blocks(rows: Rows, table: WeightBlocks, index: FeatureIndex, out: Reals) -> None:
    """Do the same as ``score_blocks`` for few items, without numba; the results are the same."""
    for i in range(len(out)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        features = rows.indices[part]
        counts = index.indptr[features + 1] - index.indptr[features]
        segments = spread(index.indptr[features], counts)
        blocks = index.block[segments]
        widths = table.first[blocks + 1] - table.first[blocks]
        weights = table.values[spread(index.start[segments], widths)].astype(np.float32, copy=False)
        x = np.repeat(np.repeat(rows.data[part], counts) * table.scale[blocks], widths)
        out[i] = table.bias
        # This adds one after the other, in the order of the loop.
        np.add.at(out[i], spread(table.first[blocks], widths), x * weights)


def spread(starts: Codes, counts: Codes) -> Codes:
    """Return so many consecutive numbers from each start."""
    ends = np.cumsum(counts)
    return np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())
