"""The choice of C on held-out documents."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.text import fitting
from taxonomist.text.budget import Budget
from taxonomist.text.cost_choice import ChosenCost, choose_cost, chooses_cost

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
WORDS = {"cat": "purrs sleeps claw", "dog": "barks runs bone", "oak": "leaves acorns bark"}


def chosen(scores, known=None):
    """Return the choice if every document has these F1 by C, and the values that were tried."""
    tried = []

    def f1(C):
        tried.append(C)
        return np.full(4, scores[C])

    found = choose_cost(f1, known, Budget(), lambda _: None)
    return found, tried


@pytest.mark.parametrize(
    ("scores", "C", "tried"),
    [
        ({1.0: 0.5, 3.0: 0.6}, 3.0, [1.0, 3.0]),
        ({1.0: 0.5, 3.0: 0.5, 0.3: 0.6}, 0.3, [1.0, 3.0, 0.3]),
        ({1.0: 0.5, 3.0: 0.4, 0.3: 0.5}, 1.0, [1.0, 3.0, 0.3]),
        ({1.0: 1.0}, 1.0, [1.0]),
    ],
)
def test_the_best_value_with_few_trials(scores, C, tried):
    found = chosen(scores)
    assert (found[0].C, found[1]) == (C, tried)
    assert found[0].gain["estimate"] == pytest.approx(scores[C] - scores[1.0])
    assert chosen(scores, np.full(4, scores[1.0]))[1] == tried[1:]


def test_a_gain_of_zero_has_no_sign():
    found = ChosenCost(3.0, [], {"estimate": -1e-5, "low": -1e-4, "high": 1e-4})
    assert "held-out documents +0.000 (+0.000 to +0.000) beside" in found.facts["said"]


def test_with_few_documents_another_value_must_be_clearly_better():
    scores = {1.0: np.array([0.5, 0.5, 0.4, 0.6]), 0.3: np.zeros(4)}
    for gain, noise, C in ((0.1, 0.0, 3.0), (0.1, 0.5, 1.0)):
        values = {**scores, 3.0: scores[1.0] + gain + noise * np.array([1, -1, 1, -1])}
        few, many = (
            choose_cost(values.__getitem__, None, Budget(), lambda _: None, are_few=are_few).C
            for are_few in (True, False)
        )
        assert (few, many) == (C, 3.0)


def texts(n=36):
    """Return texts of which some have words of a wrong category, and their categories."""
    rng = np.random.default_rng(0)
    labels = [("cat", "dog", "oak")[k % 3] for k in range(n)]
    wrong = {
        label: " ".join(words for other, words in WORDS.items() if other != label)
        for label in WORDS
    }
    pool = {label: (WORDS[label].split(), wrong[label].split()) for label in WORDS}
    found = [
        " ".join([*rng.choice(pool[label][0], 2), *rng.choice(pool[label][1], 1 + k % 2)])
        for k, label in enumerate(labels)
    ]
    return found, labels


def test_it_reaches_the_model_the_twin_and_the_facts(monkeypatch):
    monkeypatch.setattr(
        fitting, "choose_cost", lambda *a, **options: choose_cost(*a, **options)._replace(C=3.0)
    )
    model = TextClassifier(TREE, names="off", vectors="off", n_jobs=1).fit(*texts())
    facts = model.training_["C"]
    assert {1.0, 3.0} <= {trial["C"] for trial in facts["trials"]}
    assert model.cost_ == model.model_.C == facts["C"] == 3.0
    assert model.cost_ == model.flat_twin().C
    assert "C is" in facts["said"]


@pytest.mark.parametrize(
    "given", [{"C": 2.0}, {"features": "words"}, {"words": (1, 1)}, {"model": "svm"}]
)
def test_what_is_given_is_not_chosen(given):
    assert chooses_cost(TextClassifier(TREE), 100)
    assert not chooses_cost(TextClassifier(TREE), 10)
    assert not chooses_cost(TextClassifier(TREE, **given), 100)
