"""Loops over the active dual variables of items."""

from __future__ import annotations

from taxonomist._typing import Bools, Floats
from taxonomist.compiled.arrays import Duals, Labels
from taxonomist.compiled.jit import compiled


@compiled(inline=True)
def drop_zeros(duals: Duals, i: int) -> float:
    """Drop the active variables of item i that are zero; return the sum of the others."""
    first = duals.start[i]
    to = first
    total = 0.0
    for a in range(first, first + duals.size[i]):
        if duals.beta[a] > 0.0:
            duals.own[to] = duals.own[a]
            duals.other[to] = duals.other[a]
            duals.beta[to] = duals.beta[a]
            duals.delta[to] = duals.delta[a]
            total += duals.beta[a]
            to += 1
    duals.size[i] = to - first
    return total


@compiled()
def drop_all_zeros(duals: Duals) -> None:
    """Drop the active variables of all items that are zero."""
    for i in range(len(duals.size)):
        drop_zeros(duals, i)


@compiled()
def count_positive(duals: Duals) -> int:
    """Return how many dual variables are positive."""
    n = 0
    for i in range(len(duals.size)):
        for a in range(duals.start[i], duals.start[i] + duals.size[i]):
            n += duals.beta[a] > 0.0
    return n


@compiled(inline=True)
def unused_cost(cost: float, total: float) -> float:
    """Return cost - total, but exactly 0 if the difference is only due to rounding."""
    return cost - total if total < cost * (1.0 - 1e-12) else 0.0


@compiled(inline=True)
def unused(duals: Duals, i: int, cost: float) -> float:
    """Return the part of the cost that the active variables of item i do not use."""
    total = 0.0
    for a in range(duals.start[i], duals.start[i] + duals.size[i]):
        total += duals.beta[a]
    return unused_cost(cost, total)


@compiled()
def add_all_pairs(i: int, labels: Labels, losses: Floats, duals: Duals, mark: Bools) -> None:
    """Make all pairs of item i active; ``losses`` has a row for each of its categories.

    ``mark``, (n_categories,), is all False before and after.
    """
    own = labels.indices[labels.indptr[i] : labels.indptr[i + 1]]
    for k in range(len(own)):
        end = duals.start[i] + duals.size[i]
        mark[own] = True
        for a in range(duals.start[i], end):
            if duals.own[a] == own[k]:
                mark[duals.other[a]] = True
        to = end
        for c in range(len(mark)):
            if not mark[c]:
                duals.own[to], duals.other[to] = own[k], c
                duals.beta[to], duals.delta[to] = 0.0, losses[k, c]
                to += 1
        duals.size[i] = to - duals.start[i]
        mark[:] = False
