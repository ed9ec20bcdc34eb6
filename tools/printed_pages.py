"""A Sphinx extension: pages show what their snippets print and draw, made when they are built.

Below a ``python`` block stands what it prints, and a figure that it assigns to ``figure``. A
command of a console block is followed by its output, unless the page shows lines of its own there.
A comment ``<!-- section: report.html#reliability -->`` becomes that section of an HTML report that
a snippet above it wrote, and ``<!-- page: report.html -->`` becomes the whole report in a frame.

The middle of a long output is left out. A snippet that fails ends the build.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import taxonomist
from tools.figures import draw_for_pages
from tools.report_parts import frame, section
from tools.snippets import Outcome, SnippetError, run_page, workplace

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LONGEST = 40
"""Number of printed lines that are shown."""

_MARK = re.compile(
    r"^<!-- (?P<what>section|page): (?P<file>[\w.-]+)(?:#(?P<id>[\w-]+))? -->$", re.M
)
_HEADING = re.compile(r"^#+ (.+)$", re.M)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _show_output)
    return {"version": "1", "parallel_read_safe": False}


def _show_output(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the text of a page by one with output."""
    if app.env.doc2path(page).suffix != ".md":
        return
    with workplace():
        try:
            source[0] = with_output(source[0], page, Path(app.srcdir), Path(app.outdir))
        except Exception as error:
            from sphinx.errors import ExtensionError

            message = f"{page}.md: a snippet failed: {type(error).__name__}: {error}"
            raise ExtensionError(message, error) from error


def with_output(text: str, page: str, sources: Path, site: Path) -> str:
    """Run a page in the current folder, and return its text with output.

    Parameters
    ----------
    text
        The page, in Markdown.
    page
        Its path below ``sources``, without the suffix.
    sources
        The folder of the pages. Figures are written to its folder ``_figures``.
    site
        The folder of the built pages. Whole reports are written to its folder ``_reports``.
    """
    parts: list[str] = []
    done = 0
    namespace: dict[str, object] = {}
    stem = page.replace("/", "-")
    for number, outcome in enumerate(run_page(text, f"{page}.md", namespace)):
        block = outcome.block
        parts.append(_with_reports(text[done : block.start], page, site))
        parts.append(_shown(text[block.start : block.end], outcome))
        figure = namespace.pop("figure", None)
        if figure is not None:
            title = _HEADING.findall(text[: block.start])[-1].replace("`", "")
            draft = sources / "_figures" / f"{stem}-{number}"
            parts.append(draw_for_pages(figure, draft, title))
        done = block.end
    parts.append(_with_reports(text[done:], page, site))
    shown = "".join(parts)
    for folder in (Path.cwd(), Path(taxonomist.__file__).parent):
        if str(folder) in shown:
            raise SnippetError(f"The output names a folder of this machine, {folder}.")
    return shown


def _shown(block: str, outcome: Outcome) -> str:
    """Return a block with what it printed."""
    if outcome.block.kind == "hidden":
        return ""
    if outcome.block.kind == "console":
        pairs = zip(outcome.block.commands, outcome.commands, strict=True)
        lines = [f"{each.line}\n{each.shown or _cut(printed)}" for each, printed in pairs]
        return f"```console\n{''.join(lines)}```"
    if not outcome.printed.strip():
        return block
    return f"{block}\n\n````{{code-block}} text\n:class: printed\n\n{_cut(outcome.printed)}````\n"


def _cut(printed: str) -> str:
    """Return printed text with a newline at its end, and without the middle if it is long."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    if len(lines) > LONGEST:
        lines[LONGEST // 2 : -LONGEST // 2] = ["..."]
    return "".join(f"{line}\n" for line in lines)


def _with_reports(text: str, page: str, site: Path) -> str:
    """Replace the comments that ask for a report, or for a section of one."""

    def replace(match: re.Match[str]) -> str:
        report = Path(match["file"]).read_text(encoding="utf-8")
        if match["what"] == "section":
            return section(report, match["id"])
        target = site / "_reports" / f"{page.replace('/', '-')}-{match['file']}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(report, encoding="utf-8")
        return frame(f"{'../' * page.count('/')}_reports/{target.name}")

    return _MARK.sub(replace, text)
