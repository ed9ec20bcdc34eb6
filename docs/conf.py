"""How the pages are built: ``make docs``."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for tools

from taxonomist import __version__

# Other packages turn messages on that a user does not see.
logging.getLogger("taxonomist").setLevel(logging.WARNING)

project = "Taxonomist"
author = "the Taxonomist developers"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "tools.printed_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = f"Taxonomist {release}"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0f5f8a", "color-brand-content": "#0f5f8a"},
    "dark_css_variables": {"color-brand-primary": "#7cc0e8", "color-brand-content": "#7cc0e8"},
}
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# What scikit-learn's own docstrings refer to, in methods that are inherited from it.
suppress_warnings = ["ref.ref", "ref.term"]

RESULTS = "reproduction/index"
RESULT_PAGES = "\n```{toctree}\n:hidden:\n:glob:\n*/*\n```\n"


def setup(app: Any) -> None:
    """Put the pages of single results below their overview, which links to each of them."""
    app.connect("source-read", _add_results)
    app.connect("html-page-context", _fold_results, priority=900)  # after the theme


def _add_results(_app: Any, page: str, source: list[str]) -> None:
    if page == RESULTS:
        source[0] += RESULT_PAGES


def _fold_results(*event: Any) -> None:
    """Leave the pages of single results out of the side bar."""
    context: dict[str, Any] = event[3]
    menu = BeautifulSoup(context["furo_navigation_tree"], "html.parser")
    caption = menu.find("span", string="Results")
    if caption is None:
        return
    for part in caption.find_next("ul").select("li > :is(ul, input, label)"):
        part.extract()
    context["furo_navigation_tree"] = str(menu)
