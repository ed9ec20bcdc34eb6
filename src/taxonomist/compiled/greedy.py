"""Loops of the greedy solvers over items whose scores are all kept."""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.arrays import Attributes, Duals
from taxonomist.compiled.attributes import write_category_scores
from taxonomist.compiled.jit import compiled


@compiled()
def spread(
    attributes: Attributes,  # in
    change: Floats,  # in (n_attributes,)  of the weights, in units of φ(x_i)
    kernel: Floats,  # in (n_items,)  k(x_i, x_j) for every item j
    f: Floats,  # in/out (n_items, n_categories)
) -> None:
    """Update the scores of all items after one item changed the weights."""
    n_categories = f.shape[1]
    score = np.zeros(n_categories)
    write_category_scores(attributes, change, score)
    for j in range(len(kernel)):
        if kernel[j] != 0.0:
            for c in range(n_categories):
                f[j, c] += kernel[j] * score[c]


@compiled()
def write_lowest(
    items: Codes,  # in
    f: Floats,  # in (n_items, n_categories)
    duals: Duals,  # in
    lowest: Floats,  # out (n_items,)
) -> None:
    """Write the smallest G_iyc of each item's positive variables, and 0 where none is positive."""
    for i in items:
        least = np.inf
        for a in range(duals.start[i], duals.start[i] + duals.size[i]):
            if duals.beta[a] > 0.0:
                gradient = duals.delta[a] * (1.0 - f[i, duals.own[a]] + f[i, duals.other[a]])
                least = min(least, gradient)
        lowest[i] = 0.0 if least == np.inf else least
