"""Thresholds with the best F1, against trying them all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from taxonomist.inference.f1_thresholds import ScoredPairs, f1_thresholds


@st.composite
def tables(draw):
    """Draw scores with ties and zeros, truth and weights of items."""
    shape = draw(st.integers(1, 8)), 3
    scores = draw(arrays.arrays(float, shape, elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0])))
    truth = draw(arrays.arrays(bool, shape))
    weights = draw(arrays.arrays(float, shape[0], elements=st.sampled_from([0.5, 1.0, 2.0])))
    return scores, truth, weights


def pairs_of(scores, truth, weights):
    items, categories = np.nonzero(scores > 0)
    at = items, categories
    return ScoredPairs(categories, scores[at], truth[at], weights[items])


def f1(scores, truth, weights, threshold):
    chosen = scores > threshold
    hits = (weights * (chosen & truth)).sum()
    total = (weights * chosen).sum() + (weights * truth).sum()
    return 2 * hits / total if total else 0.0


@given(tables())
def test_no_threshold_from_0_is_better(table):
    scores, truth, weights = table
    found = f1_thresholds(pairs_of(*table), truth.T @ weights)
    assert (found >= 0).all()
    for c in range(3):
        values = [f1(scores[:, c], truth[:, c], weights, t) for t in (0.0, 0.25, 0.75, 1.5, 2.0)]
        mine = f1(scores[:, c], truth[:, c], weights, found[c])
        assert mine == pytest.approx(max(values), abs=1e-12)


@given(tables())
def test_thresholds_lie_halfway_and_as_high_as_can_be(table):
    scores, truth, weights = table
    found = f1_thresholds(pairs_of(*table), truth.T @ weights)
    learned = {}
    for c in range(3):
        steps = [0.0, *sorted(set(scores[scores[:, c] > 0, c]))]
        cuts = [(low + high) / 2 for low, high in pairwise(steps)]
        values = [f1(scores[:, c], truth[:, c], weights, cut) for cut in cuts]
        if cuts and max(values) > 0:
            best = max(cut for cut, value in zip(cuts, values, strict=True) if value == max(values))
            learned[c] = best
            assert found[c] == best
    for c in set(range(3)) - set(learned):
        assert not (scores[:, c] > found[c]).any()
        if learned and truth[:, c].any():
            assert min(learned.values()) <= found[c] <= max(*learned.values(), scores[:, c].max())
        elif learned:
            assert found[c] == found.max()


@given(tables(), st.sampled_from([0.0, -3.0, 10.0]))
def test_without_a_lowest_threshold_none_at_all_is_better(table, shift):
    scores, truth, weights = table
    scores = scores + shift
    items, categories = np.nonzero(np.ones_like(truth))
    at = items, categories
    pairs = ScoredPairs(categories, scores[at], truth[at], weights[items])
    found = f1_thresholds(pairs, truth.T @ weights, least=-np.inf)
    assert np.isfinite(found).all()
    for c in range(3):
        cuts = [*np.unique(scores[:, c]), scores[:, c].min() - 1]
        values = [f1(scores[:, c], truth[:, c], weights, cut) for cut in cuts]
        mine = f1(scores[:, c], truth[:, c], weights, found[c])
        assert mine == pytest.approx(max(values), abs=1e-12)
        if truth.any() and not truth[:, c].any():
            assert found[c] == found.max()


def test_what_cannot_be_learned_is_typical():
    categories = np.array([0, 0, 1, 1, 2, 3])
    scores = np.array([4.0, 2.0, 3.0, 1.0, 9.0, 0.5])
    truth = np.array([True, False, True, False, False, False])
    pairs = ScoredPairs(categories, scores, truth, np.ones(6))
    # The first two cut at 3 and 2; with more items the second is the typical one.
    found = f1_thresholds(pairs, np.array([1.0, 5.0, 1.0, 1.0, 0.0]))
    assert found.tolist() == [3.0, 2.0, 9.0, 2.0, 9.0]


def test_nothing_to_learn_from():
    empty = np.empty(0)
    none = ScoredPairs(np.empty(0, dtype=np.intp), empty, np.empty(0, dtype=bool), empty)
    assert f1_thresholds(none, np.ones(2)).tolist() == [0.0, 0.0]
    assert f1_thresholds(none, np.empty(0)).tolist() == []


def test_neighbouring_floats_are_told_apart():
    high = np.nextafter(1.0, 2.0)
    truth = np.array([True, False])
    pairs = ScoredPairs(np.zeros(2, dtype=np.intp), np.array([high, 1.0]), truth, np.ones(2))
    (threshold,) = f1_thresholds(pairs, np.ones(1))
    assert 1.0 <= threshold < high
    raised = ScoredPairs(np.zeros(1, dtype=np.intp), np.array([5.0]), np.array([True]), np.ones(1))
    assert f1_thresholds(raised, np.ones(1), least=3.0).tolist() == [4.0]
