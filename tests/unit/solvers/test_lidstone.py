"""The Lidstone parameter: chosen by really leaving items out, and as path weights."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.models.sources import node_sources
from taxonomist.solvers.lidstone import ALPHAS, choose_alpha, smoothed_weights
from taxonomist.solvers.word_counts import pool
from tests.reference import mixture as naive


def left_out_value(toy, alpha):
    """Return the log-likelihood of items under the counts of their categories without them."""
    total, items = 0.0, toy.naive_items()
    for i, (row, labels, weight) in enumerate(items):
        counts = naive.category_counts(naive.without(items, i), toy.taxonomy)
        for c in labels:
            p = (np.array(counts[c]) + alpha) / (sum(counts[c]) + alpha * len(row))
            total += weight / len(labels) * (np.array(row) @ np.log(p))
    return total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", naive.TAXONOMIES)
def test_the_best_of_all(name, seed):
    toy = naive.make_toy(naive.TAXONOMIES[name], seed=seed, n_items=20)
    toy.X[:, 2:] *= toy.X[:, 2:] % 3
    counts = pool(toy.items, node_sources(toy.targets.categories)).categories
    values = [left_out_value(toy, alpha) for alpha in ALPHAS]
    assert choose_alpha(toy.items, counts) == ALPHAS[np.argmax(values)]


def test_nothing_to_choose_by():
    toy = naive.make_toy()
    toy = toy._replace(X=np.zeros_like(toy.X))
    counts = pool(toy.items, node_sources(toy.targets.categories)).categories
    assert choose_alpha(toy.items, counts) == ALPHAS[-1]


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_weights_add_to_every_count(alpha):
    toy = naive.make_toy(seed=1)
    sources = node_sources(toy.targets.categories)
    pooled = pool(toy.items, sources)
    weights = smoothed_weights(pooled.categories, sources, alpha)
    counts = pooled.categories.toarray()
    for c in range(len(counts)):
        slots = weights.slots[slice(*sources.paths.indptr[c : c + 2])]
        assert not slots[:-1].any()
        total = counts[c].sum()
        if total + alpha == 0:
            assert slots[-1] == weights.uniform[c] == 0
            continue
        own = counts[c] / max(total, 1)
        found = slots[-1] * own + weights.uniform[c] / counts.shape[1]
        np.testing.assert_allclose(found, (counts[c] + alpha) / (total + alpha * counts.shape[1]))
