"""Links between pages lead to a file, and to a heading in it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = {"_build", "generated"}
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not BUILT & set(page.parts)),
]
FENCE = re.compile(r"^(`{3,})(?P<info>[^\n]*)\n.*?^\1$", re.M | re.S)
LINK = re.compile(r"\]\((?P<address>[^)\s]+)(?: \"[^\"]*\")?\)|^\[[^\]]+\]: (?P<named>\S+)", re.M)
OTHER_HOST = re.compile(r"[a-z]+:")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """Return a page without its code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?)\s*$", prose(page), re.M):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        repeats = itertools.count(1)
        anchor = slug
        while anchor in found:
            anchor = f"{slug}-{next(repeats)}"
        found.add(anchor)
    return found


def broken_links(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere; those to other hosts are not looked at."""
    broken = []
    for match in LINK.finditer(prose(page)):
        address = match["address"] or match["named"]
        if OTHER_HOST.match(address):
            continue
        path, _, anchor = address.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(address)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    assert broken_links(page) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_stay_in_the_repository(page):
    for match in LINK.finditer(prose(page)):
        address = match["address"] or match["named"]
        if not OTHER_HOST.match(address):
            assert (page.parent / address.partition("#")[0]).resolve().is_relative_to(ROOT)


def test_broken_links_are_noticed(tmp_path):
    (tmp_path / "other.md").write_text("# One & two\n\n## Use `this`\n\n## Again\n\n## Again\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n\n[a](other.md#one--two) [b](other.md#use-this) [c](#here) [d](other.md#again-1) "
        "[e](https://example.org) [f](nowhere.md) [g](other.md#three) [h](#there)\n\n"
        "```text\n[i](in-code.md)\n```\n"
    )
    assert broken_links(page) == ["nowhere.md", "other.md#three", "#there"]
