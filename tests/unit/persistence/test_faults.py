"""Folders that are damaged, incomplete, foreign, newer or forged are refused with a reason."""

import hashlib
import json
import os
import shutil
import warnings

import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from taxonomist import HierarchicalSVC
from taxonomist.errors import ModelFileError
from taxonomist.persistence import describe, load, save
from tests.unit.persistence.examples import TREE, model_of, problem, same_answers

READERS = pytest.mark.parametrize("read", [load, describe])


@pytest.fixture
def folder(tmp_path):
    X, y, _ = problem()
    save(HierarchicalSVC(TREE, random_state=0).fit(X, y), tmp_path / "model", facts={"f1": 0.5})
    return tmp_path / "model"


def parts_of(folder):
    (inside,) = folder.glob("parts-*")
    return inside


def forge(folder, change):
    """Change the manifest, and give it the right checksum."""
    path = folder / "manifest.json"
    head = json.loads(path.read_text(encoding="utf-8"))
    change(head)
    head["sha256"] = "0" * 64
    blank = json.dumps(head).encode()
    path.write_bytes(blank.replace(b"0" * 64, hashlib.sha256(blank).hexdigest().encode(), 1))


def forge_state(folder, change):
    """Change the attributes of the model, and give them the right checksum."""
    path = parts_of(folder) / "model.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    change(state)
    path.write_text(json.dumps(state), encoding="utf-8")
    new = {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}

    def update(head):
        next(part for part in head["parts"] if part["name"] == "model.json").update(new)

    forge(folder, update)


@READERS
def test_nothing_there(read, tmp_path):
    with pytest.raises(ModelFileError, match="There is no model at .*nowhere. Check the path"):
        read(tmp_path / "nowhere")
    with pytest.raises(OSError, match="no model"):
        read(str(tmp_path / "nowhere"))


@READERS
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x80\x04\x95pickle", "not valid JSON"),
        (b"{}", "does not say 'taxonomist model'"),
        (b"[1, 2]", "does not say"),
        (b'{"format": "spaCy"}', "does not say"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"", "not valid JSON"),
    ],
)
def test_foreign_folders(read, content, why, tmp_path):
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(ModelFileError, match=f"is not a Taxonomist model: its .*{why}"):
        read(tmp_path)


@READERS
def test_other_files_and_folders(read, tmp_path):
    with pytest.raises(ModelFileError, match="is not a Taxonomist model: it has no manifest.json"):
        read(tmp_path)
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04")
    with pytest.raises(ModelFileError, match="it is a file, not a folder.*pickle"):
        read(tmp_path / "model.pkl")


@READERS
def test_a_newer_format(read, folder):
    forge(folder, lambda head: head.update(version=2))
    with pytest.raises(ModelFileError, match="version 2, .* reads versions up to 1: update Tax"):
        read(folder)
    # A newer format may have its checksum elsewhere, so its version counts first.
    text = (folder / "manifest.json").read_text().replace('"kind"', '"sort"')
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ModelFileError, match="format version 2"):
        read(folder)
    forge(folder, lambda head: head.update(version="1"))
    with pytest.raises(ModelFileError, match="format version 1,"):
        read(folder)


@READERS
def test_an_edited_manifest(read, folder):
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"f1": 0.5', b'"f1": 0.9'))
    with pytest.raises(ModelFileError, match="manifest.json is damaged or was edited: its SHA-256"):
        read(folder)


@READERS
def test_a_truncated_manifest(read, folder):
    path = folder / "manifest.json"
    whole = path.read_bytes()
    for n in (1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:n])
        expected = "is damaged or truncated" if n > 50 else "is not a Taxonomist model"
        with pytest.raises(ModelFileError, match=expected):
            read(folder)


def test_every_byte_of_the_manifest_counts(folder):
    path = folder / "manifest.json"
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ModelFileError):
            load(folder)


def test_every_byte_of_a_part_counts(folder):
    rng = np.random.default_rng(0)
    for part in parts_of(folder).iterdir():
        whole = part.read_bytes()
        for at in rng.choice(len(whole), size=min(30, len(whole)), replace=False).tolist():
            part.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
            with pytest.raises(ModelFileError, match=f"{part.name} is damaged: its SHA-256 is"):
                load(folder)
        part.write_bytes(whole)
    assert load(folder).converged_


