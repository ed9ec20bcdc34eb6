"""Whatever moment a save ends at, there is the old model or the new one, and nothing else."""

import os
import shutil
import signal
import sys
import time
import traceback

import numpy as np
import pytest

from taxonomist import HierarchicalSVC
from taxonomist.errors import ModelFileError
from taxonomist.persistence import encoding, folder, load, parts, save
from tests.unit.persistence.examples import model_of, problem

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
WATCHED = (folder.__file__, parts.__file__, shutil.__file__)
CHANGES = ("open", "os.fsync", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree")
"""What goes to the disk, as Python announces it; opening a file may make it."""


def model(C):
    found = HierarchicalSVC(C=C)
    found.table_ = np.full(100, C)
    found.texts_ = [f"{C}"] * 5
    return found


def is_whole(found, *values):
    return (
        found.C in values and (found.table_ == found.C).all() and found.texts_ == [f"{found.C}"] * 5
    )


def kill_at(moment):
    """Have this process killed at the n-th line of the code that writes."""
    n_lines = 0

    def trace(frame, event, _):
        nonlocal n_lines
        if frame.f_code.co_filename not in WATCHED:
            return None
        n_lines += event == "line"
        if n_lines == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def kill_before(moment):
    """Have this process killed before the n-th change that it makes to the disk."""
    n_changes = 0

    def hook(event, _):
        nonlocal n_changes
        if event not in CHANGES:
            return
        n_changes += 1
        if n_changes == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def save_until(path, moment, new, kill):
    """Save in a process that is killed; return whether it was."""
    pid = os.fork()
    if pid == 0:
        try:
            os.fsync = lambda _: sys.audit("os.fsync")
            kill(moment)
            save(new, path)
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


MOMENTS = pytest.mark.parametrize(
    ("kill", "least"), [(kill_before, 20), pytest.param(kill_at, 150, marks=pytest.mark.slow)]
)


@MOMENTS
def test_a_kill_leaves_the_old_model_or_the_new(kill, least, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "OWN_FILE_BYTES", 400)
    monkeypatch.setattr(encoding, "LONG_LIST", 5)
    path = tmp_path / "model"
    found, moment, is_killed = [], 0, True
    while is_killed:
        moment += 1
        shutil.rmtree(path, ignore_errors=True)
        save(model(1.0), path)
        is_killed = save_until(path, moment, model(2.0), kill)
        copy = load(path)
        assert is_whole(copy, 1.0, 2.0)
        found.append(copy.C)
        # And the next save works, whatever was left.
        save(model(3.0), path)
        assert is_whole(load(path), 3.0)
    assert moment > least
    assert found == sorted(found)
    assert set(found) == {1.0, 2.0}


@MOMENTS
def test_a_kill_before_a_first_model_is_complete_leaves_none(kill, least, tmp_path):
    path, found, moment, is_killed = tmp_path / "model", [], 0, True
    while is_killed:
        moment += 1
        is_killed = save_until(path, moment, model(1.0), kill)
        found.append(path.exists())
        if path.exists():
            assert is_whole(load(path), 1.0)
        shutil.rmtree(path, ignore_errors=True)
    assert moment > least / 2
    assert found == sorted(found)
    assert set(found) == {False, True}
    visible = [entry.name for entry in tmp_path.iterdir() if not entry.name.startswith(".")]
    assert not visible


def test_kills_at_random_times(tmp_path):
    X, _, y = problem()
    first, second = (model_of("CoupledBinarySVC", C=C).fit(X, y) for C in (1.0, 3.0))
    answers = {m.C: m.decision_function(X) for m in (first, second)}
    save(first, tmp_path / "model")
    rng = np.random.default_rng(0)
    for _ in range(15):
        pid = os.fork()
        if pid == 0:
            while True:
                save(second, tmp_path / "model")
                save(first, tmp_path / "model")
        time.sleep(float(rng.uniform(0.005, 0.15)))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        copy = load(tmp_path / "model")
        assert (copy.decision_function(X) == answers[copy.C]).all()


def test_a_model_can_be_loaded_while_it_is_replaced(tmp_path):
    save(model(1.0), tmp_path / "model")
    pid = os.fork()
    if pid == 0:
        for k in range(30):
            save(model(1.0 + k % 2), tmp_path / "model")
        os._exit(0)
    n_loads = 0
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        assert is_whole(load(tmp_path / "model"), 1.0, 2.0)
        n_loads += 1
    assert n_loads > 10


def test_a_loaded_model_outlives_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "OWN_FILE_BYTES", 10)
    save(model(1.0), tmp_path / "model")
    old = load(tmp_path / "model")
    save(model(2.0), tmp_path / "model")
    assert is_whole(old, 1.0)
    save(old, tmp_path / "model")
    shutil.rmtree(tmp_path / "model")
    assert is_whole(old, 1.0)


def names(path):
    return sorted(entry.name for entry in path.iterdir())


