"""Blends: averages of the scores of models on a common scale, as models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from taxonomist import (
    BlendedClassifier,
    CalibratedClassifier,
    HierarchicalSVC,
    LidstoneNB,
    NodeSVC,
    Taxonomy,
    ThresholdedKNN,
)

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])


def data(is_single=True, n=60):
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 5, size=(4, 6))
    leaves = rng.integers(0, 4, size=n)
    X = rng.poisson(centres[leaves] + 0.5).astype(float)
    y = np.array(TREE.leaves, dtype=object)[leaves]
    if is_single:
        return X, y.tolist()
    return X, [[label] if k % 3 else [label, "a1"] for k, label in enumerate(y)]


def members(taxonomy=TREE):
    return [
        HierarchicalSVC(taxonomy, random_state=0),
        LidstoneNB(taxonomy, alpha=0.5),
        NodeSVC(taxonomy, random_state=0),
    ]


@pytest.mark.parametrize("weights", [None, [1, 2, 0]])
def test_scores_are_weighted_means_of_standardised_scores(weights):
    X, y = data()
    blend = BlendedClassifier(TREE, models=members(), weights=weights).fit(X, y)
    shares = np.ones(3) / 3 if weights is None else np.array(weights) / 3
    expected = 0
    for model, share in zip(members(), shares, strict=True):
        scores = model.fit(X, y).decision_function(X)
        scores = scores - scores.mean(axis=1, keepdims=True)
        expected = expected + share * scores / scores.std()
    np.testing.assert_allclose(blend.decision_function(X), expected, atol=1e-6)
    assert blend.score(X, y) > 0.9


def test_blends_answer_every_question():
    X, y = data(is_single=False)
    models = [member for member in members() if member.traits.label_sets]
    blend = BlendedClassifier(TREE, models=models, cv=3).fit(X, y)
    assert blend.decision_.thresholds.shape == (4,)
    assert len(blend.predict_paths(X)) == len(X)
    assert blend.predict_topk(X, 2)[0].shape == (len(X), 2)
    single = CalibratedClassifier(BlendedClassifier(TREE, models=members()), cv=3).fit(*data())
    np.testing.assert_allclose(single.predict_proba(X).sum(axis=1), 1)


def test_a_fold_without_a_category_keeps_its_column():
    X, y = data()
    y[0] = "a"  # The only item that is filed at the inner node.
    blend = BlendedClassifier(TREE, models=[ThresholdedKNN(TREE, n_neighbors=3), *members()[1:]])
    found = CalibratedClassifier(blend, cv=3).fit(X, y)
    assert found.predict_proba(X).shape == (len(X), 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": []}, "models must be a list of models"),
        ({"models": [LogisticRegression()]}, "models must be a list of models"),
        ({"models": members(), "weights": [1, 2]}, "weights must be 3 numbers"),
        ({"models": members(), "weights": [0, 0, 0]}, "not all 0"),
        ({"models": members(), "taxonomy": "tree"}, "taxonomy must be a Taxonomy or None"),
    ],
)
def test_parameters_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        BlendedClassifier(**{"taxonomy": TREE, **options}).fit(*data())
