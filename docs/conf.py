"""How the pages are built: ``make docs``."""

from __future__ import annotations

from taxonomist import __version__

project = "Taxonomist"
author = "the Taxonomist developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Taxonomist {release}"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
myst_heading_anchors = 3
# What scikit-learn's own docstrings refer to, in methods that are inherited from it.
suppress_warnings = ["ref.ref", "ref.term"]
