"""Control characters, markup and formulas in the data of others do nothing."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import sys
import warnings
from pathlib import Path

import pytest

from taxonomist import Taxonomy, cli
from taxonomist.cli import output
from taxonomist.cli.writers import open_output, table_rows
from tests.unit.cli.corpus import rows, write_csv
from tests.unit.cli.running import run, run_here, run_on_terminal

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
EVIL = "[red]\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\x08\x7f"
SHOWN = r"[red]\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egnp\u0008\u007f"
COLOURS = re.compile("\x1b\\[[0-9;]*m")
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
FORMULA = "=cmd|' /C calc'!A0"
CODES = {"cat": "-cat", "dog": "@dog", "oak": "=oak", "rose": "+rose"}


def controls_in(shown):
    """Return the control characters in what a terminal got, apart from colours and line ends."""
    return CONTROLS.findall(COLOURS.sub("", shown).replace("\r\n", "\n"))


def text_lines(path):
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.fixture
def taxonomy(tmp_path):
    path = tmp_path / "taxonomy.json"
    edges = [("a", f"b{EVIL}"), (f"b{EVIL}", "c"), (f"b{EVIL}", "d"), (f"b{EVIL}", "e")]
    Taxonomy.from_edges(edges, names={"c": EVIL, "d": EVIL}).write(path)
    return path


@POSIX
@pytest.mark.parametrize(
    "command", [["show"], ["check"], ["stats"], ["show", "--json"], ["show", "--below", f"b{EVIL}"]]
)
def test_taxonomies_on_a_terminal(command, taxonomy):
    done = run_on_terminal("taxonomy", command[0], taxonomy, *command[1:])
    assert not controls_in(done.out)
    assert SHOWN[:20] in done.out


def test_trees_in_a_pipe_are_for_people_and_json_is_for_programs(taxonomy):
    assert f"└── b{SHOWN}" in run("taxonomy", "show", taxonomy).out
    found = json.loads(run("taxonomy", "show", taxonomy, "--json").out)
    assert found["nodes"][1]["id"] == f"b{EVIL}"


def test_notes_facts_and_errors(capsys):
    output.print_note(EVIL)
    output.print_facts({"name": f"{EVIL}\nlast"})
    with pytest.raises(SystemExit), output.plain_errors():
        raise FileNotFoundError(2, "No such file", f"{EVIL}.csv")
    captured = capsys.readouterr()
    assert captured.out == f"name  {SHOWN}\\u000alast\n"
    assert captured.err == f"{SHOWN}\ntaxonomist: {SHOWN}.csv: No such file.\n"


def test_tables_on_a_terminal(capsys, monkeypatch):
    output.print_table(["name", "n"], [(EVIL, 1)])
    assert capsys.readouterr().out == f"name\tn\n{EVIL}\t1\n"
    monkeypatch.setattr(output, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "150")
    output.print_table([EVIL, "n"], [(EVIL, 1)], "[red]title")
    drawn = capsys.readouterr().out
    assert drawn.count(SHOWN) == 2
    assert "[red]title" in drawn
    assert not controls_in(drawn)


def test_warnings_logs_and_tracebacks(capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(logging.lastResort, "formatter", None)
    with warnings.catch_warnings():
        output.show_controls()
        warnings.simplefilter("always")
        warnings.warn(EVIL, UserWarning, stacklevel=1)
        sys.excepthook(ValueError, ValueError(EVIL), None)
    logged = logging.lastResort.format(logging.makeLogRecord({"msg": EVIL}))
    shown = capsys.readouterr().err
    assert f"UserWarning: {SHOWN}" in shown
    assert f"ValueError: {SHOWN}" in shown
    assert not controls_in(shown + logged)


def test_commands_print_through_one_module():
    for path in Path(cli.__file__).parent.glob("*.py"):
        if path.name not in ("output.py", "app.py"):
            assert not re.search(r"typer\.echo|(?<!\.)\bprint\(|secho", path.read_text("utf-8")), (
                path
            )


# Rows that go to a terminal, a pipe, and a spreadsheet ------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_rows_on_a_terminal_and_in_a_pipe(monkeypatch):
    for stream, expected in ((Terminal(), SHOWN), (io.StringIO(), EVIL)):
        monkeypatch.setattr(sys, "stdout", stream)
        with open_output(None) as out:
            table_rows(out, "csv")(["a", EVIL])
        assert stream.getvalue() == f"a,{expected}\n"


@pytest.mark.parametrize("cell", [FORMULA, "+1+1", "-a", "@x", "\tx", "\rx", "＝1", "'=1", "- 1"])
def test_formulas_are_not_run(cell):
    stream = io.StringIO(newline="")
    table_rows(stream, "csv")([cell, "a"])
    table_rows(stream, "csv", raw_cells=True)([cell, "a"])
    stream.seek(0)
    assert list(csv.reader(stream)) == [[f"'{cell}", "a"], [cell, "a"]]


@pytest.mark.parametrize("cell", [-0.5, -3, None, "-0.5", "+7", "-1e-05", "'tis", "a=b", "", "'"])
def test_numbers_and_other_cells_stay(cell):
    stream = io.StringIO(newline="")
    table_rows(stream, "csv")([cell, "a"])
    table_rows(stream, "csv", raw_cells=True)([cell, "a"])
    one, two = stream.getvalue().splitlines()
    assert one == two


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formulas")
    items = [{**row, "id": f"={row['id']}", "code": CODES[row["code"]]} for row in rows(80)]
    write_csv(folder / "data.csv", items)
    write_csv(folder / "new.csv", items[:8])
    args = ["data.csv", "--label", "code", "--text", "title,text"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = run_here("train", *args, "--out", "model")
    assert done.code == 0, done.err
    return folder


def test_predictions_can_be_opened_in_a_spreadsheet_and_read_again(model, call, monkeypatch):
    monkeypatch.chdir(model)
    found = list(csv.DictReader(io.StringIO(call("predict", "model", "new.csv").out)))
    assert [row["label"] for row in found[:4]] == ["'-cat", "'@dog", "'=oak", "'+rose"]
    assert found[0]["id"] == "'=doc-0"
    raw = list(csv.DictReader(io.StringIO(call("predict", "model", "new.csv", "--raw-cells").out)))
    assert [row["label"] for row in raw[:4]] == list(CODES.values())
    lines = call("predict", "model", "new.csv", "--to", "jsonl").out.splitlines()
    assert [json.loads(line)["labels"] for line in lines[:4]] == [[code] for code in CODES.values()]
    texts = list(csv.DictReader(text_lines(model / "new.csv")))
    again = [{**text, "code": row["label"]} for text, row in zip(texts, found, strict=True)]
    write_csv(model / "again.csv", again)
    done = call("evaluate", "model", "again.csv", "--all")
    assert done.code == 0, done.err


def test_taxonomies_can_be_opened_in_a_spreadsheet_and_read_again(tmp_path, call):
    names = {"-a": FORMULA, "'=b": "@x", "-1": "+1"}
    taxonomy = Taxonomy.from_edges([("-a", "'=b"), ("-a", "-1")], names=names)
    taxonomy.write(tmp_path / "t.csv")
    cells = [cell for row in csv.reader(text_lines(tmp_path / "t.csv")) for cell in row]
    assert {"'-a", "''=b", f"'{FORMULA}", "'@x", "-1", "+1"} < set(cells)
    assert Taxonomy.read(tmp_path / "t.csv") == taxonomy
    done = call("taxonomy", "convert", tmp_path / "t.csv", tmp_path / "raw.csv", "--raw-cells")
    assert done.code == 2
    assert "cannot be written with raw_cells" in done.err
    plain = taxonomy.rename({"'=b": "=b"})
    plain.write(tmp_path / "p.json")
    call("taxonomy", "convert", tmp_path / "p.json", tmp_path / "raw.csv", "--raw-cells")
    assert f",{FORMULA}" in (tmp_path / "raw.csv").read_text()
    assert Taxonomy.read(tmp_path / "raw.csv") == plain
    done = call("taxonomy", "convert", tmp_path / "p.json", tmp_path / "b.json", "--raw-cells")
    assert "only CSV and levels have cells" in done.err
