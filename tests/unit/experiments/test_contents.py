"""Every line of a paper's contents names code, tests and claims that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest

from taxonomist.experiments.contents import LISTED, contents_of
from taxonomist.experiments.contents.lines import JUDGED_KINDS, line
from taxonomist.experiments.contents_page import count_verdicts, write_contents
from taxonomist.experiments.declarations import Judgement
from taxonomist.experiments.records import Record
from taxonomist.experiments.reproduction import load_paper
from taxonomist.experiments.writing import file_name

ROOT = Path(__file__).resolve().parents[3]
LAST_EQUATION = {"CH04": 41, "HCC03": 19, "TCPH01": 15, "RSSS06": 13}
"""The number of the last equation; our text of CH07 has lost its numbers."""
TABLES = {"CH04": 3, "HCC03": 2, "TCPH01": 4, "RSSS06": 3, "CH07": 2}
FIGURES = {"CH04": 4, "HCC03": 2, "TCPH01": 2, "RSSS06": 3, "CH07": 2}

EVERY = [(key, one) for key in LISTED for one in contents_of(key)]
all_lines = pytest.mark.parametrize(
    "one",
    [one for _, one in EVERY],
    ids=[f"{key} {one.kind} {one.number}" for key, one in EVERY],
)


@cache
def functions_in(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@all_lines
def test_code_and_tests_exist(one):
    for name in one.code:
        resolve_name(name)
    for name in one.tests:
        path, _, function = name.partition("::")
        assert function in functions_in(path)


@all_lines
def test_a_line_has_its_proof_or_says_why_not(one):
    assert bool(one.absent) != bool(one.code)
    if one.kind not in JUDGED_KINDS:
        assert bool(one.absent) != bool(one.tests)
        assert not one.judged
    if one.kind == "claim":
        assert bool(one.absent) != bool(one.judged)


@pytest.mark.parametrize("key", LISTED)
def test_lines_and_judged_claims_are_the_same(key):
    paper = load_paper(key, is_quick=False)
    declared = {
        file_name(part): [claim.text for claim in part.claims]
        for part in (*paper.tables, *paper.figures)
    }
    used = set()
    for one in contents_of(key):
        for part, words in one.judged:
            found = [text for text in declared[part] if words in text]
            assert found or not words, (part, words)
            used |= {(part, text) for text in found} | {(part, "")}
    assert {(part, "") for part in declared} <= used
    assert {(part, text) for part, texts in declared.items() for text in texts} <= used


def numbers(key, *kinds):
    """Return the numbers that the lines of some kinds have, with ranges written out."""
    found = set()
    for one in contents_of(key):
        given = re.fullmatch(r"(?:Eq\. )?(\d+)(?:-(\d+))?", one.number)
        if one.kind in kinds and given:
            first, last = int(given[1]), int(given[2] or given[1])
            found |= set(range(first, last + 1))
    return found


@pytest.mark.parametrize("key", LISTED)
def test_every_numbered_thing_has_a_line(key):
    if key in LAST_EQUATION:
        assert numbers(key, "equation", "measure") == set(range(1, LAST_EQUATION[key] + 1))
    assert numbers(key, "table") == set(range(1, TABLES[key] + 1))
    assert numbers(key, "figure") == set(range(1, FIGURES[key] + 1))


# The page --------------------------------------------------------------------------------------


def record(name, *judgements):
    claims = tuple((f"claim {n} of {name}.", made) for n, made in enumerate(judgements))
    return Record("P", name, name, claims)


@pytest.fixture
def listed(monkeypatch):
    """Let a paper P have lines of all forms."""
    found = (
        line("model", "Sec. 2", "a model", "models.LidstoneNB", "a::test_b c::test_d"),
        line("equation", "1", "an equation", "models", "a::test_b", differs="a sign"),
        line("equation", "2", "another", absent="not needed"),
        line("table", "1", "a table", "models", judged=(("table-1", ""),)),
        line("claim", "Sec. 6", "a claim", "models", judged=(("table-1", "claim 1"),)),
        line("claim", "Sec. 6", "a claim not run", "models", judged=(("table-9", "x"),)),
        line("figure", "1", "a figure", absent="an illustration"),
    )
    monkeypatch.setattr("taxonomist.experiments.contents_page.contents_of", lambda _: found)


def test_the_page_of_a_paper(listed, tmp_path):
    made = record(
        "table-1",
        Judgement("yes", "", 0.01, corrected="yes"),
        Judgement("no", "", 0.04, corrected="within noise"),
        Judgement("yes", "by an interval"),
    )
    (tmp_path / "P").mkdir()
    assert write_contents(tmp_path / "P", "A paper", [made])
    text = (tmp_path / "P" / "index.md").read_text()
    assert text.startswith("# A paper\n")
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    tests = "`a.py::test_b`<br>`c.py::test_d`"
    assert f"| model, Sec. 2 | a model | as in the paper | `models.LidstoneNB` | {tests} |" in rows
    assert "| equation 1 | an equation | differs: a sign | `models` | `a.py::test_b` |" in rows
    assert "| equation 2 | another | not here: not needed |  |  |" in rows
    counts = "2 yes, 1 no; after Holm 2 yes, 1 within noise"
    assert f"| table 1 | a table | [table-1](table-1.md): {counts} | `models` |  |" in rows
    verdict = "**no**; after Holm **within noise**"
    assert f"| claim, Sec. 6 | a claim | [table-1](table-1.md): {verdict} | `models` |  |" in rows
    assert "| claim, Sec. 6 | a claim not run | table-9: not run | `models` |  |" in rows
    assert "| figure 1 | a figure | not here: an illustration |  |  |" in rows


def test_a_paper_without_a_list_has_no_page(tmp_path):
    assert not write_contents(tmp_path / "BEYOND", "Beyond", [])
    assert not list(tmp_path.iterdir())


def test_verdicts_are_counted_before_and_after_the_correction():
    made = [
        record(
            "table-1", Judgement("yes", "", 0.01, corrected="within noise"), Judgement("yes", "")
        ),
        record("table-2", Judgement("no", "", 0.001, corrected="no")),
    ]
    assert count_verdicts(made) == ["3", "2", "1", "0", "1", "1", "1"]


def test_every_paper_with_a_list_has_a_summary_that_names_what_held_and_what_did_not():
    for key in LISTED:
        text = (ROOT / "src/taxonomist/experiments/findings" / key / "summary.md").read_text()
        for heading in ("**Held:**", "**Did not hold:**", "**Why:**"):
            assert heading in text
        assert len(text) < 1800


def test_pages_say_what_the_findings_say():
    findings = sorted((ROOT / "src/taxonomist/experiments/findings").rglob("*.md"))
    for path in findings:
        folder = ROOT / "docs/reproduction" / path.parent.name
        pages = [folder / path.name]
        if path.stem == "summary":
            own = [folder / "index.md"] if path.parent.name in LISTED else []
            pages = [*own, folder.parent / "index.md"]
        for page in pages:
            assert path.read_text().strip() in page.read_text(), page
    assert len(findings) > 30
