"""Loops over the changed rows of weights: their product with weights, and steps along them."""

from __future__ import annotations

from typing import NamedTuple

from taxonomist._typing import Codes, Floats, Reals
from taxonomist.compiled.jit import compiled


class ChangedRows(NamedTuple):
    """Sparse rows, and which rows of the weights they belong to."""

    rows: Codes  # (n_rows,)
    indptr: Codes  # (n_rows + 1,)
    indices: Codes
    data: Reals


@compiled()
def product_with(change: ChangedRows, W: Reals) -> float:
    """Return the sum of products of a change and the weights."""
    total = 0.0
    for place in range(len(change.rows)):
        row = change.rows[place]
        for k in range(change.indptr[place], change.indptr[place + 1]):
            total += W[row, change.indices[k]] * change.data[k]
    return total


@compiled()
def add_steps(
    change: ChangedRows,
    steps: Floats,  # in  (n_attributes,)  by column
    W: Reals,  # in/out
) -> None:
    """Add a change times a step to the weights."""
    for place in range(len(change.rows)):
        row = change.rows[place]
        for k in range(change.indptr[place], change.indptr[place + 1]):
            z = change.indices[k]
            W[row, z] += steps[z] * change.data[k]


@compiled()
def write_scaled(
    W: Reals,  # in
    rows: Codes,  # in
    factors: Floats,  # in  (n_rows,)
    out: Reals,  # out  (n_rows, at least n_attributes)
) -> None:
    """Write some rows of the weights, each times a number."""
    for place in range(len(rows)):
        w = W[rows[place]]
        for z in range(len(w)):
            out[place, z] = w[z] * factors[place]
