from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_array, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.evaluation import GivenFolds, Plan, StratifiedFolds, cross_validate

MEASURES = ["accuracy", "taxonomy_loss", "mean_reciprocal_rank"]


class Nodes(ClassifierMixin, BaseEstimator):
    """A model of label sets that answers with an indicator over the labels that it has seen."""

    def fit(self, X, y):
        self.classes_ = np.array(sorted({label for row in y for label in row}))
        Y = [[label in row for label in self.classes_] for row in y]
        self.model_ = OneVsRestClassifier(MultinomialNB()).fit(X, np.array(Y, dtype=int))
        return self

    def predict(self, X):
        return csr_array(self.model_.predict(X))

    def decision_function(self, X):
        return self.model_.predict_proba(X)


@pytest.fixture
def model():
    return make_pipeline(CountVectorizer(), MultinomialNB())


def test_values_are_those_of_a_loop(texts, taxonomy, model):
    X, y = texts
    plan = Plan(measures=MEASURES, taxonomy=taxonomy, cv=4, random_state=3, keep_predictions=True)
    result = cross_validate(model, X, y, plan)
    splits = list(StratifiedFolds(4, random_state=3).split(X, y))
    expected = []
    for number, (train, test) in enumerate(splits):
        fitted = clone(model).fit([X[i] for i in train], y[train])
        X_test, y_test = [X[i] for i in test], y[test]
        predicted, scores = fitted.predict(X_test), fitted.predict_proba(X_test)
        expected.append(
            (
                metrics.accuracy(y_test, predicted),
                metrics.taxonomy_loss(y_test, predicted, taxonomy),
                metrics.mean_reciprocal_rank(y_test, scores, classes=fitted.classes_),
            )
        )
        assert (result.predictions[number] == predicted).all()
        assert (result.test_items[number] == test).all()
    for name, values in zip(MEASURES, np.transpose(expected), strict=True):
        assert result.values[name].tolist() == values.tolist()
        assert result.mean[name] == pytest.approx(np.mean(values))
        assert result.std[name] == pytest.approx(np.std(values, ddof=1))
    assert result.fit_seconds.shape == result.predict_seconds.shape == (4,)
    assert (result.fit_seconds > 0).all()


def test_item_values_average_to_the_fold_values(texts, taxonomy, model):
    X, y = texts
    measures = [*MEASURES, "macro_f1"]
    plan = Plan(measures=measures, taxonomy=taxonomy, cv=3, per_item=True)
    result = cross_validate(model, X, y, plan)
    assert set(result.item_values) == set(MEASURES)
    ends = np.cumsum([test.size for test in result.test_items])[:-1]
    for name, values in result.item_values.items():
        means = [part.mean() for part in np.split(values, ends)]
        assert means == pytest.approx(result.values[name].tolist())


def test_workers_do_not_change_the_result(texts, taxonomy, model):
    X, y = texts
    lock = threading.Lock()

    def progress(*args):
        assert not lock.locked(), "a callback need not be picklable"

    plan = Plan(measures=MEASURES, taxonomy=taxonomy, callback=progress)
    one, two = (cross_validate(model, X, y, replace(plan, n_jobs=n)) for n in (1, 2))
    for name in MEASURES:
        assert one.values[name].tolist() == two.values[name].tolist()


def test_all_forms_of_items_give_the_same(texts):
    X, y = texts
    counts = CountVectorizer().fit_transform(X)
    plan = Plan(measures="accuracy")
    expected = cross_validate(MultinomialNB(), counts.toarray(), y, plan).values["accuracy"]
    for form in (csr_matrix, csr_array, coo_matrix, lambda C: pd.DataFrame(C.toarray())):
        got = cross_validate(MultinomialNB(), form(counts), pd.Series(y), plan).values["accuracy"]
        assert got.tolist() == expected.tolist()


