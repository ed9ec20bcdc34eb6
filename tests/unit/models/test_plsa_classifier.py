"""``PLSAClassifier``: fitting, folding in, label sets, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.model_selection import KFold
from sklearn.naive_bayes import MultinomialNB

from taxonomist import PLSAClassifier, Taxonomy
from taxonomist.errors import LabelError
from taxonomist.inference.label_sets import CategoryThresholds
from tests.reference import plsa as naive

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > elm"])
LEAVES = ["cat", "dog", "oak", "elm"]


def make_items(n_items=60, seed=0, most=2, least=1):
    """Return counts whose words come from the labels, and label sets."""
    random = np.random.default_rng(seed)
    words = random.dirichlet(np.full(20, 0.2), size=4)
    X, y = [], []
    for _ in range(n_items):
        n_labels = random.integers(least, most + 1)
        labels = random.choice(4, size=n_labels, replace=False)
        mixture = words[labels].mean(axis=0) if n_labels else np.full(20, 0.05)
        X.append(random.multinomial(15, mixture))
        y.append([LEAVES[c] for c in labels])
    return np.array(X, dtype=float), y


def test_fitting_and_folding_in_are_the_reference():
    X, y = make_items(most=1)
    model = PLSAClassifier(TREE, smoothing=0.3, spread=0.2, max_iter=3, fold_max_iter=4, tol=0).fit(
        X[:40], [labels[0] for labels in y[:40]]
    )
    labels = np.array([[c in item for c in model.classes_] for item in y[:40]])
    words, shares = naive.start(X[:40], labels, np.ones(40), 0.3, 0.2)
    for _ in range(3):
        words, shares = naive.step(X[:40], words, shares, np.ones(40))
    np.testing.assert_allclose(np.exp(model.feature_log_prob_.T), words, atol=1e-12)
    assert model.objective_ == pytest.approx(naive.log_likelihood(X[:40], words, shares, [1] * 40))
    assert model.n_iter_ == 3
    assert len(model.history_) == 4
    assert model.smoothing_ == 0.3
    folded = np.full((60, 4), 0.25)
    for _ in range(4):
        _, folded = naive.step(X, words, folded, np.ones(60))
    np.testing.assert_allclose(model.predict_proba(X), folded, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), folded, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), folded, atol=1e-12)
    assert model.predict(X).tolist() == model.classes_[folded.argmax(axis=1)].tolist()
    assert model.predict_paths(X[:1]) == [TREE.paths(model.predict(X)[0])[0]]


def test_without_steps_the_words_are_those_of_naive_bayes():
    X, y = make_items(most=1)
    first = [labels[0] for labels in y]
    X[0] += 1  # every word occurs
    model = PLSAClassifier(smoothing=0.5, max_iter=0).fit(X, first)
    peer = MultinomialNB(alpha=0.5).fit(X, first)
    assert model.classes_.tolist() == peer.classes_.tolist()
    np.testing.assert_allclose(model.feature_log_prob_, peer.feature_log_prob_)


def test_it_learns():
    X, y = make_items(n_items=200, most=1)
    first = np.array([labels[0] for labels in y])
    model = PLSAClassifier(TREE).fit(X[:100], first[:100])
    assert model.score(X[100:], first[100:]) > 0.9


def test_label_sets_are_tuned_on_held_out_shares():
    X, y = make_items(n_items=90, least=0)
    model = PLSAClassifier(TREE, cv=3).fit(X, y)
    Y = csr_array(np.array([[c in item for c in model.classes_] for item in y]))
    blocks = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        sets = [y[i] for i in train]
        part = PLSAClassifier(TREE, decision="top_k").fit(X[train], sets)
        blocks.append((test, part.predict_proba(X[test])))
    rule = CategoryThresholds().fit(blocks, Y, (0, 2))
    assert model.label_limits_ == (0, 2)
    assert model.decision_.thresholds == pytest.approx(rule.thresholds)
    chosen = model.predict(X).toarray()
    assert (chosen <= (rule.excess(model.predict_proba(X)) > 0)).all()
    assert set(chosen.sum(axis=1).tolist()) <= {0, 1, 2}
    for labels in model.predict_labels(X):
        assert {TREE.parents(label)[0] for label in labels} <= {*labels, TREE.root}
    limited = PLSAClassifier(TREE, cv=2, min_labels=1, max_labels=1).fit(X, y)
    assert (limited.predict(X).sum(axis=1) == 1).all()


@pytest.mark.parametrize("form", [np.asarray, csr_matrix, csr_array, coo_array])
def test_forms_of_counts(form):
    X, y = make_items()
    given = form(X.astype(int))
    expected = PLSAClassifier(TREE).fit(X, y)
    model = PLSAClassifier(TREE).fit(given, y)
    assert (model.predict_proba(given) == expected.predict_proba(X)).all()
    untouched = given if form is np.asarray else given.toarray()
    assert (untouched == X).all()
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_features_that_no_item_has_change_nothing():
    X, y = make_items()
    wide = np.hstack([X, np.zeros((60, 3))])
    narrow = PLSAClassifier(TREE).fit(X, y)
    model = PLSAClassifier(TREE).fit(wide, y)
    np.testing.assert_array_equal(model.predict_proba(wide), narrow.predict_proba(X))
    wide[:, 20:] = 5.0
    np.testing.assert_array_equal(model.predict_proba(wide), narrow.predict_proba(X))


def test_categories_without_items_and_items_without_known_words():
    X = np.array([[2.0, 0, 0], [0, 3, 0], [1, 1, 0]])
    model = PLSAClassifier(TREE).fit(X, ["cat", "dog", "cat"])
    shares = model.predict_proba([[0, 0, 1.0], [0, 0, 0], [5, 0, 0]])
    column = {label: c for c, label in enumerate(model.classes_)}
    for row in shares[:2]:
        assert row[column["cat"]] == row[column["dog"]] == 0.5
    assert shares[2, column["cat"]] > 0.5
    assert not shares[:, [column["oak"], column["elm"]]].any()
    assert np.isneginf(model.feature_log_prob_[column["oak"]]).all()


def test_edges():
    empty = PLSAClassifier().fit(np.zeros((2, 2)), ["a", "b"])
    assert empty.predict_proba([[1.0, 0]]).tolist() == [[0.5, 0.5]]
    alone = PLSAClassifier(TREE).fit([[1.0, 2.0]], [["cat"]])
    assert alone.predict_labels([[1.0, 0]]) == [["animal", "cat"]]
    two = PLSAClassifier().fit([[1.0, 0], [0, 1]], [0, 1])
    assert two.decision_function([[1.0, 0]]).shape == (1,)
    assert two.decision_function([[1.0, 0]])[0] < 0
    weighted = PLSAClassifier().fit([[1.0, 0], [0, 1], [9, 9]], [0, 1, 1], sample_weight=[1, 1, 0])
    assert (weighted.feature_log_prob_ == two.feature_log_prob_).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": 0.0}, "smoothing must be a number above 0, or None. Got 0.0"),
        ({"smoothing": np.inf}, "smoothing must be"),
        ({"spread": 1.0}, "spread must be at least 0 and below 1. Got 1.0"),
        ({"spread": -0.1}, "spread must be"),
        ({"max_iter": -1}, "max_iter must be at least 0. Got -1"),
        ({"fold_max_iter": 0}, "fold_max_iter must be a finite number of at least 1. Got 0"),
        ({"tol": -1e-3}, "tol must be at least 0. Got -0.001"),
        ({"decision": "best"}, "decision is 'best'"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        PLSAClassifier(**parameters).fit([[1.0], [2.0]], ["a", "b"])


def test_bad_input():
    with pytest.raises(ValueError, match="X must contain word counts.*smallest value is -3"):
        PLSAClassifier().fit([[1.0, -3.0]], ["a"])
    with pytest.raises(ValueError, match="X must contain word counts"):
        PLSAClassifier().fit([[1.0]], ["a"]).predict(csr_array([[-1.0]]))
    with pytest.raises(LabelError, match="'cot'"):
        PLSAClassifier(TREE).fit([[1.0]], ["cot"])
    with pytest.raises(ValueError, match="[Ww]eight"):
        PLSAClassifier().fit([[1.0]], ["a"], sample_weight=[0.0])
