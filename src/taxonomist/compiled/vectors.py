"""Loops over a sparse row and a matrix with few columns, in vector registers.

A compiler has to assume that arrays overlap. It checks this for every few entries of a row, and
cannot keep sums in registers. Here the vector instructions are written down instead, for matrices
with a multiple of ``LANES`` columns, which takes less than half the time of ``rows.score_row``.
"""

from __future__ import annotations

import os
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from taxonomist._typing import Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled

LANES = 8
IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
RELAXED = ("contract", "nsz")
"""Floating-point rules that the loops may break; see ``jit.compiled``."""


def _loop(n_lanes: int, is_change: bool) -> Any:
    """Return a loop over the entries x_k of a row, and ``n_lanes`` columns from ``column`` on.

    It adds Σ x_k W[k] to ``out``, or, if ``out`` is a change of the weights, x_k ``out`` to W[k].
    """

    def loop(
        _: Any, data: Any, indices: Any, W: Any, out: Any, begin: Any, end: Any, column: Any
    ) -> Any:
        def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            kinds = signature.args
            arrays = [context.make_array(kinds[a])(context, builder, given[a]) for a in range(4)]

            def number(k: Any) -> Any:
                x = builder.load(builder.gep(arrays[0].data, [k]))
                return context.cast(builder, x, kinds[0].dtype, kinds[2].dtype)

            _write_loop(builder, number, *arrays[1:], *given[4:], n_lanes, is_change)
            return context.get_dummy_value()

        return types.void(data, indices, W, out, begin, end, column), write

    return intrinsic(loop)


def _write_loop(
    builder: Any,
    number: Any,
    indices: Any,
    W: Any,
    out: Any,
    begin: Any,
    end: Any,
    column: Any,
    n_lanes: int,
    is_change: bool,
) -> None:
    """Write the instructions of a loop; ``number`` loads an x_k."""
    real, lane = W.data.type.pointee, ir.IntType(32)
    vector, zeros = ir.VectorType(real, n_lanes), ir.VectorType(lane, n_lanes)([0] * n_lanes)
    undefined, size = vector(ir.Undefined), 4 if isinstance(real, ir.FloatType) else 8

    def columns_of(array: Any, at: Any) -> Any:
        return builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer())

    n_columns = builder.extract_value(W.shape, 1)
    kept = cgutils.alloca_once(builder, vector)
    builder.store(builder.load(columns_of(out, column), align=size), kept)
    with cgutils.for_range_slice(builder, begin, end, begin.type(1)) as (k, _):
        x = builder.insert_element(undefined, number(k), lane(0))
        x = builder.shuffle_vector(x, undefined, zeros)
        feature = builder.sext(builder.load(builder.gep(indices.data, [k])), k.type)
        place = columns_of(W, builder.add(builder.mul(feature, n_columns), column))
        w, sums = builder.load(place, align=size), builder.load(kept)
        more = builder.fmul(x, sums if is_change else w, flags=RELAXED)
        total = builder.fadd(w if is_change else sums, more, flags=RELAXED)
        builder.store(total, place if is_change else kept, align=size)
    if not is_change:
        builder.store(builder.load(kept), columns_of(out, column), align=size)


_score_8, _score_16, _score_32 = (_loop(n_lanes, is_change=False) for n_lanes in (8, 16, 32))
_add_8, _add_16, _add_32 = (_loop(n_lanes, is_change=True) for n_lanes in (8, 16, 32))


@compiled(inline=True)
def fills_vectors(rows: Rows, W: Reals) -> bool:
    """Return whether the loops of this file apply: to sparse rows and whole vectors of columns."""
    return IS_COMPILED and len(rows.indices) > 0 and W.shape[1] % LANES == 0


@compiled()
def score_vectors(rows: Rows, row: int, W: Reals, out: Reals) -> None:
    """Write <w_z, x> for every attribute z as a sum of rows of ``W``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    out[:] = 0
    column = 0
    while column + 32 <= len(out):
        _score_32(rows.data, rows.indices, W, out, begin, end, column)
        column += 32
    if column + 16 <= len(out):
        _score_16(rows.data, rows.indices, W, out, begin, end, column)
        column += 16
    if column + 8 <= len(out):
        _score_8(rows.data, rows.indices, W, out, begin, end, column)


@compiled()
def add_vectors(rows: Rows, row: int, W: Reals, change: Reals) -> None:
    """Add x times the change of the attributes to the rows of ``W``."""
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    column = 0
    while column + 32 <= len(change):
        _add_32(rows.data, rows.indices, W, change, begin, end, column)
        column += 32
    if column + 16 <= len(change):
        _add_16(rows.data, rows.indices, W, change, begin, end, column)
        column += 16
    if column + 8 <= len(change):
        _add_8(rows.data, rows.indices, W, change, begin, end, column)
