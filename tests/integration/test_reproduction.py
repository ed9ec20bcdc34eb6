"""The papers' tables and figures through the real command, in their small version."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from taxonomist.experiments import PAPERS
from taxonomist.experiments.reproduction import load_paper
from tests.unit.cli.running import arguments, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Return the folder of a small run of everything, and what the command said."""
    out = tmp_path_factory.mktemp("reproduction")
    command = arguments(("reproduce", "--quick", "--out", out, "--json"))
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=400)
    assert done.returncode == 0, done.stderr
    return out, done


def declared():
    return [
        (key, kind, part)
        for key in PAPERS
        for kind in ("table", "figure")
        for part in getattr(load_paper(key, is_quick=True), f"{kind}s")
    ]


def test_every_table_and_figure_is_there_or_lacks_a_corpus(quick):
    out, done = quick
    for key, kind, part in declared():
        name = f"{kind}-{part.number}"
        if f"{key} {name} needs " in done.stderr:
            continue
        assert (out / key / f"{name}.md").stat().st_size > 100
        other = (out / key / name).with_suffix(".csv" if kind == "table" else ".png")
        assert other.stat().st_size > 50
        assert f"[{name}]({key}/{name}.md)" in (out / "index.md").read_text()


def test_every_claim_has_a_verdict(quick):
    _, done = quick
    verdicts = json.loads(done.stdout)
    assert {row["verdict"] for row in verdicts} <= {"yes", "no", "within noise"}
    texts = {(row["paper"], row["part"], row["claim"]) for row in verdicts}
    for key, kind, part in declared():
        if f"{key} {kind}-{part.number} needs " not in done.stderr:
            assert {(key, f"{kind}-{part.number}", claim.text) for claim in part.claims} <= texts


def test_no_corpus_is_missing_where_all_are_there(quick, data_folder):
    for name in ("us-patents-ipc", "20newsgroups", "reuters21578", "rcv1-subset", "enzyme-ec"):
        data_folder(name)
    assert "needs" not in quick[1].stderr


def test_a_second_run_runs_nothing_again(quick):
    out, _ = quick
    before = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    done = run("reproduce", "CH04", "--quick", "--table", "1", "--out", out)
    assert done.code == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()} == before
    assert "BEYOND" in (out / "index.md").read_text()


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    process = subprocess.Popen(
        arguments(
            ("reproduce", "CH04", "--quick", "--table", "1", "--jobs", "1", "--out", tmp_path)
        ),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    cells = tmp_path / "cells"
    until = time.monotonic() + 100
    while not list(cells.glob("*.json.gz")) and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in cells.glob("*.json.gz")}
    assert kept
    assert run("reproduce", "CH04", "--quick", "--table", "1", "--out", tmp_path).code == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (tmp_path / "CH04" / "table-1.md").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("CH05",), "There is no paper 'CH05'. Did you mean"),
        (("CH04", "--table", "9"), "There is no table-9; there are table-1, table-2"),
        (("--table", "1", "--figure", "1"), "not both"),
    ],
)
def test_what_is_not_there(tmp_path, asked, said):
    done = run("reproduce", *asked, "--quick", "--out", tmp_path / "none")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "none").exists()


def test_without_any_of_its_corpora_a_paper_says_where_to_get_them(tmp_path):
    out, home = tmp_path / "none", str(tmp_path / "empty")
    done = run("reproduce", "RSSS06", "--quick", "--out", out, TAXONOMIST_DATA=home)
    assert done.code == 2
    assert "Download it from" in done.err
    assert not out.exists()
