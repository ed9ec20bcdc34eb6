"""What the experiments of HCC03 compute beside models and measures of the library."""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from taxonomist import HierarchicalSVC, Taxonomy
from taxonomist.experiments.claims.pairing import shares
from taxonomist.experiments.claims.relative_gains import Gain, LargerRelativeGain, RelativeGain
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.hcc03 import drawn_trial, sense_trial
from taxonomist.experiments.work.problems import few_to_train
from taxonomist.experiments.work.sense_models import AmongSenses, contexts, per_word, shuffled
from taxonomist.experiments.work.senses import is_right, least_loss
from taxonomist.experiments.work.trials import SplitData
from taxonomist.experiments.work.word_classes import PartsOfSpeech, word_class
from taxonomist.features import ContextFeatures

TAXONOMY = Taxonomy.from_paths(["act > a1", "act > a2", "thing > t1", "thing > t2"])
PASSAGES = [
    ("they drink", "bar", "beer", "bar"),
    ("they cut", "bar", "iron", "bar"),
    ("they drink", "post", "beer", "post"),
    ("they cut", "post", "iron", "post"),
]
SENSES = [("a1",), ("t1", "a2"), ("a2",), ("t2",)]


def passages():
    every = np.arange(4)
    return SplitData(PASSAGES, SENSES, TAXONOMY, [(every, every)])


def points():
    X = np.random.default_rng(0).normal(size=(24, 3))
    y = np.array(["a1", "a2", "t1"] * 8, dtype=object)
    every = np.arange(24)
    splits = [(every[every % 2 != fold], every[every % 2 == fold]) for fold in (0, 1)]
    return SplitData(X, y, TAXONOMY, splits, [f"points/{item:02}" for item in range(len(y))])


@pytest.mark.parametrize("last", [LogisticRegression(), MultinomialNB()], ids=repr)
def test_answers_are_senses_that_the_lemma_has(last):
    model = AmongSenses(make_pipeline(ContextFeatures(min_df=1, lemma_weight=0.0), last))
    model.fit(PASSAGES, SENSES)
    asked = [("they drink", "bar", "beer", "post"), ("they cut", "post", "iron", "bar")]
    assert model.predict(asked).tolist() == ["a2", "t1"]
    assert model.predict(PASSAGES).tolist() == ["a1", "t1", "a2", "t2"]


def test_a_model_of_two_senses():
    model = AmongSenses(make_pipeline(ContextFeatures(min_df=1), LogisticRegression()))
    model.fit(PASSAGES[:2], SENSES[:2])
    assert model.predict(PASSAGES[:2]).tolist() == ["a1", "t1"]


def test_each_word_has_a_model_of_its_own():
    """The last word has one sense only; the others are told apart by their neighbours."""
    asked = [*PASSAGES, ("they see", "art", "now", "art")]
    senses = [*SENSES, ("a2",)]
    model = per_word(TAXONOMY, partial(HierarchicalSVC, random_state=0)).fit(asked, senses)
    assert model.predict(asked).tolist() == ["a1", "t1", "a2", "t2", "a2"]
    assert set(model.models_["bar"].classes_) == {"a1", "t1"}
    assert model.models_["art"] == "a2"


def test_vectors_of_contexts_have_unit_length():
    X = contexts().fit_transform(PASSAGES)
    np.testing.assert_allclose(X.power(2).sum(axis=1), 1.0)
    plain = contexts(is_unit=False).fit_transform(PASSAGES)
    assert set(plain.data.tolist()) == {1.0}


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ("the", "determiner"),
        ("Of", "preposition"),
        ("Smith", "name"),
        ("slowly", "adverb"),
        ("1988", "number"),
        (",", ","),
        ("cars", "plural"),
        ("glass", "noun"),
        ("wanted", "past"),
        ("n't", "negation"),
        ("", ""),
    ],
)
def test_word_classes(token, name):
    assert word_class(token) == name


def test_parts_of_speech_of_neighbours():
    features = PartsOfSpeech(reach=2).fit([("He raised the", "bar", "slowly.")])
    names = set(features.columns_.get_feature_names_out())
    assert names == {"P-2=past", "P-1=determiner", "P0=noun", "P1=adverb", "P2=."}
    row = features.transform([("", "bar", "")]).toarray()
    assert row.sum() == 1.0  # beyond the passage there is nothing that was seen


def test_any_right_sense_counts():
    answers = ["a2", "a2", "t1", "t2"]
    assert is_right(SENSES, answers) == 0.5
    # a1 and a2 share their parent, a2 and t1 do not.
    assert least_loss(SENSES, answers, TAXONOMY, levels="all") == (1 + 0 + 2 + 0) / 4
    assert least_loss(SENSES, answers, TAXONOMY, levels="above") == (0 + 0 + 1 + 0) / 4


