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
from tests.integration.reproduction_bounds import (
    Number,
    bounds_of,
    complaints,
    read_bounds,
    read_numbers,
    write_bounds,
)
from tests.unit.cli.running import arguments, run, run_here

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


TABLE = ("reproduce", "CH04", "--quick", "--table", "1")
"""The one table whose points are drawn, so that it needs no corpus."""


def reproduce(*args):
    """Run ``taxonomist reproduce`` in its small version, with time enough on a busy machine."""
    command = arguments(("reproduce", *args, "--quick", "--json"))
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    return done


def cells_in(out):
    """Return when each finished cell was written."""
    return {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json.gz")}


def declared():
    return [
        (key, kind, part)
        for key in PAPERS
        for kind in ("table", "figure")
        for part in getattr(load_paper(key, is_quick=True), f"{kind}s")
    ]


def assert_written(out, key, kind, part):
    name = f"{kind}-{part.number}"
    page = (out / key / f"{name}.md").read_text()
    for setting in ("Tolerance", "Features", "Splits", "Draws"):
        assert f"\n- {setting}: " in page
    assert (out / key / f"{name}.csv").stat().st_size > 50
    if kind == "figure":
        assert (out / key / f"{name}.png").stat().st_size > 50
    assert f"[{name}]({key}/{name}.md)" in (out / "index.md").read_text()


def assert_judged(done, key, kind, part):
    verdicts = json.loads(done)
    words = {"yes", "no", "within noise"}
    assert {row["verdict"] for row in verdicts} <= words
    assert {row["corrected"] for row in verdicts} <= words | {""}
    texts = {(row["paper"], row["part"], row["claim"]) for row in verdicts}
    assert {(key, f"{kind}-{part.number}", claim.text) for claim in part.claims} <= texts


# A short run -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Return the folder of a run that was killed after its first cell, and what it had made."""
    out = tmp_path_factory.mktemp("reproduction")
    process = subprocess.Popen(
        arguments((*TABLE, "--jobs", "1", "--out", out)),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 100
    while not cells_in(out) and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return out, cells_in(out)


@pytest.fixture(scope="module")
def short(killed):
    """Return the folder of a run of one table, and what the command said."""
    out, _ = killed
    return out, run(*TABLE, "--out", out, "--json")


def test_a_killed_run_goes_on_where_it_was(killed, short):
    out, kept = killed
    assert kept
    assert short[1].code == 0
    assert kept.items() <= cells_in(out).items()


def test_the_table_of_a_short_run_is_written_and_judged(short):
    out, done = short
    (table,) = (table for table in load_paper("CH04", is_quick=True).tables if table.number == "1")
    assert_written(out, "CH04", "table", table)
    assert_judged(done.out, "CH04", "table", table)


def test_the_table_without_corpora_has_the_stored_numbers(short):
    numbers = read_numbers(short[0])
    assert {number.part for number in numbers} == {"CH04/table-1"}
    assert complaints(numbers, read_bounds()) == []


def test_a_second_run_runs_nothing_again(short):
    out, _ = short
    before = cells_in(out)
    record = json.loads((out / "CH04" / "table-1.json").read_text()) | {"paper": "BEYOND"}
    (out / "BEYOND").mkdir()
    (out / "BEYOND" / "table-1.json").write_text(json.dumps(record))
    assert run_here(*TABLE, "--out", out).code == 0
    assert cells_in(out) == before
    # What other papers have is still listed.
    assert "[table-1](BEYOND/table-1.md)" in (out / "index.md").read_text()


def test_a_table_of_a_corpus(data_folder, tmp_path):
    data_folder("us-patents-ipc")
    done = reproduce("CH04", "--table", "2", "--out", tmp_path)
    (table,) = (table for table in load_paper("CH04", is_quick=True).tables if table.number == "2")
    assert_written(tmp_path, "CH04", "table", table)
    assert_judged(done.stdout, "CH04", "table", table)
    assert complaints(read_numbers(tmp_path), read_bounds()) == []


# The whole of it -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Return the folder of a small run of everything, and what the command said."""
    out = tmp_path_factory.mktemp("reproduction")
    return out, reproduce("--out", out)


@pytest.mark.slow
def test_every_table_and_figure_is_there_and_judged_or_lacks_a_corpus(quick):
    out, done = quick
    for key, kind, part in declared():
        if f"{key} {kind}-{part.number} was not written" not in done.stderr:
            assert_written(out, key, kind, part)
            assert_judged(done.stdout, key, kind, part)


@pytest.mark.slow
def test_numbers_of_the_small_version(quick):
    out, done = quick
    numbers, bounds = read_numbers(out), read_bounds()
    assert complaints(numbers, bounds) == []
    lacking = {part for part in {n.part for n in bounds} if part not in {n.part for n in numbers}}
    for part in lacking:
        assert f"{part.replace('/', ' ')} was not written" in done.stderr


@pytest.mark.slow
def test_no_corpus_is_missing_where_all_are_there(quick, data_folder):
    for name in ("us-patents-ipc", "20newsgroups", "reuters21578", "rcv1-subset", "enzyme-ec"):
        data_folder(name)
    assert "was not written" not in quick[1].stderr


# Bounds ----------------------------------------------------------------------------------------


def test_a_wrong_number_is_out_of_bounds(short, tmp_path):
    numbers, bounds = read_numbers(short[0]), read_bounds()
    row = next(number.row for number in numbers)
    flat = Number("CH04/table-1", row, "Δ-loss flat")
    assert complaints(numbers | {flat: 1.1 * numbers[flat]}, bounds)
    assert complaints(numbers | {flat: 0.9 * numbers[flat]}, bounds)
    # The two models in each other's place.
    accuracy, other = (Number("CH04/table-1", row, f"acc % {kind}") for kind in ("flat", "hsvm"))
    assert complaints(numbers | {accuracy: numbers[other]}, bounds)
    assert complaints(numbers | {other: numbers[accuracy]}, bounds)
    # Half of the points.
    points = Number("CH04/table-1", row, "#doc")
    assert complaints(numbers | {points: numbers[points] / 2}, bounds)
    # A number that is missing or new.
    assert complaints({n: v for n, v in numbers.items() if n != flat}, bounds)
    assert complaints(numbers | {Number("CH04/table-1", row, "new"): 0.0}, bounds)


def test_bounds_are_stored_as_they_are(tmp_path):
    numbers = {
        Number("P/table-1", "row, one", "acc %"): 50.0,
        Number("P/table-1", "row, one", "loss"): -0.5,
        Number("P/figure-1", "cell", "fit_seconds"): float("nan"),
    }
    write_bounds(numbers, tmp_path / "bounds.csv")
    bounds = read_bounds(tmp_path / "bounds.csv")
    assert bounds == {number: bounds_of(number, value) for number, value in numbers.items()}
    assert bounds[Number("P/table-1", "row, one", "acc %")] == (47.5, 52.5)
    assert bounds[Number("P/table-1", "row, one", "loss")] == pytest.approx((-0.525, -0.475))
    assert complaints(numbers, bounds) == []


# Requests that cannot be met -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("CH05",), "There is no paper 'CH05'. Did you mean"),
        (("CH04", "--table", "9"), "There is no table-9; there are table-1, table-2"),
        (("--table", "1", "--figure", "1"), "not both"),
    ],
)
def test_what_is_not_there(tmp_path, asked, said):
    done = run_here("reproduce", *asked, "--quick", "--out", tmp_path / "none")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "none").exists()


def test_without_any_of_its_corpora_a_paper_says_where_to_get_them(tmp_path, monkeypatch):
    for variable in ("TAXONOMIST_DATA", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "empty"))
    done = run_here("reproduce", "RSSS06", "--quick", "--out", tmp_path / "none")
    assert done.code == 2
    assert "Download it from" in done.err
    assert not (tmp_path / "none").exists()
