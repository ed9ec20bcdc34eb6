"""Vector instructions for loops over a sparse row and a matrix with few columns.

A compiler has to assume that arrays overlap. It checks this for every few entries of a row, and
cannot keep sums in registers. Here the instructions are written down instead.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba.core.cgutils
from llvmlite import ir
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

Code: TypeAlias = Any
"""Whatever numba and llvmlite, which have no types, write code with."""
RELAXED = ("contract", "nsz")
"""Floating-point rules that the loops may break; see ``jit.compiled``."""

_cgutils: Code = numba.core.cgutils
"""numba's functions that write instructions, without types."""


def row_loop(n_lanes: int, is_change: bool) -> Code:
    """Return a loop over the entries x_k of a row, and ``n_lanes`` columns from ``column`` on.

    It adds Σ x_k W[k] to ``out``, or, if ``out`` is a change of the weights, x_k ``out`` to W[k].
    """

    def loop(
        _: Code, data: Code, indices: Code, W: Code, out: Code, begin: Code, end: Code, column: Code
    ) -> Code:
        def write(context: Code, builder: Code, signature: Code, given: Code) -> Code:
            kinds = signature.args
            arrays = [context.make_array(kinds[a])(context, builder, given[a]) for a in range(4)]

            def number(k: Code) -> Code:
                x = builder.load(builder.gep(arrays[0].data, [k]))
                return context.cast(builder, x, kinds[0].dtype, kinds[2].dtype)

            vector = ir.VectorType(context.get_data_type(kinds[2].dtype), n_lanes)
            _write_loop(vector, is_change, builder, number, *arrays[1:], *given[4:])
            return context.get_dummy_value()

        return types.void(data, indices, W, out, begin, end, column), write

    return intrinsic(loop)


def type_of(loop: Code) -> Code:
    """Return the type by which numba knows a loop."""
    typing = cpu_target.typing_context
    typing.refresh()
    return typing.resolve_value_type(loop)


def _write_loop(
    vector: Code,
    is_change: bool,
    builder: Code,
    number: Code,
    indices: Code,
    W: Code,
    out: Code,
    begin: Code,
    end: Code,
    column: Code,
) -> None:
    """Write the instructions of a loop; ``number`` loads an x_k."""
    lane, undefined = ir.IntType(32), vector(ir.Undefined)
    zeros = ir.VectorType(lane, vector.count)([0] * vector.count)
    size = 4 if isinstance(vector.element, ir.FloatType) else 8

    def columns_of(array: Code, at: Code) -> Code:
        return builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer())

    n_columns = builder.extract_value(W.shape, 1)
    kept = _cgutils.alloca_once(builder, vector)
    builder.store(builder.load(columns_of(out, column), align=size), kept)
    with _cgutils.for_range_slice(builder, begin, end, begin.type(1)) as (k, _):
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
