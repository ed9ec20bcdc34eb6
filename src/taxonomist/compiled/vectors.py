"""Sums over rows of a matrix in vector registers, for matrices with few columns.

A compiler has to assume that arrays overlap, so it cannot keep a row of sums in registers while it
reads the matrix. The loops of this file are written down as vector instructions instead; each is
followed by what it computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from taxonomist._typing import Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

LANES = 8
"""Matrices have a multiple of so many columns."""
RELAXED = ("contract", "nsz")


def _loop(lanes: int, adds: bool) -> Any:
    """Return a loop over the entries ``begin`` to ``end`` of a CSR row, and ``lanes`` columns.

    It adds the sum of x_k W[k] to ``out``, or, with ``adds``, x_k ``out`` to each W[k].
    """

    def loop(_: Any, data: Any, indices: Any, begin: Any, end: Any, W: Any, column: Any, out: Any) -> Any:
        signature = types.void(data, indices, begin, end, W, column, out)

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            def array(place: int) -> Any:
                return context.make_array(signature.args[place])(context, builder, given[place])

            data, indices, W, out = (array(place) for place in (0, 1, 4, 6))
            begin, end, column = given[2], given[3], given[5]
            size = np.dtype(str(signature.args[4].dtype)).itemsize
            vector = ir.VectorType(W.data.type.pointee, lanes)
            lane = ir.VectorType(ir.IntType(32), lanes)

            def place_of(array: Any, at: Any) -> Any:
                return builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer())

            sums = cgutils.alloca_once(builder, vector)
            builder.store(builder.load(place_of(out, column), align=size), sums)
            n_columns = builder.extract_value(W.shape, 1)
            with cgutils.for_range_slice(builder, begin, end, begin.type(1)) as (k, _):
                x = builder.load(builder.gep(data.data, [k]))
                x = builder.insert_element(vector(ir.Undefined), x, ir.IntType(32)(0))
                x = builder.shuffle_vector(x, vector(ir.Undefined), lane([0] * lanes))
                feature = builder.sext(builder.load(builder.gep(indices.data, [k])), k.type)
                at = place_of(W, builder.add(builder.mul(feature, n_columns), column))
                w, total = builder.load(at, align=size), builder.load(sums)
                product = builder.fmul(x, total if adds else w, flags=RELAXED)
                more = builder.fadd(w if adds else total, product, flags=RELAXED)
                builder.store(more, at if adds else sums, align=size)
            if not adds:
                builder.store(builder.load(sums), place_of(out, column), align=size)
            return context.get_dummy_value()

        return signature, generate

    return intrinsic(loop)


_SCORES = {lanes: _loop(lanes, adds=False) for lanes in (8, 16, 32)}
_CHANGES = {lanes: _loop(lanes, adds=True) for lanes in (8, 16, 32)}
_score_8, _score_16, _score_32 = _SCORES.values()
_add_8, _add_16, _add_32 = _CHANGES.values()


@compiled()
def score_narrow(rows: Rows, row: int, W: Reals, out: Reals) -> None:
    """Write <w_z, x> for every column z of ``W``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    out[:] = 0
    column = 0
    while column + 32 <= len(out):
        _score_32(rows.data, rows.indices, begin, end, W, column, out)
        column += 32
    if column + 16 <= len(out):
        _score_16(rows.data, rows.indices, begin, end, W, column, out)
        column += 16
    if column + 8 <= len(out):
        _score_8(rows.data, rows.indices, begin, end, W, column, out)


@compiled()
def add_narrow(rows: Rows, row: int, W: Reals, change: Reals) -> None:
    """Add x times the change to the rows of ``W``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    column = 0
    while column + 32 <= len(change):
        _add_32(rows.data, rows.indices, begin, end, W, column, change)
        column += 32
    if column + 16 <= len(change):
        _add_16(rows.data, rows.indices, begin, end, W, column, change)
        column += 16
    if column + 8 <= len(change):
        _add_8(rows.data, rows.indices, begin, end, W, column, change)
