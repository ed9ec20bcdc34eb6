"""Every snippet of the README and the documentation runs and shows what it says it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.snippets import BLOCK, SnippetError, blocks_to_run, run_page

ROOT = Path(__file__).resolve().parents[2]
BUILT = ("_build", "generated")
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not set(BUILT) & set(page.parts)),
]
PROSE_ONLY = {"docs/reference/index.md"} | {
    page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "reproduction").rglob("*.md")
}
"""Pages without a snippet to run; those of the reproduction are results."""

SLOW = {"docs/theory/markov-graph.md"}
"""Pages whose snippets take minutes: loops of Markov networks on DAGs are compiled."""

SHOWN_ONLY = {"text", "{toctree}", "{eval-rst}", "{raw}"}
"""Kinds of blocks that are never run: what is shown, and what makes up pages."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def run(text: str) -> list[str]:
    """Run a page and return what its blocks printed."""
    outcomes = run_page(text, "page.md", {})
    return [outcome.printed or "".join(outcome.commands) for outcome in outcomes]


def marked(page: Path) -> object:
    return pytest.param(page, marks=pytest.mark.slow) if name(page) in SLOW else page


@pytest.mark.parametrize("page", [marked(page) for page in PAGES], ids=name)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAXONOMIST_DATA", raising=False)
    for _ in run_page(read(page), name(page), {}):
        pass


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_has_a_snippet_or_is_listed_as_prose(page):
    assert bool(blocks_to_run(read(page))) != (name(page) in PROSE_ONLY)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_is_passed_over_for_its_kind(page):
    kinds = {match["kind"] for match in BLOCK.finditer(read(page))} - {None}
    assert kinds <= {"python", "console"} | SHOWN_ONLY


def test_a_wrong_result_is_noticed():
    with pytest.raises(SnippetError, match="Got"):
        run("```python\n>>> 1 + 1\n3\n```\n")


def test_a_failing_command_is_noticed():
    with pytest.raises(SnippetError, match="No such command"):
        run("```console\n$ taxonomist dmeo\n```\n")


def test_other_output_than_shown_is_noticed():
    assert run("```console\n$ taxonomist --version\ntaxonomist ...\n```\n")
    with pytest.raises(SnippetError, match="but prints"):
        run("```console\n$ taxonomist --version\ntaxonomist 0.0.0\n```\n")


def test_what_is_printed_is_returned():
    page = "```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n"
    assert run(page) == ["", "2\n"]


def test_other_programs_are_not_run():
    assert run("```console\n$ false\nshown\n$ taxonomist --version\n```\n")[0].startswith("shown")


def test_a_command_goes_on_after_a_backslash():
    assert run("```console\n$ taxonomist \\\n    --version\n```\n")[0].startswith("taxonomist")


def test_only_a_marked_block_is_left_out():
    page = "<!-- not run: slow -->\n```python\n1\n```\n\n```python\n2\n```\n"
    assert [block.code for block in blocks_to_run(page)] == ["2\n"]


def test_a_comment_can_run_code_first():
    assert run("<!-- run first:\nx = 3\n-->\n\n```python\nprint(x)\n```\n") == ["", "3\n"]
