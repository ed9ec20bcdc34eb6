"""Loops of the Markov tree with additive features: all edges share their weights.

Notation (see ``taxonomist.solvers.additive``): W holds the shared weights, features x the four
labellings u of an edge; ``shared[f]`` is the row of W of column f of X, and ``owner[f]`` the node
whose edge has the column, or ``EVERYWHERE``.
"""

from __future__ import annotations

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.markov_arrays import EVERYWHERE, MarkovArrays, MarkovScratch


@compiled(allocates=True)
def write_scores(
    problem: MarkovArrays, i: int, shared: Codes, W: Floats, scratch: MarkovScratch
) -> None:
    """Write the scores <w_u, φ_e(x_i)> of the labellings of all edges."""
    rows, row, score = problem.rows, problem.row_of[i], scratch.score
    begin, is_dense = rows.indptr[row], len(rows.indices) == 0
    everywhere = np.zeros(4)
    score[:] = 0.0
    for k in range(begin, rows.indptr[row + 1]):
        f, x = k - begin if is_dense else rows.indices[k], rows.data[k]
        j = problem.owner[f]
        for u in range(4):
            if j == EVERYWHERE:
                everywhere[u] += x * W[shared[f], u]
            else:
                score[4 * (j - 1) + u] += x * W[shared[f], u]
    for z in range(len(score)):
        score[z] += everywhere[z % 4]


@compiled(allocates=True)
def write_difference(
    problem: MarkovArrays, i: int, shared: Codes, scratch: MarkovScratch, out: Floats
) -> None:
    """Write φ(x_i, y_i) - φ(x_i, y) of the labelling y in ``scratch.state``, (n_shared, 4)."""
    tree, truth, state = problem.tree, scratch.truth, scratch.state
    rows, row = problem.rows, problem.row_of[i]
    begin, is_dense = rows.indptr[row], len(rows.indices) == 0
    count = np.zeros(4)
    for j in range(1, len(tree.parent)):
        p = tree.parent[j]
        count[2 * truth[p] + truth[j]] += 1.0
        count[2 * state[p] + state[j]] -= 1.0
    out[:, :] = 0.0
    for k in range(begin, rows.indptr[row + 1]):
        f, x = k - begin if is_dense else rows.indices[k], rows.data[k]
        j, r = problem.owner[f], shared[f]
        if j == EVERYWHERE:
            for u in range(4):
                out[r, u] += x * count[u]
        else:
            p = tree.parent[j]
            out[r, 2 * truth[p] + truth[j]] += x
            out[r, 2 * state[p] + state[j]] -= x


@compiled()
def shift(products: Floats, G: Floats, alpha: Floats, tol: float, limit: int) -> None:
    """Take pairwise steps between labellings as long as the dual rises by more than the tolerance.

    Labelling c has the dual variable ``alpha[c]`` and the gradient ``G[c]``, both updated in place.
    """
    for _ in range(limit):
        up, down = 0, -1
        for c in range(len(G)):
            if G[c] > G[up]:
                up = c
            if alpha[c] > 0.0 and (down < 0 or G[c] < G[down]):
                down = c
        if down < 0 or not G[up] - G[down] > tol:
            break
        curvature = products[up, up] + products[down, down] - 2.0 * products[up, down]
        most = alpha[down]
        step = min(most, (G[up] - G[down]) / curvature) if curvature > 0.0 else most
        if step == np.inf:  # a hard margin, and the labellings look alike: no step is enough
            break
        alpha[up] += step
        alpha[down] = 0.0 if step == most else most - step
        for c in range(len(G)):
            G[c] -= step * (products[up, c] - products[down, c])