def test_label_sets_are_those_of_a_loop(texts, taxonomy):
    X, y = texts
    X = CountVectorizer().fit_transform(X)
    sets = [[label] if i % 3 else [label, "b2"] for i, label in enumerate(y)]
    names = ["hierarchical_f1", "average_precision", "maximal_loss"]
    folds = np.arange(60) % 3
    plan = Plan(measures=names, taxonomy=taxonomy, cv=GivenFolds(folds), keep_predictions=True)
    result = cross_validate(Nodes(), X, sets, plan)
    for fold in range(3):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        fitted = Nodes().fit(X[train], [sets[i] for i in train])
        truth, classes = [sets[i] for i in test], fitted.classes_
        predicted = [classes[row > 0].tolist() for row in fitted.predict(X[test]).toarray()]
        scores = fitted.decision_function(X[test])
        assert result.predictions[fold] == predicted
        assert [result.values[name][fold] for name in names] == [
            metrics.hierarchical_f1(truth, predicted, taxonomy),
            metrics.average_precision(truth, scores, classes=classes),
            metrics.maximal_loss(truth, scores, taxonomy, classes=classes),
        ]


def test_a_category_of_one_item_counts_as_missed(taxonomy):
    X = np.array([[1, 0], [2, 0], [3, 0], [0, 1], [0, 2], [5, 5]])
    y = ["a1", "a1", "a1", "a2", "a2", "b1"]
    plan = Plan(measures=MEASURES, taxonomy=taxonomy, cv=GivenFolds([-1, -1, -1, -1, -1, 0]))
    result = cross_validate(MultinomialNB(), X, y, plan)
    assert result.values["accuracy"].tolist() == [0.0]
    assert result.values["mean_reciprocal_rank"].tolist() == [1 / 3]
    assert np.isnan(result.std["accuracy"])


def test_splitters_and_pairs_of_indices_are_folds(texts, model):
    X, y = texts
    splitter = KFold(4, shuffle=True, random_state=0)
    by_splitter = cross_validate(model, X, y, Plan(measures="accuracy", cv=splitter))
    pairs = list(splitter.split(X))
    by_pairs = cross_validate(model, X, y, Plan(measures="accuracy", cv=pairs))
    assert by_splitter.values["accuracy"].tolist() == by_pairs.values["accuracy"].tolist()


def test_the_taxonomy_of_the_model_is_the_default(texts, taxonomy):
    class Own(MultinomialNB):
        def fit(self, X, y):
            self.taxonomy_ = taxonomy
            return super().fit(X, y)

    X, y = texts
    result = cross_validate(
        make_pipeline(CountVectorizer(), Own()), X, y, Plan(measures="taxonomy_loss")
    )
    expected = cross_validate(
        make_pipeline(CountVectorizer(), MultinomialNB()),
        X,
        y,
        Plan(measures="taxonomy_loss", taxonomy=taxonomy),
    )
    assert result.mean == expected.mean


def test_progress_is_called_back_and_can_interrupt(texts, model):
    X, y = texts
    calls = []
    cross_validate(
        model, X, y, Plan(measures="accuracy", callback=lambda *args: calls.append(args))
    )
    assert calls == [(1, 3, "fold 1 of 3"), (2, 3, "fold 2 of 3"), (3, 3, "fold 3 of 3")]

    def interrupt(*args):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cross_validate(model, X, y, Plan(measures="accuracy", callback=interrupt))


def test_the_model_itself_is_not_fitted(texts, model):
    X, y = texts
    result = cross_validate(model, X, y, Plan(measures="accuracy"))
    assert not hasattr(model[-1], "classes_")
    assert result.predictions is None
    assert result.item_values == {}
    assert str(result).splitlines()[0].startswith("accuracy  0.")


@pytest.mark.parametrize(
    ("X", "y", "plan", "message"),
    [
        (["x"] * 3, ["a"] * 2, Plan(measures="accuracy"), "X has 3 items, but y has 2"),
        ([], [], Plan(measures="accuracy"), "Cannot make 3 folds of 0 items"),
        (["x"] * 3, ["a"] * 3, Plan(measures="accuracy", cv=[]), "without training or test items"),
        (["word"] * 3, ["a"] * 3, Plan(measures="micro_f1"), "needs a taxonomy"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(model, X, y, plan, message):
    with pytest.raises(LabelError, match=message):
        cross_validate(model, X, y, plan)
