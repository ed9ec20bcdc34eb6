from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from taxonomist.errors import LabelError
from taxonomist.evaluation import Measure, Plan, learning_curve

SEEN: list[tuple[list[str], list[str]]] = []


class Recorder(ClassifierMixin, BaseEstimator):
    """A model that remembers what it was trained on."""

    def fit(self, X, y):
        SEEN.append((list(X), list(y)))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.fixture
def seen():
    SEEN.clear()
    return SEEN


def items():
    y = np.repeat(["a", "b", "c"], [20, 6, 1])
    return [f"{label}{i}" for i, label in enumerate(y)], y


def test_samples_have_the_wanted_number_per_category(seen):
    X, y = items()
    test = ["other"] * 2, ["a", "b"]
    curve = learning_curve(
        Recorder(), X, y, Plan(measures="accuracy"), sizes=[2, 5, 99], n_repeats=3, test=test
    )
    counts = [Counter(labels) for _, labels in seen]
    assert counts == [
        *[{"a": 2, "b": 2, "c": 1}] * 3,
        *[{"a": 5, "b": 5, "c": 1}] * 3,
        *[{"a": 20, "b": 6, "c": 1}] * 3,
    ]
    assert all([text[0] for text in texts] == labels for texts, labels in seen)
    assert curve.n_train.tolist() == [[5] * 3, [11] * 3, [27] * 3]
    assert curve.sizes == (2, 5, 99)


def test_repeats_differ_and_models_share_samples(seen):
    X, y = items()
    plan = Plan(measures="accuracy", random_state=1)
    test = X, y
    learning_curve(Recorder(), X, y, plan, sizes=[2], n_repeats=5, test=test)
    learning_curve(Recorder(), X, y, plan, sizes=[3, 2], n_repeats=5, test=test)
    first, larger, second = seen[:5], seen[5:10], seen[10:]
    assert first == second
    assert len({tuple(texts) for texts, _ in first}) > 1
    nested = [set(few) <= set(more) for (few, _), (more, _) in zip(first, larger, strict=True)]
    assert not all(nested), "each size has samples of its own"


def test_test_items_are_never_trained_on(seen):
    X, y = items()
    tested = []

    def remember(y_true, y_pred):
        tested.append(len(y_true))
        return 0.0

    plan = Plan(measures=Measure("remember", remember, needs_taxonomy=False), cv=3)
    learning_curve(Recorder(), X, y, plan, sizes=[99], n_repeats=4)
    sizes = [len(texts) for texts, _ in seen]
    assert [a + b for a, b in zip(sizes, tested, strict=True)] == [27] * 4
    assert sorted(seen[0][0]) == sorted(seen[3][0]), "repeat 4 uses the first of three folds again"
    assert sorted(seen[0][0]) != sorted(seen[1][0])


def test_mean_and_deviation_are_over_repeats(texts, taxonomy):
    X, y = texts
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    plan = Plan(measures=["accuracy", "taxonomy_loss"], taxonomy=taxonomy)
    curve = learning_curve(model, X, y, plan, sizes=np.array([1, 10]), n_repeats=6)
    for name, values in curve.values.items():
        assert values.shape == (2, 6)
        assert curve.mean[name] == pytest.approx(values.mean(axis=1))
        assert curve.std[name] == pytest.approx(values.std(axis=1, ddof=1))
    assert curve.mean["accuracy"][1] > curve.mean["accuracy"][0]
    assert curve.fit_seconds.shape == (2, 6)
    single = learning_curve(model, X, y, plan, sizes=[1], n_repeats=1)
    assert np.isnan(single.std["accuracy"]).all()


def test_workers_do_not_change_the_curve(texts):
    X, y = texts
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    one, two = (
        learning_curve(
            model, X, y, Plan(measures="accuracy", n_jobs=n), sizes=[1, 2], n_repeats=2
        ).values["accuracy"]
        for n in (1, 2)
    )
    assert one.tolist() == two.tolist()


def test_label_sets_are_sampled(seen):
    sets = [["a"], ["a", "b"], ["b"], ["a"], ["c", "a"]] * 2
    measures = Measure("none", lambda y_true, y_pred: 0.0, needs_taxonomy=False)

    class Sets(Recorder):
        def fit(self, X, y):
            super().fit(X, [label for row in y for label in row])
            return self

    learning_curve(
        Sets(), list("abcdefghij"), sets, Plan(measures=measures, cv=2), sizes=[1], n_repeats=2
    )
    assert all({"a", "b", "c"} == set(labels) for _, labels in seen)


@pytest.mark.parametrize(("sizes", "n_repeats"), [([], 1), ([0], 1), ([2, 2], 1), ([1], 0)])
def test_sizes_and_repeats_are_checked(sizes, n_repeats):
    X, y = items()
    with pytest.raises(ValueError, match="sizes and n_repeats must be positive"):
        learning_curve(
            Recorder(), X, y, Plan(measures="accuracy"), sizes=sizes, n_repeats=n_repeats
        )


def test_lengths_are_checked():
    X, y = items()
    with pytest.raises(LabelError, match="X has 2 items, but y has 1"):
        learning_curve(
            Recorder(), X, y, Plan(measures="accuracy"), sizes=[1], test=(["x", "y"], ["a"])
        )
