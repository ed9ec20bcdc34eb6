"""Errors of writing name what was written, also those of a full disk."""

from __future__ import annotations

import sys
from contextlib import contextmanager

import numpy as np
import pytest

from taxonomist import PathSVC
from taxonomist._files import naming
from taxonomist.cli.writers import open_output
from taxonomist.persistence import save
from taxonomist.solvers import checkpoints
from taxonomist.solvers.checkpoints import keep_branches
from tests.unit.persistence.examples import TREE, problem

ON_POSIX = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no limit on the size of files"
)


@contextmanager
def files_of(n_bytes):
    """Let the system refuse to write more than so many bytes of a file."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_errors_get_the_name_that_they_lack(tmp_path):
    with pytest.raises(OSError, match=r"No space left.*'here'"), naming("here"):
        raise OSError(28, "No space left on device")
    with pytest.raises(FileNotFoundError, match="nowhere"), naming("here"):
        (tmp_path / "nowhere").read_text()


@ON_POSIX
def test_a_branch_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "LEAST_WORK", 0)
    X, y, _ = problem()
    folder = tmp_path / "kept"
    with files_of(500), keep_branches(folder), pytest.raises(OSError, match="kept") as caught:
        PathSVC(TREE, loss="hinge", random_state=0).fit(X, y)
    assert caught.value.filename == str(folder)
    assert not list(folder.iterdir())


@ON_POSIX
def test_a_model_that_cannot_be_written_is_named(tmp_path):
    X, y, _ = problem()
    model = PathSVC(TREE, random_state=0).fit(X, y)
    with files_of(500), pytest.raises(OSError, match="parts-") as caught:
        save(model, tmp_path / "model")
    assert caught.value.filename.startswith(str(tmp_path))
    assert not list(tmp_path.iterdir())


@ON_POSIX
@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
def test_a_table_that_cannot_be_written_is_named(name, tmp_path):
    path, numbers = tmp_path / name, np.random.default_rng(0).random(10_000)
    with files_of(500), pytest.raises(OSError, match="out") as caught, open_output(path) as stream:
        stream.writelines(f"{number}\n" for number in numbers.tolist())
    assert caught.value.filename == str(path)
    assert not list(tmp_path.iterdir())