@READERS
def test_truncated_and_missing_parts(read, folder):
    for part in sorted(parts_of(folder).iterdir()):
        whole = part.read_bytes()
        for changed in (whole[:-1], whole + b"x", b""):
            part.write_bytes(changed)
            match = f"{part.name} has {len(changed)} bytes, but should have {len(whole)}: it is tr"
            with pytest.raises(ModelFileError, match=match):
                read(folder)
        part.unlink()
        with pytest.raises(ModelFileError, match=f"{part.name}, a part of the model, cannot"):
            read(folder)
        part.write_bytes(whole)
    shutil.rmtree(parts_of(folder))
    with pytest.raises(ModelFileError, match="Restore the folder from a copy, or save the model"):
        read(folder)


def test_without_verification_only_sizes_count(folder):
    (part,) = parts_of(folder).glob("*float32.npy")
    whole = part.read_bytes()
    part.write_bytes(whole[:-1] + bytes([whole[-1] ^ 64]))
    assert load(folder, verify=False).converged_
    part.write_bytes(whole[:20])
    with pytest.raises(ModelFileError, match="has 20 bytes"):
        load(folder, verify=False)
    part.write_bytes(b"x" * len(whole))
    with pytest.raises(ModelFileError, match="cannot be read as a model .ValueError"):
        load(folder, verify=False)


@READERS
@pytest.mark.parametrize(
    "name", ["../secret.npy", "/etc/passwd", "..", "a/b.npy", "a\\b.npy", "", ".hidden", "a\n", 3]
)
def test_names_that_lead_out_of_the_folder(read, name, folder):
    forge(folder, lambda head: head["parts"][0].update(name=name))
    with pytest.raises(ModelFileError, match="not a plain file name.*do not trust"):
        read(folder)


@READERS
@pytest.mark.parametrize("name", ["..", "/tmp", "parts-../..", "parts-0123456g", None, "parts-1"])
def test_folders_that_lead_out_of_the_folder(read, name, folder):
    forge(folder, lambda head: head.update(folder=name))
    with pytest.raises(ModelFileError, match="as the folder of its parts.*do not trust"):
        read(folder)


@READERS
@pytest.mark.parametrize("parts", [None, 3, [3], [{}], [{"name": "model.json"}], {"a": 1}])
def test_manifests_without_sense(read, parts, folder):
    forge(folder, lambda head: head.update(parts=parts))
    with pytest.raises(ModelFileError):
        read(folder)


def numbers(values, dtype="<f8", **more):
    return {"$": "array", "dtype": dtype, "shape": [len(values)], "values": values, **more}


def piece(**changed):
    place = {"dtype": "<f4", "shape": [1], "part": "small-0-float32.npy", "start": 0, "order": "C"}
    return {"$": "array", **place, **changed}


SHAPE = {"shape": [10**12]}
MATRIX = {"shape": [1, 2], "data": numbers([1.0]), "indptr": numbers([0, 1], "<i4")}


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"x": 1}, "cannot be read as a model .KeyError"),
        ({"$": "call"}, "a value of the unknown kind 'call'"),
        ({"$": []}, "cannot be read as a model .TypeError"),
        ({"$": "again", "id": 99}, "cannot be read as a model .KeyError"),
        ({"$": "strings", "part": "../x"}, "lacks the part '../x'"),
        ({"$": "type", "name": "O"}, "type 'O', which is not allowed"),
        ({"$": "built-in", "name": "eval"}, "cannot be read as a model .KeyError"),
        ({"$": "scalar", "dtype": "O", "value": 1}, "which is not allowed"),
        ({"$": "object", "class": "Pass", "attributes": {}}, "Pass has fields, not attributes"),
        ({"$": "fields", "class": "Pass", "fields": {}}, "Pass has other fields"),
        ({"$": "fields", "class": "Taxonomy", "fields": {"edges": []}}, "Taxonomy has other"),
        (piece(dtype="|O"), "A part contains float32"),
        (piece(dtype="<i4"), "A part contains float32"),
        (piece(shape=[10**9]), "beyond the end of small-0-float32.npy"),
        (piece(start=-1), "beyond the end of small-0-float32.npy"),
        (piece(shape=[-1]), "beyond the end of small-0-float32.npy"),
        (numbers([1, 2], shape=[3]), "cannot be read as a model .ValueError"),
        ({"$": "packed", "dtype": "<f4", "mask": numbers([1], "|u1"), "kept": piece(), **SHAPE},
         "has a mask of 1 bytes"),
        ({"$": "csr_array", "indices": numbers([7], "<i4"), **MATRIX}, "cannot be read as a mod"),
        ({"$": "csr_array", "indices": numbers([-1], "<i4"), **MATRIX}, "cannot be read as a mod"),
    ],
)  # fmt: skip
def test_forged_values(node, message, folder):
    forge_state(folder, lambda state: state["attributes"].update(C=node))
    with pytest.raises(ModelFileError, match=message):
        load(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os.system", "class 'os.system', which this version of Taxonomist does"),
        ("HierarchicalSVM", "Did you mean 'HierarchicalSVC'"),
        (["a"], "class .'a'., which this version of Taxonomist does"),
    ],
)
def test_forged_classes(name, message, folder):
    forge_state(folder, lambda state: state.update({"class": name}))
    with pytest.raises(ModelFileError, match=message):
        load(folder)
    forge_state(folder, lambda state: state.pop("attributes"))
    with pytest.raises(ModelFileError):
        load(folder)


