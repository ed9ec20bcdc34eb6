from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Taxonomy

TREE = Taxonomy.from_edges([("ROOT", "a"), ("ROOT", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1")])
CLASSES = np.array(["a1", "a2", "b1"])
X, CODES = make_blobs(90, centers=3, cluster_std=4.0, random_state=0)
Y = CLASSES[CODES]


class Aware(ClassifierMixin, BaseEstimator):
    """A classifier that knows its taxonomy."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        self.model_ = LinearSVC(C=self.C).fit(X, y)
        self.classes_, self.taxonomy_ = self.model_.classes_, TREE
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def decision_function(self, X):
        return self.model_.decision_function(X)


def expected(name, model):
    """The measure itself, called by hand."""
    predicted, scores = model.predict(X), model.decision_function(X)
    functions = {
        "accuracy": lambda: metrics.accuracy(Y, predicted),
        "hierarchical_f1": lambda: metrics.hierarchical_f1(Y, predicted, TREE),
        "neg_taxonomy_loss": lambda: -metrics.taxonomy_loss(Y, predicted, TREE),
        "parent_accuracy": lambda: metrics.parent_accuracy(Y, predicted, TREE),
        "mean_reciprocal_rank": lambda: metrics.mean_reciprocal_rank(Y, scores, classes=CLASSES),
        "micro_f1": lambda: metrics.precision_recall_f1(Y, predicted, TREE, nodes="all").f1,
        "macro_f1": lambda: (
            metrics.precision_recall_f1(Y, predicted, TREE, nodes="all", average="macro").f1
        ),
        "neg_symmetric_difference_loss": lambda: (
            -metrics.symmetric_difference_loss(Y, predicted, TREE)
        ),
        "neg_set_loss": lambda: -metrics.set_loss(Y, predicted, TREE),
        "neg_zero_one_loss": lambda: -metrics.zero_one_loss(Y, predicted, TREE),
        "au_prc": lambda: metrics.au_prc(Y, scores, TREE, classes=CLASSES),
        "one_accuracy": lambda: metrics.one_accuracy(Y, scores, classes=CLASSES),
        "average_precision": lambda: metrics.average_precision(Y, scores, classes=CLASSES),
        "neg_ranking_loss": lambda: -metrics.ranking_loss(Y, scores, classes=CLASSES),
        "neg_misordering_loss": lambda: -metrics.misordering_loss(Y, scores, TREE, classes=CLASSES),
    }
    return functions[name]()


@pytest.mark.parametrize("name", metrics.SCORERS)
def test_scorers_are_the_measures(name):
    flat = make_pipeline(StandardScaler(), LinearSVC()).fit(X, Y)
    assert metrics.scorer(name, TREE)(flat, X, Y) == expected(name, flat)
    search = GridSearchCV(make_pipeline(Aware()), {"aware__C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert metrics.SCORERS[name](search, X, Y) == expected(name, search)


@pytest.mark.parametrize("name", metrics.SCORERS)
def test_scorers_select_models(name):
    pipeline = make_pipeline(StandardScaler(), LinearSVC())
    scoring = metrics.scorer(name, TREE)
    search = clone(GridSearchCV(pipeline, {"linearsvc__C": [0.01, 1.0]}, scoring=scoring, cv=2))
    assert np.isfinite(search.fit(X, Y).best_score_)
    scores = cross_val_score(Aware(), X, Y, scoring=metrics.SCORERS[name], cv=2)
    assert np.isfinite(scores).all()


def test_scorers_are_values():
    scoring = metrics.scorer("hierarchical_f1", TREE)
    assert pickle.loads(pickle.dumps(scoring)) == scoring
    assert metrics.SCORERS["hierarchical_f1"] != scoring


def test_weights_reach_the_measure():
    model, weights = Aware().fit(X, Y), np.arange(len(Y))
    value = metrics.SCORERS["accuracy"](model, X, Y, sample_weight=weights)
    assert value == metrics.accuracy(Y, model.predict(X), sample_weight=weights)


def test_probabilities_and_two_classes():
    two = Y != "b1"
    model = LogisticRegression().fit(X[two], Y[two])
    value = metrics.scorer("one_accuracy")(model, X[two], Y[two])
    assert value == metrics.accuracy(Y[two], model.predict(X[two]))
    dummy = DummyClassifier(strategy="prior").fit(X, Y)
    value = metrics.scorer("mean_reciprocal_rank")(dummy, X, Y)
    assert value == pytest.approx(1 / 3)


def test_indicators_over_the_classes():
    indicator = Y[:, np.newaxis] == CLASSES
    model = OneVsRestClassifier(LogisticRegression()).fit(X, indicator.astype(int))
    model.classes_ = CLASSES
    predicted = [CLASSES[row.astype(bool)] for row in model.predict(X)]
    value = metrics.scorer("hierarchical_f1", TREE)(model, X, indicator)
    assert value == metrics.hierarchical_f1(Y, predicted, TREE)
    by_node = Y[:, np.newaxis] == np.array(TREE.nodes)
    assert metrics.scorer("hierarchical_f1", TREE)(model, X, by_node) == value
    value = metrics.scorer("au_prc", TREE)(model, X, indicator)
    scores = model.decision_function(X)
    assert value == metrics.au_prc(Y, scores, TREE, classes=CLASSES)


def test_what_is_missing_is_said():
    model = LinearSVC().fit(X, Y)
    with pytest.raises(LabelError, match="LinearSVC has no taxonomy_"):
        metrics.scorer("parent_accuracy")(model, X, Y)
    with pytest.raises(LabelError, match="neither decision_function nor predict_proba"):
        metrics.scorer("au_prc", TREE)(BaseEstimator(), X, Y)
    with pytest.raises(LabelError, match="Did you mean 'accuracy'"):
        metrics.scorer("acuracy")
    with pytest.raises(LabelError, match="Choose one of accuracy, "):
        metrics.scorer("???")


def test_importing_the_measures_does_not_load_scikit_learn():
    code = "import sys, taxonomist.metrics; sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
