"""Squared norms of sparse rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Reals
    from taxonomist.compiled.arrays import Rows

ROWS_TOGETHER = 1024
"""Rows whose squares are in memory at the same time."""


def row_norms(rows: Rows, constant: float, before: float = 0.0) -> Reals:
    """Return ||x_i||² of rows, with the constant feature.

    Parameters
    ----------
    rows
        The items.
    constant
        The value of the constant feature.
    before
        The sum of squares of the rows before these, see ``sum_of_squares``. With it, the rounding
        errors are those of all rows together.
    """
    found = np.empty(len(rows.indptr) - 1, np.float32)
    # Sums of all entries at once would take more memory than the rows.
    for begin in range(0, len(found), ROWS_TOGETHER):
        ends = rows.indptr[begin : begin + ROWS_TOGETHER + 1]
        squares = np.square(rows.data[ends[0] : ends[-1]], dtype=np.float64)
        sums = np.cumsum(np.concatenate([[before], squares]))
        found[begin : begin + ROWS_TOGETHER] = np.diff(sums[ends - ends[0]]) + constant**2
        before = sums[-1]
    return found


def sum_of_squares(rows: Rows, before: float = 0.0) -> float:
    """Return the sum of the squares of all entries, added up one after another."""
    return float(np.cumsum(np.concatenate([[before], np.square(rows.data, dtype=np.float64)]))[-1])
