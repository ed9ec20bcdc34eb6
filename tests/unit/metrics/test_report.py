from __future__ import annotations

import pytest

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Taxonomy

TREE = Taxonomy.from_edges(
    [("ROOT", "a"), ("ROOT", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
)
TRUE, PREDICTED = ["a1", "a2", "b1", "b2", "a"], ["a1", "a1", "b1", "a2", "b"]


def test_table_for_one_label_per_item():
    assert metrics.hierarchical_report(TRUE, PREDICTED, TREE, digits=2) == (
        "                       precision     recall         f1    support\n"
        "\n"
        "level 1                     0.60       0.60       0.60          5\n"
        "level 2                     0.50       0.50       0.50          4\n"
        "\n"
        "leaves, micro               0.50       0.50       0.50          4\n"
        "leaves, macro               0.38       0.50       0.42          4\n"
        "all nodes, micro            0.56       0.56       0.56          9\n"
        "all nodes, macro            0.44       0.53       0.47          9\n"
        "hierarchical, micro         0.56       0.56       0.56          9\n"
        "hierarchical, samples       0.50       0.50       0.50          9\n"
        "\n"
        "exact match                 0.40\n"
        "accuracy                    0.40\n"
        "parent accuracy             0.60\n"
        "taxonomy loss               0.80\n"
    )


def test_dict_holds_the_measures():
    report = metrics.hierarchical_report(TRUE, PREDICTED, TREE, output_dict=True)
    levels = metrics.precision_recall_f1_per_level(TRUE, PREDICTED, TREE)
    assert report["level 2"] == levels[2]._asdict()
    assert report["hierarchical, micro"]["f1"] == metrics.hierarchical_f1(TRUE, PREDICTED, TREE)
    assert report["taxonomy loss"] == metrics.taxonomy_loss(TRUE, PREDICTED, TREE)


def test_labels_mean_nodes_however_they_are_written():
    report = metrics.hierarchical_report(["a > a1", "b1"], ["a1", "b1"], TREE, output_dict=True)
    assert report["accuracy"] == report["exact match"] == 1.0


def test_many_digits_keep_the_columns_apart():
    lines = metrics.hierarchical_report(TRUE, PREDICTED, TREE, digits=12).splitlines()
    assert lines[2].split() == ["level", "1", *["0.600000000000"] * 3, "5"]


def test_label_sets_have_no_single_label_measures():
    report = metrics.hierarchical_report([["a1", "b"], []], [["a1"], []], TREE, output_dict=True)
    assert report["exact match"] == 0.5
    assert "accuracy" not in report


def test_labels_that_do_not_fit():
    with pytest.raises(LabelError, match="at least one item"):
        metrics.hierarchical_report([], [], TREE)
