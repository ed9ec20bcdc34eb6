"""EM for PLSA, against dense references and by its properties."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from taxonomist.compiled import plsa as loops
from taxonomist.compiled.arrays import Labels, Rows
from taxonomist.solvers import plsa
from taxonomist.solvers.plsa import SMOOTHINGS
from tests.reference import plsa as naive


@st.composite
def problems(draw, n_categories=3):
    """Draw counts, label sets and weights, with empty rows, words and categories among them."""
    n_items, n_features = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    counts = draw(arrays.arrays(float, (n_items, n_features), elements=st.integers(0, 3)))
    labels = draw(arrays.arrays(bool, (n_items, n_categories)))
    weights = draw(arrays.arrays(float, n_items, elements=st.sampled_from([0.5, 1.0, 2.0])))
    return counts, labels, weights


def as_problem(counts, labels, weights):
    return plsa.PLSAProblem(csr_array(counts), csr_array(labels), weights)


options = st.builds(
    plsa.PLSAOptions,
    smoothing=st.sampled_from([0.01, 1.0]),
    spread=st.sampled_from([0.0, 0.1, 0.5]),
    max_iter=st.integers(0, 4),
    tol=st.just(0.0),
)


@pytest.mark.equation("TCPH01:14")
@given(problems(), options)
def test_training_is_the_dense_reference(data, chosen):
    counts, labels, weights = data
    solution = plsa.solve(as_problem(*data), chosen)
    words, shares = naive.start(counts, labels, weights, chosen.smoothing, chosen.spread)
    for entry in solution.history:
        expected = naive.log_likelihood(counts, words, shares, weights)
        assert entry.log_likelihood == pytest.approx(expected)
        last = words, shares
        words, shares = naive.step(counts, words, shares, weights)
    np.testing.assert_allclose(solution.words, last[0], atol=1e-12)
    np.testing.assert_allclose(solution.shares, last[1], atol=1e-12)
    assert solution.log_likelihood == solution.history[-1].log_likelihood
    assert solution.smoothing == chosen.smoothing


@given(problems(), options)
def test_the_likelihood_never_falls_and_distributions_sum_to_one(data, chosen):
    solution = plsa.solve(as_problem(*data), chosen)
    course = [entry.log_likelihood for entry in solution.history]
    assert all(after >= before - 1e-9 for before, after in pairwise(course))
    used = solution.words.any(axis=0)
    np.testing.assert_allclose(solution.words.sum(axis=0), used)
    if used.any():
        np.testing.assert_allclose(solution.shares.sum(axis=1), 1)
    assert (solution.words >= 0).all()
    assert not solution.shares[:, ~used].any()


def test_stopping():
    counts = np.array([[3.0, 1, 0], [0, 1, 2], [1, 1, 1]])
    problem = as_problem(counts, np.eye(3, dtype=bool), np.ones(3))
    seen = []
    short = plsa.solve(problem, plsa.PLSAOptions(max_iter=3, tol=0.0), seen.append)
    assert len(short.history) == 4
    assert seen == short.history
    assert not short.converged
    long = plsa.solve(problem, plsa.PLSAOptions(max_iter=10_000, tol=1e-6))
    assert long.converged
    assert len(long.history) < 10_000
    rises = np.diff([entry.log_likelihood for entry in long.history]) / counts.sum()
    assert rises[-1] <= 1e-6
    assert (rises[:-1] > 1e-6).all()
    none = plsa.solve(problem, plsa.PLSAOptions(max_iter=0))
    assert not none.converged
    assert len(none.history) == 1


@given(problems(), st.data())
def test_smoothing_is_that_of_really_leaving_items_out(data, more):
    counts, labels, _ = data
    times = more.draw(arrays.arrays(int, len(counts), elements=st.integers(1, 2)))
    problem = as_problem(counts, labels, times.astype(float))
    each = np.repeat(np.arange(len(counts)), times)
    if counts.any():
        expected = [naive.left_out_likelihood(counts[each], labels[each], s) for s in SMOOTHINGS]
        found = plsa._left_out_likelihoods(problem)
        assert found == pytest.approx(np.array(expected))
        chosen = SMOOTHINGS.tolist().index(plsa.choose_smoothing(problem))
        assert expected[chosen] == pytest.approx(max(expected), abs=1e-9)


def test_an_item_of_weight_two_is_two_items():
    random = np.random.default_rng(0)
    counts, labels = random.poisson(1.0, (6, 8)).astype(float), random.random((6, 3)) < 0.5
    weights = np.array([1.0, 2, 3, 1, 2, 1])
    twice = np.repeat(np.arange(6), weights.astype(int))
    one = plsa.solve(as_problem(counts, labels, weights), plsa.PLSAOptions())
    other = plsa.solve(
        as_problem(counts[twice], labels[twice], np.ones(len(twice))), plsa.PLSAOptions()
    )
    assert one.smoothing == other.smoothing
    np.testing.assert_allclose(one.words, other.words)
    assert one.log_likelihood == pytest.approx(other.log_likelihood)


def test_unlabelled_items_are_learned_from():
    counts = np.array([[2.0, 0, 0, 0], [0, 2, 0, 0], [2, 0, 2, 0], [0, 2, 0, 2]])
    labels = np.array([[1, 0], [0, 1], [0, 0], [0, 0]], dtype=bool)
    found = plsa.solve(as_problem(counts, labels, np.ones(4)), plsa.PLSAOptions(max_iter=5))
    assert found.words[2, 0] > 5 * found.words[2, 1]
    assert found.words[3, 1] > 5 * found.words[3, 0]


# Folding in ----------------------------------------------------------------------------------


@st.composite
def folding(draw):
    """Draw counts of items and distributions of words, some words and categories empty."""
    n_items, n_features = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    counts = draw(arrays.arrays(float, (n_items, n_features), elements=st.integers(0, 3)))
    raw = draw(arrays.arrays(float, (n_features, 3), elements=st.integers(0, 4)))
    totals = raw.sum(axis=0)
    return counts, raw / np.where(totals > 0, totals, 1)


@given(folding(), st.integers(1, 5))
def test_folding_in_is_the_dense_reference(data, n_steps):
    counts, words = data
    shares, _ = plsa.fold_in(
        csr_array(counts), words, plsa.PLSAOptions(fold_max_iter=n_steps, tol=0.0)
    )
    used = words.any(axis=0) if words.any() else np.ones(3, dtype=bool)
    expected = np.tile(used / used.sum(), (len(counts), 1))
    for _ in range(n_steps):
        _, expected = naive.step(counts, words, expected, np.ones(len(counts)))
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@given(folding())
def test_the_gap_bounds_what_is_missing_to_the_optimum(data):
    counts, words = data
    for fold_max_iter, tol in ((1, 0.0), (100_000, 1e-3)):
        chosen = plsa.PLSAOptions(fold_max_iter=fold_max_iter, tol=tol)
        shares, gaps = plsa.fold_in(csr_array(counts), words, chosen)
        for row, share, gap in zip(counts, shares, gaps, strict=True):
            known = row * (words.sum(axis=1) > 0)
            if not known.any():
                assert gap == 0
                continue
            _, optimum = naive.best_shares(row, words)
            reached = naive.log_likelihood(row[None], words, share[None], np.ones(1))
            assert reached <= optimum + 1e-6
            assert optimum - reached <= gap * known.sum() + 1e-6
            assert gap <= tol or fold_max_iter == 1


def test_an_item_does_not_depend_on_the_others():
    random = np.random.default_rng(1)
    counts = csr_array(random.poisson(0.5, (20, 30)).astype(float))
    words = random.dirichlet(np.ones(30), size=4).T
    together, _ = plsa.fold_in(counts, words, plsa.PLSAOptions())
    for i in range(20):
        alone, _ = plsa.fold_in(counts[[i]], words, plsa.PLSAOptions())
        assert (alone[0] == together[i]).all()


# Loops ---------------------------------------------------------------------------------------


def test_loops_are_their_uncompiled_twins(monkeypatch):
    random = np.random.default_rng(2)
    X = csr_array(random.poisson(0.4, (12, 9)).astype(float))
    Y = csr_array(random.random((12, 4)) < 0.4)
    rows, labels = Rows(X.indptr, X.indices, X.data), Labels(Y.indptr, Y.indices)
    words = random.dirichlet(np.ones(9), size=4).T.copy()
    words[0] = 0
    weights, shares = random.random(12), random.dirichlet(np.ones(4), size=12)

    def run():
        stepped, expected = shares.copy(), np.zeros_like(words)
        values = loops.em_step(rows, weights, words, stepped, expected)
        folded, gaps = shares.copy(), np.zeros(12)
        loops.fold_in_items(rows, words, 7, 1e-3, folded, gaps)
        likelihoods = np.zeros(3)
        smoothings = np.array([0.1, 1.0, 3.0])
        counts = (X.T @ Y.astype(float)).toarray()
        loops.left_out_likelihoods(
            rows, labels, weights, counts, counts.sum(axis=0), 9, smoothings, likelihoods
        )
        return [*values, stepped, expected, folded, gaps, likelihoods]

    fast = run()
    for name, loop in list(vars(loops).items()):
        if hasattr(loop, "py_func"):
            monkeypatch.setattr(loops, name, loop.py_func)
    for mine, plain in zip(fast, run(), strict=True):
        np.testing.assert_allclose(mine, plain, rtol=1e-12)


def test_more_columns_than_a_short_integer_holds():
    counts = csr_array(([2.0, 3.0], ([0, 1], [5, 69_999])), shape=(2, 70_000))
    labels = csr_array(np.eye(2, dtype=bool))
    found = plsa.solve(plsa.PLSAProblem(counts, labels, np.ones(2)), plsa.PLSAOptions())
    assert np.flatnonzero(found.words.any(axis=1)).tolist() == [5, 69_999]
    shares, _ = plsa.fold_in(counts, found.words, plsa.PLSAOptions())
    assert shares.argmax(axis=1).tolist() == [0, 1]
