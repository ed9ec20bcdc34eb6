"""TCPH01's SVM: one for each category, in which a miss costs ten times as much as a false alarm."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from taxonomist import CoupledBinarySVC, NodeSVC
from taxonomist.features import InformationGainSelector, TfidfWeights
from taxonomist.inference.label_sets import Threshold

PLAIN = {"decision": Threshold(value=0.0, calibrated=False), "min_labels": 0, "max_labels": 3}


def make_items(seed=0, n_items=60):
    """Return weighted counts and overlapping labels as an indicator matrix, hard to separate."""
    random = np.random.default_rng(seed)
    X = random.poisson(1.0, size=(n_items, 15)).astype(float)
    Y = (X[:, :3] + random.normal(size=(n_items, 3)) > 2.0).astype(int)
    return TfidfWeights(sublinear_tf=True).fit_transform(X), Y


def test_both_models_are_an_svm_with_weighted_classes():
    X, Y = make_items()
    joint = CoupledBinarySVC(
        attributes="flat", positive_weight=10, constant=1.0, tol=1e-9, dtype="float64", **PLAIN
    ).fit(X, Y)
    each = LinearSVC(loss="hinge", class_weight={1: 10}, tol=1e-9, max_iter=1_000_000)
    nodes = NodeSVC(estimator=each, random_state=0).fit(X, Y)
    for c in range(3):
        peer = LinearSVC(loss="hinge", class_weight={1: 10}, tol=1e-9, max_iter=1_000_000)
        peer.fit(X, Y[:, c])
        np.testing.assert_allclose(joint.coef_[c], peer.coef_[0], atol=1e-5)
        assert joint.intercept_[c] == pytest.approx(peer.intercept_[0], abs=1e-5)
        np.testing.assert_allclose(nodes.node_estimators_[c].coef_, peer.coef_, atol=1e-5)
    expected = (joint.decision_function(X) > 0).astype(int)
    assert (joint.predict(X) == expected).all()
    assert (nodes.predict(X) == expected).all()


def test_the_weight_trades_misses_for_false_alarms():
    X, Y = make_items(n_items=200)
    plain = CoupledBinarySVC(attributes="flat", **PLAIN).fit(X[:100], Y[:100]).predict(X[100:])
    heavy = CoupledBinarySVC(attributes="flat", positive_weight=10, **PLAIN)
    found = heavy.fit(X[:100], Y[:100]).predict(X[100:])
    truth = Y[100:]
    assert (truth & ~found).sum() < (truth & ~plain).sum()
    assert (found & ~truth).sum() > (plain & ~truth).sum()


def test_a_number_is_the_same_weight_for_all_categories():
    X, Y = make_items()
    number = CoupledBinarySVC(positive_weight=3.0, random_state=0, **PLAIN).fit(X, Y)
    mapping = CoupledBinarySVC(positive_weight={0: 3.0, 1: 3.0, 2: 3.0}, random_state=0, **PLAIN)
    np.testing.assert_array_equal(number.coef_, mapping.fit(X, Y).coef_)
    for bad in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="positive_weight must be finite and above 0"):
            CoupledBinarySVC(positive_weight=bad).fit(X, Y)
    with pytest.raises(ValueError, match="None, a number, 'balanced' or a mapping"):
        CoupledBinarySVC(positive_weight="ten").fit(X, Y)


def test_the_paper_in_one_pipeline():
    from sklearn.pipeline import make_pipeline

    X = np.random.default_rng(1).poisson(1.0, size=(50, 12)).astype(float)
    y = [[name for name, count in zip("ab", row[:2], strict=True) if count > 1] for row in X]
    steps = InformationGainSelector(2), TfidfWeights(sublinear_tf=True)
    svm = CoupledBinarySVC(attributes="flat", positive_weight=10, constant=1.0, **PLAIN)
    model = make_pipeline(*steps, svm.set_params(max_labels=2))
    model.fit(X, y)
    assert model[0].get_support().sum() == 2
    assert model.predict(X).shape == (50, 2)
