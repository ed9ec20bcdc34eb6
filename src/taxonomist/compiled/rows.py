"""Loops over the rows of a matrix: scores, sums and products of items."""

from __future__ import annotations

from taxonomist._typing import Floats, Objects, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled


@compiled(inline=True)
def copy_values(values: Objects, out: Objects) -> None:
    """Write values over others. An assignment to a slice would make an array in between."""
    for k in range(len(out)):
        out[k] = values[k]


# Sums over features may be reordered, which lets them run in vector registers.
@compiled("reassoc", "contract", "nsz")
def score_row(rows: Rows, row: int, W: Reals, out: Reals) -> None:
    """Write <w_z, x> for every attribute z as a sum of rows of ``W``."""
    out[:] = 0
    k = start = rows.indptr[row]
    end = rows.indptr[row + 1]
    dense = len(rows.indices) == 0
    # Four rows at a time take a third less time than one: ``out`` is stored less often.
    while k + 4 <= end:
        f = k - start
        x0, x1, x2, x3 = rows.data[k], rows.data[k + 1], rows.data[k + 2], rows.data[k + 3]
        w0 = W[f] if dense else W[rows.indices[k]]
        w1 = W[f + 1] if dense else W[rows.indices[k + 1]]
        w2 = W[f + 2] if dense else W[rows.indices[k + 2]]
        w3 = W[f + 3] if dense else W[rows.indices[k + 3]]
        for z in range(len(out)):
            out[z] += x0 * w0[z] + x1 * w1[z] + x2 * w2[z] + x3 * w3[z]
        k += 4
    while k < end:
        x = rows.data[k]
        w = W[k - start] if dense else W[rows.indices[k]]
        for z in range(len(out)):
            out[z] += x * w[z]
        k += 1


@compiled()
def score_rows(rows: Rows, W: Reals, out: Reals) -> None:
    """Write <w_z, x> for every row x and every attribute z."""
    for row in range(len(out)):
        score_row(rows, row, W, out[row])


# The order of sums differs from that of ``score_row``, and so does the last digit.
@compiled("reassoc", "contract", "nsz")
def score_row_by_threes(rows: Rows, row: int, W: Reals, out: Reals) -> None:
    """Write <w_z, x> for every code z as a sum of rows of ``W``, three at a time."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    is_dense = len(rows.indices) == 0
    odd = begin + (end - begin) % 3
    out[:] = 0
    for k in range(begin, odd):
        w = W[k - begin] if is_dense else W[rows.indices[k]]
        for z in range(len(out)):
            out[z] += rows.data[k] * w[z]
    for k in range(odd, end, 3):
        x, x1, x2 = rows.data[k], rows.data[k + 1], rows.data[k + 2]
        w = W[k - begin] if is_dense else W[rows.indices[k]]
        w1 = W[k + 1 - begin] if is_dense else W[rows.indices[k + 1]]
        w2 = W[k + 2 - begin] if is_dense else W[rows.indices[k + 2]]
        for z in range(len(out)):
            out[z] += x * w[z] + x1 * w1[z] + x2 * w2[z]


@compiled(inline=True)
def row_sum(rows: Rows, i: int) -> float:
    """Return the sum of the values of row i."""
    total = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        total += rows.data[k]
    return total


@compiled()
def write_products(rows: Rows, columns: Rows, i: int, out: Floats) -> None:
    """Write <x_i, x_j> for every item j from the CSR rows and the CSC columns of one matrix."""
    out[:] = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        feature = rows.indices[k]
        for at in range(columns.indptr[feature], columns.indptr[feature + 1]):
            out[columns.indices[at]] += rows.data[k] * columns.data[at]
