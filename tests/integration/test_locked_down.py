"""The command in a locked-down container, where the package and the home are read-only."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import taxonomist

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")

DROP_CAPABILITY = 24
ROWS = [("it purrs and sleeps", "cat"), ("it barks and runs", "dog"), ("leaves, acorns", "oak")]


@pytest.fixture
def container():
    """Yield a folder with a read-only package and home, and a place to work."""
    folder = Path(tempfile.mkdtemp())
    package = folder / "site" / "taxonomist"
    caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(taxonomist.__file__).parent, package, ignore=caches)
    for name in ("home", "tmp", "work"):
        (folder / name).mkdir()
    lines = ["text,label", *(f'"{text}",{label}' for text, label in ROWS * 8)]
    (folder / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "taxonomy.csv").write_text("child,parent\ncat,animal\ndog,animal\noak,plant\n")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for name in ("tmp", "work"):
        (folder / name).chmod(0o777)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700)
    shutil.rmtree(folder)


def drop_capabilities():
    system = ctypes.CDLL(None)
    for capability in range(64):
        system.prctl(DROP_CAPABILITY, capability, 0, 0, 0)


def run(folder, *given):
    """Run the command as a user to whom read-only means read-only, which root is not."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | {
        "PYTHONPATH": str(folder / "site"),
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "home" / "cache"),
        "TMPDIR": str(folder / "tmp"),
    }
    return subprocess.run(
        [sys.executable, "-m", "taxonomist", *map(str, given)],
        env=settings,
        cwd=folder / "work",
        preexec_fn=drop_capabilities,
        capture_output=True,
        text=True,
        check=False,
    )


def test_train_and_predict(container):
    data = (container / "rows.csv", "--taxonomy", container / "taxonomy.csv", "--text", "text")
    done = run(
        container, "train", *data, "--label", "label", "--model", "naive_bayes", "--out", "model"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Compiled loops are cached in") == 1
    for _ in range(2):
        done = run(container, "predict", "model", "--text", "it barks")
        assert done.returncode == 0, done.stderr
        assert "dog" in done.stdout
    assert "Compiling" not in done.stderr
