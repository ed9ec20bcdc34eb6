"""The command that lists the models."""

import json

from taxonomist.text.models import MODELS


def test_json_lists_every_model_that_can_be_trained(call):
    rows = {row["name"]: row for row in json.loads(call("models", "--json").out)}
    assert list(rows) == list(MODELS)
    assert rows["svm"] == {
        "name": "svm",
        "single_label": "HierarchicalSVC",
        "label_sets": "CoupledBinarySVC",
        "has_C": True,
        "takes_counts": False,
        "needs_tree": False,
    }
    assert not any(row["needs_tree"] for row in rows.values())
    assert rows["naive_bayes"]["takes_counts"]
    assert not rows["naive_bayes"]["has_C"]


def test_the_table_has_a_line_for_each_model(call):
    done = call("models")
    head, *lines = done.out.splitlines()
    assert head == "name\tsingle_label\tlabel_sets\thas_C\ttakes_counts\tneeds_tree"
    assert [line.partition("\t")[0] for line in lines] == list(MODELS)
    assert "auto" in done.err


def test_help_of_models_points_to_the_list(call):
    for command in ("train", "compare"):
        words = call(command, "--help").out.replace("│", " ").split()
        assert "'taxonomist models'" in " ".join(words)
