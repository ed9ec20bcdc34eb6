"""``NumberedClassifier``: numbers to labels and back, sorted columns, no columns without items."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from taxonomist import (
    CalibratedClassifier,
    HierarchicalSVC,
    LidstoneNB,
    NumberedClassifier,
    Taxonomy,
    persistence,
)
from taxonomist.errors import LabelError

TAXONOMY = Taxonomy.from_paths(["plant > oak", "plant > fir", "plant > elm", "animal > cat"])
LABELS = np.array(["cat", "elm", "oak"])
SVM = HierarchicalSVC(TAXONOMY, random_state=0)


@pytest.fixture(scope="module")
def items():
    numbers = np.arange(45) % 3
    X = np.random.default_rng(1).poisson(0.3 + 4 * np.eye(4)[numbers]).astype(float)
    return X, numbers


@pytest.mark.parametrize("model", [SVM, make_pipeline(MaxAbsScaler(), SVM)])
def test_scores_are_those_of_the_model_in_sorted_order(model, items):
    X, numbers = items
    inner = model.fit(X, LABELS[numbers])
    order = [inner.classes_.tolist().index(label) for label in LABELS]
    for numbered, y in (
        (NumberedClassifier(model, classes=LABELS), numbers),
        (NumberedClassifier(model, classes=LABELS[::-1]), numbers),
        (NumberedClassifier(model), LABELS[numbers]),
        (NumberedClassifier(model, classes=LABELS), LABELS[numbers]),
    ):
        numbered.fit(X, y)
        assert numbered.classes_.tolist() == np.unique(y).tolist()
        assert np.array_equal(numbered.decision_function(X), inner.decision_function(X)[:, order])
        assert numbered.score(X, y) == inner.score(X, LABELS[numbers])
        assert not hasattr(numbered, "predict_proba")


def test_probabilities_are_conditional_on_the_seen_classes(items):
    X, numbers = items
    inner = LidstoneNB(TAXONOMY).fit(X, LABELS[numbers])
    numbered = NumberedClassifier(LidstoneNB(TAXONOMY), classes=LABELS).fit(X, numbers)
    order = [inner.classes_.tolist().index(label) for label in LABELS]
    seen = inner.predict_proba(X)[:, order]
    expected = seen / seen.sum(axis=1, keepdims=True)
    assert np.allclose(numbered.predict_proba(X), expected)
    assert np.allclose(np.exp(numbered.predict_log_proba(X)), expected)


def test_a_category_without_items_is_never_predicted(items):
    X, numbers = items
    inner = HierarchicalSVC(TAXONOMY, attributes="flat", random_state=0)
    x = -X  # far from everything, where the category without weights wins
    assert "fir" in inner.fit(X, LABELS[numbers]).predict(x)
    numbered = NumberedClassifier(inner, classes=LABELS).fit(X, numbers)
    assert np.array_equal(numbered.predict(x), numbered.decision_function(x).argmax(axis=1))


def test_two_classes_have_one_column(items):
    X, numbers = items
    pair = numbers < 2
    y = np.array(["oak", "cat"])[numbers[pair]]
    two = Taxonomy.from_paths(["plant > oak", "animal > cat"])
    inner = HierarchicalSVC(two, random_state=0).fit(X[pair], y)
    numbered = NumberedClassifier(HierarchicalSVC(two, random_state=0)).fit(X[pair], y)
    assert inner.classes_.tolist() == ["oak", "cat"]
    assert numbered.classes_.tolist() == ["cat", "oak"]
    assert np.array_equal(numbered.decision_function(X), -inner.decision_function(X))
    assert np.array_equal(numbered.predict(X), inner.predict(X))
    several = NumberedClassifier(SVM).fit(X[pair], LABELS[numbers[pair]])
    scores = several.decision_function(X[pair])
    assert np.array_equal(several.predict(X[pair]), several.classes_[(scores > 0).astype(int)])


def test_classes_that_the_model_does_not_know_have_no_number(items):
    """An inner node is a category only if an item has it; folds may have none."""
    X, numbers = items
    labels = np.array(["animal", "cat", "elm", "oak"])
    numbered = NumberedClassifier(SVM, classes=labels).fit(X, numbers + 1)
    assert numbered.classes_.tolist() == [1, 2, 3]
    assert numbered.decision_function(X).shape == (45, 3)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 3] * 15, "numbers from 0 to 2. Got '0', '1', '3'. Leave classes out"),
        ([0, 1, 1] * 15, "holds only '0', '1', but there are 3 classes"),
        ([-1, 1, 1] * 15, "cannot use a taxonomy; NodeSVC"),
    ],
)
def test_other_numbers_are_refused(y, message, items):
    with pytest.raises(LabelError, match=message):
        NumberedClassifier(SVM, classes=LABELS).fit(items[0], np.array(y))


def test_paths_are_refused(items):
    X, numbers = items
    paths = np.array(["animal > cat", "plant > elm", "plant > oak"])[numbers]
    with pytest.raises(LabelError, match="pass the ids of nodes"):
        NumberedClassifier(SVM).fit(X, paths)


def test_integer_labels_and_files(items, tmp_path):
    X, numbers = items
    codes = Taxonomy.from_edges([("2", "22"), ("2", "21"), ("1", "11")])
    y = np.array([11, 21, 22])[numbers]
    inner = CalibratedClassifier(HierarchicalSVC(codes, random_state=0), cv=3)
    numbered = NumberedClassifier(inner, classes=np.unique(y)).fit(X, numbers)
    persistence.save(numbered, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(X), numbered.predict_proba(X))
    assert np.mean(again.predict(X) == numbers) > 0.9
    assert np.array_equal(again.model_.predict(X), y[:3][again.predict(X)])
