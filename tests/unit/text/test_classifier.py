"""``TextClassifier``: texts in, decisions out."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from taxonomist import Taxonomy
from taxonomist.datasets import Corpus
from taxonomist.errors import LabelError, ModelFileError
from taxonomist.models import CalibratedClassifier, HierarchicalSVC, PathSVC
from taxonomist.persistence import save
from taxonomist.text import MODELS, TextClassifier, make_model
from taxonomist.text.search import MOST_ITEMS, SearchProblem, candidates, search

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > fern"])
WORDS = {
    "cat": "purrs meows whiskers litter",
    "dog": "barks fetches kennel leash",
    "oak": "acorns bark timber leaves",
    "fern": "spores fronds shade leaves",
}


def texts_of(labels, seed=0):
    """Return texts with some words of each label, and of all."""
    rng = np.random.default_rng(seed)
    common = ["the", "of", "and", "it", "is", "here", "with", "some"]
    rows = []
    for row in labels:
        words = [word for label in row for word in rng.choice(WORDS[label].split(), 3)]
        rows.append(" ".join([*words, *rng.choice(common, 4)]))
    return rows


def single(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(list(WORDS), n).tolist()
    return texts_of([[label] for label in y], seed), y


def sets(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = [sorted(rng.choice(list(WORDS), rng.integers(1, 3), replace=False)) for _ in range(n)]
    return texts_of(y, seed), y


@pytest.mark.parametrize("name", MODELS)
def test_every_model_takes_one_category_and_label_sets(name):
    for make in (single, sets):
        texts, y = make()
        model = TextClassifier(TREE, model=name, calibration=None).fit(texts, y)
        assert model.is_multilabel_ == (make is sets)
        right = [
            set(found) - {"animal", "plant"} == set([true] if isinstance(true, str) else true)
            for found, true in zip(model.predict_labels(texts), y, strict=True)
        ]
        assert np.mean(right) > 0.6
        assert len(model.predict_paths(texts)) == len(texts)


@pytest.mark.parametrize("name", ["path", "svm"])
def test_answers_agree_with_each_other(name):
    texts, y = single()
    model = TextClassifier(TREE, model=name).fit(texts, y)
    new, truth = single(seed=1)
    predicted = model.predict(new)
    assert np.mean(predicted == truth) > 0.8
    labels, chances = model.predict_topk(new, 2)
    p = model.predict_proba(new)
    np.testing.assert_allclose(chances[:, 0], p.max(axis=1))
    np.testing.assert_array_equal(labels[:, 0], model.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    nodes = model.predict_node_proba(new)
    for label in WORDS:
        parent = TREE.parents(label)[0]
        assert (nodes[:, TREE.code(parent)] >= nodes[:, TREE.code(label)]).all()
    assert model.predict_paths(new[:1])[0] == (TREE.parents(predicted[0])[0], predicted[0])
    # One text at a time is the same as all at once.
    np.testing.assert_allclose(model.predict_proba(new[3:4])[0], p[3])


@pytest.mark.parametrize("name", ["path", "svm"])
def test_the_right_to_stop(name):
    texts, y = single()
    model = TextClassifier(TREE, model=name).fit(texts, y)
    unsure = ["purrs barks", "nothing known"]
    deep = model.predict(unsure, depth="confident", risk=0.45)
    assert deep[0] in {"animal", "cat", "dog", "ROOT"}
    assert model.predict(unsure, depth="confident", risk=1e-9).tolist() == ["ROOT", "ROOT"]
    assert set(model.predict(unsure, cost="tree")) <= set(TREE.nodes)
    plain = TextClassifier(TREE, model=name, calibration=None).fit(texts, y)
    for ask in ("predict_proba", "predict_node_proba"):
        with pytest.raises(ValueError, match="no probabilities"):
            getattr(plain, ask)(unsure)
    with pytest.raises(ValueError, match="no probabilities"):
        plain.predict(unsure, depth="confident")
    assert plain.predict_topk(unsure, 9)[0].shape == (2, 4)


def test_probabilities_are_fitted_as_the_labels_ask():
    for (texts, y), method in ((single(), "temperature"), (sets(), "isotonic")):
        assert TextClassifier(TREE, model="svm", cv=2).fit(texts, y).model_.method == method
    asked = TextClassifier(TREE, model="svm", cv=2, calibration="platt").fit(*sets())
    assert asked.model_.method == "platt"


@pytest.mark.parametrize("make", [single, sets])
def test_the_default_model_has_probabilities_of_its_own(make, tmp_path):
    texts, y = make()
    model = TextClassifier(TREE).fit(texts, y)
    assert type(model.model_) is PathSVC
    given = TextClassifier(TREE, model=PathSVC(TREE, random_state=0)).fit(texts, y)
    assert type(given.model_) is PathSVC
    asked = TextClassifier(TREE, calibration="platt", cv=2).fit(texts, y)
    assert (type(asked.model_), asked.model_.method) == (CalibratedClassifier, "platt")
    new, truth = make(seed=1)
    chances, nodes = model.predict_proba(new), model.predict_node_proba(new)
    codes = [TREE.code(label) for label in model.classes_]
    np.testing.assert_allclose(nodes[:, codes], chances, atol=1e-12)
    assert model.explain(new[0]).probability == pytest.approx(chances[0].max())
    assert model.evaluate(new, truth).reliability is not None
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    for ask in ("predict_proba", "predict_node_proba", "predict_labels", "predict_paths"):
        np.testing.assert_equal(getattr(loaded, ask)(new), getattr(model, ask)(new))
    for rule in ({}, {"depth": "confident", "risk": 0.3}, {"cost": "tree"}):
        np.testing.assert_equal(loaded.predict(new, **rule), model.predict(new, **rule))
    many, chances = model.predict_topk(new, 2)
    for i in (0, 7):
        one, chance = model.predict_topk(new[i : i + 1], 2)
        assert one.tolist() == many[i : i + 1].tolist()
        assert chance.tobytes() == chances[i].tobytes()


def test_auto_tries_a_few_models_and_shows_them():
    texts, y = single()
    seen = []
    model = TextClassifier(TREE, model="auto", cv=2).fit(texts, y, callback=seen.append)
    names = {trial.model for trial in model.search_}
    assert {"path", "flat", "svm", "mixture"} <= names
    tried = [f"{trial.model}, C={trial.C:g}" for trial in model.search_]
    assert sorted(step.what for step in seen if step.what in tried) == sorted(tried)
    scores = [trial.score for trial in model.search_]
    assert scores == sorted(scores, reverse=True)
    many, labels = sets()
    found = TextClassifier(TREE, model="auto", cv=2).fit(many, labels)
    assert {"path", "flat", "svm", "ranking", "markov"} <= {trial.model for trial in found.search_}
    assert all(0 <= trial.score <= 1 for trial in found.search_)
    flat = TextClassifier(model="auto", cv=2).fit(texts, y)
    assert flat.predict(texts[:1]).shape == (1,)


def test_the_search_is_bounded():
    labels = ["a", "b"] * MOST_ITEMS
    X = np.array([[1.0, 0], [0, 1]] * MOST_ITEMS)
    problem = SearchProblem({False: X, True: X}, labels, Taxonomy.flat("ab"), False)
    assert candidates(problem) == ["path", "flat", "svm"]
    dag = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    assert "markov" in candidates(SearchProblem({}, [["c"]], dag, True))
    assert len(search(problem._replace(labels=labels[:80]), 2, 0)) == 6


def test_explanations_do_not_repeat_the_steps_above_an_id_that_is_a_path():
    paths = ["animal > tame > other", "animal > wild", "plant > other"]
    tree = Taxonomy.from_paths(paths)
    labels = [tree.resolve(path) for path in paths] * 10
    texts = ["purrs sleeps", "howls hunts", "leaves acorns"] * 10
    why = TextClassifier(tree, features="words", names="off").fit(texts, labels).explain("purrs")
    assert why.path == ("animal", "tame", "animal > tame > other")
    lines = str(why).splitlines()
    assert lines[0].startswith("animal > tame > other  (")
    assert lines[3].split(":")[0].endswith("  other")
    assert "<strong>animal &gt; tame &gt; other</strong>" in why.to_html()


def test_explanations_show_words_at_their_levels():
    texts, y = single()
    model = TextClassifier(TREE, model="svm").fit(texts, y)
    why = model.explain("It BARKS <b>with</b> a leash", n=2)
    assert why.category == "dog"
    assert why.path == ("animal", "dog")
    assert {"barks", "leash"} <= {word for word, _, _ in why.words[:3]}
    assert str(why).splitlines()[0].startswith("animal > dog  (")
    page = why.to_html()
    assert "<b>" not in page
    assert ">BARKS</mark>" in page
    json.dumps(why.to_dict())
    total = sum(value for _, _, value, _ in why.levels)
    assert total == pytest.approx(why.score)
    assert model.explain("purrs", category="oak").category == "oak"
    neighbours = TextClassifier(TREE, model="neighbours", calibration=None).fit(texts, y)
    with pytest.raises(AttributeError, match="cannot explain its predictions"):
        neighbours.explain("purrs")


def test_evaluate_takes_texts_or_a_corpus():
    for make in (single, sets):
        texts, y = make()
        model = TextClassifier(TREE, model="flat").fit(texts, y)
        new, truth = make(seed=1)
        one = model.evaluate(new, truth)
        corpus = Corpus("new", TREE, truth, texts=new)
        assert one.measures == model.evaluate(corpus).measures
    with pytest.raises(ValueError, match="Pass the true labels"):
        model.evaluate(new)


def test_files_hold_the_whole_classifier(tmp_path):
    for make, name in ((single, "svm"), (sets, "markov"), (single, "mixture")):
        texts, y = make()
        model = TextClassifier(TREE, model=name, weights=None).fit(texts, y)
        model.save(tmp_path / "model", facts={"who": "me"})
        again = TextClassifier.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
        assert again.predict_labels(texts) == model.predict_labels(texts)
        assert again.get_params()["model"] == name
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict_proba(texts), model.predict_proba(texts))
    bare = HierarchicalSVC().fit([[1.0, 0], [0, 1]], ["a", "b"])
    save(bare, tmp_path / "bare")
    with pytest.raises(ModelFileError, match="takes vectors and not texts"):
        TextClassifier.load(tmp_path / "bare")


def test_pruning_says_what_it_costs():
    texts, y = single()
    model = TextClassifier(TREE, model="svm").fit(texts, y)
    cost = model.pruning_cost(0.99, *single(seed=1))
    assert cost["accuracy"] < 0
    assert model.pruning_cost(0.0, *single(seed=1))["accuracy"] == 0


def test_an_own_model_and_columns():
    texts, y = single()
    items = [{"title": text, "body": None} for text in texts]
    own = HierarchicalSVC(TREE, C=3)
    model = TextClassifier(TREE, model=own, weights={"title": 2}).fit(items, [[a] for a in y])
    assert not model.is_multilabel_
    assert np.mean(model.predict(items) == y) > 0.9
    assert clone(model).get_params()["C"] is None
    assert make_model("svm", TREE, is_multilabel=False, C=7.0).C == 7.0


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({"model": "smv"}, ["cat"], "Did you mean 'svm'"),
        ({"model": "svm"}, ["cat", "dog"], "every text needs labels"),
        ({"model": "svm"}, [], "no items to learn from"),
        ({"model": "svm"}, ["cats"], "cats"),
    ],
)
def test_bad_input_is_refused(options, labels, message):
    with pytest.raises((ValueError, LabelError), match=message):
        TextClassifier(TREE, **options).fit(["purrs"], labels)
