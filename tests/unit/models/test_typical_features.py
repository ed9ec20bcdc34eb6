"""Typical features of categories, beside the classifiers of ``PathSVC``."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import ComplementNB

from taxonomist import PathSVC, Taxonomy
from taxonomist.errors import ParameterError
from taxonomist.models.typical_features import SMOOTHING, typical_features
from taxonomist.persistence import load, save

TREE = Taxonomy.from_paths([f"{top} > {top}{k}" for top in "abc" for k in range(6)])


@pytest.fixture(scope="module")
def items():
    """Return rows of words of which some are frequent in a category, and the categories."""
    rng = np.random.default_rng(0)
    labels = np.array(TREE.leaves, dtype=object)
    rates = rng.gamma(0.3, 1.0, size=(len(labels), 60))
    y = rng.permutation(np.tile(np.arange(len(labels)), 4))
    X = rng.poisson(rates[y]).astype(float) + 0.01
    X[rng.random(X.shape) < 0.3] = 0
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return sparse.csr_array(X), labels[y]


def test_weights_are_those_of_complement_naive_bayes(items):
    X, y = items
    columns = {label: k for k, label in enumerate(sorted(TREE.leaves))}
    places = np.array([columns[label] for label in y])
    weights = np.linspace(0.5, 2, len(y))
    labels = sparse.csr_array((np.ones(len(y), bool), (np.arange(len(y)), places)))
    found = typical_features(X, labels, weights)
    W = np.array([found.of_column(c, np.arange(X.shape[1])) for c in range(found.n_columns)])
    twin = ComplementNB(alpha=SMOOTHING).fit(X, places, sample_weight=weights)
    # The bias stands for the same number in the weights of all features of a category.
    shift = (twin.feature_log_prob_ - W).mean(axis=1, keepdims=True)
    common = (twin.feature_log_prob_ - W - shift).mean(axis=0)
    np.testing.assert_allclose(W + shift + common, twin.feature_log_prob_, atol=1e-5)
    mean = float(weights @ X.sum(axis=1) / weights.sum())
    expected = (shift - shift.mean()).ravel() * mean
    np.testing.assert_allclose(found.table.bias, expected, atol=1e-4)


def test_features_with_values_below_0_have_no_weight(items):
    X, y = items
    X = X.copy()
    X.data[np.flatnonzero(X.indices == 3)[::2]] *= -1
    labels = sparse.csr_array((y[:, None] == np.unique(y)[None]).astype(bool))
    found = typical_features(X, labels, np.ones(len(y)))
    W = np.array([found.of_column(c, np.arange(X.shape[1])) for c in range(found.n_columns)])
    assert not W[:, 3].any()
    assert W[:, 4].any()


def test_they_are_a_part_of_scores_and_saved(items, tmp_path):
    X, y = items
    model = PathSVC(TREE, complement=True, random_state=0).fit(X, y)
    plain = model.scorer_.without_typical()
    typical = model.blend_["typical"]
    assert typical > 0
    rows = model.check_rows(X, reset=False)
    raw = model.scorer_.raw(rows)
    assert raw.shape[1] == plain.weights.n_columns + len(model.classes_)
    expected = plain.categories(plain.raw(rows)) + typical * raw[:, -len(model.classes_) :]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-5, atol=1e-5)
    parts = model.explain(X[[0]]).parts
    assert sum(part.value for part in parts) == pytest.approx(expected[0].max(), abs=1e-4)
    save(model, tmp_path / "model")
    found = load(tmp_path / "model").decision_function(X)
    np.testing.assert_array_equal(found, model.decision_function(X))
    assert set(model.top_features(2)) == set(PathSVC(TREE, random_state=0).fit(X, y).top_features())


def test_refit_is_fit(items):
    X, y = items
    model = PathSVC(TREE, complement=True, random_state=0).fit(X[:60], y[:60])
    again = model.refit(X, y, TREE.children(TREE.root))
    other = PathSVC(TREE, complement=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), other.decision_function(X))


def test_no_search_and_no_cluster(items):
    X, y = items
    model = PathSVC(TREE, complement=True, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="complement=False"):
        model.search(X)
    siblings = PathSVC(TREE, complement=True, negatives="siblings", random_state=0).fit(X, y)
    assert not siblings.scorer_.has_typical
    assert siblings.search(X).is_exact.all()
