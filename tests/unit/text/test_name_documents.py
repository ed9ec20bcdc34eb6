"""Names of categories as training documents."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.datasets.items import Item
from taxonomist.errors import ParameterError
from taxonomist.text.name_documents import (
    ChosenNames,
    NameDocuments,
    documents_of_names,
    weights_of_names,
)
from taxonomist.workflow.predictions import Predictor, Wanted

NAMES = {"1": "cats", "2": "dogs", "3": "oaks", "4": "ferns", "5": "mosses"}
TREE = Taxonomy.from_edges(
    [("animals", "1"), ("animals", "2"), ("plants", "3"), ("plants", "4"), ("plants", "5")],
    NAMES,
    texts={"5": {"synonyms": ["bryophyta"], "definitions": "soft green cushions"}},
)
OPTIONS = {"vectors": "off", "budget": None, "features": "words"}


def documents(n=60, seed=0, labels="1234"):
    rng = np.random.default_rng(seed)
    y = [labels[k] for k in rng.integers(len(labels), size=n)]
    fill = [f"filler{k}" for k in range(30)]
    texts = [" ".join([NAMES[label], *rng.choice(fill, 6)]) for label in y]
    return texts, y


def test_names_are_documents_of_leaves_and_of_labels_in_use():
    found = documents_of_names(TREE, ["1", "plants"], is_multilabel=False)
    assert found.labels == ["1", "2", "plants", "3", "4", "5"]
    assert found.texts[-1] == "mosses\nbryophyta\nsoft green cushions"
    assert found.without == ["2", "3", "4", "5"]
    sets = documents_of_names(TREE, [["1"], []], is_multilabel=True)
    assert sets.labels[0] == ["1"]


def test_codes_are_no_names():
    codes = Taxonomy.from_edges([("a", "10"), ("a", "11")])
    assert documents_of_names(codes, ["10"], is_multilabel=False) is None
    assert documents_of_names(None, [3, 4], is_multilabel=False) is None
    found = documents_of_names(None, ["soc.mac", "rec_z"], is_multilabel=False)
    assert found.texts == ["rec z", "soc mac"]


def test_categories_without_documents_are_predicted_and_marked():
    model = TextClassifier(TREE, **OPTIONS).fit(*documents())
    assert model.name_weight_ > 0
    assert model.named_only_ == ["5"]
    texts = ["mosses", "bryophyta", "soft cushions filler3", "dogs filler2"]
    assert model.predict(texts).tolist() == ["5", "5", "5", "2"]
    items = [Item(k, None, {"text": text}) for k, text in enumerate(texts)]
    notes = [found.note for found in Predictor(model, Wanted()).predict(items)]
    assert notes == ["known by name only"] * 3 + [""]
    off = TextClassifier(TREE, names="off", **OPTIONS).fit(*documents())
    assert off.predict(["mosses"]).tolist() != ["5"]
    said = off.training_["names"]["said"]
    assert said == "Names of categories are not used: they are turned off."
    assert off.named_only_ == []


def test_facts_are_about_documents_alone():
    texts, y = documents()
    model = TextClassifier(TREE, **OPTIONS).fit(texts, y)
    assert model.training_["items"] == len(texts)
    assert len(model.seen_) == len({*texts})
    assert not model.has_seen(["mosses"]).any()
    facts = model.training_["names"]
    assert (facts["names"], facts["without_documents"]) == (5, 1)
    assert facts["weight"] == model.name_weight_
    assert {0.0, facts["weight"]} <= {trial["weight"] for trial in facts["trials"]}
    assert facts["gain"]["low"] <= facts["gain"]["estimate"] <= facts["gain"]["high"]
    assert "1 category has a name but no documents" in facts["said"]


def test_a_gain_of_zero_has_no_sign():
    gain = {"estimate": -1e-5, "low": -1e-4, "high": 1e-4}
    said = ChosenNames(1.0, [], gain).facts(NameDocuments(["cats"], ["1"], []))["said"]
    assert "held-out documents +0.000 (+0.000 to +0.000)" in said


def test_held_out_documents_decide():
    rng = np.random.default_rng(0)
    words = ["alpha", "beta", "gamma", "delta"]
    y = [str(k + 1) for k in rng.integers(4, size=60)]
    fill = [f"filler{k}" for k in range(10)]
    # The names stand in the documents of another category.
    wrong = {"1": "dogs", "2": "cats", "3": "ferns", "4": "oaks"}
    texts = [
        " ".join([words[int(label) - 1], wrong[label], *rng.choice(fill, 3)])
        if rng.random() < 0.5
        else " ".join([wrong[label], *rng.choice(fill, 3)])
        for label in y
    ]
    model = TextClassifier(TREE, **OPTIONS).fit(texts, y)
    trials = {trial["weight"]: trial["score"] for trial in model.training_["names"]["trials"]}
    assert trials[0.0] == max(trials.values())
    forced = TextClassifier(TREE, names="on", **OPTIONS).fit(texts, y)
    assert forced.name_weight_ > 0


def test_label_sets_and_counts_learn_from_names_too():
    texts, y = documents(80)
    sets = [[label] if k % 3 else [label, "3"] for k, label in enumerate(y)]
    sets = [list(dict.fromkeys(labels)) for labels in sets]
    model = TextClassifier(TREE, names=1.0, **OPTIONS).fit(texts, sets)
    assert "5" in model.predict(["mosses bryophyta soft green cushions"])[0]
    for name in ("mixture", "svm"):
        model = TextClassifier(TREE, model=name, names=1.0, cv=2, **OPTIONS).fit(texts, y)
        assert model.predict(["mosses bryophyta soft green cushions"]).tolist() == ["5"]
        assert model.model_.cv == 2


def test_the_weight_is_a_number_or_a_word():
    texts, y = documents()
    model = TextClassifier(TREE, names=2, **OPTIONS).fit(texts, y)
    assert (model.name_weight_, model.training_["names"]["trials"]) == (2.0, [])
    for wrong in ("of", -1, None, True):
        with pytest.raises(ParameterError, match="names must be 'auto', 'on', 'off', or a weight"):
            TextClassifier(TREE, names=wrong, **OPTIONS).fit(texts, y)


def test_models_of_the_user_learn_from_names_if_asked():
    from taxonomist import PathSVC

    texts, y = documents()
    given = TextClassifier(TREE, model=PathSVC(TREE, random_state=0), **OPTIONS).fit(texts, y)
    assert given.name_weight_ == 0
    asked = given.set_params(names="on").fit(texts, y)
    assert asked.predict(["mosses"]).tolist() == ["5"]


def test_saved_models_know_which_categories_have_names_only(tmp_path):
    model = TextClassifier(TREE, **OPTIONS).fit(*documents())
    model.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert again.named_only_ == ["5"]
    assert again.model_.cv == 3
    assert np.array_equal(again.predict_proba(["mosses"]), model.predict_proba(["mosses"]))


def test_integer_labels_stay_integers():
    texts, y = documents()
    model = TextClassifier(TREE, names=1.0, **OPTIONS).fit(texts, [int(label) for label in y])
    assert model.predict(["mosses"]).tolist() == [5]


def test_the_flat_twin_learns_from_the_same_names():
    texts, y = documents()
    model = TextClassifier(TREE, **OPTIONS).fit(texts, y)
    twin = model.flat_twin()
    assert twin.taxonomy.height == 1
    assert twin.fit(texts, y).predict(["bryophyta"]).tolist() == ["5"]
    assert twin.name_weight_ == model.name_weight_
    off = TextClassifier(TREE, names="off", **OPTIONS).fit(texts, y)
    assert off.flat_twin().taxonomy is None


def test_names_fade_as_documents_come():
    labels = ["1"] * 10 + ["2"] * 30
    found = weights_of_names(4.0, ["1", "2", "3"], labels)
    assert found.tolist() == [3.0, 2.0, 4.0]
    sets = [["1", "2"]] * 10 + [["2"]] * 20
    found = weights_of_names(4.0, [["1"], ["2"], ["3"]], sets)
    assert found.tolist() == [3.0, 2.0, 4.0]


def test_names_do_not_lower_the_number_of_labels():
    texts, y = documents(80)
    pairs = {"1": ["1", "3"], "2": ["2", "4"], "3": ["3", "2"], "4": ["4", "1"]}
    sets = [pairs[label] for label in y]
    model = TextClassifier(TREE, names=1.0, **OPTIONS).fit(texts, sets)
    assert model.model_.label_limits_.least == 2
