"""Sentence vectors beside the words of a text classifier."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import PathSVC, Taxonomy, TextClassifier
from taxonomist.errors import MissingExtraError, ModelFileError, ParameterError
from taxonomist.features import SentenceVectors, TextFeatures, onnx_encoder
from taxonomist.text import vector_columns, vector_weight
from taxonomist.text.budget import Budget
from taxonomist.text.joined_columns import join
from taxonomist.text.vector_explanation import WHOLE

TAXONOMY = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak", "plant > rose"])
MEANINGS = {
    "cat": ("purrs", "meows", "kitten", "whiskers", "tabby", "feline", "tomcat", "paws"),
    "dog": ("barks", "puppy", "kennel", "leash", "hound", "canine", "terrier", "fetches"),
    "oak": ("acorns", "leaves", "bark", "timber", "forest", "trunk", "branches", "wood"),
    "rose": ("petals", "thorns", "bloom", "garden", "fragrant", "bud", "bouquet", "flower"),
}
KNOWN = {word: row for row, words in enumerate(MEANINGS.values()) for word in words}


def meaning(texts):
    """Encode a text by what its words mean, which no two texts need to share."""
    rows = np.full((len(texts), len(MEANINGS) + 1), 0.1)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            if word in KNOWN:
                row[KNOWN[word]] += 1.0
    return rows


def corpus(n, seed=0, words=8):
    rng = np.random.default_rng(seed)
    labels = [list(MEANINGS)[k] for k in rng.integers(len(MEANINGS), size=n)]
    fill = [f"filler{k}" for k in range(30)]
    texts = [
        " ".join([*rng.choice(MEANINGS[label][:words], 1), *rng.choice(fill, 5)])
        for label in labels
    ]
    return texts, labels


TRAIN, TEST = corpus(40), corpus(200, seed=1)
WORDS = {"features": "words", "min_df": 2, "names": "off"}


def classifier(**options):
    """Return a classifier with words of at least two documents, and without names."""
    return TextClassifier(TAXONOMY, **{**WORDS, **options})


OFF = classifier(vectors="off").fit(*TRAIN)
ON = classifier(vectors=meaning).fit(*TRAIN)


def test_vectors_help_where_words_do_not_recur():
    assert ON.vector_weight_ > 0
    assert ON.score(*TEST) > OFF.score(*TEST) + 0.1
    assert ON.training_["vectors"]["weight"] == ON.vector_weight_
    trials = ON.training_["vectors"]["trials"]
    assert {trial["weight"] for trial in trials} <= set(vector_weight.WEIGHTS)
    assert max(trials, key=lambda trial: trial["likelihood"])["weight"] == ON.vector_weight_


def test_a_text_with_a_vector_needs_no_known_words():
    texts = ["unheard unseen", ""]
    assert ON.answer(texts).known_share().tolist() == [1, 0]
    assert OFF.answer(texts).known_share().tolist() == [0, 0]


def test_vectors_that_say_nothing_are_left_out():
    same = lambda texts: np.ones((len(texts), 3))  # noqa: E731
    model = classifier(vectors=same).fit(*TRAIN)
    assert model.vectors_ is None
    assert model.vector_weight_ == 0
    assert "words alone" in model.training_["vectors"]["said"]
    assert np.array_equal(model.predict_proba(TEST[0]), OFF.predict_proba(TEST[0]))


def test_words_alone_are_what_they_were(monkeypatch):
    monkeypatch.setattr(onnx_encoder, "is_installed", lambda: False)
    auto = classifier().fit(*TRAIN)
    features = TextFeatures()
    X = features.fit_transform(TRAIN[0])
    plain = PathSVC(TAXONOMY, complement=True, random_state=0).fit(X, TRAIN[1])
    wanted = plain.predict_proba(features.transform(TEST[0]))
    for model in (OFF, auto):
        assert np.array_equal(model.predict_proba(TEST[0]), wanted)
        assert model.vectors_ is None
        assert "vectors" not in model.training_


def test_the_columns_are_words_and_then_vectors():
    features = TextFeatures()
    X = features.fit_transform(TRAIN[0])
    rows = SentenceVectors(meaning).fit_transform(TRAIN[0])
    joined = join(X, rows, 0.5)
    assert isinstance(joined, csr_array)
    np.testing.assert_allclose(joined.toarray(), np.hstack([X.toarray(), 0.5 * rows]))
    assert join(X, rows, 0.0) is X
    assert np.array_equal(ON._vectors(TRAIN[0]).toarray()[:, : X.shape[1]], X.toarray())


def test_the_centre_comes_from_training_items_alone():
    wanted = SentenceVectors(meaning).fit(TRAIN[0]).centre_
    ON.predict(TEST[0])
    assert np.array_equal(ON.vectors_.centre_, wanted)


@pytest.mark.parametrize("model", ["svm", "flat", "auto"])
def test_other_models_use_them_too(model):
    found = classifier(model=model, vectors=meaning, budget=None).fit(*TRAIN)
    assert found.score(*TEST) > OFF.score(*TEST)


def test_label_sets_use_them_too():
    texts, labels = TRAIN
    sets = [[label, "rose"] for label in labels]
    model = classifier(vectors=meaning).fit(texts, sets)
    words = classifier(vectors="off").fit(texts, sets)
    truth = [[label, "rose"] for label in TEST[1]]
    assert model.vector_weight_ > 0
    found, wanted = (each.evaluate(TEST[0], truth).measures for each in (model, words))
    assert found["hierarchical_f1"].estimate > wanted["hierarchical_f1"].estimate


def test_a_single_text_per_category_gets_a_guess():
    texts = [words[0] + " thing" for words in MEANINGS.values()]
    model = classifier(vectors=meaning).fit(texts, list(MEANINGS))
    assert model.vector_weight_ == vector_weight.USUAL
    assert model.predict(["meows thing", "hound thing"]).tolist() == ["cat", "dog"]


def test_counts_take_no_vectors(monkeypatch):
    with pytest.raises(ParameterError, match="'mixture' takes word counts and cannot use"):
        classifier(model="mixture", vectors=meaning).fit(*TRAIN)
    monkeypatch.setattr(onnx_encoder, "is_installed", lambda: True)
    model = classifier(model="mixture", vectors="auto").fit(*TRAIN)
    assert model.used_vectors is None


def test_mappings_and_counted_texts_are_encoded_whole():
    texts = [{"title": text, "body": "", "id": "x9"} for text in TRAIN[0]]
    weights = {"title": 1, "body": 1, "id": 0}
    model = classifier(vectors=meaning, weights=weights).fit(texts, TRAIN[1])
    assert vector_columns.whole_texts(model.features_, texts[:1]) == [TRAIN[0][0] + "\n"]
    counted = TextFeatures().count(TRAIN[0])
    again = classifier(vectors=meaning).fit(counted, TRAIN[1])
    assert np.array_equal(again.predict_proba(TEST[0]), ON.predict_proba(TEST[0]))
    tested = TextFeatures().count(TEST[0])
    assert np.array_equal(again.predict_proba(tested), ON.predict_proba(TEST[0]))


def test_texts_may_be_an_iterator():
    model = classifier(vectors=meaning).fit(iter(TRAIN[0]), TRAIN[1])
    assert np.array_equal(model.predict_proba(TEST[0]), ON.predict_proba(TEST[0]))


@pytest.mark.parametrize("vectors", [None, 3, "yes", "no/such/folder"])
def test_bad_values_are_named(vectors):
    with pytest.raises(ParameterError, match="vectors must be 'auto', 'on', 'off'"):
        classifier(vectors=vectors).fit(*TRAIN)


def test_a_bad_encoder_is_named():
    with pytest.raises(ParameterError, match="NaN or infinity"):
        TextClassifier(vectors=lambda texts: np.full((len(texts), 2), np.nan)).fit(*TRAIN)


def test_on_without_the_extra_says_what_to_install(monkeypatch):
    monkeypatch.setattr(onnx_encoder, "WEIGHTS", "no_such_package")
    with pytest.raises(MissingExtraError, match=r"pip install 'taxonomist\[vectors\]'"):
        classifier(vectors="on").fit(*TRAIN)


def test_auto_keeps_within_the_budget(monkeypatch):
    def slow(texts):
        clock[0] += len(texts)
        return meaning(texts)

    clock = [0.0]
    monkeypatch.setattr(onnx_encoder, "is_installed", lambda: True)
    monkeypatch.setattr(vector_columns, "Budget", lambda seconds: Budget(seconds, lambda: clock[0]))
    wanted = vector_columns.wanted_vectors
    monkeypatch.setattr(
        "taxonomist.text.classifier.wanted_vectors",
        lambda given, model, n_jobs: wanted(slow, model, n_jobs),
    )
    model = classifier(budget=20.0).fit(*TRAIN)
    assert model.vectors_ is None
    assert "20 s are allowed" in model.training_["vectors"]["said"]
    assert np.array_equal(model.predict_proba(TEST[0]), OFF.predict_proba(TEST[0]))
    assert classifier(budget=400.0).fit(*TRAIN).vector_weight_ > 0

    def slow_trial(self, weight):
        clock[0] += 100
        return np.array([-1.0])

    monkeypatch.setattr(vector_weight.WeightProblem, "likelihoods", slow_trial)
    model = classifier(budget=100.0).fit(*TRAIN)
    assert "no time was left" in model.training_["vectors"]["said"]


@pytest.mark.parametrize("is_clear", [False, True])
@pytest.mark.parametrize("n_items", [60, 1200])
def test_few_documents_have_the_usual_weight_unless_another_is_clearly_better(
    is_clear, n_items, monkeypatch
):
    means = {0.0: -2.0, 0.35: -1.9, 0.7: -1.5, 1.0: -1.4, 1.4: -1.3, 2.0: -1.4}

    def likelihoods(self, weight):
        noise = 1e-3 if is_clear else 2.0
        rng = np.random.default_rng(int(100 * weight))
        found = rng.normal(size=400)
        return means[weight] + noise * (found - found.mean())

    monkeypatch.setattr(vector_weight.WeightProblem, "likelihoods", likelihoods)
    words = csr_array(np.eye(n_items))
    labels = ["cat", "dog"] * (n_items // 2)
    options = {"random_state": 0}
    problem = vector_weight.WeightProblem(
        words, np.zeros((n_items, 3)), labels, TAXONOMY, False, options
    )
    weight, trials = vector_weight.try_weights(problem)
    assert weight == (1.4 if is_clear or n_items > 1000 else 0.7)
    assert trials[0].weight == 1.4
    means[0.0] = -1.45
    means[0.35] = -1.44
    assert vector_weight.try_weights(problem)[0] == 0.35
    # Rows of words and characters are longer, so that vectors need more weight.
    longer = problem._replace(words=csr_array(1.5 * words))
    means[0.0] = -2.0
    assert longer.usual == (1.0 if n_items < 1000 else None)


def test_names_are_learned_from_when_a_weight_is_tried(monkeypatch):
    seen = []
    fit_held_out = PathSVC.fit_held_out

    def spied(self, X, y, sample_weight=None, *, cv, make_taker):
        seen.append((X.shape[0], y[40:], cv))
        return fit_held_out(self, X, y, sample_weight, cv=cv, make_taker=make_taker)

    monkeypatch.setattr(vector_columns, "try_weights", lambda problem, *_: seen.append(problem))
    with pytest.raises(TypeError):
        classifier(vectors=meaning, names="on").fit(*TRAIN)
    (problem,) = seen
    seen.clear()
    monkeypatch.setattr(PathSVC, "fit_held_out", spied)
    assert problem.names.texts == ["cat", "dog", "oak", "rose"]
    assert (problem.likelihoods(1.0) < 0).all()
    ((n_rows, added, folds),) = seen
    assert (n_rows, added) == (44, ["cat", "dog", "oak", "rose"])
    assert len(folds) == 10
    assert all(set(range(40, 44)) <= set(train.tolist()) for train, _ in folds)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(40))


def test_names_are_encoded_once():
    texts = []

    def encode(given):
        texts.extend(given)
        return meaning(given)

    model = classifier(vectors=encode, names="on").fit(*TRAIN)
    assert model.vector_weight_ > 0
    assert model.name_weight_ > 0
    assert sorted(texts) == sorted({*TRAIN[0], *MEANINGS})


def test_refit_keeps_the_weight():
    again = ON.refit(*TRAIN)
    assert again.vector_weight_ == ON.vector_weight_
    assert again.training_["vectors"]["trials"] == []
    assert np.array_equal(again.predict_proba(TEST[0]), ON.predict_proba(TEST[0]))
    assert OFF.refit(*TRAIN).vectors_ is None


def test_steps_are_told():
    told = []
    classifier(vectors=meaning).fit(*TRAIN, callback=told.append)
    said = [step.what for step in told]
    assert "encoding texts" in said
    assert "vectors with weight 0.35" in said


def test_telling_words_are_words():
    from taxonomist.workflow.telling_words import telling_words

    found = telling_words(ON)
    assert set(found) == set(TAXONOMY.nodes[1:])
    assert {word for words in found.values() for word, _ in words} <= set(ON.features_.terms_)
    assert all(1 < len(words) <= 8 for words in found.values())


# Files ------------------------------------------------------------------------------------------


def test_a_function_is_passed_again_after_loading(tmp_path):
    ON.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"TextClassifier.load\(path, encoder=function\)"):
        TextClassifier.load(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model", encoder=meaning)
    assert again.vector_weight_ == ON.vector_weight_
    assert np.array_equal(again.predict_proba(TEST[0]), ON.predict_proba(TEST[0]))
    narrow = TextClassifier.load(tmp_path / "model", encoder=lambda texts: meaning(texts)[:, :2])
    with pytest.raises(ParameterError, match="vectors of 2 numbers, but of 5 in training"):
        narrow.predict(TEST[0])


def test_an_old_file_has_no_vectors(tmp_path):
    OFF.save(tmp_path / "model")
    path = tmp_path / "model"
    again = TextClassifier.load(path)
    for name in ("vectors_", "vector_weight_"):
        del vars(again)[name]
    assert again.used_vectors is None
    assert np.array_equal(again.predict_proba(TEST[0]), OFF.predict_proba(TEST[0]))
    assert again.refit(*TRAIN).vectors_ is None


@pytest.mark.usefixtures("need_minilm")
def test_the_built_in_encoder_is_checked_on_loading(tmp_path, monkeypatch):
    model = classifier(vectors="on").fit(*TRAIN)
    assert model.vector_weight_ > 0
    assert model.score(*TEST) > OFF.score(*TEST)
    model.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(TEST[0]), model.predict_proba(TEST[0]))
    assert onnx_encoder.SHA256 in json.dumps(again.training_)
    monkeypatch.setattr(onnx_encoder, "WEIGHTS", "no_such_package")
    with pytest.raises(MissingExtraError, match=r"pip install 'taxonomist\[vectors\]'"):
        TextClassifier.load(tmp_path / "model")


def test_words_alone_never_import_the_runtime(tmp_path):
    import subprocess
    import sys

    OFF.save(tmp_path / "model")
    code = (
        "import sys; from taxonomist import TextClassifier\n"
        f"TextClassifier.load({str(Path(tmp_path / 'model'))!r}).predict(['a cat'])\n"
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Explanations -----------------------------------------------------------------------------------


def assert_exact(model, texts):
    """Assert that parts sum to scores, and that words and the rest sum to each part."""
    scores = model.model_.decision_function(model._vectors(texts))
    columns = model.classes_.tolist()
    for text, row in zip(texts, scores, strict=True):
        for category in columns:
            found = model.explain(text, n=10_000, category=category)
            assert found.score == pytest.approx(row[columns.index(category)], abs=1e-4)
            total = sum(value for _, _, value, _ in found.levels)
            assert total == pytest.approx(found.score, abs=1e-9)
            for level, (_, _, _, words) in enumerate(found.levels):
                assert set(found.meaning[level]) <= {word for word, _ in words}
    return found


@pytest.mark.parametrize("model", ["path", "svm"])
def test_the_vector_of_a_function_is_one_part(model):
    fitted = classifier(model=model, vectors=meaning, calibration=None).fit(*TRAIN)
    found = assert_exact(fitted, TEST[0][:3])
    assert {word for level in found.meaning for word in level} == {WHOLE}
    assert WHOLE in str(found)


class Tokens(SentenceVectors):
    """Sentence vectors whose tokens are known: words, and a mark at each end."""

    def _encoder(self):
        return self

    fingerprint = None

    @staticmethod
    def token_vectors(text):
        from taxonomist.features.encoders import TokenVectors

        words = ["", *text.split(), ""]
        starts, place = [0], 0
        for word in text.split():
            starts.append(text.index(word, place))
            place = starts[-1] + len(word)
        starts.append(0)
        ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
        values = meaning(words) / len(words)
        return TokenVectors(np.array(starts), np.array(ends), values)

    def encode(self, texts, on_progress=None):
        rows = np.array([self.token_vectors(text).values.sum(axis=0) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("model", ["path", "svm", "flat"])
@pytest.mark.parametrize("is_multilabel", [False, True])
def test_the_vector_is_shared_out_over_words(model, is_multilabel):
    texts, labels = TRAIN
    labels = [[label, "rose"] for label in labels] if is_multilabel else labels
    vectors = Tokens(meaning)
    fitted = classifier(model=model, vectors=vectors, calibration=None)
    fitted.fit(texts, labels)
    text = TEST[0][0] + ", hound!"
    found = fitted.explain(text, n=100, category="dog")
    assert found.meaning
    row = fitted._vectors([text])
    n_terms = len(fitted.features_.terms_)
    plain = fitted.model_.answer(row).explain(0, 10_000, category="dog")
    shared = {word for level in found.meaning for word in level}
    assert "hound" in shared
    assert not any(word.startswith("\0") for word in found.totals)
    parts = fitted.vectors_.parts(text)
    for level, part in zip(found.meaning, plain.parts, strict=True):
        # The naive twin: what the dense columns add, without the part of the constant.
        named = [(name, share) for name, share in part.features if name.isdigit()]
        columns = {int(name): share for name, share in named if int(name) >= n_terms}
        slopes = {k: share / row[0, k] for k, share in columns.items()}
        constant = sum(
            slopes[k] * fitted.vector_weight_ * parts.constant[k - n_terms] for k in slopes
        )
        wanted = sum(columns.values()) - constant
        assert sum(level.values()) == pytest.approx(wanted, abs=1e-5)
    assert sum(value for _, _, value, _ in found.levels) == pytest.approx(plain.score, abs=1e-9)
    if not is_multilabel:
        by_word = {word: sum(level.get(word, 0) for level in found.meaning) for word in shared}
        assert max(by_word, key=by_word.get) == "hound"


def test_the_shares_are_shown():
    fitted = classifier(vectors=Tokens(meaning)).fit(*TRAIN)
    found = fitted.explain("the hound <barks>", category="dog")
    assert "hound +" in str(found)
    words = found.to_dict()["levels"][-1]["words"]
    assert all(set(word) == {"word", "value", "meaning"} for word in words)
    page = found.to_html()
    assert "linear-gradient" in page
    assert "meaning" in page
    assert "linear-gradient" not in OFF.explain("the filler3 barks").to_html()
    assert "meaning" not in OFF.explain("the filler3 barks").to_dict()["levels"][0]


@pytest.mark.usefixtures("need_minilm")
def test_the_built_in_encoder_explains_every_word():
    model = classifier(vectors="on", calibration=None).fit(*TRAIN)
    found = assert_exact(model, ["An unforgettable hound, filler3 ﬁsh.", "kitten " * 200, ""])
    found = model.explain("An unforgettable hound, filler3 ﬁsh.")
    shared = {word for level in found.meaning for word in level}
    assert {"an", "unforgettable", "hound", ",", "filler3", "fish"} <= shared
