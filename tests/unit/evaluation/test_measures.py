from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.metrics import f1_score

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.evaluation import MEASURES, Measure
from taxonomist.evaluation.measures import as_measures

Y_TRUE = ["a1", "a1", "a2", "b1", "b2"]
Y_PRED = ["a1", "a2", "a2", "a1", "b2"]
CLASSES = ["a1", "a2", "b1", "b2"]
SCORES = np.array([[3, 2, 1, 0], [1, 3, 2, 0], [2, 3, 1, 0], [3, 2, 1, 0], [0, 0, 0, 1.0]])


@pytest.mark.parametrize("name", MEASURES)
def test_ready_made_measures_have_a_value(name, taxonomy):
    measure = MEASURES[name]
    output = SCORES if measure.needs == "scores" else Y_PRED
    value = measure.value(Y_TRUE, output, CLASSES, taxonomy)
    perfect = np.array([[label == name for name in CLASSES] for label in Y_TRUE], dtype=float)
    best = measure.value(
        Y_TRUE, perfect if measure.needs == "scores" else Y_TRUE, CLASSES, taxonomy
    )
    assert best == (1.0 if measure.greater_is_better else 0.0)
    assert value < best if measure.greater_is_better else value > best
    assert pickle.loads(pickle.dumps(measure)) == measure


@pytest.mark.parametrize("name", [n for n, m in MEASURES.items() if m.mean_over_items])
def test_means_over_items_are_means_of_the_item_values(name, taxonomy):
    measure = MEASURES[name]
    output = SCORES if measure.needs == "scores" else Y_PRED
    values = measure.item_values(Y_TRUE, output, CLASSES, taxonomy)
    assert values.shape == (5,)
    assert values.mean() == pytest.approx(measure.value(Y_TRUE, output, CLASSES, taxonomy))


@pytest.mark.parametrize("name", [n for n, m in MEASURES.items() if m.mean_over_items])
def test_item_values_are_those_of_items_alone(name, taxonomy):
    measure = MEASURES[name]
    output = SCORES if measure.needs == "scores" else np.array(Y_PRED)
    found = measure.item_values(Y_TRUE, output, CLASSES, taxonomy)
    alone = [
        measure.value(Y_TRUE[i : i + 1], output[i : i + 1], CLASSES, taxonomy) for i in range(5)
    ]
    np.testing.assert_allclose(found, alone)


def test_item_values_of_a_function_from_elsewhere():
    own = Measure("error", lambda t, p: 1 - metrics.accuracy(t, p), needs_taxonomy=False)
    assert own.item_values(Y_TRUE, Y_PRED).tolist() == [0, 1, 0, 1, 0]


def test_what_is_no_mean_has_no_item_values(taxonomy):
    with pytest.raises(TypeError, match="not a mean of one value per item"):
        metrics.item_values(metrics.hierarchical_precision, [["a1"]], [["b1"]], taxonomy)


def test_item_values_are_nan_where_the_measure_is_undefined():
    truth = [["a1"], [], ["b1"], ["a1"], ["a1"]]
    values = MEASURES["one_accuracy"].item_values(truth, SCORES, CLASSES)
    assert np.isnan(values).tolist() == [False, True, False, False, False]


def test_f1_is_that_of_the_scorers(taxonomy):
    expected = metrics.precision_recall_f1(
        Y_TRUE, Y_PRED, taxonomy, nodes="all", average="macro"
    ).f1
    assert MEASURES["macro_f1"].value(Y_TRUE, Y_PRED, taxonomy=taxonomy) == expected


def test_measures_come_by_name_as_such_and_as_functions():
    own = Measure("f1", lambda t, p: f1_score(t, p, average="macro"), needs_taxonomy=False)
    assert as_measures("accuracy") == (MEASURES["accuracy"],)
    assert as_measures(own) == (own,)
    assert as_measures(["accuracy", own]) == (MEASURES["accuracy"], own)
    (named,) = as_measures({"constant": lambda y_true, y_pred, taxonomy: 0.5})
    assert named.value(Y_TRUE, Y_PRED, taxonomy="any") == 0.5
    assert own.value(Y_TRUE, Y_PRED) == f1_score(Y_TRUE, Y_PRED, average="macro")


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ("acuracy", "Unknown measure 'acuracy'. Did you mean 'accuracy'"),
        (["zzz"], "Choose one of accuracy, "),
        ([], "at least one measure"),
        (["accuracy", "accuracy"], "no measure twice"),
    ],
)
def test_unknown_measures_are_refused(measures, message):
    with pytest.raises(ValueError, match=message):
        as_measures(measures)


def test_a_missing_taxonomy_is_named():
    with pytest.raises(LabelError, match="'taxonomy_loss' needs a taxonomy"):
        MEASURES["taxonomy_loss"].value(Y_TRUE, Y_PRED)
