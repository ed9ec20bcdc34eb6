"""Labellings with dual variables that have given marginals of edges, by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from tests.reference import markov_tree as reference

TINY = 1e-11
"""Mass that rounding may leave over, as a part of C_i."""


def steps_of(
    problem: Any, W: np.ndarray, place: slice, marginals: Any, factor: int
) -> list[reference.Step]:
    """Return labellings and their dual variables, whose marginals are those given.

    Of all labellings whose codes have mass left, the one with the smallest G gets as much as there
    is, again and again. That all mass is given out in this way shows that the marginals are those
    of a distribution. The first labelling has the smallest G of all, so the violation is the same.
    """
    part = [*problem.parts()][factor][1] if problem.slack == "edge" else problem
    above, truths = part.tree.parent, part.labels.toarray().astype(int)
    edges = np.arange(len(above) - 1)
    found = []
    for i, scores in enumerate(_scores(problem, W[:, place])):
        y, C = truths[i], problem.costs[i]
        true = 4 * edges + (2 * y[above] + y)[1:]
        mu = np.zeros(4 * len(edges))
        entries = slice(marginals.start[i], marginals.start[i] + marginals.size[i])
        mu[marginals.codes[entries]] = marginals.mass[entries]
        mu[true] = C - mu.reshape(-1, 4).sum(axis=1)
        assert (mu >= -TINY * C).all()
        all_of_them = []
        for u in map(np.array, product((0, 1), repeat=len(above))):
            codes = 4 * edges + (2 * u[above] + u)[1:]
            if (mu[codes] > TINY * C).all():
                loss = part.tree.loss[2 * y[above] + y, np.arange(len(u)), u[above], u].sum()
                all_of_them.append((loss + scores[codes].sum(), loss, codes))
        for _, loss, codes in sorted(all_of_them, key=lambda entry: entry[0]):
            alpha = mu[codes].min()
            if alpha > TINY * C:
                mu[codes] -= alpha
                on = np.zeros(problem.n_codes)
                np.add.at(on, place.start + true, 1.0)
                np.add.at(on, place.start + codes, -1.0)
                if on.any():
                    found.append(reference.Step(i, factor, on, loss, alpha))
        assert np.abs(mu).max(initial=0.0) <= 100 * TINY * C
    return found


def _scores(problem: Any, W: np.ndarray) -> np.ndarray:
    """Return <w_z, x_i> of every item and code."""
    scores = np.zeros((problem.n_items, W.shape[1]))
    row_of = np.zeros(problem.n_items, dtype=np.intp)
    for batch in problem.items.batches():
        rows = problem.items.rows(batch, row_of)
        for i in batch:
            at = slice(rows.indptr[row_of[i]], rows.indptr[row_of[i] + 1])
            is_dense = len(rows.indices) < len(rows.data)
            scores[i] = rows.data[at] @ (W if is_dense else W[rows.indices[at]])
    return scores
