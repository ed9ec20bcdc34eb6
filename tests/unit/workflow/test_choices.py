"""Choices that are narrowed down, against their definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.errors import ParameterError, UnknownNodeError
from taxonomist.workflow.choices import (
    NarrowedChoice,
    choose,
    expected_losses,
    most_probable,
    node_chances,
)

EDGES = [("a", "a1"), ("a", "a2"), ("a1", "a11"), ("a1", "a12"), ("b", "b1"), ("b", "b2")]
TAXONOMY = Taxonomy.from_edges(EDGES)
LABELS = ["a11", "a12", "a2", "b1", "b2"]
TEXTS = ["a11 b1", "a2 a12", "b1 b2", "a11", "nothing", "a12 a11 a2 b2"]


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(0)
    labels = LABELS * 12
    texts = [f"{label} {rng.choice(LABELS)} word" for label in labels]
    return TextClassifier(TAXONOMY, min_df=1, n_jobs=1).fit(texts, labels)


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(1)
    labels = [sorted(set(rng.choice(LABELS, 2))) for _ in range(80)]
    return TextClassifier(TAXONOMY, min_df=1, n_jobs=1).fit(map(" ".join, labels), labels)


def chances(classifier, text):
    return dict(zip(classifier.classes_, classifier.predict_proba([text])[0], strict=True))


def inside(node, branch):
    return branch in (node, *TAXONOMY.ancestors(node))


def mass(found, node):
    return sum(chance for label, chance in found.items() if inside(label, node))


def chosen(classifier, text, **options):
    (labels,) = choose(classifier, classifier.answer([text]), NarrowedChoice(**options))
    return labels


def test_without_options_the_model_decides(classifier):
    found = choose(classifier, classifier.answer(TEXTS), NarrowedChoice())
    assert found == classifier.predict_labels(TEXTS)


@pytest.mark.parametrize(("text", "branch"), list(product(TEXTS, ["a", "a1", "b", "b2"])))
def test_branch(classifier, text, branch):
    found = {label: p for label, p in chances(classifier, text).items() if inside(label, branch)}
    assert chosen(classifier, text, branch=branch) == [max(found, key=found.get)]
    total = sum(found.values())
    answers = classifier.answer([text])
    (top,) = most_probable(classifier, answers, 9, branch)
    assert dict(top) == pytest.approx({label: p / total for label, p in found.items()})
    given = node_chances(classifier, answers, branch)[0]
    for label, p in found.items():
        assert given[TAXONOMY.code(label)] == pytest.approx(p / total)


@pytest.mark.parametrize(("text", "level"), list(product(TEXTS, [1, 2, 3])))
def test_level(classifier, text, level):
    found = chances(classifier, text)
    masses = {node: mass(found, node) for node in TAXONOMY.level(level)}
    assert chosen(classifier, text, level=level) == [max(masses, key=masses.get)]


@pytest.mark.parametrize(("text", "least"), list(product(TEXTS, [0.3, 0.6, 0.9, 0.99])))
def test_confident_within_a_branch_and_a_level(classifier, text, least):
    found = chances(classifier, text)
    total = mass(found, "a")
    nodes = [node for node in TAXONOMY.nodes if inside(node, "a") and TAXONOMY.depth(node) <= 2]
    sure = {node: mass(found, node) / total for node in nodes}
    sure = {node: value for node, value in sure.items() if value >= least or node == "a"}
    best = max(sure, key=lambda node: (TAXONOMY.depth(node), sure[node]))
    assert chosen(classifier, text, branch="a", level=2, confident=least) == [best]


@pytest.mark.parametrize(("text", "branch"), list(product(TEXTS, [None, "a", "b"])))
def test_least_expected_tree_loss(classifier, text, branch):
    found = {
        label: p
        for label, p in chances(classifier, text).items()
        if branch is None or inside(label, branch)
    }
    nodes = [node for node in TAXONOMY.nodes if branch is None or inside(node, branch)]

    def loss(node):
        return sum(p * TAXONOMY.distance(label, node) / 2 for label, p in found.items())

    labels = chosen(classifier, text, loss="tree", branch=branch) or [TAXONOMY.root]
    assert loss(labels[0]) == pytest.approx(min(map(loss, nodes)))


@pytest.mark.parametrize("text", TEXTS)
def test_expected_loss(classifier, text):
    found = chances(classifier, text)
    answers = classifier.answer([text])
    for node in ("a11", "a", "b"):
        loss = sum(p * TAXONOMY.distance(label, node) / 2 for label, p in found.items())
        assert expected_losses(classifier, answers, [[node]])[0] == pytest.approx(loss)
    nothing = sum(p * TAXONOMY.distance(label, TAXONOMY.root) / 2 for label, p in found.items())
    assert expected_losses(classifier, answers, [[]])[0] == pytest.approx(nothing)


def test_expected_loss_of_label_sets(sets):
    answers = sets.answer(["a11 b1"])
    chance = dict(zip(TAXONOMY.nodes, answers.node_proba()[0], strict=True))
    closed = {"a", "a1", "a11", "b", "b1"}
    loss = sum(
        1 - p if node in closed else p for node, p in chance.items() if node != TAXONOMY.root
    )
    assert expected_losses(sets, answers, [["a11", "b1"]])[0] == pytest.approx(loss)


def test_label_sets_are_cut_to_a_branch_or_a_level(sets):
    text = "a11 b1"
    assert set(chosen(sets, text)) == {"a", "a1", "a11", "b", "b1"}
    assert set(chosen(sets, text, branch="a1")) == {"a1", "a11"}
    assert set(chosen(sets, text, level=1)) >= {"a", "b"}
    assert "a1" not in chosen(sets, text, level=1)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"loss": "tree", "confident": 0.9}, ParameterError),
        ({"loss": "tree", "level": 1}, ParameterError),
        ({"level": 9}, ParameterError),
        ({"level": 1, "branch": "b1"}, ParameterError),
        ({"branch": "none"}, UnknownNodeError),
    ],
)
def test_options_that_make_no_sense(classifier, options, error):
    with pytest.raises(error):
        chosen(classifier, "a11", **options)
