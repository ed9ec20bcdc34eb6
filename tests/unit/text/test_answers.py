"""``TextAnswers``: one vectorisation for all questions, and facts that ``fit`` stores."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import cross_val_score

from taxonomist.errors import LabelError, ParameterError
from taxonomist.features import TextFeatures
from taxonomist.models import HierarchicalSVC
from taxonomist.text import TextClassifier
from taxonomist.text.search import Trial
from tests.unit.text.test_classifier import TREE, sets, single


@pytest.fixture
def passes(monkeypatch):
    """Return a list that grows by the number of texts whenever texts are tokenised."""
    split = TextFeatures._table
    found = []

    def noted(self, items):
        items = list(items)
        found.append(len(items))
        return split(self, items)

    monkeypatch.setattr(TextFeatures, "_table", noted)
    return found


@pytest.mark.parametrize("make", [single, sets])
@pytest.mark.parametrize("name", ["svm", "mixture"])
def test_texts_are_tokenised_once_whatever_is_asked(passes, make, name):
    texts, y = make()
    model = TextClassifier(TREE, model=name, cv=2).fit(texts, y)
    new, truth = make(n=12, seed=1)
    passes.clear()
    answers = model.answer(iter(new))
    labels, paths, proba = answers.labels(), answers.paths(), answers.proba()
    nodes, (top, chances) = answers.node_proba(), answers.topk(2)
    sure = answers.labels(depth="confident", risk=0.2)
    assessment = answers.evaluate(truth)
    reasons = answers.explanations(3)
    assert passes == [12]
    assert len(answers) == 12
    assert labels == model.predict_labels(new)
    assert paths == model.predict_paths(new)
    assert proba.tobytes() == model.predict_proba(new).tobytes()
    assert nodes.tobytes() == model.predict_node_proba(new).tobytes()
    assert top.tolist() == model.predict_topk(new, 2)[0].tolist()
    assert chances.tobytes() == model.predict_topk(new, 2)[1].tobytes()
    assert len(sure) == 12
    assert assessment.measures == model.evaluate(new, truth).measures
    for why, text in zip(reasons, new, strict=True):
        alone = model.explain(text, n=3)
        assert (why.category, why.levels, why.spans) == (alone.category, alone.levels, alone.spans)
        assert why.probability == pytest.approx(alone.probability, rel=1e-12)


def test_categories_to_explain_and_the_right_to_stop():
    texts, y = single()
    model = TextClassifier(TREE, model="svm", cv=2).fit(texts, y)
    answers = model.answer(["purrs", "nothing known"])
    assert answers.explain(0, category="oak").category == "oak"
    first, _ = answers.explanations(1, ["fern", None])
    assert first.category == "fern"
    # A virtual root is no label, but a decision.
    assert answers.labels(depth="confident", risk=1e-9) == [[], []]
    assert answers.decisions(depth="confident", risk=1e-9).tolist() == ["ROOT", "ROOT"]
    plain = TextClassifier(TREE, model="svm", calibration=None).fit(texts, y)
    assert plain.answer(["purrs"]).explain(0).probability is None
    with pytest.raises(ParameterError, match="no probabilities"):
        plain.answer(["purrs"]).labels(depth="confident")


METHODS = (
    "answer",
    "evaluate",
    "has_seen",
    "predict",
    "predict_labels",
    "predict_node_proba",
    "predict_paths",
    "predict_proba",
    "predict_topk",
    "score",
)
"""All methods that take the texts of several items, besides ``fit`` and ``refit``."""


@pytest.mark.parametrize("text", ["one text", {"title": "one text"}, b"one text"])
def test_a_single_text_is_not_taken_for_many(text):
    model = TextClassifier(TREE, model="flat", cv=2).fit(*single())
    takers = {
        name
        for name in dir(model)
        if not name.startswith(("_", "set_")) and callable(getattr(model, name))
        if "texts" in signature(getattr(model, name)).parameters
    }
    assert takers - {"fit", "refit", "pruning_cost"} == set(METHODS)
    for name in METHODS:
        given = [text, ["cat"]] if name in ("evaluate", "score") else [text]
        with pytest.raises(TypeError, match=r"not a single text. Pass \[text\]"):
            getattr(model, name)(*given)
    for learn in (TextClassifier(TREE, model="flat").fit, model.refit):
        with pytest.raises(TypeError, match="not a single text"):
            learn(text, ["cat"])
    with pytest.raises(TypeError, match="not a single text"):
        model.pruning_cost(0.5, text, ["cat"])


def test_a_data_frame_has_texts_in_columns():
    pandas = pytest.importorskip("pandas")
    texts, y = single()
    fields = [{"title": text, "note": None if i % 2 else "a b"} for i, text in enumerate(texts)]
    frame = pandas.DataFrame(fields, index=range(100, 100 + len(y)))
    fixed = {"model": "flat", "cv": 2, "features": "words", "names": "off"}
    model = TextClassifier(TREE, **fixed).fit(frame, y)
    assert model.has_seen(frame).all()
    assert model.score(frame, pandas.Series(y)) == model.score(fields, y)
    assert model.predict(frame[:3]).tolist() == model.predict(fields[:3]).tolist()


def test_score_is_the_share_of_exact_answers():
    texts, y = single()
    model = TextClassifier(TREE, model="svm", cv=2).fit(texts, y)
    wrong = ["oak" if label == "cat" else "cat" for label in y[:3]] + y[3:]
    assert model.score(texts, y) == np.mean(model.predict(texts) == np.array(y, dtype=object))
    assert model.score(texts[:4], wrong[:4]) == 0.25
    assert model.score(texts[:4], wrong[:4], sample_weight=[1, 0, 0, 1]) == 0.5
    assert model.score(texts, [[label] for label in y]) == model.score(texts, y)
    sets = [[label] for label in y]
    sets[0] = ["cat", "oak"]
    several = TextClassifier(TREE, model="svm", cv=2).fit(texts, sets)
    exact = [
        set(found) == {node for label in given for node in TREE.paths(label)[0]}
        for found, given in zip(several.predict_labels(texts), sets, strict=True)
    ]
    assert several.score(texts, sets) == np.mean(exact)


def test_cross_val_score_of_texts():
    texts, y = single()
    model = TextClassifier(TREE, model="svm", calibration=None)
    assert is_classifier(model)
    found = cross_val_score(model, texts, y, cv=3)
    assert np.isfinite(found).all()
    assert found.min() > 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"taxonomy": "foo"}, "taxonomy must be a Taxonomy or None; .* Got 'foo'"),
        ({"C": "1"}, "C must be a number above 0, or None. Got '1'"),
        ({"C": True}, "C must be a number above 0, or None. Got True"),
        ({"C": float("nan")}, "C must be a number above 0, or None. Got nan"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        TextClassifier(model="flat").set_params(**parameters).fit(*single())


@pytest.mark.parametrize("name", ["svm", "mixture", "auto"])
def test_counted_texts_give_the_same_model(passes, name):
    texts, y = single()
    features = TextFeatures()
    counted = features.count(texts)
    chosen = np.arange(0, 60, 2)
    passes.clear()
    fast = TextClassifier(TREE, model=name, cv=2).fit(counted[chosen], [y[i] for i in chosen])
    found = fast.predict_proba(counted)
    assert passes == []
    plain = TextClassifier(TREE, model=name, cv=2)
    plain.fit([texts[i] for i in chosen], [y[i] for i in chosen])
    assert found.tobytes() == plain.predict_proba(texts).tobytes()
    assert fast.seen_.tolist() == plain.seen_.tolist()


def test_fit_stores_what_it_has_seen():
    texts, y = single(20)
    model = TextClassifier(TREE, model="flat", calibration=None).fit(iter(texts), y)
    assert model.has_seen([*texts, "never seen"]).tolist() == [True] * 20 + [False]
    assert model.has_seen([{"text": texts[0]}]).all()
    assert model.training_["search"] == []
    assert model.record(measures={"accuracy": 1.0}) is model
    assert model.training_["measures"] == {"accuracy": 1.0}
    assert model.training_["items"] == 20


def test_what_was_chosen_is_fitted_again():
    texts, y = single()
    model = TextClassifier(TREE, model="auto", cv=2).fit(texts, y)
    best = model.search_[0]
    assert model.chosen == (best.model, best.C)
    again = model.refit(texts[:30], y[:30])
    assert again.get_params()["model"] == best.model
    assert again.get_params()["C"] == best.C
    assert again.search_ == model.search_
    assert again.training_["search"] == [trial._asdict() for trial in model.search_]
    assert again.training_["items"] == 30
    own = TextClassifier(TREE, model="auto", C=7.0, cv=2).fit(texts, y)
    assert own.chosen == (own.search_[0].model, 7.0)
    assert own.refit(texts, y).C == 7.0


def fitted_with(make, name, **options):
    return TextClassifier(TREE, model=name, calibration=None, **options).fit(*make())


@pytest.mark.parametrize("make", [single, sets])
def test_the_flat_twin_of_an_svm_is_the_flat_svm(make):
    twin = fitted_with(make, "svm", C=3.0).flat_twin()
    flat = fitted_with(make, "flat", C=3.0)
    assert twin.fit(*make()).model_.get_params() == flat.model_.get_params()
    new = make(seed=1)[0]
    assert twin.predict_labels(new) == flat.predict_labels(new)


@pytest.mark.parametrize("name", ["path", "mixture", "shrinkage", "nodes", "top_down", "markov"])
def test_the_flat_twin_is_the_same_model_without_the_taxonomy(name):
    model = fitted_with(sets, name)
    twin = model.flat_twin().fit(*sets())
    assert type(twin.model_) is type(model.model_)
    inner = twin.model_.get_params()
    assert inner.get("attributes", "flat") == "flat"
    # The twin of a model that learns from names has them too, on a single level.
    level = inner["taxonomy"]
    assert level is None or level.height == 1 or inner["attributes"] == "flat"


def test_the_flat_twin_after_a_search_has_the_cost_that_was_given():
    model = TextClassifier(TREE, model="auto", C=7.0, cv=2).fit(*single())
    model.search_ = [Trial("svm", 0.3, 0.0, 0.0)]
    assert model.flat_twin().C == 7.0
    assert model.flat_twin().model.C == 7.0


def test_the_flat_twin_of_an_own_model():
    twin = fitted_with(single, HierarchicalSVC(TREE, C=2.0)).flat_twin()
    assert (twin.model.attributes, twin.model.loss, twin.model.C) == ("flat", "zero_one", 2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": -1.0}, "C must be a number above 0"),
        ({"C": "1"}, "C must be a number above 0"),
        ({"calibration": "plat"}, "calibration must be one of.*Did you mean 'platt'"),
    ],
)
def test_parameters_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        TextClassifier(TREE, model="svm", **options).fit(*single())


def test_labels_that_do_not_fit():
    model = fitted_with(single, "flat")
    with pytest.raises(LabelError, match="one category per item"):
        model.evaluate(["purrs"], [["cat", "dog"]])
    with pytest.raises(LabelError, match="Pass the true labels"):
        model.evaluate(["purrs"])
