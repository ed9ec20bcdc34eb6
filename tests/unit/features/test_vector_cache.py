"""The cache of sentence vectors: found again, bounded, and never in the way."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sqlite3

import numpy as np
import pytest

from taxonomist.features import SentenceVectors, vector_cache
from taxonomist.features.vector_cache import VectorCache, default_folder

TEXTS = [f"text {k}" for k in range(40)]


class Counting:
    """An encoder that counts the texts that it was given."""

    fingerprint = "counting 1"

    def __init__(self):
        self.n_texts = 0

    def __call__(self, texts):
        self.n_texts += len(texts)
        return [[len(text), sum(map(ord, text)), 1.0] for text in texts]


@pytest.fixture(autouse=True)
def no_complaints(monkeypatch):
    monkeypatch.setattr(vector_cache, "_COMPLAINTS", set())


def test_a_text_is_encoded_once(tmp_path):
    first, second = Counting(), Counting()
    vectors = SentenceVectors(first, cache=tmp_path).fit(TEXTS[:30])
    again = SentenceVectors(second, cache=tmp_path).fit(TEXTS[:30])
    assert (first.n_texts, second.n_texts) == (30, 0)
    assert np.array_equal(vectors.transform(TEXTS), again.transform(TEXTS))
    assert first.n_texts + second.n_texts == 40


def test_cached_vectors_are_the_same_numbers(tmp_path):
    plain = SentenceVectors(Counting(), cache=None).encode(TEXTS)
    for _ in range(2):
        assert np.array_equal(SentenceVectors(Counting(), cache=tmp_path).encode(TEXTS), plain)


def test_another_encoder_has_other_vectors(tmp_path):
    SentenceVectors(Counting(), cache=tmp_path).fit(TEXTS)
    other = Counting()
    other.fingerprint = "counting 2"
    SentenceVectors(other, cache=tmp_path).fit(TEXTS)
    assert other.n_texts == 40


def test_a_function_without_fingerprint_is_not_cached(tmp_path):
    SentenceVectors(lambda texts: np.ones((len(texts), 2)), cache=tmp_path).fit(TEXTS)
    assert not list(tmp_path.iterdir())


def test_no_text_is_stored(tmp_path):
    SentenceVectors(Counting(), cache=tmp_path).fit(["a secret of ours"])
    assert b"secret" not in (tmp_path / vector_cache.FILE).read_bytes()


def test_the_oldest_vectors_are_dropped(tmp_path):
    cache = VectorCache(tmp_path, "x", 20 * (4 * 3 + vector_cache.OVERHEAD_BYTES) / 2**20)
    row = np.ones(3, dtype=np.float32)
    for text in TEXTS:
        cache.put([(text, row)])
    kept = cache.get(TEXTS)
    assert 18 <= len(kept) <= 20
    assert set(kept) == set(TEXTS[-len(kept) :])


def test_the_file_does_not_outgrow_the_bound(tmp_path):
    cache, row = VectorCache(tmp_path, "x", 1.0), np.ones(384, dtype=np.float32)
    for first in range(0, 4000, 500):
        cache.put([(f"text {k}", row) for k in range(first, first + 500)])
    assert (tmp_path / vector_cache.FILE).stat().st_size < 2.5 * 2**20


def complaints(caplog):
    return [record for record in caplog.records if "cache of sentence vectors" in record.message]


@pytest.mark.parametrize("what", ["no folder", "no database", "full"])
def test_a_folder_that_cannot_be_used_only_costs_time(what, tmp_path, monkeypatch, caplog):
    folder = tmp_path / "folder"
    if what == "no folder":
        folder.write_text("a file")
    if what == "no database":
        folder.mkdir()
        (folder / vector_cache.FILE).write_text("no database" * 100)
    if what == "full":
        connect = VectorCache._connect

        def small(self):
            connection = connect(self)
            connection.execute("PRAGMA max_page_count = 2")
            return connection

        monkeypatch.setattr(VectorCache, "_connect", small)
    encoder = Counting()
    with caplog.at_level(logging.WARNING):
        found = [SentenceVectors(encoder, cache=folder).encode(TEXTS) for _ in range(2)]
    assert np.array_equal(*found)
    assert encoder.n_texts == 80
    assert len(complaints(caplog)) == 1
    assert "encoded again" in complaints(caplog)[0].message


def test_a_read_only_cache_is_read(tmp_path, monkeypatch, caplog):
    SentenceVectors(Counting(), cache=tmp_path).fit(TEXTS[:20])
    path = tmp_path / vector_cache.FILE

    def read_only(self):
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)

    monkeypatch.setattr(VectorCache, "_connect", read_only)
    encoder = Counting()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            SentenceVectors(encoder, cache=tmp_path).fit(TEXTS)
    assert encoder.n_texts == 40
    assert len(complaints(caplog)) == 1


def fill(folder, first):
    for k in range(first, first + 20):
        VectorCache(folder, "x", 8.0).put([(f"text {k}", np.full(3, k, dtype=np.float32))])


def test_two_processes_may_write_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=fill, args=(tmp_path, first)) for first in (0, 10)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert [other.exitcode for other in others] == [0, 0]
    found = VectorCache(tmp_path, "x", 8.0).get([f"text {k}" for k in range(30)])
    assert {text: row.tolist() for text, row in found.items()} == {
        f"text {k}": [k] * 3 for k in range(30)
    }


def test_the_default_folder_is_the_users_cache(monkeypatch, tmp_path):
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert default_folder() == tmp_path / "taxonomist"
    SentenceVectors(Counting()).fit(TEXTS)
    assert os.listdir(tmp_path / "taxonomist") == [vector_cache.FILE]
