"""Loops that compute the loss Δ(y, c) between categories."""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Bools, Floats
from taxonomist.compiled.arrays import MATRIX, ZERO_ONE, Loss
from taxonomist.compiled.jit import compiled


@compiled(inline=True)
def write_losses(loss: Loss, y: int, mark: Bools, out: Floats) -> None:
    """Write Δ(y, c) for every category c [CH04, Eq. 23]; ``mark`` is all False before and after."""
    if loss.kind == ZERO_ONE:
        out[:] = 1.0
    elif loss.kind == MATRIX:
        for c in range(len(out)):
            out[c] = loss.matrix[y, c]
    else:
        missed = 0.0
        for k in range(loss.indptr[y], loss.indptr[y + 1]):
            mark[loss.indices[k]] = True
            missed += loss.miss[loss.indices[k]]
        for c in range(len(out)):
            total = missed
            for k in range(loss.indptr[c], loss.indptr[c + 1]):
                z = loss.indices[k]
                total += -loss.miss[z] if mark[z] else loss.false_alarm[z]
            out[c] = total
        for k in range(loss.indptr[y], loss.indptr[y + 1]):
            mark[loss.indices[k]] = False
    out[y] = 0.0


@compiled(allocates=True)
def write_loss_matrix(loss: Loss, out: Floats) -> None:
    """Write Δ(y, c) for all pairs of categories, given their ancestors.

    Δ(y, c) is the cost of missing all ancestors of y and of adding all those of c, without both
    costs of those that y and c share: these are subtracted ancestor by ancestor.
    """
    added = np.zeros(len(out))
    start = np.zeros(len(loss.miss) + 1, np.intp)
    for c in range(len(out)):
        for k in range(loss.indptr[c], loss.indptr[c + 1]):
            added[c] += loss.false_alarm[loss.indices[k]]
            start[loss.indices[k] + 1] += 1
    start[:] = np.cumsum(start)
    below = np.empty(start[-1], np.intp)
    end = start.copy()
    for c in range(len(out)):
        for k in range(loss.indptr[c], loss.indptr[c + 1]):
            z = loss.indices[k]
            below[end[z]] = c
            end[z] += 1
    for y in range(len(out)):
        missed = 0.0
        for k in range(loss.indptr[y], loss.indptr[y + 1]):
            missed += loss.miss[loss.indices[k]]
        row = out[y]
        for c in range(len(out)):
            row[c] = missed + added[c]
        for k in range(loss.indptr[y], loss.indptr[y + 1]):
            z = loss.indices[k]
            both = loss.miss[z] + loss.false_alarm[z]
            for at in range(start[z], start[z + 1]):
                row[below[at]] -= both
        row[y] = 0.0


@compiled(inline=True)
def loss_between(loss: Loss, y: int, c: int, mark: Bools) -> float:
    """Return Δ(y, c) [CH04, Eq. 23]; ``mark`` is all False before and after."""
    if loss.kind == ZERO_ONE:
        return 1.0
    if loss.kind == MATRIX:
        return float(loss.matrix[y, c])
    total = 0.0
    for k in range(loss.indptr[y], loss.indptr[y + 1]):
        mark[loss.indices[k]] = True
        total += loss.miss[loss.indices[k]]
    for k in range(loss.indptr[c], loss.indptr[c + 1]):
        z = loss.indices[k]
        total += -loss.miss[z] if mark[z] else loss.false_alarm[z]
    for k in range(loss.indptr[y], loss.indptr[y + 1]):
        mark[loss.indices[k]] = False
    return total
