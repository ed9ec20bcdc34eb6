"""Scores of items with weights that are stored block by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Integers, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled


class BlockTable(NamedTuple):
    """Weights of blocks of columns; a block has weights only for features that occur in it.

    The segments of feature f are numbered from ``indptr[f]`` to ``indptr[f + 1]``. Segment t holds
    the weights of all columns of one block, from ``values[start[t]]`` on.
    """

    indptr: Codes  # (n_features + 1,)
    block: Integers  # (n_segments,)
    start: Codes  # (n_segments,)
    first: Codes  # (n_blocks + 1,)  first column of each block
    values: Reals
    bias: Reals  # (n_columns,)


# Every product and every sum is rounded, so that ``score_few_blocks`` has the same results.
@compiled()
def score_blocks(rows: Rows, table: BlockTable, out: Reals) -> None:
    """Write the score of every row in every column."""
    for i in range(len(out)):
        score = out[i]
        # Assigning a slice would take two seconds to compile.
        for b in range(len(score)):
            score[b] = table.bias[b]
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            x, f = rows.data[k], rows.indices[k]
            for t in range(table.indptr[f], table.indptr[f + 1]):
                begin, end = table.first[table.block[t]], table.first[table.block[t] + 1]
                weights = table.values[table.start[t] : table.start[t] + end - begin]
                for b in range(end - begin):
                    score[begin + b] += x * weights[b]


def score_few_blocks(rows: Rows, table: BlockTable, out: Reals) -> None:
    """Do the same as ``score_blocks`` for few items, without numba; the results are the same."""
    for i in range(len(out)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        counts, segments = _segments(rows.indices[part], table)
        blocks = table.block[segments]
        widths = table.first[blocks + 1] - table.first[blocks]
        weights = table.values[spread(table.start[segments], widths)]
        x = np.repeat(np.repeat(rows.data[part], counts), widths)
        out[i] = table.bias
        # This adds one after the other, in the order of the loop.
        np.add.at(out[i], spread(table.first[blocks], widths), x * weights)


def _segments(features: Integers, table: BlockTable) -> tuple[Codes, Codes]:
    """Return the number of segments of each feature, and these segments."""
    counts = table.indptr[features + 1] - table.indptr[features]
    return counts, spread(table.indptr[features], counts)


def spread(starts: Codes, counts: Codes) -> Codes:
    """Return so many consecutive numbers from each start."""
    ends = np.cumsum(counts)
    return np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())
