"""Loops over sparse changes of weights: their sums, products with weights, and steps along them."""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Codes, Floats, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled


@compiled()
def add_rows(
    factors: Rows,  # in  (n_sums, n_rows)
    rows: Rows,  # in  (n_rows, n_columns)
    sums: Rows,  # out  (n_sums, n_columns), with room for all values
    place: Codes,  # (n_columns,)  -1 before
) -> int:
    """Write sums of rows, each times a factor; return the number of values."""
    end = 0
    for r in range(len(factors.indptr) - 1):
        begin = end
        for k in range(factors.indptr[r], factors.indptr[r + 1]):
            row, factor = factors.indices[k], factors.data[k]
            for at in range(rows.indptr[row], rows.indptr[row + 1]):
                column = rows.indices[at]
                # Places below this row's first one are of rows before.
                if place[column] < begin:
                    place[column] = end
                    sums.indices[end] = column
                    sums.data[end] = factor * rows.data[at]
                    end += 1
                else:
                    sums.data[place[column]] += factor * rows.data[at]
        sums.indptr[r + 1] = end
    return end


@compiled()
def product_with(
    features: Codes,  # in  (n_rows,)  the rows of the weights
    change: Rows,  # in
    W: Reals,  # in
) -> float:
    """Return the sum of products of a change and the weights."""
    total = 0.0
    for r in range(len(features)):
        for k in range(change.indptr[r], change.indptr[r + 1]):
            total += np.float64(W[features[r], change.indices[k]]) * change.data[k]
    return total


@compiled()
def add_steps(
    features: Codes,  # in  (n_rows,)  the rows of the weights
    change: Rows,  # in
    steps: Floats,  # in  (n_columns,)
    W: Reals,  # in/out
) -> None:
    """Add a change to the weights, with a step for each column."""
    for r in range(len(features)):
        for k in range(change.indptr[r], change.indptr[r + 1]):
            z = change.indices[k]
            W[features[r], z] += steps[z] * change.data[k]


# The order of the sum does not matter, which lets it run in vector registers.
@compiled("reassoc", "contract")
def sum_of_squares(W: Reals) -> float:
    """Return the squared norm of the weights, summed in double precision."""
    total = 0.0
    for f in range(len(W)):
        for z in range(W.shape[1]):
            value = np.float64(W[f, z])
            total += value * value
    return total
