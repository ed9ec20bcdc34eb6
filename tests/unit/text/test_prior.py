"""Texts without known words get the shares of categories among training items."""

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > ash"])
TEXTS = ["purrs and purrs", "barks and barks", "leaves and leaves"] * 8 + ["barks loudly"] * 6
LABELS = ["cat", "dog", "oak"] * 8 + ["dog"] * 6
SHARES = {"cat": 8 / 30, "dog": 14 / 30, "oak": 8 / 30, "ash": 0}
NEW = ["purrs", "unheard", "leaves", ""]


@pytest.fixture(scope="module", params=["path", "svm", "mixture", "nodes"])
def model(request):
    return TextClassifier(TREE, model=request.param, cv=2).fit(TEXTS, LABELS)


def test_unknown_texts_have_the_shares_of_categories(model):
    answers = model.answer(NEW)
    prior = [SHARES[label] for label in model.classes_]
    assert model.prior_ == pytest.approx(prior)
    assert answers.proba()[[1, 3]] == pytest.approx(np.array([prior, prior]))
    animal = answers.node_proba()[1, TREE.codes(["animal", "plant", "dog"])]
    assert animal == pytest.approx([22 / 30, 8 / 30, 14 / 30])
    assert [row[0] for row in answers.labels()] == ["cat", "dog", "oak", "dog"]
    assert answers.paths()[1] == ("animal", "dog")
    assert answers.decisions().tolist() == ["cat", "dog", "oak", "dog"]
    assert answers.topk(2)[0][1].tolist()[0] == "dog"
    assert answers.labels(depth="confident", risk=0.3)[1] == ["animal"]
    assert answers.score(["cat", "dog", "oak", "cat"]) == 0.75
    assert answers.score(["cat", "dog", "oak", "cat"], [1, 1, 1, 0]) == 1.0
    assert answers.explain(1).category == "dog"


def test_other_texts_are_answered_as_before(model):
    answers, alone = model.answer(NEW), model.answer(NEW[:1])
    assert answers.proba()[0].tobytes() == alone.proba()[0].tobytes()
    assert answers.node_proba()[0].tobytes() == alone.node_proba()[0].tobytes()


def test_weights_count_and_files_keep_the_shares(tmp_path):
    weights = [1.0] * 24 + [0.0] * 6
    model = TextClassifier(TREE, calibration=None, model="svm").fit(TEXTS, LABELS, weights)
    assert model.prior_.max() == pytest.approx(1 / 3)
    model.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert again.prior_.tobytes() == model.prior_.tobytes()
    assert again.predict_topk(["unheard"], 1)[0].tolist() == [["cat"]]
    assert again.predict(["unheard"]).tolist() == ["cat"]


def test_numbers_as_labels():
    model = TextClassifier(cv=2).fit(TEXTS, [{"cat": 3, "dog": 1, "oak": 2}[x] for x in LABELS])
    assert model.predict(["unheard", "purrs"]).tolist() == [1, 3]
    assert model.score(["unheard", "purrs"], [1, 3]) == 1.0


def test_label_sets_have_no_prior():
    model = TextClassifier(TREE, cv=2).fit(TEXTS, [[label, "cat"] for label in LABELS])
    assert not hasattr(model, "prior_")
    assert len(model.predict_labels(["unheard"])) == 1
