"""Loops of the greedy solvers: rows of the linear kernel, and scores that follow a change."""

from __future__ import annotations

from typing import Any

import numpy as np

from taxonomist._typing import Floats
from taxonomist.compiled.arrays import Attributes, Duals, Labels, Rows
from taxonomist.compiled.jit import compiled


@compiled()
def write_products(rows: Rows, columns: Rows, i: int, out: Floats) -> None:
    """Write <x_i, x_j> for every item j from the CSR rows and the CSC columns of one matrix."""
    out[:] = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        feature = rows.indices[k]
        for at in range(columns.indptr[feature], columns.indptr[feature + 1]):
            out[columns.indices[at]] += rows.data[k] * columns.data[at]


@compiled()
def spread(
    attributes: Attributes,  # in
    change: Floats,  # in (n_attributes,)  of the weights, in units of φ(x_i)
    kernel: Floats,  # in (n_items,)  k(x_i, x_j) for every item j
    f: Floats,  # in/out (n_items, n_categories)
) -> None:
    """Add what a change of the weights by one item does to the scores of all items."""
    n_categories = f.shape[1]
    score = np.zeros(n_categories)
    for c in range(n_categories):
        for k in range(attributes.indptr[c], attributes.indptr[c + 1]):
            score[c] += attributes.values[k] * change[attributes.indices[k]]
    for j in range(len(kernel)):
        if kernel[j] != 0.0:
            for c in range(n_categories):
                f[j, c] += kernel[j] * score[c]


@compiled()
def add_all_pairs(i: int, labels: Labels, losses: Floats, duals: Duals, mark: Any) -> None:
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
