"""Forged folders with right checksums: no raw errors, no hangs, little memory."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from taxonomist import persistence
from taxonomist.errors import ModelFileError
from taxonomist.models import CalibratedClassifier
from tests.unit.persistence.examples import TREE, model_of, problem
from tests.unit.persistence.forging import (
    HUGE,
    STORED,
    ask,
    folders,
    forge,
    seal,
    verdict_of,
    verdicts_of,
)

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
SEED = 20
MOST_MEBIBYTES = 500
AT_ONCE = 50
"""Folders that one process reads."""

GOOD = {"refused", "damaged", "answered"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Return models of all kinds with items: those that are stored, and some of today."""
    home = tmp_path_factory.mktemp("models")
    X, y, sets = problem()
    found = folders()
    today = (
        ("BlendedClassifier", y, None),
        ("BlendedClassifier", sets, None),
        ("HierarchicalSVC", y, 0.3),
    )
    for name, labels, prune in today:
        path = home / f"{name}-{len(found)}"
        persistence.save(model_of(name, TREE).fit(X, labels), path, prune=prune)
        found.append((path, X[:3]))
    for source, items in found:
        # Once in this process, so that the others need not compile.
        assert ask(source, items) == ("answered", "")
    return found


def try_forged(sources, home, numbers):
    """Forge folders by their numbers; return the kinds of verdicts and the bad ones."""
    kinds, bad = Counter(), []
    for start in range(0, len(numbers), AT_ONCE):
        block = numbers[start : start + AT_ONCE]
        jobs, told = [], []
        for number in block:
            source, items = sources[number % len(sources)]
            rng = np.random.default_rng([SEED, number])
            told.append((number, source.name, forge(source, home / str(number), rng)))
            jobs.append((home / str(number), items))
        for told_of, (folder, _), verdict in zip(told, jobs, verdicts_of(jobs), strict=True):
            kinds[verdict.kind] += 1
            if verdict.kind not in GOOD or verdict.mebibytes > MOST_MEBIBYTES:
                bad.append((told_of, verdict))
            shutil.rmtree(folder)
    return kinds, bad


def test_forged_folders_are_refused_or_answer(sources, tmp_path):
    kinds, bad = try_forged(sources, tmp_path, range(150))
    assert not bad
    assert kinds["refused"] > 60
    assert kinds["answered"] > 20


def test_siblings_that_are_a_tuple_do_not_fail_without_a_word(tmp_path):
    wanted = STORED / "version-2" / "HierarchicalRLS"
    source, items = next(each for each in folders() if each[0] == wanted)
    forge(source, tmp_path / "model", np.random.default_rng([SEED, 2464]))
    assert ask(tmp_path / "model", items)[0] in GOOD


@pytest.mark.slow
def test_two_thousand_forged_folders(sources, tmp_path):
    kinds, bad = try_forged(sources, tmp_path, range(1000, 3000))
    assert not bad
    assert kinds.total() == 2000


# One by one -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    X, y, _ = problem()
    persistence.save(model_of("HierarchicalSVC").fit(X, y), tmp_path / "model")
    return tmp_path / "model"


def change(folder, path, value):
    """Replace a value of the description, given by its keys."""
    (inside,) = folder.glob("parts-*")
    state = json.loads((inside / "model.json").read_text())
    holder = state["attributes"]
    for key in path[:-1]:
        holder = holder[key]["attributes"]
    if value is None:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    (inside / "model.json").write_text(json.dumps(state))
    seal(folder)


def test_features_of_infinite_weight_are_damage(tmp_path):
    source = STORED / "version-2-path" / "TextClassifier"
    shutil.copytree(source, tmp_path / "model")
    model = persistence.load(source, mmap=False)
    model.features_.idf_[2] = np.inf
    persistence.save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="idf_ does not fit the rest"):
        persistence.load(tmp_path / "model")


