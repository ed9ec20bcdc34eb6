"""Sigmoids of categories: against a general minimiser, and what they do where data are few."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

from taxonomist.compiled import decisions
from taxonomist.errors import LabelError
from taxonomist.inference import calibration as module
from taxonomist.inference.calibration import Calibration, weighted_median
from taxonomist.inference.held_out import Evidence, EvidenceReader
from taxonomist.inference.limits import label_limits
from tests.unit.inference.plain_loops import plain


def evidence_of(scores, truth):
    """Return all pairs of a table as evidence."""
    labels = csr_array(truth)
    return EvidenceReader.of(
        [(np.arange(len(scores)), scores)], labels, label_limits(labels)
    ).evidence()


def sigmoid(scores, truth, weights=None, loop=decisions.fit_sigmoids):
    """Fit one category; return slope and offset."""
    scores, truth = np.asarray(scores, dtype=float), np.asarray(truth, dtype=bool)
    weights = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=float)
    slope, offset = np.zeros(1), np.zeros(1)
    loop(np.array([0, len(scores)]), scores, truth, weights, slope, offset)
    return float(slope[0]), float(offset[0])


def cross_entropy(line, scores, truth):
    """Return the cross-entropy of Platt's targets, as it is written in his paper."""
    n_true, n_false = truth.sum(), (~truth).sum()
    target = np.where(truth, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
    p = 1 / (1 + np.exp(-line[0] * scores - line[1]))
    return -(target * np.log(p) + (1 - target) * np.log(1 - p)).sum()


def example(seed, n=60, share=0.3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    return rng.normal(size=n) + 1.5 * truth, truth


@pytest.mark.parametrize("seed", range(5))
def test_sigmoid_has_the_least_cross_entropy(seed):
    scores, truth = example(seed)
    best = minimize(cross_entropy, [1.0, 0.0], (scores, truth), tol=1e-10)
    found = sigmoid(scores, truth)
    np.testing.assert_allclose(found, best.x, rtol=1e-4, atol=1e-4)
    assert cross_entropy(found, scores, truth) <= best.fun + 1e-8


@given(st.integers(0, 10_000), st.integers(1, 20), st.floats(0, 1))
def test_compiled_and_plain_agree_on_anything(seed, n, share):
    scores, truth = example(seed, n, share)
    found = sigmoid(scores, truth)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(
        found, sigmoid(scores, truth, loop=plain.fit_sigmoids), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e4), (3.0, -7.0)])
def test_units_of_scores_do_not_matter(scale, shift):
    scores, truth = example(1)
    slope, offset = sigmoid(scores, truth)
    other, moved = sigmoid(scale * scores + shift, truth)
    np.testing.assert_allclose(
        other * (scale * scores + shift) + moved, slope * scores + offset, rtol=1e-5, atol=1e-5
    )


def test_a_weight_is_a_number_of_repeats():
    scores, truth = example(2)
    weights = np.random.default_rng(0).integers(1, 4, len(scores))
    repeated = np.repeat(scores, weights), np.repeat(truth, weights)
    np.testing.assert_allclose(sigmoid(scores, truth, weights), sigmoid(*repeated), rtol=1e-6)


def test_separated_scores_have_a_finite_slope():
    scores = np.array([-1.0] * 50 + [1.0] * 50)
    slope, offset = sigmoid(scores, scores > 0)
    # Both targets are reached: 51/52 above, 1/52 below.
    assert slope == pytest.approx(np.log(51), rel=1e-6)
    assert offset == pytest.approx(0, abs=1e-6)


def test_equal_scores_have_no_slope():
    for score in (0.0, 0.1, -1e9):
        slope, offset = sigmoid(np.full(10, score), np.arange(10) < 3)
        assert slope == 0
        assert offset == pytest.approx(np.log(4 / 8))


def test_outliers_do_not_throw_the_search_off():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.random(150) < 0.03
        scores = rng.standard_cauchy(150) + 50 * truth
        slope, offset = sigmoid(scores, truth)
        n_true, n_false = truth.sum(), (~truth).sum()
        target = np.where(truth, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
        error = expit(slope * scores + offset) - target
        # Where the cross-entropy is least, its derivatives vanish.
        assert error.sum() == pytest.approx(0, abs=1e-4)
        assert error @ scores / scores.std() == pytest.approx(0, abs=1e-4)


def test_extreme_scores():
    scores = np.array([-1e200, -1.0, 0.0, 1.0, 1e200])
    assert np.isfinite(sigmoid(scores / 1e60, [False, False, True, False, True])).all()


def test_rare_categories_lean_on_the_typical_one():
    rng = np.random.default_rng(0)
    n_true = np.array([200, 100, 50, 2, 0])
    truth = np.zeros((400, 5), dtype=bool)
    for c, n in enumerate(n_true):
        truth[:n, c] = True
    scores = rng.normal(size=truth.shape) + 2 * truth
    evidence = evidence_of(scores, truth)
    lines = np.zeros((2, 5))
    decisions.fit_sigmoids(evidence.starts, *evidence[2:5], *lines)
    fitted = Calibration.fit(evidence)
    trust = n_true / (n_true + module.TYPICAL_ITEMS)
    for found, line in zip((fitted.slopes, fitted.offsets), lines, strict=True):
        typical = weighted_median(line, trust)
        np.testing.assert_allclose(found, trust * line + (1 - trust) * typical)
        assert found[4] == typical


def test_slopes_are_never_negative():
    truth = np.arange(40) < 20
    scores = -3.0 * truth[:, None] + np.random.default_rng(0).normal(size=(40, 1))
    fitted = Calibration.fit(evidence_of(scores, truth[:, None]))
    assert fitted.slopes.tolist() == [0.0]


def test_without_any_label_nothing_is_likely():
    scores = np.random.default_rng(0).normal(size=(30, 3))
    fitted = Calibration.fit(evidence_of(scores, np.zeros((30, 3), dtype=bool)))
    assert (fitted.log_odds(scores) < -3).all()


def test_log_odds_of_pairs_are_those_of_the_table():
    scores, truth = example(0, 30)
    table, labels = np.column_stack([scores, -scores]), np.column_stack([truth, ~truth])
    evidence = evidence_of(table, labels)
    fitted = Calibration.fit(evidence)
    pairs = fitted.log_odds(table)[evidence.items, evidence.categories]
    np.testing.assert_array_equal(fitted.of_pairs(evidence), pairs)
    assert isinstance(evidence, Evidence)


def test_log_odds_refuse_what_is_no_score():
    fitted = Calibration(np.ones(2), np.zeros(2))
    with pytest.raises(LabelError, match="category 1 for item 0 is nan"):
        fitted.log_odds([[0.0, np.nan]])
    with pytest.raises(LabelError, match="2 categories"):
        fitted.log_odds([[0.0]])


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=9))
def test_weighted_median_is_that_of_repeats(pairs):
    values, weights = np.array(pairs).T
    repeated = np.sort(np.repeat(values, weights))
    expected = repeated[(len(repeated) - 1) // 2]
    assert weighted_median(values.astype(float), weights.astype(float)) == expected
