"""The whole site builds without a warning, and needs nothing from other hosts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=\"(?:https?:)?//[^\"]*\"")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the pages in another folder, and return it."""
    for package in ("sphinx", "myst_parser", "numpydoc", "furo"):
        pytest.importorskip(package)
    work = tmp_path_factory.mktemp("site")
    made = shutil.ignore_patterns("_build", "_figures", "generated")
    shutil.copytree(ROOT / "docs", work / "docs", ignore=made)
    paths = [str(ROOT), str(ROOT / "src")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", work / "docs", work / "html"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return work / "html"


def test_nothing_comes_from_other_hosts(site):
    loaded = {page.name: LOADED.findall(page.read_text()) for page in site.rglob("*.html")}
    assert {name: found for name, found in loaded.items() if found} == {}
    styles = "".join(style.read_text() for style in site.rglob("*.css"))
    assert re.findall(r"url\([\"']?(?:https?:)?//", styles) == []


def test_results_are_one_entry_of_the_side_bar(site):
    for page in ("index.html", "reproduction/index.html", "reproduction/CH04/table-1.html"):
        text = (site / page).read_text()
        bar = text[text.index('class="sidebar-tree"') : text.index("</aside>")]
        assert bar.count("The papers’ tables and figures") == 1
        assert "Flat and hierarchical SVM" not in bar


def test_the_front_page_shows_the_picture_and_what_commands_print(site):
    page = (site / "index.html").read_text()
    assert '<svg class="overview"' in page
    assert "The report is in report.html." in page
    assert page.count('<div class="cards') == 1


def test_the_gallery_shows_every_figure_and_a_report(site):
    page = (site / "gallery.html").read_text()
    assert len(re.findall(r'<img[^>]*class="[^"]*only-light drawn', page)) == 6
    assert len(re.findall(r'<img[^>]*class="[^"]*only-dark drawn', page)) == 6
    assert page.count('<template shadowrootmode="open">') >= 7
    assert (site / "_reports" / "gallery-report.html").exists()


def test_no_page_names_a_folder_of_this_machine(site):
    named = [page.name for page in site.rglob("*.html") if str(ROOT) in page.read_text()]
    assert named == []
