"""All labellings of small trees, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np


def random_parents(rng, n_nodes):
    """Return the parents of a random tree whose nodes come after them."""
    return np.array([0, *(int(rng.integers(0, j)) for j in range(1, n_nodes))], dtype=np.intp)


def all_labellings(parent, consistent=True):
    """Return all labellings, consistent or not, as rows of a boolean array."""
    n_nodes = len(parent)
    rows = np.array(list(product((False, True), repeat=n_nodes)))
    if consistent:
        fine = np.ones(len(rows), dtype=bool)
        for j in range(1, n_nodes):
            fine &= ~rows[:, j] | rows[:, parent[j]]
        rows = rows[fine]
    return rows


def count_labels(labellings, parent, is_category):
    """Return the number of categories without a positive child, of each labelling."""
    counts = np.zeros(len(labellings), dtype=int)
    for j in range(len(parent)):
        children = [k for k in range(1, len(parent)) if parent[k] == j]
        counts += labellings[:, j] & is_category[j] & ~labellings[:, children].any(axis=1)
    return counts
