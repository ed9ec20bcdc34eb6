"""The loop of the greedy solvers that updates all scores after a change of the weights."""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Floats
from taxonomist.compiled.arrays import Attributes
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
