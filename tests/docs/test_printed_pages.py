"""Built pages show what their snippets print and draw."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taxonomist import plots
from tools.printed_pages import with_output
from tools.snippets import SnippetError

DOCS = Path(__file__).resolve().parents[2] / "docs"
DRAW = "from matplotlib.figure import Figure\nfigure = Figure()\naxes = figure.subplots()\n"


@pytest.fixture
def show(tmp_path, monkeypatch):
    """Return a function from the text of a page to its text with output."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return lambda text, page="page": with_output(text, page, tmp_path / "docs", tmp_path / "site")


def printed(shown: str) -> list[str]:
    return re.findall(r"^:class: printed\n\n(.*?)^````$", shown, re.M | re.S)


def test_output_stands_below_its_block(show):
    shown = show("One.\n\n```python\nx = 2\n```\n\n```python\nprint(x)\nprint(3)\n```\n\nTwo.\n")
    assert printed(shown) == ["2\n3\n"]
    assert shown.index("print(3)") < shown.index(":class: printed") < shown.index("Two.")


def test_commands_are_followed_by_their_output(show):
    page = "```console\n$ taxonomist models\n$ taxonomist --version\ntaxonomist ...\n```\n"
    shown = show(page)
    assert "HierarchicalSVC" in shown
    assert shown.endswith("$ taxonomist --version\ntaxonomist ...\n```\n")


def test_the_middle_of_a_long_output_is_left_out(show):
    (lines,) = printed(show("```python\nfor i in range(100):\n    print(i)\n```\n"))
    assert lines.split() == [*map(str, range(20)), "...", *map(str, range(80, 100))]


def test_hidden_code_is_not_shown(show):
    shown = show("<!-- run first:\nx = 5\n-->\n\n```python\nprint(x)\n```\n")
    assert "x = 5" not in shown
    assert printed(shown) == ["5\n"]


def test_a_folder_of_this_machine_is_not_shown(show):
    with pytest.raises(SnippetError, match="names a folder of this machine"):
        show("```python\nfrom pathlib import Path\n\nprint(Path('here').resolve())\n```\n")


def test_a_figure_is_drawn_for_light_and_dark_pages(show, tmp_path):
    pytest.importorskip("matplotlib")
    code = (
        DRAW + 'axes.set_xlabel("size")\naxes.bar([1], [2], yerr=1, label="bar")\naxes.legend()\n'
    )
    shown = show(f"# One `plot`\n\n```python\n{code}```\n", "deep/page")
    files = re.findall(r"```{image} /(\S+)\n:class: only-(light|dark) drawn\n:alt: One plot", shown)
    assert [theme for _, theme in files] == ["light", "dark"]
    light, dark = ((tmp_path / "docs" / file).read_text() for file, _ in files)
    assert "#cfd0d0" in dark
    assert "#cfd0d0" not in light
    assert "stroke: #000000" in light
    assert "stroke: #000000" not in dark


def test_a_figure_is_shown_once(show):
    pytest.importorskip("matplotlib")
    shown = show(f"# Plot\n\n```python\n{DRAW}```\n\n```python\nx = 1\n```\n")
    assert shown.count("{image}") == 2


REPORT = """```python
from pathlib import Path

style = '''
:root { color-scheme: light dark; --paper: #111; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #222; }
}
body { margin: 1px; }
p { top: 0; }
@media print { p { top: 1 } }
'''
sections = '<section id="one"><h2>One</h2><p>1</p></section><section id="two"><p>2</p></section>'
_ = Path("report.html").write_text(f"<style>{style}</style>{sections}")
```
"""


def test_a_section_of_a_report_has_its_style_and_the_theme_of_the_page(show):
    shown = show(f"{REPORT}\n<!-- section: report.html#one -->\n").partition("{raw} html")[2]
    assert '<template shadowrootmode="open">' in shown
    assert "<p>1</p>" in shown
    assert "<p>2</p>" not in shown
    assert "p { top: 0; }" in shown
    assert "@media print" not in shown
    assert 'body[data-theme="dark"] .report-part { --paper: #222; }' in shown


def test_an_unknown_section_is_an_error(show):
    with pytest.raises(ValueError, match=r"no section 'three'. It has one, two"):
        show(f"{REPORT}\n<!-- section: report.html#three -->\n")


def test_a_whole_report_is_part_of_the_site(show, tmp_path):
    shown = show(f"{REPORT}\n<!-- page: report.html -->\n", "deep/page")
    assert 'src="../_reports/deep-page-report.html"' in shown
    assert (tmp_path / "site" / "_reports" / "deep-page-report.html").exists()


def test_the_gallery_has_every_figure():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert [name for name in plots.__all__ if f"figure = plots.{name}(" not in gallery] == []


CONF = """
extensions = ["myst_parser", "tools.printed_pages"]
source_suffix = {".md": "markdown"}
"""


@pytest.fixture
def build(tmp_path):
    """Return a function that builds a page with Sphinx, and returns its HTML."""
    for package in ("sphinx", "myst_parser"):
        pytest.importorskip(package)
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    def page_of(text: str) -> str:
        (tmp_path / "conf.py").write_text(CONF)
        (tmp_path / "index.md").write_text(text)
        site = tmp_path / "site"
        with docutils_namespace():
            Sphinx(tmp_path, tmp_path, site, site, "html", status=None, warning=None).build()
        return (site / "index.html").read_text(encoding="utf-8")

    return page_of


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_sphinx_shows_output(build):
    page = build("# Page\n\n```python\nprint(6 * 7)\n```\n")
    assert re.search(r'<div class="printed highlight-text.*?42', page, re.S)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_failing_snippet_ends_the_build(build):
    with pytest.raises(Exception, match=r"index\.md: a snippet failed: ZeroDivisionError"):
        build("# Page\n\n```python\n1 / 0\n```\n")
