from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from taxonomist.errors import LabelError
from taxonomist.evaluation import (
    Comparison,
    ComparisonCell,
    Measure,
    Plan,
    bootstrap_interval,
    compare,
    cross_validate,
    permutation_test,
)

FLAT = {"accuracy": [0.5, 0.6, 0.7] * 4, "taxonomy_loss": [2.0, 1.0, 3.0] * 4}
TREE = {"accuracy": [0.6, 0.7, 0.8] * 4, "taxonomy_loss": [1.0, 2.0, 3.0] * 4}
BAD = {"accuracy": [0.4, 0.6, 0.7, 0.4, 0.6, 0.6] * 2, "taxonomy_loss": [9.0, 9.0, 9.0] * 4}


@pytest.fixture
def table():
    return Comparison({"flat": FLAT, "tree | x": TREE, "bad": BAD}, baseline="flat")


def test_the_best_is_marked_in_the_right_direction(table):
    best = {(m, k): cell.best for m, cells in table.cells.items() for k, cell in cells.items()}
    assert {key for key, is_best in best.items() if is_best} == {
        ("tree | x", "accuracy"),
        ("flat", "taxonomy_loss"),
        ("tree | x", "taxonomy_loss"),
    }, "means of 2 in another order are equally good"


def test_rounding_does_not_decide_the_best():
    values = [0.1, 0.2, 0.3]
    assert np.mean(values) != np.mean(values[::-1])
    table = Comparison({"x": {"accuracy": values}, "y": {"accuracy": values[::-1]}})
    assert table.cells["x"]["accuracy"].best
    assert table.cells["y"]["accuracy"].best


def test_direction_can_be_given():
    results = {"x": {"time": [1.0, 2.0]}, "y": {"time": [3.0, 4.0]}}
    assert Comparison(results).cells["y"]["time"].best
    assert Comparison(results, lower_is_better=["time"]).cells["x"]["time"].best


def test_significance_is_that_of_the_permutation_test(table):
    cell = table.cells["tree | x"]["accuracy"]
    expected = permutation_test(TREE["accuracy"], FLAT["accuracy"]).p_value
    assert cell.p_value == expected == 2 / 2**12
    assert cell.stars == "**"
    assert table.cells["tree | x"]["taxonomy_loss"].stars == ""
    assert table.cells["flat"]["accuracy"].p_value is None
    assert Comparison({"flat": FLAT, "tree": TREE}).cells["tree"]["accuracy"].p_value is None


@pytest.mark.parametrize(
    ("p_value", "stars"),
    [(None, ""), (0.05, ""), (0.049, "*"), (0.01, "*"), (0.009, "**"), (1.0, "")],
)
def test_stars(p_value, stars):
    assert ComparisonCell(0.5, 0.1, False, p_value).stars == stars


def test_difference_is_the_interval_of_paired_differences(table):
    a, b = np.array(BAD["accuracy"]), np.array(FLAT["accuracy"])
    assert table.difference("bad", "accuracy") == bootstrap_interval(a - b, random_state=0)


def test_text(table):
    lines = table.to_text().splitlines()
    assert lines[:5] == [
        "model           accuracy ↑   taxonomy_loss ↓",
        "-" * 44,
        "flat       0.600 ± 0.085    >2.000 ± 0.853",
        "tree | x  >0.700 ± 0.085**  >2.000 ± 0.853",
        "bad        0.550 ± 0.117*    9.000 ± 0.000**",
    ]
    assert lines[5:7] == ["", "> marks the best of a column."]
    assert lines[7].startswith("* p < 0.05, ** p < 0.01 against flat")
    assert len(lines) == 8
    assert str(table) == table.to_text()
    assert "0.60 ± 0.09" in table.to_text(digits=2)


def test_markdown(table):
    lines = table.to_markdown().splitlines()
    assert lines[:5] == [
        "| model | accuracy ↑ | taxonomy_loss ↓ |",
        "| --- | ---: | ---: |",
        "| flat | 0.600 ± 0.085 | **2.000 ± 0.853** |",
        r"| tree \| x | **0.700 ± 0.085**\*\* | **2.000 ± 0.853** |",
        r"| bad | 0.550 ± 0.117\* | 9.000 ± 0.000\*\* |",
    ]
    assert lines[7].startswith(r"\* p < 0.05, \*\* p < 0.01")


def test_csv_reads_back(table):
    nasty = Comparison({'a,"b"\nc': FLAT, "tree": TREE}, baseline="tree")
    rows = list(csv.DictReader(io.StringIO(nasty.to_csv())))
    assert [row["model"] for row in rows] == ['a,"b"\nc', "tree"]
    assert float(rows[1]["accuracy"]) == np.mean(TREE["accuracy"])
    assert float(rows[1]["accuracy_std"]) == np.std(TREE["accuracy"], ddof=1)
    assert float(rows[0]["accuracy_p"]) == 2 / 2**12
    assert rows[1]["accuracy_p"] == ""


def test_json_reads_back():
    results = {"x": {"accuracy": [0.5, float("nan")]}, "ü": {"accuracy": [0.5, 1.0]}}
    document = json.loads(Comparison(results, baseline="x").to_json())
    assert document["baseline"] == "x"
    assert document["measures"] == [{"name": "accuracy", "greater_is_better": True}]
    assert [model["name"] for model in document["models"]] == ["x", "ü"]
    broken, good = (model["results"]["accuracy"] for model in document["models"])
    assert broken == {
        "mean": None,
        "std": None,
        "best": False,
        "p_value": None,
        "values": [0.5, None],
    }
    assert good["values"] == [0.5, 1.0]
    assert good["best"]
    assert good["p_value"] == 1.0


