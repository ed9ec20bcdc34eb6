"""Scores of items by their words: the sums that they stand for, in blocks or not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist.inference import word_scores
from taxonomist.inference.word_scores import WordScores


def make_scores(seed=0, uniform=True):
    random = np.random.default_rng(seed)
    words = random.random((4, 9)) * (random.random((4, 9)) < 0.6)
    words /= np.maximum(words.sum(axis=1, keepdims=True), 1e-9)
    weights = random.dirichlet(np.ones(5), size=3)
    shares = np.full(3, 0.2) if uniform else np.zeros(3)
    priors = random.dirichlet(np.ones(3))
    return WordScores(csr_array(weights[:, :4]), shares, csr_array(words), priors)


def naive_scores(scores, X):
    mixed = scores.weights.toarray() @ scores.words.toarray() + scores.uniform[:, None] / 9
    total = np.zeros((len(X), 3))
    for i, row in enumerate(X):
        for w, n in enumerate(row):
            general = scores.priors @ mixed[:, w]
            for c in range(3):
                if n and general:
                    total[i, c] += n * (np.log(mixed[c, w]) - np.log(general))
    return total


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("block", [2**22, 7 * 2, 1])
def test_scores_are_sums_over_words(uniform, block, monkeypatch):
    monkeypatch.setattr(word_scores, "WORD_PROBABILITIES_AT_A_TIME", block)
    scores = make_scores(uniform=uniform)
    X = np.random.default_rng(1).poisson(0.7, size=(6, 9)).astype(float)
    X[0] = 0
    np.testing.assert_allclose(scores.of(csr_array(X)), naive_scores(scores, X), atol=1e-12)
    assert (scores.of(csr_array(X))[0] == 0).all()
    alone = np.vstack([scores.of(csr_array(X)[[i]]) for i in range(len(X))])
    np.testing.assert_array_equal(alone, scores.of(csr_array(X)))


def test_pooled_unigrams_by_hand():
    # Two categories, two words: P(w|a) = (3/4, 1/4), P(w|b) = (1/4, 3/4), and P(w) = (2/3, 1/3).
    words = csr_array(np.array([[0.75, 0.25], [0.25, 0.75]]))
    general = np.array([2 / 3, 1 / 3])
    scores = WordScores(csr_array(np.eye(2)), np.zeros(2), words, np.array([0.5, 0.5]), general)
    found = scores.of(csr_array(np.array([[2.0, 1.0], [0.0, 3.0]])))
    expected = [
        [2 * np.log(9 / 8) + np.log(3 / 4), 2 * np.log(3 / 8) + np.log(9 / 4)],
        [3 * np.log(3 / 4), 3 * np.log(9 / 4)],
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("block", [2**22, 7 * 2, 1])
def test_given_word_probabilities_are_used_in_blocks_and_their_zeros_ignored(block, monkeypatch):
    monkeypatch.setattr(word_scores, "WORD_PROBABILITIES_AT_A_TIME", block)
    mixed = make_scores()
    general = np.random.default_rng(3).dirichlet(np.ones(9))
    general[4] = 0
    pooled = WordScores(mixed.weights, mixed.uniform, mixed.words, mixed.priors, general)
    X = np.random.default_rng(1).poisson(0.7, size=(6, 9)).astype(float)
    table = np.log(mixed.word_probabilities(slice(0, 9)))
    used = general > 0
    expected = X[:, used] @ (table[:, used] - np.log(general[used])).T
    np.testing.assert_allclose(pooled.of(csr_array(X)), expected)


def test_a_word_that_no_category_makes_says_nothing():
    words = csr_array(np.array([[1.0, 0, 0], [0, 1.0, 0]]))
    weights = csr_array(np.eye(2))
    scores = WordScores(weights, np.zeros(2), words, np.array([0.5, 0.5]))
    found = scores.of(csr_array(np.array([[0.0, 0, 5], [2, 0, 1]])))
    np.testing.assert_allclose(found, [[0, 0], [2 * np.log(2), -np.inf]])


def test_tables_are_not_pickled():
    scores = make_scores()
    scores.prepare()
    assert "_whole" in vars(scores)
    again = pickle.loads(pickle.dumps(scores))
    assert "_whole" not in vars(again)
    X = csr_array(np.ones((2, 9)))
    np.testing.assert_array_equal(again.of(X), scores.of(X))
