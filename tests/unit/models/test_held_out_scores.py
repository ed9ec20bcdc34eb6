"""Scores of held-out items: the same as those of models that are learned without them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import MultinomialNB

from taxonomist import (
    CoupledBinarySVC,
    HierarchicalMixture,
    HierarchicalPerceptron,
    HierarchicalRankingSVC,
    HierarchicalSVC,
    LidstoneNB,
    MaxMarginMarkovClassifier,
    NodeSVC,
    Taxonomy,
)
from taxonomist.errors import ParameterError
from taxonomist.inference.label_sets import Threshold
from taxonomist.models.calibrator import opened, scores_by_clones, tidy
from taxonomist.models.learning import KeptScores, dealt_folds, plain_folds
from taxonomist.models.targets import Targets

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "b > b2 > b22"])
LEAVES = ["a1", "a2", "b1", "b21", "b22"]
EXACT = {"tol": 1e-6, "dtype": "float64", "random_state": 0}
CLOSE = EXACT | {"tol": 1e-3}
RULE = {"decision": Threshold(value=0.0, calibrated=False)}
SINGLE = {
    "svm": HierarchicalSVC(TREE, **EXACT),
    "rbf": HierarchicalSVC(TREE, kernel="rbf", gamma=0.5, **EXACT),
    "constant": HierarchicalSVC(TREE, constant=1.0, **EXACT),
    "ranking": HierarchicalRankingSVC(TREE, **EXACT),
    "markov": MaxMarginMarkovClassifier(TREE, cv=0, decision="argmax", **CLOSE),
    "node": NodeSVC(TREE, random_state=0),
    "bayes": LidstoneNB(TREE, alpha=0.5),
}
SETS = {
    "ranking": HierarchicalRankingSVC(TREE, **EXACT, **RULE),
    "binary": CoupledBinarySVC(TREE, **EXACT, **RULE),
    "perceptron": HierarchicalPerceptron(TREE, ridge=0.1, dtype="float64", **RULE),
    "markov": MaxMarginMarkovClassifier(TREE, cv=0, decision="argmax", **CLOSE),
    "mixture": HierarchicalMixture(TREE, **RULE),
    "node": NodeSVC(TREE, random_state=0),
}


def data(n=24, seed=0, is_single=True):
    """Return items that are sums of prototypes, none of them negative, and labels."""
    rng = np.random.default_rng(seed)
    centres = {label: rng.integers(0, 4, size=8) for label in LEAVES}
    sizes = np.ones(n, int) if is_single else rng.integers(1, 3, size=n)
    y = [sorted(rng.choice(LEAVES, size=size, replace=False).tolist()) for size in sizes]
    X = np.array([sum(centres[label] for label in item) for item in y])
    X = X + rng.integers(0, 3, size=X.shape)
    return X.astype(float), [item[0] for item in y] if is_single else y


def held_out_scores(model, X, y, folds, weights=None):
    """Return the tidy scores of held-out items while a clone of a model is fitted to all."""
    kept = KeptScores()
    fitted = clone(model).fit_held_out(
        X, y, weights, cv=folds, make_taker=lambda training, held_out: kept
    )
    is_single = fitted.targets_.is_single
    found = [(items, tidy(scores, is_single)) for items, scores in kept]
    return collected(found, len(y), len(fitted.classes_))


def collected(blocks, n_items, n_classes):
    found = np.full((n_items, n_classes), np.nan)
    for items, scores in blocks:
        assert np.isnan(found[items]).all()
        found[items] = scores
    return found


def check_against_learning_anew(model, is_single):
    X, y = data(is_single=is_single)
    targets = Targets.from_labels(TREE, y, X)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(X))
    weights = None if isinstance(model, HierarchicalPerceptron) else weights
    folds = dealt_folds(3, targets, np.ones(len(X)))
    found = held_out_scores(model, X, y, folds, weights)
    for train, test in folds:
        part = clone(model)
        part.fit(X[train], [y[i] for i in train], None if weights is None else weights[train])
        expected = opened(part, X[test]).categories
        gap = 1e-2 if isinstance(model, MaxMarginMarkovClassifier) else 1e-3
        np.testing.assert_allclose(found[test], expected, atol=gap * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", SINGLE.values(), ids=SINGLE)
def test_one_category_each(model):
    check_against_learning_anew(model, is_single=True)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", SETS.values(), ids=SETS)
def test_label_sets(model):
    check_against_learning_anew(model, is_single=False)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_precomputed_kernels_and_sparse_items(make):
    X, y = data()
    targets = Targets.from_labels(TREE, y, X)
    folds = dealt_folds(4, targets, np.ones(len(X)))
    one = held_out_scores(HierarchicalSVC(TREE, **EXACT), make(X), y, folds)
    gram = HierarchicalSVC(TREE, kernel="precomputed", **EXACT)
    same = held_out_scores(gram, X @ X.T, y, folds)
    np.testing.assert_allclose(same, one, atol=1e-3)


def test_holding_out_changes_nothing_about_the_model():
    X, y = data()
    plain = HierarchicalSVC(TREE, **EXACT).fit(X, y)
    held = HierarchicalSVC(TREE, **EXACT).fit_held_out(
        X, y, cv=3, make_taker=lambda training, held_out: KeptScores()
    )
    np.testing.assert_array_equal(held.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("n_folds", [2, 4])
def test_a_decision_and_a_taker_share_one_pass_of_folds(n_folds, monkeypatch):
    X, y = data(is_single=False)
    learned = []
    learn = HierarchicalRankingSVC.learn
    monkeypatch.setattr(
        HierarchicalRankingSVC,
        "learn",
        lambda self, training, start=None: learned.append(1) or learn(self, training, start),
    )
    HierarchicalRankingSVC(TREE, random_state=0).fit_held_out(
        X, y, cv=n_folds, make_taker=lambda training, held_out: KeptScores()
    )
    assert len(learned) == 1 + n_folds


def test_a_category_that_a_fold_lacks_scores_as_low_as_the_worst():
    X = np.repeat(np.eye(3), [6, 6, 1], axis=0)
    y = np.repeat(["a", "b", "c"], [6, 6, 1])
    model = LogisticRegression().fit(X, y)
    targets = Targets.from_labels(None, y, X)
    folds = dealt_folds(2, targets, np.ones(13))
    blocks = list(scores_by_clones(model, X, y, targets, folds, None))
    # The only item of c is held out in one of the folds, where it is left out.
    assert sorted(np.concatenate([items for items, _ in blocks]).tolist()) == list(range(12))
    without = next(scores for k, (_, scores) in enumerate(blocks) if 12 not in folds[k][0])
    np.testing.assert_array_equal(without[:, 2], without[:, :2].min(axis=1))


@pytest.mark.parametrize(("n_folds", "n_items"), [(3, 100), (5, 3), (2, 11)])
def test_plain_folds_are_those_of_scikit_learn(n_folds, n_items):
    weights = np.ones(n_items + 4)
    weights[[0, 2, 5, n_items]] = 0
    items = np.flatnonzero(weights)
    expected = KFold(min(n_folds, n_items), shuffle=True, random_state=0).split(items)
    found = plain_folds(n_folds, weights)
    for (train, test), (other_train, other_test) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(train, items[other_train])
        np.testing.assert_array_equal(test, items[other_test])


def test_one_fold_is_no_fold():
    with pytest.raises(ParameterError, match="cv must be at least 2"):
        plain_folds(1, np.ones(9))


def test_folds_share_out_every_category_and_leave_out_weightless_items():
    y = ["a1"] * 9 + ["a2"] * 6 + ["b1"] * 2
    targets = Targets.from_labels(TREE, y, y)
    weights = np.ones(17)
    weights[16] = 0
    folds = dealt_folds(3, targets, weights)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(16))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(16))
        assert 3 <= (test < 9).sum() <= 3
        assert ((test >= 9) & (test < 15)).sum() == 2
    # Folds are dealt out in the same way each time.
    again = dealt_folds(3, targets, weights)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))


def test_items_without_labels_and_few_items():
    targets = Targets.from_labels(TREE, [[], ["a1"], []], range(3))
    folds = dealt_folds(5, targets, np.ones(3))
    assert [len(test) for _, test in folds] == [1, 1, 1]
    one = Targets.from_labels(TREE, ["a1"], range(1))
    assert dealt_folds(5, one, np.ones(1)) == []


def test_splitters_and_given_splits():
    y = ["a1", "a2"] * 5
    targets = Targets.from_labels(TREE, y, y)
    weights = np.ones(10)
    weights[0] = 0
    by_splitter = dealt_folds(KFold(2), targets, weights)
    assert [test.tolist() for _, test in by_splitter] == [[1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert 0 not in by_splitter[1][0]
    masks = [(np.arange(10) < 5, np.arange(10) >= 5)]
    given = dealt_folds(masks, targets, np.ones(10))
    assert [part.tolist() for part in given[0]] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    with pytest.raises(ValueError, match="twice"):
        dealt_folds(ShuffleSplit(5, test_size=0.5, random_state=0), targets, np.ones(10))
    with pytest.raises(ValueError, match="no item"):
        dealt_folds([], targets, np.ones(10))
    with pytest.raises(ValueError, match="at least 2"):
        dealt_folds(1, targets, np.ones(10))


def test_scores_aretidy():
    two = tidy(np.array([1.0, -3.0]), is_single=True)
    np.testing.assert_array_equal(two, [[-0.5, 0.5], [1.5, -1.5]])
    np.testing.assert_array_equal(tidy(np.array([[2.0, 3.0], [1.0, -2.0]]), is_single=True), two)
    sets = np.array([[2.0, 3.0]])
    np.testing.assert_array_equal(tidy(sets, is_single=False), sets)
    infinite = np.array([[-np.inf, 1.0, 2.0, np.inf], [-np.inf] * 4])
    np.testing.assert_array_equal(tidy(infinite, is_single=True), [[1, 1, 2, 2], [0] * 4])


def test_a_model_with_probabilities_only_is_scored_by_their_logarithms():
    X, y = data()
    model = MultinomialNB().fit(X, y)
    found = opened(model, X).categories
    np.testing.assert_allclose(np.exp(found), model.predict_proba(X), rtol=1e-6)