def test_shuffling_moves_categories_and_keeps_the_shape():
    found = [shuffled(TAXONOMY, lambda taxonomy: taxonomy, seed) for seed in range(6)]
    for taxonomy in found:
        assert sorted(taxonomy.nodes) == sorted(TAXONOMY.nodes)
        assert sorted(taxonomy.leaves) == sorted(TAXONOMY.leaves)
        assert [len(taxonomy.children(node)) for node in ("act", "thing")] == [2, 2]
    assert len({frozenset(taxonomy.children("act")) for taxonomy in found}) > 1


def test_means_over_models_of_senses():
    kinds = [
        partial(per_word, model=partial(HierarchicalSVC, random_state=0, loss=loss))
        for loss in ("tree", "zero_one")
    ]
    single = [sense_trial(passages, kind) for kind in kinds]
    both = sense_trial(passages, *kinds)
    for name in ("accuracy", "taxonomy_loss", "supersense_loss"):
        expected = np.mean([part.items[name] for part in single], axis=0)
        np.testing.assert_allclose(both.items[name], expected)
        np.testing.assert_allclose(both.values[name], [expected.mean()])


def test_few_items_to_train_on():
    whole, drawn = points(), few_to_train(points, 2, seed=0)
    other = few_to_train(points, 2, seed=1)
    for (train, test), (few, same) in zip(whole.splits, drawn.splits, strict=True):
        assert set(few) <= set(train)
        assert np.unique(drawn.y[few], return_counts=True)[1].tolist() == [2, 2, 2]
        np.testing.assert_array_equal(test, same)
    pairs = zip(drawn.splits, other.splits, strict=True)
    assert any(set(a) != set(b) for (a, _), (b, _) in pairs)


def test_items_are_averaged_over_draws():
    draws = [partial(few_to_train, points, 2, seed) for seed in range(3)]
    model = partial(HierarchicalSVC, random_state=0)
    single = [drawn_trial(draw, model=model) for draw in draws]
    found = drawn_trial(*draws, model=model)
    assert found.values["n_train"] == [6.0] * 6
    for name in ("accuracy", "taxonomy_loss"):
        averaged, *parts = (shares(result, name) for result in (found, *single))
        np.testing.assert_allclose(averaged.values, np.mean([p.values for p in parts], axis=0))
        assert averaged.values.size == 24
        assert averaged.mean == pytest.approx(np.mean(found.values[name]))
        assert len(found.values[name]) == 6


def test_relative_gains():
    rng = np.random.default_rng(0)
    base = rng.uniform(1, 2, size=400)
    noise = rng.normal(scale=0.01, size=(2, 400))
    results = {
        "plain": Result({}, {"loss": base, "right": base}),
        "good": Result({}, {"loss": base / 1.5 + noise[0], "right": base * 1.2 + noise[1]}),
        "same": Result({}, {"loss": base, "right": base * 1.2}),
        "none": Result({}, {"loss": base * 0, "right": base}),
    }
    loss, right = Gain("good", "plain", "loss", lower=True), Gain("good", "plain", "right")
    assert math.expm1(loss.logarithm(results)[0]) == pytest.approx(0.5, abs=0.01)
    assert math.expm1(right.logarithm(results)[0]) == pytest.approx(0.2, abs=0.01)
    assert LargerRelativeGain("", loss, right).judge(results).verdict == "yes"
    assert LargerRelativeGain("", right, loss).judge(results).verdict == "no"
    other = Gain("same", "plain", "right")
    claim = LargerRelativeGain("", right, other)
    assert claim.judge(results).verdict == "within noise"
    assert claim.cells == ("good", "plain", "same")
    for least, verdict in ((0.4, "yes"), (0.6, "no"), (0.5, "within noise")):
        assert RelativeGain("", loss, least).judge(results).verdict == verdict
    assert RelativeGain("", loss, 0.5).judge(results).because.startswith("+50")
    nothing = LargerRelativeGain("", loss, Gain("none", "plain", "loss", lower=True))
    assert nothing.judge(results).verdict == "within noise"


def test_the_interval_of_a_relative_gain_is_that_of_the_bootstrap():
    rng = np.random.default_rng(1)
    a, b, c, d = rng.gamma(2.0, size=(4, 300)) + 1
    # Paired gains go together, so that the interval of their difference is narrow.
    c, d = a + 0.2 * c, b + 0.2 * d
    results = {
        "a": Result({}, {"m": a, "n": c}),
        "b": Result({}, {"m": b, "n": d}),
        "c": Result({}, {"n": c}),
        "d": Result({}, {"n": d}),
    }
    for names in (("a", "b"), ("c", "d")):
        claim = LargerRelativeGain("", Gain("a", "b", "m"), Gain(*names, "n"))
        told = claim.judge(results).because.split("[")[1].split("]")[0].split(",")
        drawn = []
        for _ in range(3000):
            i = rng.integers(300, size=300)
            j = i if names == ("a", "b") else rng.integers(300, size=300)
            ratios = a[i].mean() / b[i].mean(), c[j].mean() / d[j].mean()
            drawn.append(math.log(ratios[0] / ratios[1]))
        np.testing.assert_allclose(
            [float(t) for t in told], np.quantile(drawn, [0.025, 0.975]), atol=0.015
        )
