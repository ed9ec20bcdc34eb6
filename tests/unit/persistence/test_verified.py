"""Large models are compared with their checksums once, and again after any change."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from taxonomist import PathSVC
from taxonomist.errors import ModelFileError
from taxonomist.persistence import encoding, load, parts, pruned, save, verified
from taxonomist.persistence.later_check import LaterCheck
from taxonomist.persistence.parts import PartReader
from tests.unit.persistence.examples import TREE, problem


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a saved model that counts as large, with a cache of its own, as if saved long ago."""
    monkeypatch.setattr(parts, "NOTED_BYTES", 0)
    monkeypatch.setattr(verified, "SETTLED_NS", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    X, y, _ = problem()
    save(PathSVC(TREE, random_state=0).fit(X, y), tmp_path / "model")
    shutil.rmtree(tmp_path / "cache")
    time.sleep(0.01)
    return tmp_path / "model"


@pytest.fixture
def hashed(monkeypatch):
    """Count the files that are read for their checksums."""
    found, digest = [], hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *a: (found.append(1), digest(*a))[1])
    return found


def files_of(folder):
    return sorted(folder.glob("parts-*/*"))


def test_files_are_hashed_once_per_change(folder, hashed):
    n = len(files_of(folder))
    load(folder)
    assert len(hashed) == n
    load(folder)
    assert len(hashed) == n
    load(folder, verify="always")
    assert len(hashed) == 2 * n
    os.utime(files_of(folder)[0])
    load(folder)
    assert len(hashed) == 2 * n + 1
    load(folder, verify=False)
    assert len(hashed) == 2 * n + 1


def test_who_saves_a_model_need_not_hash_it_again(folder, hashed):
    for again in (load(folder), load(folder)):
        hashed.clear()
        save(again, folder)  # it replaces a model
        load(folder)
        # Few files have a time without fine digits by chance, and none where times are coarse.
        is_coarse = [path.stat().st_mtime_ns % verified.COARSE_NS == 0 for path in files_of(folder)]
        assert len(hashed) == sum(is_coarse)
        path = files_of(folder)[0]
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        with pytest.raises(ModelFileError, match="is damaged"):
            load(folder)


def test_coarse_times_are_not_trusted_for_what_was_written(folder, hashed, monkeypatch):
    monkeypatch.setattr(verified, "COARSE_NS", 1)
    save(load(folder), folder)
    hashed.clear()
    load(folder)
    assert len(hashed) == len(files_of(folder))


@pytest.mark.parametrize("keeps_time", [False, True])
def test_damage_is_found_after_a_good_load(folder, keeps_time):
    load(folder)
    for path in files_of(folder):
        before, status = path.read_bytes(), path.stat()
        path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        if keeps_time:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        with pytest.raises(ModelFileError, match="is damaged"):
            load(folder)
        path.write_bytes(before)
        load(folder)


def test_a_copy_is_another_file(folder, hashed, tmp_path):
    load(folder)
    n = len(hashed)
    (tmp_path / "copies").mkdir()
    os.rename(folder, tmp_path / "copies" / "model")
    load(tmp_path / "copies" / "model")
    assert len(hashed) == 2 * n


def test_a_file_that_just_changed_is_hashed_again(folder, hashed, monkeypatch):
    monkeypatch.setattr(verified, "SETTLED_NS", 10**15)
    load(folder)
    n = len(hashed)
    load(folder)
    assert len(hashed) == 2 * n


def test_notes_that_cannot_be_read_or_written_cost_time_only(folder, hashed, tmp_path, monkeypatch):
    load(folder)
    (note,) = (tmp_path / "cache" / "taxonomist" / "verified").glob("*.json")
    for content in (b"{", b"[]", b"\xff", b'{"model.json": 3}'):
        note.write_bytes(content)
        load(folder)
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "inside"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(home))
        monkeypatch.setenv("LOCALAPPDATA", str(home))
        load(folder)
    assert len(hashed) == 7 * len(files_of(folder))


