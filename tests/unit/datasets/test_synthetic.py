from __future__ import annotations

import numpy as np
import pytest

from taxonomist.datasets import make_taxonomy_data
from taxonomist.datasets.synthetic import _category_weights


@pytest.mark.parametrize("margin", [0.001, 0.1])
def test_every_point_belongs_to_its_best_category_by_more_than_the_margin(margin: float) -> None:
    corpus = make_taxonomy_data(200, 10, branching=3, depth=2, margin=margin, random_state=7)
    weights = _category_weights(np.random.default_rng(7), 10, 3, [1 / 4, 1 / 8])
    leaves = [f"{top}.{low}" for top in (1, 2, 3) for low in (1, 2, 3)]
    for point, label in zip(corpus.X, corpus.y, strict=True):
        scores = {leaf: float(point @ weight) for leaf, weight in zip(leaves, weights, strict=True)}
        best, second = sorted(scores, key=scores.get, reverse=True)[:2]
        assert label == best
        assert scores[best] - scores[second] > margin


def test_categories_of_one_parent_share_its_weights() -> None:
    rng = np.random.default_rng(0)
    weights = _category_weights(rng, 4, 2, [1.0, 0.0])
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[1], weights[2])


def test_weights_have_the_given_variances() -> None:
    weights = _category_weights(np.random.default_rng(0), 50_000, 2, [4.0, 0.25])
    assert np.var(weights[0]) == pytest.approx(4.25, rel=0.05)
    assert np.var(weights[0] - weights[1]) == pytest.approx(0.5, rel=0.05)


def test_shape() -> None:
    corpus = make_taxonomy_data(50, 5, branching=4, depth=3, random_state=0)
    assert corpus.X.shape == (50, 5)
    assert corpus.taxonomy.n_nodes == 1 + 4 + 16 + 64
    assert corpus.taxonomy.is_tree
    assert corpus.taxonomy.height == 3
    assert np.allclose(np.linalg.norm(corpus.X, axis=1), 1)


def test_same_seed_same_data() -> None:
    first, again = (make_taxonomy_data(30, random_state=3) for _ in range(2))
    other = make_taxonomy_data(30, random_state=4)
    assert np.array_equal(first.X, again.X)
    assert first.labels == again.labels
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_items": 0}, "n_items must be at least 1"),
        ({"branching": 1}, "branching must be at least 2"),
        ({"depth": 0}, "depth must be at least 1"),
        ({"variances": [1.0]}, "variances must be 3 values"),
        ({"variances": [1.0, 0.5, -1.0]}, "variances must be 3 values"),
        ({"variances": [1.0, np.nan, 0.5]}, "variances must be 3 values"),
        ({"margin": 1e6, "n_items": 1}, "margin=1000000.0 is too large: only 0 of"),
    ],
)
def test_parameters_out_of_range(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_taxonomy_data(**options)