def test_few_folds_get_a_note():
    results = {"x": {"accuracy": [0.1, 0.2, 0.3]}, "y": {"accuracy": [0.2, 0.3, 0.4]}}
    note = Comparison(results, baseline="x").to_text().splitlines()[-1]
    assert note == "With 3 paired values the smallest attainable p is 0.25: accuracy."
    assert "attainable" not in Comparison(results).to_text()
    twice = {model: {"accuracy": row["accuracy"] * 2} for model, row in results.items()}
    assert "attainable p is 0.0312" in Comparison(twice, baseline="x").to_text()
    often = {model: {"accuracy": row["accuracy"] * 3} for model, row in results.items()}
    assert "attainable" not in Comparison(often, baseline="x").to_text()


def test_values_that_are_nowhere_defined_are_not_tested():
    results = {"x": {"accuracy": [float("nan")]}, "y": {"accuracy": [float("nan")]}}
    table = Comparison(results, baseline="x")
    assert table.cells["y"]["accuracy"].p_value is None
    assert not table.cells["y"]["accuracy"].best
    assert "nan" in table.to_text()


@pytest.mark.parametrize(
    ("results", "baseline", "message"),
    [
        ({}, None, "nothing to compare"),
        ({"x": {}}, None, "nothing to compare"),
        ({"x": {"m": [1.0]}, "y": {"n": [1.0]}}, None, "different measures"),
        ({"x": {"m": [1.0]}, "y": {"m": [1.0]}}, "z", "'z' is not among the models"),
        ({"x": {"m": [1.0]}, "y": {"m": [1.0, 2.0]}}, "x", "has 2 values of m, 'x' has 1"),
        ({"x": {"m": []}}, None, "m needs one value per fold or item"),
    ],
)
def test_what_makes_no_table_is_refused(results, baseline, message):
    with pytest.raises(LabelError, match=message):
        Comparison(results, baseline=baseline)


def test_difference_needs_a_baseline():
    with pytest.raises(LabelError, match="no baseline"):
        Comparison({"x": FLAT}).difference("x", "accuracy")


@pytest.fixture
def models():
    return {
        "bayes": make_pipeline(CountVectorizer(), MultinomialNB()),
        "constant": make_pipeline(CountVectorizer(), DummyClassifier()),
    }


def test_compare_runs_all_models_on_the_same_folds(texts, taxonomy, models):
    X, y = texts
    calls = []
    plan = Plan(
        measures=["accuracy", "taxonomy_loss", "macro_f1"],
        taxonomy=taxonomy,
        callback=lambda *args: calls.append(args),
    )
    table = compare(models, X, y, plan, baseline="constant")
    for name, model in models.items():
        alone = cross_validate(model, X, y, plan)
        for measure, values in alone.values.items():
            assert table.values[name][measure].tolist() == values.tolist()
    assert calls[0] == (1, 6, "bayes: fold 1 of 3")
    assert calls[5] == (6, 6, "constant: fold 3 of 3")
    assert table.cells["bayes"]["taxonomy_loss"].best
    assert table.cells["bayes"]["accuracy"].stars == ""


def test_item_values_have_more_power_than_folds(texts, taxonomy, models):
    X, y = texts
    plan = Plan(measures=["accuracy", "macro_f1"], taxonomy=taxonomy, per_item=True)
    table = compare(models, X, y, plan, baseline="constant")
    assert table.cells["bayes"]["accuracy"].stars == "**"
    assert table.pairs("bayes", "accuracy")[0].size == 60
    assert table.pairs("bayes", "macro_f1")[0].size == 3
    assert table.to_text().endswith(
        "With 3 paired values the smallest attainable p is 0.25: macro_f1."
    )
    assert table.difference("bayes", "accuracy").low > 0


def test_models_tested_on_other_items_are_not_paired(texts, models):
    X, y = texts
    results = {
        name: cross_validate(model, X, y, Plan(measures="accuracy", random_state=seed))
        for seed, (name, model) in enumerate(models.items())
    }
    assert Comparison(results).models == ("bayes", "constant")
    with pytest.raises(LabelError, match="'bayes' and 'constant' were tested on different items"):
        Comparison(results, baseline="constant")


def test_own_losses_keep_their_direction(texts, models):
    X, y = texts
    errors = Measure(
        "errors",
        lambda y_true, y_pred: float(np.mean(y_true != y_pred)),
        greater_is_better=False,
        needs_taxonomy=False,
    )
    table = compare(models, X, y, Plan(measures=errors))
    assert table.lower_is_better >= {"errors"}
    assert table.cells["bayes"]["errors"].best


def test_compare_checks_before_it_fits(texts, models):
    X, y = texts
    with pytest.raises(LabelError, match="Did you mean 'constant'"):
        compare(models, X, y, Plan(measures="accuracy"), baseline="constent")
    with pytest.raises(LabelError, match="nothing to compare"):
        compare({}, X, y, Plan(measures="accuracy"))
    with pytest.raises(LabelError, match="must use the same taxonomy"):
        compare(models, X, y, Plan(measures=["accuracy", "taxonomy_loss"]))