def test_nothing_is_imported_that_a_file_names(folder, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'done')!r}, 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("evil", "evil:X", "evil.X"):
        forge_state(folder, lambda state, name=name: state.update({"class": name}))
        with pytest.raises(ModelFileError, match="which this version of Taxonomist does not know"):
            load(folder)
    assert not (tmp_path / "done").exists()


def test_an_array_that_needs_pickle_is_refused(folder):
    (part,) = parts_of(folder).glob("*float32.npy")
    np.save(part, np.array([print], dtype=object), allow_pickle=True)
    data = part.read_bytes()

    def update(head):
        entry = next(e for e in head["parts"] if e["name"] == part.name)
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    forge(folder, update)
    with pytest.raises(ModelFileError, match="cannot be read as a model"):
        load(folder)


def test_parts_that_are_not_what_the_manifest_says(folder):
    def update(head):
        next(e for e in head["parts"] if "float32" in e["name"]).update(shape=[1])

    forge(folder, update)
    with pytest.raises(ModelFileError, match="not what the manifest says"):
        load(folder)


def test_parameters_that_came_later_have_their_defaults(folder):
    forge_state(folder, lambda state: state["attributes"].pop("stop"))
    assert load(folder).stop == HierarchicalSVC().stop


def test_another_version_of_scikit_learn_is_noted(folder, tmp_path):
    X, y, _ = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forge(folder, lambda head: head["libraries"].update({"scikit-learn": "1.0"}))
        load(folder)
    pipeline = make_pipeline(MaxAbsScaler(), model_of("HierarchicalSVC")).fit(X, y)
    save(pipeline, tmp_path / "pipeline")
    forge(tmp_path / "pipeline", lambda head: head["libraries"].update({"scikit-learn": "1.0"}))
    with pytest.warns(InconsistentVersionWarning, match="Pipeline from version 1.0"):
        load(tmp_path / "pipeline")


def test_what_a_model_says_about_itself(folder):
    about = describe(folder)
    assert about["kind"] == "HierarchicalSVC"
    assert about["format_version"] == 1
    assert about["classes"] == 5
    assert about["features"] == 8
    assert about["vocabulary"] is None
    assert about["taxonomy"] == {"nodes": 9, "leaves": 5, "height": 3, "is_tree": True}
    assert about["parameters"]["C"] == 1.0
    assert about["parameters"]["taxonomy"] == repr(TREE)
    assert about["facts"] == {"f1": 0.5}
    assert about["created"].endswith("+00:00")
    assert set(about["libraries"]) == {"taxonomist", "numpy", "scipy", "scikit-learn"}
    sizes = [path.stat().st_size for path in parts_of(folder).iterdir()]
    assert about["bytes"] == sum(sizes) == sum(part["bytes"] for part in about["parts"])
    for part in about["parts"]:
        data = (parts_of(folder) / part["name"]).read_bytes()
        assert part["sha256"] == hashlib.sha256(data).hexdigest()
    json.dumps(about, allow_nan=False)


def test_long_parameters_are_shown_in_short(tmp_path):
    model = HierarchicalSVC(loss=np.eye(3), node_weight={f"n{k}": 1.0 for k in range(99)}, C=np.inf)
    save(model, tmp_path / "model")
    shown = describe(tmp_path / "model")["parameters"]
    assert shown["loss"] == "ndarray(3, 3)"
    assert len(shown["node_weight"]) <= 200
    assert shown["C"] is None


def test_a_folder_that_can_be_moved_and_linked(folder, tmp_path):
    X, _, _ = problem()
    model = load(folder)
    folder.rename(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", tmp_path / "link")
    same_answers(model, load(tmp_path / "link"), X)
    save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    same_answers(model, load(tmp_path / "elsewhere"), X)
