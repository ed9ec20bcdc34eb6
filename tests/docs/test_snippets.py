"""Every snippet of the README and the documentation runs and shows what it says it shows.

The ``python`` blocks of a page share one namespace, in order; blocks of ``>>>`` examples are
checked as doctests. In ``console`` blocks the lines ``$ taxonomist ...`` are run and must succeed.
An HTML comment ``<!-- not run: why -->`` on the line above keeps a block from being run.
"""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.unit.cli.running import run_here

ROOT = Path(__file__).resolve().parents[2]
BUILT = ("_build", "generated")
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not set(BUILT) & set(page.parts)),
]
PROSE_ONLY = {"docs/index.md", "docs/reference/index.md"} | {
    page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "reproduction").rglob("*.md")
}
"""Pages without a snippet to run; those of the reproduction are results."""

SHOWN_ONLY = {"text", "{toctree}", "{eval-rst}"}
"""Kinds of blocks that are never run: what is shown, and what makes up pages."""

FENCE = re.compile(
    r"^(?P<skip><!-- not run: [^\n]+ -->\n+)?```(?P<kind>[\w{}-]*)\n(?P<code>.*?)^```$", re.M | re.S
)
LINK = re.compile(r"\]\((?!https?:)(?P<path>[^)#]+)")


class Block(NamedTuple):
    """A fenced block that can be run."""

    kind: str
    code: str
    line: int

    @property
    def commands(self) -> list[str]:
        """The arguments of each call of the command."""
        prompt = "$ taxonomist "
        return [line[len(prompt) :] for line in self.code.splitlines() if line.startswith(prompt)]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_to_run(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    blocks = [
        Block(match["kind"], match["code"], text.count("\n", 0, match.start("code")))
        for match in FENCE.finditer(text)
        if not match["skip"]
    ]
    return [block for block in blocks if block.kind == "python" or block.commands]


def run_python(page: Path, block: Block, namespace: dict[str, object]) -> None:
    if ">>>" not in block.code:
        # Blank lines in front, so that a traceback shows the line of the page.
        exec(compile("\n" * block.line + block.code, name(page), "exec"), namespace)
        return
    examples = doctest.DocTestParser().get_doctest(
        block.code, namespace, name(page), str(page), block.line
    )
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(examples, out=failures.append, clear_globs=False)
    namespace.update(examples.globs)
    assert not failures, "".join(failures)


def run_command(arguments: str) -> None:
    done = run_here(*shlex.split(arguments))
    assert done.code == 0, done.err


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAXONOMIST_DATA", raising=False)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_to_run(page):
        if block.kind == "python":
            run_python(page, block, namespace)
        for arguments in block.commands:
            run_command(arguments)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_has_a_snippet_or_is_listed_as_prose(page):
    assert bool(blocks_to_run(page)) != (name(page) in PROSE_ONLY)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_is_passed_over_for_its_kind(page):
    kinds = {match["kind"] for match in FENCE.finditer(page.read_text(encoding="utf-8"))}
    assert kinds <= {"python", "console"} | SHOWN_ONLY


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    paths = [match["path"] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    assert not [path for path in paths if not (page.parent / path).exists()]


def test_a_wrong_result_is_noticed():
    with pytest.raises(AssertionError, match="Got"):
        run_python(PAGES[0], Block("python", ">>> 1 + 1\n3\n", 0), {})


def test_a_failing_command_is_noticed():
    with pytest.raises(AssertionError, match="No such command"):
        run_command("dmeo")


def test_only_a_marked_block_is_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: slow -->\n```python\n1\n```\n\n```python\n2\n```\n")
    assert [block.code for block in blocks_to_run(page)] == ["2\n"]
