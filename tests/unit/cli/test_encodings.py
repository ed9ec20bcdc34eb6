"""Files and pipes get UTF-8; terminals show every character, if need be as an escape."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import pytest

from taxonomist.cli.encodings import keep_characters
from tests.unit.cli.corpus import rows, write_csv
from tests.unit.cli.running import arguments, run_on_terminal

C_LOCALE = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
ELSEWHERE = [
    {"PYTHONIOENCODING": "cp1252"},
    C_LOCALE,
]
NAMES = {"cat": "Кошка", "dog": "犬", "oak": "Eiche—früh", "rose": "🌹"}


def piped(args: tuple[object, ...], env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        arguments(args), capture_output=True, env=os.environ | env, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with a model whose ids are not ASCII, and rows to label."""
    from taxonomist.cli.app import app

    folder = tmp_path_factory.mktemp("home")
    items = [row | {"code": NAMES[row["code"]]} for row in rows(80)]
    new = [row | {"id": f"№{i}"} for i, row in enumerate(rows(8, seed=1))]
    write_csv(folder / "data.csv", items)
    write_csv(folder / "new.csv", new)
    options = ["--text", "text", "--label", "code"]
    command = ["train", folder / "data.csv", *options, "--out", folder / "model"]
    app([*map(str, command)], standalone_mode=False)
    return folder


@pytest.mark.parametrize("env", ELSEWHERE, ids=lambda env: next(iter(env.values())))
def test_piped_predictions_are_utf_8(home, env):
    done = piped(("predict", home / "model", home / "new.csv"), env)
    assert done.returncode == 0
    assert b"?" not in done.stdout
    found = list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8"))))
    assert [row["id"] for row in found] == [f"№{i}" for i in range(8)]
    assert {row["label"] for row in found} == set(NAMES.values())


def test_piped_predictions_are_the_bytes_of_a_file(home, tmp_path):
    command = ("predict", home / "model", home / "new.csv", "--to", "jsonl")
    done = piped((*command, "--out", tmp_path / "a.jsonl"), C_LOCALE)
    assert done.returncode == 0
    assert piped(command, C_LOCALE).stdout == (tmp_path / "a.jsonl").read_bytes()


@pytest.mark.parametrize("env", ELSEWHERE, ids=lambda env: next(iter(env.values())))
def test_piped_trees_json_and_errors_are_utf_8(tmp_path, env):
    path = tmp_path / "früh.csv"
    path.write_text("parent,child\nfrüh,später\n", encoding="utf-8")
    assert piped(("taxonomy", "show", path), env).stdout.decode("utf-8").splitlines() == [
        "früh",
        "└── später",
    ]
    done = piped(("taxonomy", "show", path, "--json"), env)
    nodes = json.loads(done.stdout)["nodes"]
    assert [node["id"] for node in nodes] == ["früh", "später"]
    path.write_text("parent,child\nfrüh,früh\n", encoding="utf-8")
    done = piped(("taxonomy", "show", path), env)
    assert done.returncode == 2
    assert "'früh' is given as its own parent" in done.stderr.decode("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
@pytest.mark.parametrize("encoding", ["latin-1", "cp1251"])
def test_a_terminal_shows_what_it_can_and_escapes_the_rest(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text("parent,child\nFrüh,Ж\nFrüh,犬\n", encoding="utf-8")
    done = run_on_terminal("taxonomy", "show", path, PYTHONIOENCODING=encoding, shown_as=encoding)
    expected = {"latin-1": ["Früh", r"+-- \u0416"], "cp1251": [r"Fr\xfch", "+-- Ж"]}
    assert done.out.splitlines() == [*expected[encoding], r"+-- \u72ac"]


def test_rows_on_a_terminal_are_escaped_too():
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    raw = io.BytesIO()
    with Terminal(raw, encoding="cp437", errors="strict", newline="\n") as stream:
        keep_characters(stream)
        stream.write("né,Ж,🌹,│ … ─ ┌\n")
        stream.flush()
        assert raw.getvalue().decode("cp437") == "né,\\u0416,\\U0001f339,│ ... ─ ┌\n"


def test_halves_of_characters_stay_apart_in_a_pipe():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252", newline="\n")
    keep_characters(stream)
    stream.write("\ud800 \udc01")
    stream.flush()
    assert raw.getvalue() == rb"\ud800 \udc01"


def test_a_stream_without_an_encoding_is_left_alone():
    keep_characters(io.StringIO())
