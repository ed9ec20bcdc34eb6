"""The page that leads to all results."""

from __future__ import annotations

from dataclasses import replace

from taxonomist.experiments.contents import LISTED
from taxonomist.experiments.declarations import Judgement
from taxonomist.experiments.index_page import write_index
from taxonomist.experiments.records import Record

NOISE = Judgement("within noise", "", 0.2, "in 7 of 8 rows", corrected="within noise")
CLAIMS = (
    ("Better in every row.", NOISE),
    ("Twice as fast.", Judgement("yes", "2.1 times")),
    ("Better.", Judgement("yes", "", 0.04, corrected="within noise")),
    ("All ten agree.", Judgement("yes", "", 0.002, is_least=True, corrected="within noise")),
)
RECORD = Record("CH04", "table-2", "two models", CLAIMS, seconds=12.4)


def written(tmp_path, record, listed=("CH04",)):
    write_index(tmp_path, {"CH04": [record]}, {"CH04": "Cai and Hofmann 2004"}, listed)
    return (tmp_path / "index.md").read_text()


def test_the_index_says_first_what_held_and_what_did_not(tmp_path):
    text = written(tmp_path, RECORD)
    assert "| [CH04](#ch04): Cai and Hofmann 2004 | 4 | 3 | 0 | 1 | 1 | 0 | 3 |" in text
    places = [
        text.index(part)
        for part in (
            "| [CH04](#ch04): ",
            "## CH04",
            "*Cai and Hofmann 2004.*",
            "**Held:**",
            "**Did not hold:**",
            "**Why:**",
            "(CH04/index.md)",
            "## Every verdict",
            "### Verdicts on CH04",
            "[table-2](CH04/table-2.md): two models, 12 s | Better in every row.",
        )
    ]
    assert places == sorted(places)
    assert "| Better in every row. | within noise (in 7 of 8 rows) | within noise |" in text
    assert "|  | Twice as fast. | yes | – |" in text
    assert "|  | Better. | yes | within noise |" in text
    assert "|  | All ten agree. | yes | within noise (too few repeats) |" in text


def test_a_small_version_says_nothing_about_the_paper(tmp_path):
    text = written(tmp_path, replace(RECORD, is_quick=True), listed=())
    assert "**Held:**" not in text
    assert "(CH04/index.md)" not in text
    assert "two models (small version), 12 s" in text


def test_all_papers_together_are_summed_up_before_each_of_them(tmp_path):
    found = {key: [replace(RECORD, paper=key)] for key in LISTED}
    titles = {key: f"title of {key}" for key in found}
    write_index(tmp_path, found, titles, LISTED)
    text = (tmp_path / "index.md").read_text()
    assert text.index("| **CH04 + ") < text.index("**In short:**") < text.index("A claim holds")
    quick = found | {"CH07": [replace(RECORD, paper="CH07", is_quick=True)]}
    some = {key: found[key] for key in LISTED[1:]}
    for part in (quick, some):
        write_index(tmp_path, part, titles, LISTED[1:])
        assert "**In short:**" not in (tmp_path / "index.md").read_text()


def test_the_papers_with_a_list_are_counted_together(tmp_path):
    found = {key: [replace(RECORD, paper=key)] for key in ("CH04", "CH07", "BEYOND")}
    write_index(tmp_path, found, {key: f"title of {key}" for key in found}, ["CH04", "CH07"])
    rows = [row for row in (tmp_path / "index.md").read_text().splitlines() if "| " in row][2:6]
    assert [row.split(" | ")[0] for row in rows] == [
        "| [CH04](#ch04): title of CH04",
        "| [CH07](#ch07): title of CH07",
        "| **CH04 + CH07**",
        "| [BEYOND](#beyond): title of BEYOND",
    ]
    assert rows[2].endswith("| 8 | 6 | 0 | 2 | 2 | 0 | 6 |")