def test_a_replaced_model_leaves_nothing(tmp_path):
    for C in (1.0, 2.0, 3.0):
        save(model(C), tmp_path / "model")
        manifest, parts = names(tmp_path / "model")
        assert manifest == "manifest.json"
        assert parts.startswith("parts-")
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_an_error_leaves_what_was_there(is_new, error, tmp_path, monkeypatch):
    path = tmp_path / "model"
    if not is_new:
        save(model(1.0), path)
    before = names(tmp_path), is_new or names(path)

    def fail(_):
        raise error

    monkeypatch.setattr(folder, "flush", fail)
    with pytest.raises(type(error)):
        save(model(2.0), path)
    assert before == (names(tmp_path), is_new or names(path))
    assert is_new or is_whole(load(path), 1.0)


def test_an_interruption_after_the_step_keeps_the_new_model(tmp_path, monkeypatch):
    save(model(1.0), tmp_path / "model")
    replace = os.replace

    def interrupted(source, target):
        replace(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(model(2.0), tmp_path / "model")
    assert is_whole(load(tmp_path / "model"), 2.0)


def test_what_interrupted_saves_left_is_cleared_after_a_day(tmp_path):
    path = tmp_path / "model"
    save(model(1.0), path)
    left = [
        path / "parts-00000000",
        path / "manifest.json.00000000",
        tmp_path / ".model.00000000.unfinished",
    ]
    others = [path / "notes", tmp_path / ".other.00000000.unfinished", tmp_path / ".model.txt"]
    for entry in [*left, *others]:
        if "json" in entry.name:
            entry.touch()
        else:
            (entry / "inside").mkdir(parents=True)
    save(model(2.0), path)
    assert all(entry.exists() for entry in left)
    for entry in [*left, *others]:
        os.utime(entry, times=(0, 0))
    save(model(3.0), path)
    assert not any(entry.exists() for entry in left)
    assert all(entry.exists() for entry in others)


def test_nothing_else_is_replaced(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("mine")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"name": "app"}')
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    before = sorted(tmp_path.rglob("*"))
    for name in ("file", "folder", "web", "link"):
        with pytest.raises(ModelFileError, match="exists and is not a Taxonomist model, so it is"):
            save(model(1.0), tmp_path / name)
    assert before == sorted(tmp_path.rglob("*"))


def test_empty_folders_and_folders_to_be(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    save(model(1.0), tmp_path / "empty")
    save(model(2.0), tmp_path / "a" / "b" / "model")
    assert is_whole(load(tmp_path / "empty"), 1.0)
    assert is_whole(load(tmp_path / "a" / "b" / "model"), 2.0)
    # A damaged model is one, and can be replaced.
    (tmp_path / "empty" / "manifest.json").write_text('{"format": "taxonomist model", ')
    save(model(3.0), tmp_path / "empty")
    assert is_whole(load(tmp_path / "empty"), 3.0)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    save(model(4.0), ".")
    assert is_whole(load("."), 4.0)


@pytest.mark.parametrize("is_new", [True, False])
def test_what_a_killed_save_left_is_removed_by_the_next(is_new, tmp_path):
    path, moment, n_left = tmp_path / "model", 0, 0
    is_killed = True
    while is_killed:
        moment += 1
        shutil.rmtree(path, ignore_errors=True)
        if not is_new:
            save(model(1.0), path)
        is_killed = save_until(path, moment, model(2.0), kill_before)
        n_left += names(tmp_path) != ["model"] or len(names(path)) > 2
        save(model(3.0), path)
        # A folder that was made, but not yet locked, may belong to a save that goes on.
        for early in tmp_path.glob(".model.*.unfinished"):
            assert names(early) == []
            early.rmdir()
        manifest, parts = names(path)
        assert manifest == "manifest.json"
        assert parts.startswith("parts-")
        assert is_whole(load(path), 3.0)
    assert n_left > 10


@pytest.mark.parametrize("is_new", [True, False])
def test_a_save_that_goes_on_keeps_its_folder(is_new, tmp_path):
    path, go_on, going = tmp_path / "model", tmp_path / "go", tmp_path / "going"
    if not is_new:
        save(model(1.0), path)
    pid = os.fork()
    if pid == 0:
        write = parts.TextPart.write

        def slow(self, file):
            going.touch()
            while not go_on.exists():
                time.sleep(0.01)
            return write(self, file)

        parts.TextPart.write = slow
        try:
            save(model(2.0), path)
            os._exit(0)
        except ModelFileError:
            os._exit(3)
        finally:
            traceback.print_exc()
            os._exit(1)
    while not going.exists():
        time.sleep(0.01)
    if is_new:
        # Another model of the same name would make the rename fail: only the clearing counts.
        folder._clear_away(tmp_path, lambda name: ".unfinished" in name, folder._is_dead_folder)
    else:
        save(model(3.0), path)
    go_on.touch()
    assert os.waitpid(pid, 0)[1] == 0
    assert is_whole(load(path), 2.0)
