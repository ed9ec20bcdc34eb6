"""The words with the largest weights for each node."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.workflow.telling_words import N_WORDS, telling_words

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > elm"])
TEXTS = ["purrs fur legs", "barks fur legs", "acorns leaves grows", "samaras leaves grows"] * 4
LABELS = ["cat", "dog", "oak", "elm"] * 4


@pytest.mark.parametrize("model", ["path", "svm"])
@pytest.mark.parametrize("is_sets", [False, True])
def test_a_node_has_the_words_of_its_items(model, is_sets):
    y = [[label] for label in LABELS] if is_sets else LABELS
    words = telling_words(TextClassifier(TREE, model=model, cv=2).fit(TEXTS, y))
    assert words["cat"][0][0] == "purrs"
    assert words["elm"][0][0] == "samaras"
    assert {word for word, _ in words["animal"]} >= {"fur", "legs"}
    assert all(weight > 0 for found in words.values() for _, weight in found)
    assert all(len(found) <= N_WORDS for found in words.values())


def test_the_weights_of_a_path_model_are_those_of_the_classifier_against_siblings():
    classifier = TextClassifier(TREE, cv=2).fit(TEXTS, LABELS)
    scorer, terms = classifier.model_.scorer_, classifier.features_.terms_
    of_classifiers = scorer.nodes[: scorer.n_classifiers].tolist()
    last = {node: column for column, node in enumerate(of_classifiers)}
    taxonomy = classifier.model_.targets_.categories.expanded
    for node, found in classifier.model_.top_features(3).items():
        row = scorer.weights.of_column(last[taxonomy.code(node)], np.arange(len(terms)))
        best = sorted((weight for weight in row.tolist() if weight > 0), reverse=True)[:3]
        assert [weight for _, weight in found] == best
        assert [float(row[k]) for k, _ in found] == best
