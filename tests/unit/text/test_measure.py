"""Decisions follow the measure."""

from __future__ import annotations

import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.losses import weighted_tree
from taxonomist.text.measure import MEASURES, tree_loss_for
from taxonomist.text.measure_scores import score_of


@pytest.mark.parametrize("measure", list(MEASURES))
def test_the_tree_loss_does_not_lower_the_measure(measure):
    tree = Taxonomy.from_paths([f"{top} > {top}{k}" for top in "xy" for k in range(5)])
    labels = list(tree.leaves) * 12
    texts = [f"{y[0]}{y[0]}" + f" leaf{y}" * (k % 3 < 1) for k, y in enumerate(labels)]
    model = TextClassifier(tree, features="words", names="off", measure=measure)
    answer = model.fit(texts, labels).answer(texts)
    cheap, pure, own = (answer.decisions(cost=cost) for cost in ("tree", weighted_tree(), None))
    scores = {
        name: score_of(measure, labels, found.tolist(), tree, is_sets=False)
        for name, found in (("cheap", cheap), ("own", own))
    }
    assert scores["cheap"] >= scores["own"]
    if measure in ("accuracy", "micro_f1", "macro_f1"):
        assert cheap.tolist() == own.tolist() != pure.tolist()
    if measure == "hierarchical_f1":
        # It stops where that pays in F1, too.
        assert cheap.tolist() != own.tolist()
        assert scores["cheap"] > scores["own"]
    if measure == "taxonomy_loss":
        assert cheap.tolist() == own.tolist() == pure.tolist()


def test_the_tree_loss_of_label_sets_follows_the_measure():
    tree = Taxonomy.from_paths(["x > x1", "x > x2", "y > y1"])
    sets = [["x1"], ["x1", "x2"], ["y1"], ["x2", "y1"]] * 10
    texts = [
        " ".join(f"word{label}" for label in labels) + " x" * (k % 3)
        for k, labels in enumerate(sets)
    ]
    model = TextClassifier(tree, features="words", measure="hierarchical_f1").fit(texts, sets)
    assert model.answer(texts).labels(cost="tree") == model.answer(texts).labels()
    assert tree_loss_for("taxonomy_loss", is_sets=True) == "tree"
    assert tree_loss_for(lambda *_: 0.0, is_sets=True) == "tree"
