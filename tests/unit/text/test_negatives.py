"""The negative items that texts are learned from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import PathSVC, Taxonomy, TextClassifier
from taxonomist.models import path_learning
from taxonomist.text import negatives, search
from taxonomist.text.held_out_trials import TrialItems
from taxonomist.text.negatives import kind_for_trials, kind_of_negatives
from taxonomist.text.vector_weight import WeightProblem

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
TEXTS = ["purrs and sleeps", "barks and runs", "leaves and acorns"] * 20
LABELS = ["cat", "dog", "oak"] * 20


def test_the_work_decides(monkeypatch):
    monkeypatch.setattr(negatives, "MOST_WORK", 6 * 10)
    assert [kind_of_negatives(LABELS, TREE, n) for n in (10, 11)] == ["both", "siblings"]
    # Without a taxonomy, there is one node for each label.
    assert [kind_of_negatives(LABELS, None, n) for n in (20, 21)] == ["both", "siblings"]
    assert [kind_of_negatives([["cat"], ["dog"]], None, n) for n in (30, 31)] == [
        "both",
        "siblings",
    ]


def test_weights_of_both_kinds_are_limited(monkeypatch):
    monkeypatch.setattr(negatives, "MOST_WEIGHTS", 100)
    many = Taxonomy.from_paths([f"top > c{k}" for k in range(50)], ids="name")
    found = [kind_of_negatives(["c1", "c2", "c1"], many, 1, n) for n in (0, 25, 26)]
    # Two labels are used, and about as many nodes are above.
    assert found == ["both", "both", "siblings"]
    assert [kind_of_negatives(many.leaves, many, 1, n) for n in (1, 2)] == ["both", "siblings"]


def test_a_sample_gets_the_kind_of_all_documents(monkeypatch):
    X, options = csr_array(np.ones((5, 2))), {"random_state": 0}
    monkeypatch.setattr(negatives, "MOST_WORK", 6 * 20)
    items = TrialItems(LABELS[:5], TREE, False, options, n_words=10)
    assert items.negatives(X) == "both"
    assert items._replace(share=0.5).negatives(X) == "both"
    assert items._replace(share=0.4).negatives(X) == "siblings"
    problem = WeightProblem(X, np.ones((5, 1)), LABELS[:5], TREE, False, options)
    assert problem.some(5).share == 1
    assert problem.some(2).share == pytest.approx(0.4)


@pytest.mark.parametrize("model", ["path", "auto"])
@pytest.mark.parametrize(("most", "kind"), [(10**9, "both"), (1, "siblings")])
def test_trials_the_search_and_the_model_have_the_same_kind(monkeypatch, most, kind, model):
    seen = []
    real = path_learning.chosen_negatives

    def chosen(given, *others):
        seen.append(given)
        return real(given, *others)

    monkeypatch.setattr(path_learning, "chosen_negatives", chosen)
    monkeypatch.setattr(negatives, "MOST_WORK", most)
    # Only the path has such items.
    monkeypatch.setattr(search, "candidates", lambda _: ["path"])
    options = {"vectors": "off", "budget": None, "n_jobs": 1}
    fitted = TextClassifier(TREE, model=model, **options).fit(TEXTS, LABELS)
    assert set(seen) == {kind}
    assert fitted.model_.negatives == kind


def test_trials_with_very_many_nodes_learn_from_siblings(monkeypatch):
    assert kind_for_trials(LABELS, TREE, 1) == "both"
    monkeypatch.setattr(negatives, "MOST_TRIED", 5)
    assert kind_for_trials(LABELS, TREE, 1) == "siblings"
    assert kind_of_negatives(LABELS, TREE, 1) == "both"
    model = TextClassifier(TREE, vectors="off", budget=None, n_jobs=1).fit(TEXTS, LABELS)
    assert model.model_.negatives == "both"


def test_a_model_of_the_user_keeps_its_own():
    given = PathSVC(TREE, negatives="siblings", random_state=0)
    assert TextClassifier(TREE, model=given).fit(TEXTS, LABELS).model_.negatives == "siblings"