PACKED = {
    "$": "packed",
    "dtype": "<f8",
    "shape": [2**40],
    "mask": {"$": "array", "dtype": "|u1", "shape": [1], "values": [1]},
    "kept": {"$": "array", "dtype": "<f8", "shape": [1], "values": [1.0]},
}
SPARSE = {"$": "csr_array", "shape": [1, 10**15], "data": [], "indices": [], "indptr": []}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"$": "range", "items": [0, 10**9, 1]}, "much larger than its files"),
        (HUGE, "much larger than its files"),
        ({"$": "array", "dtype": "<f8", "shape": [10**12], "values": [1.0]}, "cannot be read"),
        ({"$": "array", "dtype": "|O", "shape": [10**12], "values": [1.0]}, "cannot be read"),
        ({"$": "array", "dtype": "(1000000000,)f8", "shape": [1], "values": [1]}, "not allowed"),
        (PACKED, "has a mask of 1 bytes"),
        ({"$": "array", "dtype": "<f8", "shape": [1e9], "values": [1.0]}, "not the shape"),
        (SPARSE, "cannot be read"),
        ([HUGE | {"dtype": "<U1000000"}] * 100, "much larger than its files"),
    ],
)
def test_numbers_are_bounded_before_anything_is_allocated(value, message, folder):
    change(folder, ["C"], value)
    verdict = verdict_of(folder, problem()[0])
    assert verdict.kind == "refused"
    assert verdict.mebibytes < 200
    with pytest.raises(ModelFileError, match=message):
        persistence.load(folder)


@pytest.mark.parametrize("shape", [(10**12,), (5,), (0,)])
def test_arrays_must_have_the_size_of_their_file(shape, folder):
    (part,) = folder.glob("parts-*/*float32.npy")
    data = part.read_bytes()
    with part.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(data[-16:])
    seal(folder)
    with pytest.raises(ModelFileError, match="which is not its shape"):
        persistence.load(folder)


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    "path",
    [
        *(["targets_"], ["scorer_"], ["classes_"], ["n_features_in_"], ["taxonomy_"]),
        *(["scorer_", "W"], ["scorer_", "rows"], ["scorer_", "attributes"]),
        *(["targets_", "categories"], ["targets_", "labels"]),
    ],
)
def test_missing_and_wrong_attributes_are_damage(path, mmap, folder):
    whole = [(file, file.read_bytes()) for file in folder.rglob("*.json")]
    for value in (None, 3, "x", True, [], {"$": "dict", "items": {}}):
        for file, data in whole:
            file.write_bytes(data)
        change(folder, path, value)
        with pytest.raises(ModelFileError, match="damaged|cannot be read as a model"):
            persistence.load(folder, mmap=mmap)


def make_fifo(path, _):
    os.mkfifo(path)


def link_out(path, data):
    other = path.parents[2] / "secret"
    other.write_bytes(data)
    path.symlink_to(other)


def link_to_device(path, _):
    path.symlink_to("/dev/zero")


def make_folder(path, _):
    path.mkdir()


@pytest.mark.parametrize("make", [make_fifo, link_out, link_to_device, make_folder])
@pytest.mark.parametrize("name", ["manifest.json", "parts-*/model.json", "parts-*/*float32.npy"])
@pytest.mark.parametrize("read", [persistence.load, persistence.describe])
def test_only_regular_files_of_the_folder_are_opened(make, name, read, folder):
    (path,) = folder.glob(name)
    data = path.read_bytes()
    path.unlink()
    make(path, data)
    assert verdict_of(folder, problem()[0]).kind == "refused"
    with pytest.raises(ModelFileError, match="not a regular file|leads out|cannot be read|no mani"):
        read(folder)


def test_a_manifest_that_is_a_pipe_is_not_replaced(folder):
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(ModelFileError, match="is not a Taxonomist model, so it is not replaced"):
        persistence.save(model_of("HierarchicalSVC"), folder)


def test_models_that_take_texts_and_dense_items_are_loaded(tmp_path):
    X, y, _ = problem()
    texts = [" ".join(f"w{k} " * int(n) for k, n in enumerate(row)) or "none" for row in X]
    reader = make_pipeline(CountVectorizer(), model_of("LidstoneNB"))
    wide = np.hstack([X, np.zeros((len(X), 5000))])
    scaled = make_pipeline(StandardScaler(), model_of("HierarchicalSVC"))
    for model, items in ((reader, texts), (scaled, wide)):
        fitted = CalibratedClassifier(model, cv=2).fit(items, y)
        persistence.save(fitted, tmp_path / "model")
        found = persistence.load(tmp_path / "model")
        assert found.predict(items).tolist() == fitted.predict(items).tolist()


def test_links_inside_the_folder_are_followed(folder):
    (path,) = folder.glob("parts-*/*float32.npy")
    path.rename(path.with_name("other.npy"))
    path.symlink_to("other.npy")
    assert ask(folder, problem()[0]) == ("answered", "")
