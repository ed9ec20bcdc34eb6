"""The cache of compiled loops: what invalidates it, and where it is."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import taxonomist
from taxonomist.compiled import cache

SOURCES = Path(taxonomist.__file__).parent
JIT = "from taxonomist.compiled.jit import compiled\n"
CALLEE = JIT + "@compiled(inline=True)\ndef inner(x):\n    return x + 1\n"
CALLER = (
    JIT + "from taxonomist.compiled.callee import inner\n"
    "@compiled()\ndef outer(x):\n    return 10 * inner(x)\n"
)
CALL = (
    "from taxonomist.compiled.caller import outer\n"
    "print(outer(1), sum(outer.dispatcher.stats.cache_hits.values()))\n"
)


class Package:
    """A copy of the package with two small loops, of which one calls the other."""

    def __init__(self, folder):
        self.folder = folder
        self.compiled = folder / "src" / "taxonomist" / "compiled"
        self.compiled.mkdir(parents=True)
        (self.compiled.parent / "__init__.py").touch()
        for name in ("__init__.py", "jit.py", "dispatchers.py", "cache.py", "compiling.py"):
            shutil.copy(SOURCES / "compiled" / name, self.compiled)
        self.home, self.temporary = folder / "home", folder / "tmp"
        self.home.mkdir()
        self.temporary.mkdir()
        self.write("callee", CALLEE)
        self.write("caller", CALLER)

    def write(self, name, text):
        (self.compiled / f"{name}.py").write_text(text)

    def run(self, code=CALL, **variables):
        """Run code in a process of its own; return what it prints, and its log."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        environment |= {
            "PYTHONPATH": str(self.folder / "src"),
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "TMPDIR": str(self.temporary),
            # Byte code of a file that is rewritten within a second would be taken for new.
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            env=environment | {k: str(v) for k, v in variables.items()},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split(), done.stderr.splitlines()

    def bar_package(self):
        """Let nothing be written beside the sources, whoever runs the tests."""
        shutil.rmtree(self.compiled / "__pycache__", ignore_errors=True)
        (self.compiled / "__pycache__").touch()

    def bar_home(self):
        """Let nothing be written to the user's cache folder."""
        shutil.rmtree(self.home)
        self.home.touch()


@pytest.fixture
def package(tmp_path):
    return Package(tmp_path)


def indices(folder):
    """Return the functions that a folder caches."""
    return {path.name.partition("-")[0] for path in folder.rglob("*.nbi")}


def test_a_change_of_a_callee_in_another_file_counts(package):
    printed, log = package.run()
    assert printed == ["20", "0"]
    # The package's own folder is the first choice.
    assert indices(package.compiled / "__pycache__") == {"caller.outer", "callee.inner.inline"}
    assert indices(package.home) == indices(package.temporary) == set()
    assert log == []
    assert package.run()[0] == ["20", "1"]
    package.write("callee", CALLEE.replace("x + 1", "x + 2"))
    assert package.run()[0] == ["30", "0"]


def test_a_class_that_is_gone_does_no_harm(package):
    tuples = "from typing import NamedTuple\nclass Old(NamedTuple):\n    x: float\n"
    loop = (
        JIT + "from taxonomist.compiled.tuples import Old\n@compiled()\ndef f(t):\n    return t.x"
    )
    call = (
        "from taxonomist.compiled.loop import f\nfrom taxonomist.compiled.tuples import Old\n"
        "print(f(Old(2.0)))"
    )
    for name in ("Old", "New"):
        package.write("tuples", tuples.replace("Old", name))
        package.write("loop", loop.replace("Old", name))
        assert package.run(call.replace("Old", name))[0] == ["2.0"]


PREPARED = "import sys\nprint('numba.core.typing.arraydecl' in sys.modules)\n"


def test_a_loop_in_the_cache_is_called_without_preparing_to_compile(package):
    assert package.run(CALL + PREPARED)[0] == ["20", "0", "True"]
    assert package.run(CALL + PREPARED)[0] == ["20", "1", "False"]


@pytest.mark.parametrize("is_called", [True, False])
def test_a_loop_that_makes_arrays_finds_the_runtime(is_called, package):
    make = "def inner(x):\n    found = np.zeros(3)\n    found[1:] = x\n    return found.sum()\n"
    package.write("callee", f"import numpy as np\n{JIT}@compiled(allocates=True)\n{make}")
    call = CALL if is_called else CALL.replace("caller", "callee").replace("outer", "inner")
    printed = ["20.0" if is_called else "2.0"]
    assert package.run(call + PREPARED)[0] == [*printed, "0", "True"]
    assert package.run(call + PREPARED)[0] == [*printed, "1", "True"]


def test_the_users_folder_is_the_second_choice(package):
    package.bar_package()
    _, log = package.run()
    assert indices(package.home) == {"caller.outer", "callee.inner.inline"}
    assert log == []


def test_numba_cache_dir_comes_before_all(package):
    chosen = package.folder / "chosen"
    assert package.run(NUMBA_CACHE_DIR=chosen)[0] == ["20", "0"]
    assert package.run(NUMBA_CACHE_DIR=chosen)[0] == ["20", "1"]
    assert indices(chosen) == {"caller.outer", "callee.inner.inline"}
    assert indices(package.folder / "src") == indices(package.home) == set()


def test_without_these_a_private_temporary_folder_is_used(package):
    package.bar_package()
    package.bar_home()
    _, log = package.run()
    (private,) = package.temporary.iterdir()
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert indices(private) == {"caller.outer", "callee.inner.inline"}
    assert len(log) == 1
    assert str(private) in log[0]
    assert "NUMBA_CACHE_DIR" in log[0]


def make_doubtful(private, kind):
    """Make what an attacker may have put where the private folder belongs."""
    if kind == "a file":
        private.touch()
    elif kind == "a link":
        private.symlink_to(private.parent)
    else:
        private.mkdir()
        private.chmod(0o777)


@pytest.mark.parametrize("kind", ["open to others", "a link", "a file"])
def test_a_folder_that_others_may_own_is_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    make_doubtful(tmp_path / f"taxonomist-{os.getuid()}", kind)
    assert cache._private_folder() is None


def test_a_folder_that_others_may_own_is_not_used(package):
    package.bar_package()
    package.bar_home()
    make_doubtful(package.temporary / f"taxonomist-{os.getuid()}", "open to others")
    hits, log = package.run()
    assert hits == ["20", "0"]
    assert indices(package.folder) == set()
    assert len(log) == 1
    assert "not cached" in log[0]


def test_a_folder_that_disappears_does_no_harm(package):
    chosen = package.folder / "chosen"
    break_it = f"import shutil; shutil.rmtree({str(chosen)!r}); open({str(chosen)!r}, 'w').close()"
    code = f"from taxonomist.compiled.caller import outer\nouter.dispatcher\n{break_it}\n{CALL}"
    found, log = package.run(code, NUMBA_CACHE_DIR=chosen)
    assert found == ["20", "0"]
    assert sum("cannot be cached" in line for line in log) == 1


def test_digests_are_quick():
    start = time.perf_counter()
    digest = cache.digest_of_sources.__wrapped__()
    assert time.perf_counter() - start < 0.1
    assert digest == cache.digest_of_sources()
