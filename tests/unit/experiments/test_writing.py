"""Tables and figures as files."""

from __future__ import annotations

import csv
from functools import partial

from taxonomist.experiments import drawings
from taxonomist.experiments.claims import Better
from taxonomist.experiments.declarations import Entry, Figure, Result, Settings, Table
from taxonomist.experiments.writing import write_part

RESULTS = {
    "a": Result({"m": [0.4, 0.6], "n": [3.0]}, seconds=2),
    "b": Result({"m": [0.1, 0.2], "n": [4.0]}, seconds=3),
}
SETTINGS = Settings(tolerance="0.1.", features="words.", splits="folds.", draws="one.")
CLAIM = Better("a is better | always.", (("a", "b"),), "m")


def test_a_table(tmp_path):
    table = Table(
        number="2",
        title="two models",
        corpus="some items",
        settings=SETTINGS,
        entries=(
            Entry("one", "m %", "a", "m", 51.2, 1, 100.0),
            Entry("one", "n", "a", "n", digits=0),
            Entry("two", "m %", "b", "m", None, 1, 100.0),
        ),
        claims=(CLAIM,),
    )
    judgements = write_part(tmp_path / "P", table, RESULTS, "Nothing.")
    text = (tmp_path / "P" / "table-2.md").read_text()
    assert text.startswith("# Two models\n\nData: some items\n")
    assert "\n- Tolerance: 0.1.\n- Features: words.\n- Splits: folds.\n- Draws: one.\n" in text
    assert (
        "|  | m % | n |\n| --- | ---: | ---: |\n| one | 50.0 (51.2) | 3 |\n| two | 15.0 |  |"
        in text
    )
    assert "2 cells, 5 s of work." in text
    assert f"a is better \\| always. | **{judgements[0].verdict}** | – |" in text
    assert text.endswith("Nothing.\n")
    with (tmp_path / "P" / "table-2.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["mean"] == "50"
    assert float(rows[0]["deviation"]) == 14.1421
    assert rows[0]["paper"] == "51.2"
    assert rows[1]["deviation"] == ""
    assert [row["n"] for row in rows] == ["2", "1", "2"]


def test_the_numbers_behind_a_figure(tmp_path):
    figure = Figure(
        number="1",
        title="m",
        corpus="some items",
        settings=SETTINGS,
        draw=partial(drawings.curves, lines={"l": ["a"]}, x=(1,), measures={"m": "M"}, label="n"),
        drawn=("a", "b"),
    )
    write_part(tmp_path / "one", figure, RESULTS)
    with (tmp_path / "one" / "figure-1.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["row"], row["column"], row["mean"]) for row in rows] == [
        ("a", "m", "0.5"),
        ("a", "n", "3"),
        ("b", "m", "0.15"),
        ("b", "n", "4"),
    ]


def test_a_figure_is_the_same_file_for_the_same_results(tmp_path):
    figure = Figure(
        number="1",
        title="m over n",
        corpus="some items",
        settings=SETTINGS,
        draw=partial(
            drawings.curves, lines={"l": ["a", "b"]}, x=(1, 2), measures={"m": "M"}, label="n"
        ),
        drawn=("a", "b"),
        claims=(CLAIM,),
    )
    for name in ("one", "two"):
        write_part(tmp_path / name, figure, RESULTS)
    first, second = ((tmp_path / name / "figure-1.png").read_bytes() for name in ("one", "two"))
    assert first == second
    assert "![m over n](figure-1.png)" in (tmp_path / "one" / "figure-1.md").read_text()


def test_relative_improvements(tmp_path):
    table = Table(
        number="1",
        title="improvements",
        corpus="some items",
        settings=SETTINGS,
        entries=(
            Entry("up", "rel. %", "a", "m", 5.01, 2, 100.0, relative_to="b"),
            Entry("down", "rel. %", "a", "m", None, 2, 100.0, relative_to="b", lower=True),
        ),
    )
    write_part(tmp_path / "P", table, RESULTS)
    text = (tmp_path / "P" / "table-1.md").read_text()
    assert "| up | +233.33 (+5.01) |" in text  # 0.5 against 0.15
    assert "| down | -233.33 |" in text


def test_leads_have_intervals_and_name_the_best_other(tmp_path):
    flat = {"m": [0.0, 1.0, 2.0, 3.0]}
    results = {
        "c/ours": Result({"m": [2.0]}, {"m": [0.5, 1.5, 2.5, 3.5]}),
        "c/even": Result({"m": [1.5]}, flat),
        "c/worse sets": Result({"m": [1.0]}, {"m": [0.0, 0.0, 2.0, 2.0]}),
    }
    others = ("c/worse sets", "c/even")
    table = Table(
        number="1",
        title="leads",
        corpus="some items",
        settings=SETTINGS,
        entries=(
            Entry("best", "m", "c/ours", "m", versus=others),
            Entry("even", "m", "c/ours", "m", versus=("c/even",), lower=True),
        ),
    )
    assert table.cells == ("c/ours", *others)
    write_part(tmp_path / "P", table, results)
    text = (tmp_path / "P" / "table-1.md").read_text()
    assert "| best | +0.500 [+0.500, +0.500] even |" in text
    assert "| even | -0.500 [-0.500, -0.500] |" in text
    with (tmp_path / "P" / "table-1.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["mean"], row["deviation"], row["n"]) for row in rows] == [
        ("0.5", "0", "4"),
        ("-0.5", "0", "4"),
    ]
