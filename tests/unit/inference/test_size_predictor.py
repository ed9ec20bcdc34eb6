"""The size predictor: targets by trying all thresholds, weights by a general solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from taxonomist.compiled import decisions
from taxonomist.errors import LabelError
from taxonomist.inference import size_predictor as module
from taxonomist.inference.label_sets import SizePredictor, choose, label_limits
from tests.unit.inference.plain_loops import plain


def n_wrong(scores, truth, t):
    """Return how many categories of one item are on the wrong side of t [CH07]."""
    return int((truth & (scores <= t)).sum() + (~truth & (scores >= t)).sum())


def targets(scores, truth, loop=decisions.split_items):
    middle, side, reach = np.zeros((3, len(scores)))
    loop(scores, truth, middle, side, reach)
    return middle, side, reach


@st.composite
def cases(draw):
    """Draw items, some with equal scores, no labels, or all."""
    n_categories = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    truth = rng.random((3, n_categories)) < draw(st.sampled_from([0.0, 0.3, 0.6, 1.0]))
    return np.round(rng.normal(size=truth.shape) + truth, draw(st.integers(0, 3))), truth


@given(cases())
def test_targets_are_the_best_thresholds(case):
    found = targets(*case)
    twin = targets(*case, plain.split_items)
    np.testing.assert_array_equal(found, twin)
    for scores, truth, middle, side, reach in zip(*case, *found, strict=True):
        t = middle + side
        levels = np.unique(scores)
        inner = (levels[1:] + levels[:-1]) / 2
        tried = [levels[0] - 1, *inner, levels[-1] + 1]
        fewest = min(n_wrong(scores, truth, other) for other in tried)
        assert n_wrong(scores, truth, t) == fewest
        widths = [
            high - low
            for low, high, other in zip(levels[:-1], levels[1:], inner, strict=True)
            if n_wrong(scores, truth, other) == fewest
        ]
        if side:
            assert middle == (levels[-1] if side > 0 else levels[0])
            assert reach == 0
            assert not widths
        else:
            assert 2 * reach == pytest.approx(max(widths))
            assert any(t == pytest.approx(other) for other in inner)


def data(seed=0, n=120, q=5):
    rng = np.random.default_rng(seed)
    truth = rng.random((n, q)) < 0.4
    truth[:5], truth[5:10] = False, True
    return rng.normal(size=(n, q)) + 1.5 * truth, truth


def blocks(scores, n=1):
    return [(items, scores[items]) for items in np.array_split(np.arange(len(scores)), n)]


@pytest.mark.parametrize("ridge", [1e-9, 0.1, 10.0])
def test_weights_are_those_of_ridge_regression(ridge):
    scores, truth = data()
    middle, side, reach = targets(scores, truth)
    assert {-1.0, 0.0, 1.0} == set(side)
    t = middle + side * reach[side == 0].mean()
    X, y = scores - scores.mean(axis=0), t - t.mean()
    strength = np.sqrt(ridge * X.var(axis=0).mean() * len(X))
    stacked = np.vstack([X, strength * np.eye(X.shape[1])])
    expected = np.linalg.lstsq(stacked, np.append(y, np.zeros(X.shape[1])))[0]
    fitted = SizePredictor(ridge).fit(blocks(scores, 4), csr_array(truth))
    np.testing.assert_allclose(fitted.coefficients, expected, rtol=1e-6, atol=1e-9)
    assert fitted.constant == pytest.approx(t.mean() - scores.mean(axis=0) @ expected)
    thresholds = scores @ expected + fitted.constant
    np.testing.assert_allclose(fitted.excess(scores), scores - thresholds[:, None], atol=1e-9)


def test_blocks_and_batches_do_not_matter():
    scores, truth = data(1)
    one = SizePredictor().fit(blocks(scores), csr_array(truth))
    many = SizePredictor().fit(blocks(scores, 11), csr_array(truth))
    np.testing.assert_allclose(many.coefficients, one.coefficients, rtol=1e-9)
    together = one.excess(scores)
    for i in range(len(scores)):
        np.testing.assert_array_equal(one.excess(scores[[i]])[0], together[i])
    np.testing.assert_array_equal(one.excess(np.asfortranarray(scores)), together)


def test_offsets_of_items_are_learned():
    """Scores that are comparable within an item only: one threshold for all cannot do it."""
    rng = np.random.default_rng(0)
    truth = rng.random((400, 6)) < 0.3
    truth[np.arange(400), rng.integers(0, 6, 400)] = True
    scores = 2 * truth + 0.2 * rng.normal(size=truth.shape) + 10 * rng.normal(size=(400, 1))
    # What the threshold is to be predicted from: a category that nothing is in.
    scores = np.column_stack([scores, scores.mean(axis=1) - 2 * truth.mean(axis=1)])
    truth = np.column_stack([truth, np.zeros(400, dtype=bool)])
    fitted = SizePredictor(1e-6).fit(blocks(scores), csr_array(truth))
    found = choose(fitted.excess(scores), *label_limits(csr_array(truth))).toarray()
    assert (found == truth).all(axis=1).mean() > 0.95


def test_many_categories_are_known_by_their_best_scores(monkeypatch):
    scores, truth = data(2, q=8)
    monkeypatch.setattr(module, "MAX_SCORE_FEATURES", 7)
    monkeypatch.setattr(module, "N_BEST_SCORES", 3)
    fitted = SizePredictor().fit(blocks(scores, 3), csr_array(truth))
    order = np.random.default_rng(0).permutation(8)
    best = -np.sort(-scores, axis=1)[:, :3]
    thresholds = best @ fitted.coefficients + fitted.constant
    np.testing.assert_allclose(fitted.excess(scores), scores - thresholds[:, None])
    np.testing.assert_array_equal(fitted.excess(scores[:, order]), fitted.excess(scores)[:, order])
    monkeypatch.setattr(module, "MAX_SCORE_FEATURES", 8)
    assert len(SizePredictor().fit(blocks(scores), csr_array(truth)).coefficients) == 8


@pytest.mark.parametrize("value", [0.0, 0.1, -1e6])
def test_equal_scores(value):
    scores, truth = np.full((6, 3), value), np.eye(3, dtype=bool)[[0, 1, 2, 0, 1, 2]]
    fitted = SizePredictor().fit(blocks(scores), csr_array(truth))
    assert (fitted.coefficients == 0).all()
    found = choose(fitted.excess(scores), 1, 1).toarray()
    assert found[:, 0].all()


@pytest.mark.parametrize("truth", [[[True]], [[False]]])
def test_one_item_and_one_category(truth):
    fitted = SizePredictor().fit([([0], [[2.0]])], csr_array(np.array(truth)))
    assert fitted.excess([[2.0]]).tolist() == [[0.0]]


def test_what_is_refused():
    with pytest.raises(ValueError, match="ridge is 0"):
        SizePredictor(ridge=0)
    scores, truth = data()
    fitted = SizePredictor().fit(blocks(scores), csr_array(truth))
    with pytest.raises(LabelError, match="is nan"):
        fitted.excess(np.full((1, 5), np.nan))
    with pytest.raises(LabelError, match="5 categories"):
        fitted.excess(np.zeros((1, 4)))
