"""The measures that take a loss, with the losses of ``taxonomist.losses``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import losses, metrics
from taxonomist.taxonomy import Taxonomy
from tests.strategies import taxonomies

LOADS = {"n1": 3.0, "n2": 0.25}


def above(taxonomy, node):
    return {node, *taxonomy.ancestors(node)}


def weighted(taxonomy, y, u):
    """CH04's Eq. 23 with LOADS, 2 for a miss and 1 for a false alarm."""
    true, predicted = above(taxonomy, y), above(taxonomy, u)
    missed = sum(2 * LOADS.get(node, 1) for node in true - predicted)
    return missed + sum(LOADS.get(node, 1) for node in predicted - true)


def from_codes(taxonomy, y, u):
    """An asymmetric loss that knows no taxonomy."""
    return 0.0 if y == u else 2.0 * taxonomy.code(y) + taxonomy.code(u)


def matrix(taxonomy, categories):
    return [[from_codes(taxonomy, y, u) for u in categories] for y in categories]


# What category_loss is given, and the same as a function of two ids.
LOSSES = {
    "zero_one": (lambda t, c: "zero_one", lambda t, y, u: float(y != u)),
    "tree": (lambda t, c: "tree", lambda t, y, u: len(above(t, y) ^ above(t, u)) / 2),
    "weighted": (
        lambda t, c: losses.weighted_tree(
            {node: load for node, load in LOADS.items() if node in t}, 2.0, 1.0
        ),
        weighted,
    ),
    "matrix": (matrix, from_codes),
    "callable": (lambda t, c: lambda y, u: from_codes(t, y, u), from_codes),
}


@st.composite
def problems(draw):
    """A taxonomy, categories in any order, scores with ties, and which are relevant."""
    taxonomy = draw(taxonomies(min_nodes=3))
    nodes = st.sampled_from(taxonomy.nodes[1:])
    categories = draw(st.lists(nodes, unique=True, min_size=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(1, 5)), len(categories))
    relevant = rng.random(shape) < 0.5
    relevant[:, 0] = True
    return taxonomy, categories, rng.integers(-2, 3, size=shape).astype(float), relevant


@pytest.mark.equation("CH04:39")
@pytest.mark.parametrize("name", LOSSES)
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_taxonomy_loss_is_the_mean_of_the_loss(name, problem, seed):
    taxonomy, categories, *_ = problem
    spec, naive = LOSSES[name]
    loss = losses.category_loss(spec(taxonomy, categories), taxonomy, categories)
    true, predicted = np.random.default_rng(seed).choice(categories, size=(2, 6))
    expected = np.mean([naive(taxonomy, y, u) for y, u in zip(true, predicted, strict=True)])
    assert metrics.taxonomy_loss(true, predicted, taxonomy, loss=loss) == pytest.approx(expected)


@pytest.mark.parametrize("name", LOSSES)
@given(problem=problems())
def test_maximal_loss_is_the_worst_of_a_misordered_pair(name, problem):
    taxonomy, categories, scores, relevant = problem
    spec, naive = LOSSES[name]
    # The loss may list the categories in another order than the scores.
    loss = losses.category_loss(spec(taxonomy, categories[::-1]), taxonomy, categories[::-1])
    worst = [
        max(
            naive(taxonomy, categories[y], categories[u]) if row[y] <= row[u] else 0.0
            for y in np.flatnonzero(hits)
            for u in [*np.flatnonzero(~hits), y]
        )
        for row, hits in zip(scores, relevant, strict=True)
    ]
    value = metrics.maximal_loss(relevant, scores, taxonomy, classes=categories, loss=loss)
    assert value == pytest.approx(np.mean(worst))


def test_half_a_link_by_hand():
    tree = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1")])
    loss = losses.category_loss(losses.weighted_tree({"a": 10.0}), tree)
    assert metrics.taxonomy_loss(["a1", "a1"], ["a2", "b1"], tree, loss=loss) == (1 + 6.5) / 2
    scores = [[0.5, 0.5, 0.4], [0.1, 0.5, 0.4]]
    options = {"classes": ["a1", "a2", "b1"], "loss": loss}
    assert metrics.maximal_loss(["a1", "a1"], scores, tree, **options) == (1 + 6.5) / 2
