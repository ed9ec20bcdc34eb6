"""What differs on macOS and Windows, simulated where it can be."""

from __future__ import annotations

import ast
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from taxonomist import _files
from taxonomist.experiments.work import memory

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path for folder in ("src", "benchmarks", "tools") for path in (ROOT / folder).rglob("*.py")
]
OPENERS = {"open", "read_text", "write_text", "fdopen", "TextIOWrapper"}


@pytest.fixture
def resource(monkeypatch):
    """Pretend that a process has held 300 MiB, without Linux's own file."""
    monkeypatch.setattr(memory, "STATUS", Path("/nowhere/status"))
    found = SimpleNamespace(RUSAGE_SELF=0, getrusage=lambda _: found, ru_maxrss=300 * 2**10)
    monkeypatch.setitem(sys.modules, "resource", found)
    return found


def test_peak_memory_in_kibibytes(resource, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert memory.peak_mib() == 300


def test_peak_memory_of_macos_is_in_bytes(resource, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    resource.ru_maxrss *= 1024
    assert memory.peak_mib() == 300


def test_one_function_knows_the_unit_of_peaks():
    used = r"\bru_maxrss\b(?!`)"
    known = {path for path in SOURCES if re.search(used, path.read_text(encoding="utf-8"))}
    bare = {path.name for path in known if "in_mib(" not in path.read_text(encoding="utf-8")}
    assert not bare


def test_peak_memory_of_windows_is_unknown(resource, monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert math.isnan(memory.peak_mib())


@pytest.mark.skipif(sys.platform != "linux", reason="reads a file that only Linux has")
def test_peak_memory_of_linux():
    before = memory.peak_mib()
    block = b"x" * (64 * 2**20)
    assert 10 < before < memory.peak_mib() + 1
    assert memory.peak_mib() >= len(block) / 2**20


class Held:
    """A file or folder that another program holds for some attempts."""

    def __init__(self, monkeypatch, n_attempts):
        self.n_attempts, self.pauses = n_attempts, []
        self._replace = os.replace
        monkeypatch.setattr(os, "replace", self)
        monkeypatch.setattr(_files.time, "sleep", self.pauses.append)

    def __call__(self, source, target):
        if self.n_attempts:
            self.n_attempts -= 1
            raise PermissionError(13, "Access is denied", str(source), 5, str(target))
        self._replace(source, target)


def test_windows_tries_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    held = Held(monkeypatch, 3)
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "old").write_bytes(b"old")
    _files.move_into_place(tmp_path / "new", tmp_path / "old")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"new"
    assert held.pauses == list(_files.PAUSES_S[:3])


def test_windows_names_the_file_that_is_open(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    held = Held(monkeypatch, 100)
    (tmp_path / "new").mkdir()
    with pytest.raises(PermissionError) as caught:
        _files.move_into_place(tmp_path / "new", tmp_path / "old")
    assert caught.value.filename == str(tmp_path / "old")
    assert caught.value.strerror.endswith("close the programs in which it is open")
    assert sum(held.pauses) < 2


def test_other_systems_do_not_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    held = Held(monkeypatch, 1)
    (tmp_path / "new").write_bytes(b"new")
    with pytest.raises(PermissionError, match="old"):
        _files.move_into_place(tmp_path / "new", tmp_path / "old")
    assert held.pauses == []


def test_a_table_that_is_open_elsewhere_is_named(tmp_path, monkeypatch, capsys):
    """A spreadsheet program holds the file that is to be replaced."""
    from taxonomist.cli.output import plain_errors
    from taxonomist.cli.writers import open_output

    monkeypatch.setattr(sys, "platform", "win32")
    Held(monkeypatch, 100)
    target = tmp_path / "out.csv"
    target.write_bytes(b"old")
    with pytest.raises(SystemExit), plain_errors(), open_output(target) as stream:
        stream.write("new")
    message = "Access is denied; close the programs in which it is open."
    assert capsys.readouterr().err == f"taxonomist: {target}: {message}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_model_is_saved_while_a_scanner_looks_at_it(tmp_path, monkeypatch):
    from taxonomist.persistence.folder import read_manifest, write_model

    monkeypatch.setattr(sys, "platform", "win32")
    for _ in range(2):
        Held(monkeypatch, 4)
        write_model(tmp_path / "model", {"kind": "x"}, [])
        assert read_manifest(tmp_path / "model")["kind"] == "x"
        monkeypatch.undo()
        monkeypatch.setattr(sys, "platform", "win32")


def test_a_folder_is_probed_without_tempfile(tmp_path, monkeypatch):
    """On Windows, tempfile takes a refusal for a name that is taken, and tries the next."""
    import tempfile

    from taxonomist.compiled import cache

    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    assert cache._is_writable(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []

    def refuse(path, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    assert not cache._is_writable(tmp_path)


def constants(call: ast.Call) -> list[str]:
    """Return the words in the arguments of a call."""
    nodes = [node for argument in (*call.args, *call.keywords) for node in ast.walk(argument)]
    return [str(node.value) for node in nodes if isinstance(node, ast.Constant)]


def is_bytes(call: ast.Call, name: str, owner: str) -> bool:
    """Return whether a call opens a file as bytes, or opens something that is no file."""
    modes = [word for word in constants(call) if word and set(word) <= set("rwxabt+")]
    if owner in ("os", "tarfile"):
        return True
    if name == "open" and owner not in ("", "io", "gzip") and call.args and not modes:
        return True  # a member of an archive
    return any("b" in mode for mode in modes) or (
        owner == "gzip" and not any("t" in mode for mode in modes)
    )


def calls_without_encoding(source: str):
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = {keyword.arg for keyword in node.keywords}
        owner = ast.unparse(node.func).rpartition(".")[0]
        has_encoding = given & {"encoding", None} or (
            name == "TextIOWrapper" and len(node.args) > 1
        )
        if name in OPENERS and not has_encoding and not is_bytes(node, name, owner):
            yield node.lineno
        if name == "run" and "text" in given:
            yield node.lineno


def test_text_is_never_opened_in_the_encoding_of_the_system():
    """The default is UTF-8 on Linux and macOS but a code page on Windows."""
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in SOURCES
        if (lines := list(calls_without_encoding(path.read_text(encoding="utf-8"))))
    }
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "open(p)",
        "open(p, 'w')",
        "p.read_text()",
        "gzip.open(p, 'rt')",
        "run(c, text=True)",
        "TextIOWrapper(f)",
    ],
)
def test_a_missing_encoding_is_noticed(line):
    assert list(calls_without_encoding(line)) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "open(p, 'rb')",
        "open(p, encoding='utf-8')",
        "gzip.open(p)",
        "p.open('wb')",
        "p.open(**T)",
        "zip.open(name)",
    ],
)
def test_bytes_need_no_encoding(line):
    assert not list(calls_without_encoding(line))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no make of its own")
def test_make_finds_the_commands_of_windows():
    def commands(*variables: str) -> str:
        command = ["make", "-n", "format", "VENV=none", *variables]
        return subprocess.run(
            command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True
        ).stdout

    assert "none/bin/ruff format" in commands("OS=")
    windows = commands("OS=Windows_NT")
    assert "none/Scripts/ruff format" in windows
    assert "/bin/" not in windows
