"""Loops over the attributes of categories, Λ(c)."""

from __future__ import annotations

from taxonomist._typing import Floats, Reals
from taxonomist.compiled.arrays import Attributes
from taxonomist.compiled.jit import compiled


@compiled(inline=True)
def category_score(attributes: Attributes, c: int, scores: Reals) -> float:
    """Return f(x, c) from the scores of all attributes [CH04, Eq. 10]."""
    total = 0.0
    for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
        total += attributes.values[k] * scores[attributes.indices[k]]
    return total


@compiled(inline=True)
def write_category_scores(attributes: Attributes, scores: Reals, out: Floats) -> None:
    """Write f(x, c) of every category from the scores of all attributes."""
    for c in range(len(out)):
        out[c] = category_score(attributes, c, scores)


@compiled(inline=True)
def product(attributes: Attributes, c: int, d: int) -> float:
    """Return <Λ(c), Λ(d)>, from the table of products if there is one."""
    if len(attributes.products) > 0:
        return float(attributes.products[c, d])
    total = 0.0
    j, k = attributes.indptr[c], attributes.indptr[d]
    while j < attributes.indptr[c + 1] and k < attributes.indptr[d + 1]:
        here, there = attributes.indices[j], attributes.indices[k]
        if here == there:
            total += attributes.values[j] * attributes.values[k]
        j += here <= there
        k += there <= here
    return total
