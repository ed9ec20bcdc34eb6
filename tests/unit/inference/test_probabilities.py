"""Calibrated probabilities: against a general minimiser, and what the methods promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit, logit

from taxonomist import Taxonomy
from taxonomist.inference.calibration import Calibration
from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.limits import label_limits
from taxonomist.inference.probabilities import (
    METHODS,
    Curve,
    SetProbabilities,
    SingleProbabilities,
    fit_sigmoid_with_ceiling,
)
from taxonomist.taxonomy import Categories

every_method = pytest.mark.parametrize("method", METHODS)
FLAT = Categories.from_labels(Taxonomy.flat("abc"), [])


def sets(n=300, n_categories=4, seed=0, ceiling=1.0, noise=1.0):
    """Return scores and labels, where P(label) = ceiling x sigmoid(2 score - 1)."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_categories)) * 2
    truth = rng.random(scores.shape) < ceiling * expit(noise * (2 * scores - 1))
    return scores, csr_array(truth)


def held(scores, labels):
    return EvidenceReader.of([(np.arange(len(scores)), scores)], labels, label_limits(labels))


def single(n=400, seed=0):
    """Return scores, labels and columns of one category per item."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 3, size=n)
    scores = rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[columns] * [1, 2, 0.5]
    labels = csr_array((np.ones(n, bool), columns, np.arange(n + 1)), shape=(n, 3))
    return scores, labels, columns


@pytest.mark.parametrize("seed", range(4))
def test_a_general_minimiser_finds_no_better_sigmoid(seed):
    scores, labels = sets(seed=seed, ceiling=0.7)
    evidence = held(100 + 5 * scores, labels).evidence()
    weights = np.random.default_rng(seed).uniform(0.5, 2, size=len(evidence.scores))
    evidence = evidence._replace(weights=weights)

    def cost(line):
        p = line[2] / (1 + np.exp(-line[0] * (evidence.scores - 100) - line[1]))
        logs = np.where(evidence.truth, np.log(p), np.log(1 - p))
        return -(weights @ logs) - np.log(line[2]) - np.log(1 - line[2])

    bounds = [(0, None), (None, None), (1e-6, 1 - 1e-6)]
    best = minimize(cost, [0.2, 0.0, 0.5], bounds=bounds, tol=1e-12)
    slope, offset, ceiling = fit_sigmoid_with_ceiling(evidence)
    assert cost([slope, offset + 100 * slope, ceiling]) <= best.fun + 1e-4
    np.testing.assert_allclose(ceiling, best.x[2], atol=2e-3)


def test_the_ceiling_is_found():
    scores, labels = sets(n=20_000, ceiling=0.6)
    slope, offset, ceiling = fit_sigmoid_with_ceiling(held(scores, labels).evidence())
    np.testing.assert_allclose([slope, offset, ceiling], [2, -1, 0.6], rtol=0.06)


def test_scores_that_say_the_opposite_get_no_slope():
    scores, labels = sets()
    slope, _, _ = fit_sigmoid_with_ceiling(held(-scores, labels).evidence())
    assert slope == 0


@every_method
def test_probabilities_of_sets_follow_the_frequencies(method):
    scores, labels = sets(n=8000, ceiling=0.8)
    found = SetProbabilities.fit(method, held(scores, labels), np.ones(8000)).of(scores)
    truth = labels.toarray()
    for low in np.arange(0.1, 0.8, 0.1):
        inside = (found >= low) & (found < low + 0.1)
        gap = 0.15 if method == "platt" else 0.05  # a plain sigmoid cannot bend to a ceiling
        assert truth[inside].mean() == pytest.approx(found[inside].mean(), abs=gap)


@every_method
def test_probabilities_rise_with_scores(method):
    scores, labels = sets()
    fitted = SetProbabilities.fit(method, held(scores, labels), np.ones(300))
    line = np.repeat(np.linspace(-9, 9, 200)[:, None], 4, axis=1)
    found = fitted.of(line)
    assert (np.diff(found, axis=0) >= 0).all()
    assert found.min() > 0
    assert found.max() < 1
    assert (found[-1] > found[0]).all()


def test_platt_is_the_sigmoid_of_each_category():
    scores, labels = sets()
    fitted = SetProbabilities.fit("platt", held(scores, labels), np.ones(300))
    plain = Calibration.fit(held(scores, labels).evidence())
    np.testing.assert_array_equal(fitted.of(scores), expit(plain.log_odds(scores)))


@every_method
def test_only_the_proportions_of_weights_matter(method):
    scores, labels = sets()
    weights = np.random.default_rng(1).uniform(0.1, 2, size=300)
    one = SetProbabilities.fit(method, held(scores, labels), weights).of(scores)
    same = SetProbabilities.fit(method, held(scores, labels), 1000 * weights).of(scores)
    other = SetProbabilities.fit(method, held(scores, labels), np.ones(300)).of(scores)
    np.testing.assert_allclose(same, one, rtol=1e-3)
    assert not np.allclose(other, one, rtol=1e-3)


def test_items_of_weight_0_do_not_count():
    scores, labels = sets()
    weights = np.repeat([1.0, 0.0], 150)
    spoiled = scores.copy()
    spoiled[150:] *= -1
    one, same = (
        SetProbabilities.fit("temperature", held(table, labels), weights).of(scores[:150])
        for table in (scores, spoiled)
    )
    np.testing.assert_allclose(same, one, rtol=1e-3)


@every_method
def test_one_category_each_adds_up_to_1(method):
    scores, labels, _ = single()
    fitted = SingleProbabilities.fit(method, FLAT, scores, labels, np.ones(400))
    fresh, _, true = single(seed=1)
    found = fitted.of(fresh)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found > 0).all()
    np.testing.assert_array_equal(fitted.of(fresh[5:6]), found[5:6])
    assert -np.log(found[np.arange(400), true]).mean() < 0.95 * np.log(3)


def test_sigmoids_mend_what_a_temperature_cannot():
    scores, labels, _ = single(4000)
    # The second category promises too much by far, the third too little.
    shift = np.array([0, 2, -1])
    scores = scores + shift
    fresh, _, true = single(4000, seed=1)
    loss = {}
    for method in METHODS:
        fitted = SingleProbabilities.fit(method, FLAT, scores, labels, np.ones(4000))
        found = fitted.of(fresh + shift)
        loss[method] = -np.log(found[np.arange(4000), true]).mean()
    assert loss["platt"] < loss["temperature"] - 0.1
    assert loss["isotonic"] < loss["temperature"] - 0.1


def test_a_single_category_is_certain():
    one = Categories.from_labels(Taxonomy.flat("a"), [])
    labels = csr_array(np.ones((3, 1), bool))
    for method in METHODS:
        fitted = SingleProbabilities.fit(method, one, np.zeros((3, 1)), labels, np.ones(3))
        np.testing.assert_array_equal(fitted.of([[4.0]]), 1)


@given(st.integers(0, 1000), st.integers(1, 40))
def test_a_curve_never_falls_and_stays_inside(seed, n):
    rng = np.random.default_rng(seed)
    scores, truth = rng.normal(size=(n, 2)).round(1), rng.random((n, 2)) < 0.4
    evidence = held(scores, csr_array(truth)).evidence()
    curve = Curve.fit(evidence.scores, evidence)
    heights = curve.of(np.linspace(-5, 5, 50))
    assert (np.diff(heights) >= 0).all()
    assert 0 < heights.min() <= heights.max() < 1
    assert np.isfinite(logit(heights)).all()


def test_an_unknown_method_is_refused():
    scores, labels = sets()
    with pytest.raises(ValueError, match="Did you mean 'isotonic'"):
        SetProbabilities.fit("isotonik", held(scores, labels), np.ones(300))
