"""Loops over the attributes of categories, Λ(c)."""

from __future__ import annotations

from taxonomist._typing import Codes, Floats, Reals
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


@compiled()
def write_shared(
    attributes: Attributes,  # in
    shared: Codes,  # out  (n_categories,)
) -> None:
    """Write how many attributes, from the first on, each category shares with the one before."""
    shared[:] = 0
    for c in range(1, len(shared)):
        before, own, end = attributes.indptr[c - 1], attributes.indptr[c], attributes.indptr[c + 1]
        most = min(own - before, end - own)
        while (
            shared[c] < most
            and attributes.indices[before + shared[c]] == attributes.indices[own + shared[c]]
            and attributes.values[before + shared[c]] == attributes.values[own + shared[c]]
        ):
            shared[c] += 1


@compiled(inline=True)
def write_scores_in_order(
    attributes: Attributes,  # in
    shared: Codes,  # in  (n_categories,)  by ``write_shared``
    scores: Reals,  # in  (n_attributes,)
    partial: Floats,  # (largest number of attributes of a category,)
    out: Floats,  # out  (n_categories,)
) -> None:
    """Write f(x, c) of every category; sums over shared attributes are those of the one before."""
    for c in range(len(out)):
        begin, size = attributes.indptr[c], attributes.indptr[c + 1] - attributes.indptr[c]
        total = partial[shared[c] - 1] if shared[c] > 0 else 0.0
        for k in range(shared[c], size):
            total += attributes.values[begin + k] * scores[attributes.indices[begin + k]]
            partial[k] = total
        out[c] = total


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