def test_few_notes_are_kept(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(verified, "MOST_NOTES", 2)
    X, y, _ = problem()
    model = PathSVC(TREE, random_state=0).fit(X, y)
    for k in range(4):
        save(model, tmp_path / f"model{k}")
        time.sleep(0.01)
        np.testing.assert_array_equal(load(tmp_path / f"model{k}").predict(X), model.predict(X))
    assert len([*(tmp_path / "cache").rglob("*.json")]) == 2


def test_small_models_have_no_notes(folder, hashed, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "NOTED_BYTES", 10**9)
    load(folder)
    load(folder)
    assert len(hashed) == 2 * len(files_of(folder))
    assert not (tmp_path / "cache").exists()


def damage(path):
    """Change the last byte of a file."""
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


class TestLargeWeights:
    """Large weights are compared in the background, and used only when they were."""

    @pytest.fixture
    def folder(self, folder, monkeypatch):
        """Return a saved model whose weights have files of their own, and they alone are large."""
        monkeypatch.setattr(encoding, "OWN_FILE_BYTES", 1)
        save(load(folder), folder)
        (values,) = folder.glob("parts-*/*values.npy")
        monkeypatch.setattr(parts, "LATER_BYTES", values.stat().st_size)
        shutil.rmtree(folder.parent / "cache")
        time.sleep(0.01)
        return folder

    @pytest.fixture
    def values(self, folder):
        """Return the file of the weights."""
        (found,) = folder.glob("parts-*/*values.npy")
        return found

    def test_a_model_is_opened_before_they_were_compared(self, folder, monkeypatch):
        X, _, _ = problem()
        expected = load(folder).predict(X)
        shutil.rmtree(folder.parent / "cache")
        goes_on, compare = threading.Event(), PartReader._compare_rest
        monkeypatch.setattr(
            PartReader, "_compare_rest", lambda self: goes_on.wait() and compare(self)
        )
        model = load(folder)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(model.predict, X)
            with pytest.raises(TimeoutError):
                answer.result(timeout=0.1)
            goes_on.set()
            assert answer.result().tolist() == expected.tolist()

    @pytest.mark.parametrize(
        "use",
        [
            lambda model, X, _: model.predict(X),
            lambda model, X, _: model.explain(X[:1]),
            lambda model, *_: model.scorer_.top_features(2),
            lambda model, *_: pruned(model, 0.5),
            lambda model, *_: pickle.dumps(model),
            lambda model, *_: copy.deepcopy(model),
            lambda model, _, folder: save(model, folder / "again"),
        ],
        ids=["predict", "explain", "top_features", "pruned", "pickle", "deepcopy", "save"],
    )
    def test_damaged_weights_are_never_used(self, folder, values, use, tmp_path):
        X, _, _ = problem()
        use(load(folder), X, tmp_path)
        damage(values)
        model = load(folder)
        for _ in range(2):
            with pytest.raises(ModelFileError, match="values.npy is damaged: its SHA-256"):
                use(model, X, tmp_path)
        with pytest.raises(ModelFileError, match="is damaged"):
            load(folder, verify="always")
        with pytest.raises(ModelFileError, match="is damaged"):
            load(folder, mmap=False)

    def test_they_are_compared_once(self, folder, hashed):
        X, _, _ = problem()
        load(folder).predict(X)
        n = len(hashed)
        model = load(folder)
        assert "table" in vars(model.scorer_.weights)
        assert len(hashed) == n

    def test_a_model_that_was_removed_meanwhile_goes_on(self, folder, monkeypatch):
        X, y, _ = problem()
        expected = load(folder).predict(X)
        shutil.rmtree(folder.parent / "cache")
        goes_on, compare = threading.Event(), PartReader._compare_rest
        monkeypatch.setattr(
            PartReader, "_compare_rest", lambda self: goes_on.wait() and compare(self)
        )
        model = load(folder)
        save(PathSVC(TREE, C=9, random_state=0).fit(X, y), folder)
        goes_on.set()
        assert model.predict(X).tolist() == expected.tolist()

    def test_a_process_that_lost_the_thread_compares_them_itself(self):
        check = LaterCheck(lambda: None)
        check.wait()
        calls = []
        check._is_done, check._check = False, lambda: calls.append(1)
        check.wait()
        check.wait()
        assert calls == [1]
