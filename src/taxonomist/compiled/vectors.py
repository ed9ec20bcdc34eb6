"""Loops over a sparse row and a matrix with few columns, in vector registers.

The matrix has a multiple of ``LANES`` columns, and is stored row by row. These loops take less than
half the time of ``rows.score_row``.
"""

from __future__ import annotations

import os
from functools import cached_property

from taxonomist._typing import Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled

LANES = 8
FEW = 4, 8, 16
"""Numbers of columns with a loop of their own, which keeps all sums in registers."""
IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
"""Whether there are instructions; Python cannot run them."""


class RowLoop:
    """A loop in vector instructions, written when a loop that calls it is compiled.

    Parameters
    ----------
    n_lanes, is_change
        As in ``instructions.row_loop``.
    """

    def __init__(self, n_lanes: int, *, is_change: bool) -> None:
        self.n_lanes = n_lanes
        self.is_change = is_change

    def __call__(self, *_: object) -> None:
        """Raise an error: only compiled loops can call this one."""
        raise TypeError("Python cannot run vector instructions; call a compiled loop.")

    @cached_property
    def _numba_type_(self) -> object:
        """The type by which numba knows the loop."""
        from taxonomist.compiled.instructions import row_loop, type_of

        return type_of(row_loop(self.n_lanes, self.is_change))


_score_4, _score_8 = RowLoop(4, is_change=False), RowLoop(8, is_change=False)
_score_16, _score_32 = RowLoop(16, is_change=False), RowLoop(32, is_change=False)
_add_4, _add_8 = RowLoop(4, is_change=True), RowLoop(8, is_change=True)
_add_16, _add_32 = RowLoop(16, is_change=True), RowLoop(32, is_change=True)


@compiled()
def score_vectors(rows: Rows, row: int, W: Reals, out: Reals) -> None:
    """Write <w_z, x> for every attribute z as a sum of rows of ``W``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    out[:] = 0
    column = 0
    while column + 32 <= len(out):
        _score_32(rows.data, rows.indices, W, out, begin, end, column)
        column += 32
    while column < len(out):
        _score_8(rows.data, rows.indices, W, out, begin, end, column)
        column += LANES


@compiled()
def add_vectors(rows: Rows, row: int, W: Reals, change: Reals) -> None:
    """Add x times the change of the attributes to the rows of ``W``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    column = 0
    while column + 32 <= len(change):
        _add_32(rows.data, rows.indices, W, change, begin, end, column)
        column += 32
    while column < len(change):
        _add_8(rows.data, rows.indices, W, change, begin, end, column)
        column += LANES


@compiled(inline=True)
def score_few(rows: Rows, row: int, W: Reals, out: Reals) -> None:
    """Write <w_z, x> for each of as many attributes as there are in ``FEW``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    for z in range(len(out)):
        out[z] = 0
    if len(out) == 16:
        _score_16(rows.data, rows.indices, W, out, begin, end, 0)
    elif len(out) == 8:
        _score_8(rows.data, rows.indices, W, out, begin, end, 0)
    else:
        _score_4(rows.data, rows.indices, W, out, begin, end, 0)


@compiled(inline=True)
def add_few(rows: Rows, row: int, W: Reals, change: Reals) -> None:
    """Do what ``add_vectors`` does for as many attributes as there are in ``FEW``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    if len(change) == 16:
        _add_16(rows.data, rows.indices, W, change, begin, end, 0)
    elif len(change) == 8:
        _add_8(rows.data, rows.indices, W, change, begin, end, 0)
    else:
        _add_4(rows.data, rows.indices, W, change, begin, end, 0)
