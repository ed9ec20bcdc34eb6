"""The loop that lets the nearest training items of an item vote [TCPH01, Eq. 15]."""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.compiled.jit import compiled


@compiled(allocates=True)
def add_votes(
    rows: Rows,  # in  items
    postings: Rows,  # in  the training items that have each feature
    labels: Labels,  # in  of the training items
    weights: Floats,  # in (n_train,)  above 0
    left_out: Codes,  # in (n_items,)  the training item that an item is; -1 for new ones
    k: int,
    votes: Floats,  # in/out (n_items, n_categories)  similarities are added
) -> None:
    """Add the similarities of the k nearest training items to the votes of their categories.

    The nearest items have the largest products with the item, above 0; of equal ones the first. A
    training item of weight 2 counts as two items; if the item itself is one of them, the other one
    still votes.
    """
    n_train = len(weights)
    similarity = np.zeros(n_train)
    nearest = np.zeros(n_train + 1, dtype=np.intp)
    closeness = np.zeros(n_train + 1)
    for i in range(votes.shape[0]):
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            f, value = rows.indices[e], rows.data[e]
            for p in range(postings.indptr[f], postings.indptr[f + 1]):
                similarity[postings.indices[p]] += value * postings.data[p]
        size, total = 0, 0.0
        for j in range(n_train):
            value = similarity[j]
            similarity[j] = 0.0
            weight = _weight(weights, j, left_out[i])
            if weight <= 0.0 or value <= 0.0 or (total >= k and value <= closeness[size - 1]):
                continue
            a = size
            while a > 0 and closeness[a - 1] < value:
                closeness[a], nearest[a] = closeness[a - 1], nearest[a - 1]
                a -= 1
            closeness[a], nearest[a] = value, j
            size += 1
            total += weight
            # Drop the last ones as soon as those before them are enough.
            while total - _weight(weights, nearest[size - 1], left_out[i]) >= k:
                size -= 1
                total -= _weight(weights, nearest[size], left_out[i])
        left = float(k)
        for a in range(size):
            part = min(left, _weight(weights, nearest[a], left_out[i]))
            left -= part
            for b in range(labels.indptr[nearest[a]], labels.indptr[nearest[a] + 1]):
                votes[i, labels.indices[b]] += part * closeness[a]


@compiled(inline=True)
def _weight(weights: Floats, j: int, left_out: int) -> float:
    """Return the weight of a training item, less one if it is the item that is left out."""
    weight: float = weights[j] - 1.0 if j == left_out else weights[j]
    return weight
