"""Path weights against an interior-point solver of the same concave problem."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from scipy import sparse

from taxonomist.models.sources import node_sources
from taxonomist.solvers import path_weights
from taxonomist.solvers.path_weights import estimate
from taxonomist.solvers.word_counts import pool
from tests.reference import mixture as naive


def exact_value(rows, amounts, owners, prior=None):
    """Return max Σ amounts log(rows θ) + Σ prior log θ over θ whose owners' parts sum to 1.

    Each logarithm is t <= log(row θ): (t, 1, row θ) is in the exponential cone.
    """
    n = rows.shape[1]
    if prior is not None:
        rows, amounts = np.vstack([rows, np.eye(n)]), np.append(amounts, prior)
    keep = amounts > 0
    rows, amounts = rows[keep], amounts[keep]
    m = len(rows)
    sums = np.array([[float(owner == o) for owner in owners] for o in sorted(set(owners))])
    cone_rows, cone_right = [], []
    for k in range(m):
        t = np.zeros(n + m)
        t[n + k] = -1
        cone_rows += [t, np.zeros(n + m), np.append(-rows[k], np.zeros(m))]
        cone_right += [0.0, 1.0, 0.0]
    A = np.vstack(
        [
            np.hstack([sums, np.zeros((len(sums), m))]),
            np.hstack([-np.eye(n), np.zeros((n, m))]),
            cone_rows,
        ]
    )
    b = np.concatenate([np.ones(len(sums)), np.zeros(n), cone_right])
    cones = [
        clarabel.ZeroConeT(len(sums)),
        clarabel.NonnegativeConeT(n),
        *[clarabel.ExponentialConeT() for _ in range(m)],
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    q = np.concatenate([np.zeros(n), -amounts])
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((n + m, n + m)), q, sparse.csc_matrix(A), b, cones, settings
    )
    solution = solver.solve()
    assert str(solution.status) in ("Solved", "AlmostSolved")
    return -solution.obj_val


def rows_of(toy, ties, has_uniform):
    """Return a row per left-out word: P'(w|v) by group of tied weights; and the words' amounts."""
    taxonomy, items = toy.taxonomy, toy.naive_items()
    slots = [
        (c, v) for c in taxonomy.leaves for v in sorted(naive.path(taxonomy, c), key=taxonomy.code)
    ] + [(c, naive.UNIFORM) for c in taxonomy.leaves if has_uniform]
    rows, amounts = [], []
    for i, (row, labels, weight) in enumerate(items):
        words = naive.node_words(naive.without(items, i), taxonomy)
        for c in labels:
            if not naive.can_tell(items, taxonomy, i, c):
                continue
            for w, n in enumerate(row):
                given = np.zeros(len(ties.owner))
                for k, (category, v) in enumerate(slots):
                    if category == c:
                        p = 1 / len(row) if v == naive.UNIFORM else words[v][w]
                        given[ties.group[k]] += p / ties.parts[k]
                if n and given.any():
                    rows.append(given)
                    amounts.append(weight * n / len(labels))
    return np.array(rows), np.array(amounts)


@pytest.mark.parametrize("sharing", path_weights.SHARING)
@pytest.mark.parametrize("name", naive.TAXONOMIES)
@pytest.mark.parametrize("has_uniform", [True, False])
def test_weights_are_the_best_and_the_gap_says_so(sharing, name, has_uniform):
    toy = naive.make_toy(naive.TAXONOMIES[name], seed=3, n_items=10)
    sources = node_sources(toy.targets.categories)
    counts = pool(toy.items, sources).sources
    make = path_weights._ties_by_level if sharing == "level" else path_weights._ties_by_class
    ties = make(sources, has_uniform)
    rows, amounts = rows_of(toy, ties, has_uniform)
    prior = None
    if sharing == "shrunk":
        shared = estimate(toy.items, counts, sources, has_uniform=has_uniform, tol=1e-3)
        prior = 5.0 * np.concatenate(shared.weights)[: len(ties.owner)]
    solution = estimate(
        toy.items,
        counts,
        sources,
        sharing=sharing,
        shared_words=5.0,
        has_uniform=has_uniform,
        tol=1e-3,
    )
    best = exact_value(rows, amounts, ties.owner.tolist(), prior)
    n_words = amounts.sum() + (0 if prior is None else prior.sum())
    missing = (best - solution.history[-1]) / n_words
    assert solution.converged
    assert -1e-6 <= missing <= solution.gap + 1e-6
