"""The page on meta-estimators says the truth: one test for each row of its table."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from taxonomist import (
    CalibratedClassifier,
    HierarchicalSVC,
    LidstoneNB,
    NumberedClassifier,
    Taxonomy,
    metrics,
)
from taxonomist.errors import LabelError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "meta-estimators.md"
ROWS = dict(
    re.findall(r"^\| `([^|]+)` \| (as it is|numbered|sorted|no) \|", PAGE.read_text("utf-8"), re.M)
)

# The order of the taxonomy is not that of the sorted labels, "fir" has no items, and "animal" is an
# inner node with items.
TAXONOMY = Taxonomy.from_paths(
    ["plant > oak", "plant > fir", "plant > elm", "animal > dog", "animal > cat"]
)
LABELS = np.array(["animal", "cat", "dog", "elm", "oak"])
SVM = HierarchicalSVC(TAXONOMY, random_state=0)
COUNTS = LidstoneNB(TAXONOMY)
SURE = CalibratedClassifier(SVM, cv=3)


@pytest.fixture(scope="module")
def data():
    """Return counts of words, labels, and counts of other items with their labels."""
    rng = np.random.default_rng(0)
    numbers = np.arange(120) % 5
    X = rng.poisson(0.2 + 5 * np.eye(5)[numbers]).astype(float)
    return X[:80], LABELS[numbers[:80]], X[80:], LABELS[numbers[80:]]


def wrapped(row, model, y):
    """Return the model in the form that a row of the table asks for."""
    if ROWS[row] == "as it is":
        return model
    return NumberedClassifier(model, classes=np.unique(y) if ROWS[row] == "numbered" else None)


def accuracy(make, model=SVM):
    """Return a check that a meta-estimator predicts other items well."""

    def check(row, X, y, X_other, y_other):
        found = make(wrapped(row, model, y)).fit(X, y)
        predicted = found.predict(X_other)
        assert np.mean(predicted == y_other) > 0.85
        if hasattr(found, "predict_proba"):
            probabilities = found.predict_proba(X_other)
            classes = np.asarray(found.classes_)
            assert np.mean(classes[probabilities.argmax(axis=1)] == y_other) > 0.8

    return check


def value(function, least, model=SVM):
    """Return a check that a function of a model, items and labels gives a large enough number."""

    def check(row, X, y, X_other, y_other):
        assert function(wrapped(row, model, y), X, y) > least

    return check


def columns(method, model):
    """Return a check that held-out columns are in the order of the sorted labels."""

    def check(row, X, y, X_other, y_other):
        found = cross_val_predict(wrapped(row, model, y), X, y, cv=3, method=method)
        assert found.shape == (len(y), len(LABELS))
        assert np.mean(LABELS[found.argmax(axis=1)] == y) > 0.85

    return check


def scored(scoring, least, model=SURE):
    def check(row, X, y, X_other, y_other):
        found = cross_val_score(wrapped(row, model, y), X, y, cv=3, scoring=scoring)
        assert found.min() > least

    return check


def refused(make, *, sets=False):
    """Return a check that the model itself and the wrapped one are refused."""

    def check(row, X, y, X_other, y_other):
        given = (y[:, None] == LABELS).astype(int) if sets else y
        for model in (SVM, NumberedClassifier(SVM, classes=np.unique(y))):
            with pytest.raises((LabelError, ValueError), match=r"cannot use a taxonomy|[Bb]inary"):
                make(model).fit(X, given)

    return check


def frozen(row, X, y, X_other, y_other):
    found = FrozenEstimator(SVM.fit(X, y)).fit(X, y)
    assert np.mean(found.predict(X_other) == y_other) > 0.85


def unlabelled(row, X, y, X_other, y_other):
    partly = y.astype(object)
    partly[40:] = -1
    found = SelfTrainingClassifier(wrapped(row, COUNTS, y)).fit(X, partly)
    assert np.mean(found.predict(X_other) == y_other) > 0.85


def selects(make):
    """Return a check that a selector fits; ``SVM`` has ``coef_``."""

    def check(row, X, y, X_other, y_other):
        assert make(wrapped(row, SVM, y)).fit(X, y).get_support().any()

    return check


def all_scores(model, X, y):
    scorer = {"a": "accuracy", "f": metrics.scorer("hierarchical_f1")}
    found = model_selection.cross_validate(model, X, y, cv=3, scoring=scorer)
    return min(found["test_a"].min(), found["test_f"].min())


CHECKS = {
    "Pipeline": accuracy(lambda model: make_pipeline(StandardScaler(), model)),
    "FeatureUnion": accuracy(
        lambda model: make_pipeline(
            FeatureUnion([("a", MaxAbsScaler()), ("b", StandardScaler())]), model
        )
    ),
    "ColumnTransformer": accuracy(
        lambda model: make_pipeline(
            ColumnTransformer([("a", MaxAbsScaler(), [0, 1, 2]), ("b", "passthrough", [3, 4])]),
            model,
        )
    ),
    "GridSearchCV": accuracy(lambda model: GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3)),
    "RandomizedSearchCV": accuracy(
        lambda model: RandomizedSearchCV(model, {"C": [0.1, 1.0]}, n_iter=2, cv=3, random_state=0)
    ),
    "cross_val_score": value(lambda *given: cross_val_score(*given, cv=3).min(), 0.85),
    "cross_validate": value(all_scores, 0.85),
    "learning_curve": value(
        lambda *given: model_selection.learning_curve(*given, cv=3, train_sizes=[0.5, 1])[2].min(),
        0.8,
    ),
    "validation_curve": value(
        lambda *given: model_selection.validation_curve(
            *given, cv=3, param_name="C", param_range=[0.1, 1.0]
        )[1].min(),
        0.8,
    ),
    "permutation_importance": value(
        lambda model, X, y: permutation_importance(
            model.fit(X, y), X, y, n_repeats=2, random_state=0
        ).importances_mean.max(),
        0.1,
    ),
    "SequentialFeatureSelector": selects(
        lambda model: SequentialFeatureSelector(model, n_features_to_select=2, cv=2)
    ),
    "SelectFromModel": selects(SelectFromModel),
    "RFE": selects(lambda model: RFE(model, n_features_to_select=3)),
    "AdaBoostClassifier": accuracy(
        lambda model: AdaBoostClassifier(model, n_estimators=3, random_state=0)
    ),
    "FrozenEstimator": frozen,
    "cross_val_predict": value(
        lambda model, X, y: np.mean(cross_val_predict(model, X, y, cv=3) == y), 0.85
    ),
    'cross_val_predict(method="decision_function")': columns("decision_function", SVM),
    'cross_val_predict(method="predict_proba")': columns("predict_proba", COUNTS),
    'scoring="neg_log_loss"': scored("neg_log_loss", -0.7),
    'scoring="roc_auc_ovr"': scored("roc_auc_ovr", 0.95),
    "CalibratedClassifierCV": accuracy(lambda model: CalibratedClassifierCV(model, cv=3)),
    "CalibratedClassifierCV(ensemble=False)": accuracy(
        lambda model: CalibratedClassifierCV(model, cv=3, ensemble=False)
    ),
    "BaggingClassifier": accuracy(
        lambda model: BaggingClassifier(model, n_estimators=5, random_state=0), COUNTS
    ),
    "VotingClassifier": accuracy(
        lambda model: VotingClassifier(
            [("a", model), ("b", model), ("c", LogisticRegression())], voting="soft"
        ),
        COUNTS,
    ),
    "StackingClassifier": accuracy(
        lambda model: StackingClassifier([("a", model), ("b", LogisticRegression())], cv=3)
    ),
    "SelfTrainingClassifier": unlabelled,
    "OneVsRestClassifier": refused(OneVsRestClassifier),
    "OneVsOneClassifier": refused(OneVsOneClassifier),
    "OutputCodeClassifier": refused(lambda model: OutputCodeClassifier(model, random_state=0)),
    "MultiOutputClassifier": refused(MultiOutputClassifier, sets=True),
    "ClassifierChain": refused(ClassifierChain, sets=True),
    "FixedThresholdClassifier": refused(FixedThresholdClassifier),
    "TunedThresholdClassifierCV": refused(TunedThresholdClassifierCV),
}


def test_every_row_is_tested():
    assert list(ROWS) == list(CHECKS)


@pytest.mark.parametrize("row", CHECKS)
def test_the_table_says_the_truth(row, data):
    CHECKS[row](row, *data)


@pytest.mark.parametrize(
    "make",
    [
        BaggingClassifier,
        lambda model: VotingClassifier([("a", model), ("b", model)]),
        lambda model: StackingClassifier([("a", model)], cv=3),
        lambda model: CalibratedClassifierCV(model, cv=3, ensemble=False),
    ],
)
def test_a_sentence_says_what_to_do_with_numbered_labels(make, data):
    X, y, *_ = data
    with pytest.raises(LabelError, match=r"NumberedClassifier\(model, classes=numpy.unique\(y\)\)"):
        make(SVM).fit(X, y)


def test_hard_votes_and_bags_without_probabilities(data):
    X, y, X_other, y_other = data
    model = NumberedClassifier(SVM, classes=LABELS)
    for meta in (
        VotingClassifier([("a", model), ("b", model)]),
        BaggingClassifier(model, n_estimators=3, random_state=0),
    ):
        assert np.mean(meta.fit(X, y).predict(X_other) == y_other) > 0.85
