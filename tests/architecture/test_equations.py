"""Every equation that the sources or the documentation cite has a test that is marked with it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
KEYS = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(), re.M))

KEY = r"[A-Z]{2,}\d{2}"
BRACKETS = re.compile(rf"\[({KEY}[,;][^\[\]]*|{KEY})\]")
IN_WORDS = re.compile(rf"({KEY})'s (Eqs?\. [\d, –-]*\d)")
MARKER = re.compile(r"""mark\.equation\(["']([^"']+)["']\)""")


def references(text):
    """Yield the pairs of a key and what follows it, for all references in a text."""
    text = re.sub(r"\s*\n\s*(#:?\s+)?", " ", text)
    for match in BRACKETS.finditer(text):
        for part in match[1].split(";"):
            key, _, rest = part.strip().partition(", ")
            if re.fullmatch(KEY, key):
                yield key, rest
    for match in IN_WORDS.finditer(text):
        yield match[1], match[2]


def numbers(rest):
    """Yield the numbers of the equations in ``Eq. 5-8, 24b``; letters name lines of one."""
    if not re.match(r"Eqs?\.", rest):
        return
    for number in re.finditer(r"(\d+)[a-z]?(?:[-–](\d+))?", rest.partition(" ")[2]):
        first = int(number[1])
        yield from range(first, int(number[2] or first) + 1)


def cited(path):
    """Return the equations that a file cites, as ``CH04:24``."""
    return {
        f"{key}:{number}"
        for key, rest in references(path.read_text(encoding="utf-8"))
        for number in numbers(rest)
    }


@cache
def marked():
    """Return what the markers of all tests name."""
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for path in files for name in MARKER.findall(path.read_text(encoding="utf-8"))}


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [path for path in SOURCES + PAGES if cited(path)], ids=name)
def test_every_cited_equation_has_a_marked_test(path):
    assert not cited(path) - marked()


@pytest.mark.parametrize("path", SOURCES + PAGES, ids=name)
def test_every_key_is_in_the_bibliography(path):
    assert {key for key, _ in references(path.read_text(encoding="utf-8"))} <= KEYS


def test_every_marker_names_a_paper_of_the_bibliography():
    assert {name.partition(":")[0] for name in marked()} <= KEYS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[CH04, Eq. 24]", {"CH04:24"}),
        ("[CH04, Eqs. 3, 4]", {"CH04:3", "CH04:4"}),
        ("[CH04, Eq. 24b]", {"CH04:24"}),
        ("[RSSS06, Eq. 5-7]", {"RSSS06:5", "RSSS06:6", "RSSS06:7"}),
        ("[CH04, Eq. 10,\n    # 24; TCPH01, Eq. 1]", {"CH04:10", "CH04:24", "TCPH01:1"}),
        ("[CH04, Eq. 23, with the loads multiplied in]", {"CH04:23"}),
        ("CH04's Eq. 23, which", {"CH04:23"}),
        ("[CH04, Alg. 1, step 8a], [CH07], X[A10]", set()),
    ],
)
def test_references_are_read(tmp_path, text, found):
    path = tmp_path / "module.py"
    path.write_text(text)
    assert cited(path) == found


def test_there_are_references():
    assert len(set().union(*map(cited, SOURCES))) > 30
