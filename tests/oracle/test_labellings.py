"""Dynamic programs over labellings against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from taxonomist.compiled import labellings as loops
from taxonomist.inference.labellings import Labellings, fit_softmax
from taxonomist.inference.node_odds import NodeOdds
from tests.reference.labellings import all_labellings, count_labels, random_parents


@st.composite
def trees(draw):
    """Return parents, categories and gains of a random tree of up to 12 nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_nodes = draw(st.integers(1, 12))
    parent = random_parents(rng, n_nodes)
    is_category = rng.random(n_nodes) < draw(st.sampled_from([0.3, 0.7, 1.0]))
    is_category |= ~np.isin(np.arange(n_nodes), parent[1:])
    gains = rng.normal(draw(st.sampled_from([-1.0, 0.0, 1.0])), 1.0, (3, n_nodes))
    return parent, is_category, gains


@settings(max_examples=60, deadline=None)
@given(trees(), st.integers(0, 4))
def test_best_labelling_with_enough_labels(tree, least):
    parent, is_category, gains = tree
    rows = all_labellings(parent)
    counts = count_labels(rows, parent, is_category)
    enough = rows[counts >= min(least, counts.max())]
    found = Labellings(parent, is_category, least).best(gains)
    assert (~found[:, 1:] | found[:, parent[1:]]).all(), "closed under ancestors"
    assert (count_labels(found, parent, is_category) >= min(least, counts.max())).all()
    best = (enough @ gains.T).max(axis=0)
    np.testing.assert_allclose((found * gains).sum(axis=1), best, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_max_marginals(tree):
    parent, is_category, gains = tree
    rows = all_labellings(parent)
    scores = rows @ gains.T
    found = Labellings(parent, is_category).max_marginals(gains)
    for j in range(len(parent)):
        expected = scores[rows[:, j]].max(axis=0) - scores[~rows[:, j]].max(axis=0)
        np.testing.assert_allclose(found[:, j], expected, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(trees(), st.integers(0, 1), st.sampled_from([0.3, 1.0, 5.0]))
def test_marginals_and_partition(tree, least, temperature):
    parent, is_category, gains = tree
    rows = all_labellings(parent)
    if least:
        rows = rows[rows[:, is_category].any(axis=1)]
    scores = rows @ gains.T / temperature
    total = logsumexp(scores, axis=0)
    expected = (np.exp(scores - total).T @ rows).clip(0, 1)
    model = Labellings(parent, is_category, least)
    np.testing.assert_allclose(model.marginals(gains, temperature), expected, atol=1e-12)
    logs = np.zeros(len(gains))
    loops.log_partitions(parent, is_category, least > 0, gains, 1 / temperature, logs)
    np.testing.assert_allclose(logs, total, atol=1e-10)


def test_probabilities_where_a_label_is_most_unlikely():
    """No digits are lost where almost all of the sum is over label sets that are ruled out."""
    parent, is_category = np.array([0, 0, 1, 1]), np.array([False, False, True, True])
    gains = np.array([[800.0, 800.0, -900.0, -901.0]])
    found = Labellings(parent, is_category, 1).marginals(gains)
    share = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(found, [[1, 1, share, 1 - share]], atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(trees(), st.integers(0, 2**32 - 1))
def test_temperature_is_the_most_likely(tree, seed):
    parent, is_category, _ = tree
    rng = np.random.default_rng(seed)
    gains = rng.normal(size=(400, len(parent)))
    rows = all_labellings(parent)
    odds = np.exp(rows @ gains.T * 0.5)
    truth = np.array([rows[rng.choice(len(rows), p=column)] for column in (odds / odds.sum(0)).T])
    found = Labellings(parent, is_category).fit_temperature(gains, truth, np.ones(len(gains)))

    def cost(temperature):
        scores = rows @ gains.T / temperature
        true = (truth * gains).sum(axis=1) / temperature
        return (logsumexp(scores, axis=0) - true).sum()

    assert cost(found) <= min(cost(found * step) for step in (0.8, 0.95, 1.05, 1.25)) + 1e-6


def test_softmax_temperature():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 5))
    odds = np.exp(scores / 0.4)
    codes = np.array([rng.choice(5, p=row) for row in odds / odds.sum(axis=1, keepdims=True)])
    assert fit_softmax(scores, codes, np.ones(4000)) == pytest.approx(0.4, rel=0.1)
    assert fit_softmax(np.zeros((3, 2)), np.zeros(3, dtype=int), np.ones(3)) == 1.0


@settings(max_examples=30, deadline=None)
@given(trees(), st.sampled_from(["level", "node"]))
def test_odds_make_the_most_probable_labelling(tree, by):
    """The gains that odds are turned into are log-probabilities up to a constant."""
    parent, is_category, gains = tree
    n_nodes = len(parent)
    rng = np.random.default_rng(n_nodes)
    model = Labellings(parent, is_category)
    seen = rng.normal(size=(30, n_nodes))
    truth = Labellings(parent, is_category).best(seen + rng.normal(size=seen.shape))
    odds = NodeOdds.fit(model, seen, truth, np.ones(30), by)
    z = odds.slopes * model.values(gains) + odds.offsets
    rows = all_labellings(parent)
    p = 1 / (1 + np.exp(-z))
    expected = np.ones((len(gains), len(rows)))
    for j in range(n_nodes):
        above = rows[:, parent[j]] if j else np.ones(len(rows), dtype=bool)
        chance = np.where(rows[:, j], p[:, [j]], 1 - p[:, [j]])
        expected *= np.where(above, chance, 1.0)
    scores = odds.gains(model, gains) @ rows.T
    found = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (odds.slopes >= 0).all()


def test_loops_equal_their_uncompiled_twins():
    rng = np.random.default_rng(3)
    parent = random_parents(rng, 9)
    is_category = rng.random(9) < 0.6
    gains = rng.normal(-0.5, 1, (4, 9))
    for least in (0, 1, 3):
        outs = np.zeros((2, 4, 9), dtype=bool)
        loops.best_labellings(parent, is_category, least, gains, outs[0])
        loops.best_labellings.py_func(parent, is_category, least, gains, outs[1])
        np.testing.assert_array_equal(*outs)
    for name in ("max_marginals", "values_below"):
        outs = np.zeros((2, 4, 9))
        getattr(loops, name)(parent, gains, outs[0])
        getattr(loops, name).py_func(parent, gains, outs[1])
        np.testing.assert_allclose(*outs)
    for needs_label in (False, True):
        outs = np.zeros((2, 4, 9))
        loops.marginals(parent, is_category, needs_label, gains, 0.7, outs[0])
        loops.marginals.py_func(parent, is_category, needs_label, gains, 0.7, outs[1])
        np.testing.assert_allclose(*outs)
