"""The built-in encoder, where it is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from taxonomist import persistence
from taxonomist.errors import ModelFileError, ParameterError
from taxonomist.features import SentenceVectors, onnx_encoder
from taxonomist.features.encoders import EncoderOptions

TEXTS = [
    "My card was swallowed by the machine.",
    "How do I open a savings account?",
    "The oak is a tree with acorns.",
    "café, naïve: 5 € ẞ",
    "one",
]

pytestmark = pytest.mark.usefixtures("need_minilm")


def weights():
    return Path(find_spec(onnx_encoder.WEIGHTS).submodule_search_locations[0]) / "model.onnx"


def test_similar_texts_have_similar_vectors():
    found = SentenceVectors().encode([*TEXTS, "The bank kept my debit card"])
    assert found.shape == (6, 384)
    likeness = found @ found[-1]
    assert likeness[0] > 0.5 > 0.2 > likeness[2]
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_a_vector_does_not_depend_on_the_others_or_on_threads():
    encoder = onnx_encoder.built_in(EncoderOptions())
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(TEXTS, n)) for n in (1, 1, 1, 2, 2, 3, 3, 5, 8, 30, 40)]
    alone = np.vstack([encoder.encode([text]) for text in texts])
    assert np.array_equal(encoder.encode(texts), alone)
    for options in (EncoderOptions(n_threads=3), EncoderOptions(batch_size=2)):
        assert np.array_equal(onnx_encoder.built_in(options).encode(texts[::-1])[::-1], alone)


@pytest.mark.parametrize("windows", ["first", "mean"])
def test_a_vector_is_the_sum_of_its_tokens(windows):
    vectors = SentenceVectors(windows=windows, tokens=16).fit(TEXTS)
    for text in [*TEXTS, " ".join(TEXTS)]:
        parts = vectors.parts(text)
        whole = parts.values.sum(axis=0) + parts.constant
        np.testing.assert_allclose(whole, vectors.transform([text])[0], atol=1e-6)
    words = [text[a:b] for a, b in zip(parts.starts, parts.ends, strict=True)]
    assert words[:3] == ["My", "card", "was"]
    assert len(words) == 14 if windows == "first" else len(words) > 30


def test_windows_matter_for_long_texts_only():
    first, mean = (SentenceVectors(windows=windows, tokens=16) for windows in ("first", "mean"))
    long = " ".join(TEXTS)
    assert np.array_equal(first.encode(TEXTS[:1]), mean.encode(TEXTS[:1]))
    assert not np.array_equal(first.encode([long]), mean.encode([long]))
    cut = long[: long.index("The oak")]
    assert np.array_equal(first.encode([long]), first.encode([cut]))


def test_texts_without_a_known_word_are_0():
    found = SentenceVectors().fit_transform(["", " ", "\x00", "ꙮꙮ ꙮ", "x" * 1_000_000, *TEXTS])
    assert not found[:5].any()
    assert found[5:].any(axis=1).all()


def test_a_text_of_a_megabyte_is_as_fast_as_others():
    vectors = SentenceVectors()
    found = vectors.encode(["word " * 200_000, "word " * 200])
    assert np.array_equal(found[0], found[1])


def test_a_lone_surrogate_is_encoded():
    assert SentenceVectors().encode(["a cat \ud800 sleeps"]).any()


def test_another_file_is_refused(tmp_path, monkeypatch):
    package = tmp_path / "some_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('code of the package')")
    content = bytearray(weights().read_bytes())
    content[-1] ^= 1
    (package / "model.onnx").write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(onnx_encoder, "WEIGHTS", "some_weights")
    with pytest.raises(ParameterError, match="SHA-256 .* is expected, so it is not used"):
        SentenceVectors().fit(TEXTS)


def test_a_folder_with_the_same_files_gives_the_same_vectors(tmp_path):
    shutil.copy(weights(), tmp_path)
    with pytest.raises(ParameterError, match="has no tokenizer.json or vocab.txt"):
        SentenceVectors(tmp_path).fit(TEXTS)
    import gzip

    (tmp_path / "vocab.txt").write_bytes(gzip.decompress(onnx_encoder.VOCABULARY.read_bytes()))
    assert np.array_equal(SentenceVectors(tmp_path).encode(TEXTS), SentenceVectors().encode(TEXTS))


@pytest.mark.parametrize("name", ["model.onnx", "vocab.txt", "tokenizer.json"])
def test_a_damaged_folder_is_named(name, tmp_path):
    shutil.copy(weights(), tmp_path)
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\na")
    (tmp_path / name).write_text("something else")
    with pytest.raises(ParameterError, match=name):
        SentenceVectors(tmp_path).fit(TEXTS)


def test_a_saved_transformer_knows_its_encoder(tmp_path, monkeypatch):
    vectors = SentenceVectors(n_jobs=1).fit(TEXTS)
    assert onnx_encoder.SHA256 in vectors.fingerprint_
    persistence.save(vectors, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert np.array_equal(again.transform(TEXTS), vectors.transform(TEXTS))
    again.tokens = 64
    with pytest.raises(ModelFileError, match="Install the same encoder"):
        again.transform(TEXTS)


def test_nothing_asks_the_network(monkeypatch, tmp_path):
    def refuse(*args, **options):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    onnx_encoder._network.cache_clear()
    onnx_encoder._tokenizer.cache_clear()
    assert SentenceVectors(cache=tmp_path).fit_transform(TEXTS).any()


def test_the_package_with_the_weights_is_not_imported():
    code = (
        "import sys\nfrom taxonomist.features import SentenceVectors\n"
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)\n"
        "SentenceVectors(cache=None).fit(['a cat'])\n"
        f"assert {onnx_encoder.WEIGHTS!r} not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
