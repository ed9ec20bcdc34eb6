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
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            f, x = rows.indices[k], rows.data[k]
            if dense.place[f] >= 0:
                weights = dense.values[dense.place[f]]
                for b in range(len(sums)):
                    sums[b] += (x * dense.scale[b]) * np.float32(weights[b])
            else:
                for t in range(index.indptr[f], index.indptr[f + 1]):
                    block = index.block[t]
                    scaled = x * table.scale[block]
                    begin, end, at = table.first[block], table.first[block + 1], index.start[t]
                    for b in range(end - begin):
                        sums[begin + b] += scaled * np.float32(table.values[at + b])
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
