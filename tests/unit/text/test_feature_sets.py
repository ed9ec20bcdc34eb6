"""The features of texts, chosen on held-out documents."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.errors import ParameterError
from taxonomist.features import TextFeatures
from taxonomist.text import feature_sets
from taxonomist.text.feature_sets import (
    CHARACTER_WEIGHT,
    FEATURE_SETS,
    ChosenFeatures,
    FeatureTrial,
)
from taxonomist.text.held_out_trials import TrialItems, best_of

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > fern"])
STEMS = {"cat": "purrs", "dog": "barks", "oak": "acorn", "fern": "frond"}
FILL = [f"filler{k}" for k in range(20)]


def compounds(n=80, seed=0):
    """Return texts whose telling words are compounds that never recur."""
    rng = np.random.default_rng(seed)
    labels = [list(STEMS)[k] for k in rng.integers(4, size=n)]
    letters = list("bdfghjklmvwz")
    texts = [
        f"{STEMS[label]}{''.join(rng.choice(letters, 3))} {' '.join(rng.choice(FILL, 3))}"
        for label in labels
    ]
    return texts, labels


def pairs(n=80, seed=0):
    """Return texts in which only pairs of words tell the categories apart."""
    rng = np.random.default_rng(seed)
    words = {
        "cat": "black white red blue",
        "dog": "white black blue red",
        "oak": "black red white blue",
        "fern": "red black blue white",
    }
    labels = [list(words)[k] for k in rng.integers(4, size=n)]
    return [f"{rng.choice(FILL)} {words[label]} {rng.choice(FILL)}" for label in labels], labels


def test_characters_are_chosen_where_words_do_not_recur():
    model = TextClassifier(TREE, vectors="off", names="off", budget=None).fit(*compounds())
    assert "characters" in model.feature_set_
    assert model.features_.characters == (3, 5)
    assert model.features_.character_weight == CHARACTER_WEIGHT
    assert model.score(*compounds(seed=1)) > 0.95
    facts = model.training_["features"]
    assert facts["set"] == model.feature_set_
    assert facts["gain"]["low"] > 0.1
    assert facts["terms"] == len(model.features_.idf_)
    assert "beside words alone" in facts["said"]
    assert facts["trials"][0]["score"] >= facts["trials"][-1]["score"]


def test_a_gain_of_zero_has_no_sign():
    gain = {"estimate": -1e-5, "low": -1e-4, "high": 1e-4}
    trial = FeatureTrial("words 1-2", None, 0.5, 1.0)
    found = ChosenFeatures({"weights": None}, "words 1-2", [trial], gain, 80, [])
    assert "0.500, +0.000 (+0.000 to +0.000) beside" in found.facts["said"]


@pytest.mark.parametrize(("low", "is_noise"), [(-0.1, True), (0.1, False)])
def test_a_gain_within_the_noise_is_called_so(low, is_noise):
    gain = {"estimate": 0.2, "low": low, "high": 0.3}
    trial = FeatureTrial("words 1-2", None, 0.5, 1.0)
    found = ChosenFeatures({"weights": None}, "words 1-2", [trial], gain, 80, [])
    assert found.facts["said"].endswith("This is within the noise.") == is_noise


def test_pairs_are_chosen_where_order_matters():
    model = TextClassifier(TREE, vectors="off", names="off", budget=None).fit(*pairs())
    assert model.feature_set_.startswith("words 1-2")
    assert model.score(*pairs(seed=1)) > 0.95


def test_words_are_kept_where_nothing_is_better():
    texts, labels = compounds()
    texts = [STEMS[label] for label in labels]
    model = TextClassifier(TREE, vectors="off", names="off", budget=None).fit(texts, labels)
    assert model.feature_set_ == "words"
    # Nothing can be better than all documents right.
    assert len(model.training_["features"]["trials"]) == 1


def test_the_choice_is_the_same_again_and_refit_keeps_it(monkeypatch):
    texts, labels = compounds()
    options = {"vectors": "off", "budget": None}
    model, other = (TextClassifier(TREE, **options).fit(texts, labels) for _ in range(2))
    assert np.array_equal(model.predict_proba(texts), other.predict_proba(texts))
    monkeypatch.setattr(TrialItems, "values", None)
    again = model.refit(texts, labels)
    assert np.array_equal(model.predict_proba(texts), again.predict_proba(texts))
    assert again.feature_set_ == model.feature_set_
    assert again.name_weight_ == model.name_weight_


def test_given_features_are_not_chosen(monkeypatch):
    monkeypatch.setattr(TrialItems, "values", None)
    texts, labels = compounds()
    options = {"vectors": "off", "names": "off"}
    for name, wanted in FEATURE_SETS.items():
        model = TextClassifier(TREE, features=name, **options).fit(texts, labels)
        assert model.features_.words == wanted["words"]
        assert model.features_.characters == wanted["characters"]
    model = TextClassifier(TREE, words=(1, 2), min_df=2, **options).fit(texts, labels)
    assert (model.features_.words, model.features_.characters) == ((1, 2), None)
    model = TextClassifier(TREE, characters=(2, 3), **options).fit(texts, labels)
    assert (model.features_.words, model.features_.characters) == ((1, 1), (2, 3))
    # As before, words and characters that are given are scaled together.
    assert model.features_.character_weight is None
    with pytest.raises(ParameterError, match="features must be one of 'auto', 'words'"):
        TextClassifier(TREE, features="word").fit(texts, labels)


def test_a_budget_ends_the_choice():
    model = TextClassifier(TREE, vectors="off", budget=1e-9).fit(*compounds())
    assert len(model.training_["features"]["trials"]) == 1
    assert model.feature_set_ == "words"
    assert model.training_["names"]["weight"] == 0


def test_sets_that_are_too_much_work_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr(feature_sets, "MOST_VALUES", 80 * 10)
    texts, labels = compounds()
    told = []
    model = TextClassifier(TREE, vectors="off", names="off", budget=None)
    model.fit(texts, labels, callback=lambda step: told.append(step.what))
    facts = model.training_["features"]
    assert {trial["features"] for trial in facts["trials"]} == {"words", "words 1-2"}
    assert facts["left_out"] == ["words + characters", "words 1-2 + characters"]
    assert "Not tried, as too much work for so many documents: 'words + ch" in facts["said"]
    assert told[-1] == "training the model"


def test_the_shortest_column_gets_more_weight_where_that_helps():
    rng = np.random.default_rng(0)
    _, labels = compounds(200)
    others = list(STEMS.values())
    items = [
        {"title": STEMS[label], "body": " ".join(rng.choice([*others, *FILL[:4]], 12))}
        for label in labels
    ]
    model = TextClassifier(TREE, vectors="off", names="off", budget=None).fit(items, labels)
    assert model.features_.column_weights_ == [3.0, 1.0]
    assert model.training_["features"]["weights"] == [3.0, 1.0]
    given = TextClassifier(TREE, vectors="off", names="off", weights={"title": 1}, budget=None)
    assert given.fit(items, labels).features_.column_weights_ == [1.0, 1.0]


def test_label_sets_choose_too():
    texts, labels = compounds(100)
    more = [[label, "oak"] if label != "oak" else [label] for label in labels]
    model = TextClassifier(TREE, vectors="off", budget=None).fit(texts, more)
    assert "characters" in model.feature_set_


def test_few_items_keep_words_of_one_item():
    texts = [f"common word{k}" for k in range(30)]
    assert "word3" in TextFeatures(min_df="auto").fit(texts).vocabulary_
    grams = TextFeatures(min_df="auto", characters=(3, 5)).fit(texts).terms_.tolist()
    # Of word2 and word20, and of word3 alone.
    assert '"rd2"' in grams
    assert '"rd3"' not in grams


def test_old_models_without_the_parameters_can_be_refitted(tmp_path):
    texts, labels = compounds()
    options = {"words": (1, 1), "characters": None, "min_df": 2, "names": "off", "vectors": "off"}
    model = TextClassifier(TREE, **options).fit(texts, labels)
    for name in ("feature_set_", "name_weight_", "named_only_"):
        delattr(model, name)
    del model.features_.character_weight
    model.save(tmp_path / "model")
    old = TextClassifier.load(tmp_path / "model")
    assert np.array_equal(old.predict_proba(texts), model.predict_proba(texts))
    assert np.array_equal(old.refit(texts, labels).predict_proba(texts), old.predict_proba(texts))


def test_explanations_show_words_instead_of_character_ngrams():
    model = TextClassifier(TREE, features="words + characters", names="off", vectors="off")
    model.fit(*compounds())
    text = "barksfgh filler1 filler2"
    why = model.explain(text)
    words = {word for *_, words in why.levels for word, _ in words}
    assert words == {"barksfgh", "filler1", "filler2"}
    assert why.category == "dog"
    assert max(why.totals, key=why.totals.get) == "barksfgh"
    plain = model.model_.explain(model.features_.transform([text]), n=1000)
    for part, level in zip(plain.parts, why.levels, strict=True):
        assert level[2] == part.value
        assert sum(value for _, value in level[3]) == pytest.approx(
            sum(value for _, value in part.features)
        )


def test_with_few_documents_all_terms_are_usual():
    rng = np.random.default_rng(0)
    same = rng.uniform(0, 1, 200)
    slightly, clearly = same + 0.01 + np.tile([0.3, -0.3], 100), same + 0.1
    assert best_of({"words": slightly, "all": same}) == "words"
    assert best_of({"words": slightly, "all": same}, "all") == "all"
    assert best_of({"words": clearly, "all": same}, "all") == "words"
    assert best_of({"words": same, "pairs": same}) == "words"
    assert best_of({"words": slightly}, "all") == "words"
    # Nothing tells the categories apart.
    texts, labels = [f"{rng.choice(FILL)} {rng.choice(FILL)}" for _ in range(80)], list(STEMS) * 20
    model = TextClassifier(TREE, vectors="off", names="off", budget=None).fit(texts, labels)
    assert model.feature_set_ == feature_sets.LARGEST
    assert len(model.training_["features"]["trials"]) == len(FEATURE_SETS)
    assert TrialItems(labels, TREE, False, {}, 0, share=0.1).are_few
    assert not TrialItems(labels, TREE, False, {}, 0, share=0.08).are_few
