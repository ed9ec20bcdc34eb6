"""The page in a real browser; skipped where there is no Chromium."""

import re

import numpy as np
import pytest

from taxonomist.evaluation import assess
from taxonomist.report import write_report
from taxonomist.taxonomy import Taxonomy
from tests.unit.report.pages import EVIL, IMAGE, full_report, run_browser


def dom(folder, script=""):
    """The document after its scripts and one of ours have run."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    copy = folder / "driven.html"
    copy.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return run_browser(folder, "--dump-dom", copy.as_uri())


def rows(text):
    """The codes of the nodes that are drawn."""
    return [int(code) for code in re.findall(r'class="node[^"]*"[^>]* data-code="(\d+)"', text)]


@pytest.fixture
def report(tmp_path):
    full_report(tmp_path / "report.html")
    return tmp_path


def test_the_tree_is_drawn_and_texts_stay_texts(report):
    text = dom(report, "document.title += ' ran to the end'")
    assert "<title>Shop &lt;script&gt;alert(1)&lt;/script&gt; ran to the end</title>" in text
    assert sorted(rows(text)) == [1, 2, 3, 4, 5, 6, 7]
    assert EVIL not in re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert IMAGE not in text
    assert "The &lt;img src=x" in text
    assert "garden (5)</p>" in text
    assert "10 found, 0 missed, 5 wrongly predicted" in text


def test_a_category_is_found_and_shown(report):
    text = dom(
        report,
        """
        const box = document.getElementById("find");
        box.value = "FORK";
        box.dispatchEvent(new Event("input"));
        document.querySelector("#matches button").click();
        """,
    )
    assert len(re.findall("<li>", text)) == 1
    (hit,) = re.findall(r'class="node hit"[^>]*><(?:summary|div) class="row">(.*?)</span>', text)
    assert "spade &amp; fork" in hit


def test_a_search_without_a_match_says_so(report):
    text = dom(
        report,
        """
        const box = document.getElementById("find");
        box.value = "nothing like it";
        box.dispatchEvent(new Event("input"));
        """,
    )
    assert "No category has this in its name or id." in text


def test_the_order_can_be_changed(report):
    text = dom(
        report,
        """
        const order = document.getElementById("order");
        order.value = "f1";
        order.dispatchEvent(new Event("change"));
        """,
    )
    scores = [
        float(f1) for f1 in re.findall(r"</span><span>(\d\.\d+)</span><span>\d+</span>", text)
    ]
    tops = [scores[0], scores[3]]
    assert len(scores) == 7
    assert tops == sorted(tops)
    assert scores[1:3] == sorted(scores[1:3])
    assert scores[4:] == sorted(scores[4:])


def test_a_large_taxonomy_is_drawn_on_demand(tmp_path):
    paths = [("one", f"c{i:04}") for i in range(950)] + [(f"t{i}", f"t{i}.1") for i in range(100)]
    taxonomy = Taxonomy.from_paths(paths)
    leaves = np.array(taxonomy.leaves)
    found = assess(leaves, np.roll(leaves, 1), taxonomy)
    write_report(tmp_path / "report.html", found, title="Large", taxonomy=taxonomy)
    assert len(rows(dom(tmp_path))) == 101
    text = dom(
        tmp_path,
        """
        const box = document.getElementById("find");
        box.value = "c0777";
        box.dispatchEvent(new Event("input"));
        document.querySelector("#matches button").click();
        """,
    )
    drawn = rows(text)
    assert taxonomy.code("c0777") in drawn
    # Portions of 200 up to the one that holds it, and no more.
    assert len(drawn) == 101 + 800
    assert "150 more …" in text


def test_the_page_is_painted(report):
    image = report / "page.png"
    run_browser(
        report,
        "--window-size=1000,1600",
        f"--screenshot={image}",
        (report / "report.html").as_uri(),
    )
    matplotlib_image = pytest.importorskip("matplotlib.image")
    pixels = matplotlib_image.imread(image)
    assert pixels.shape[:2] == (1600, 1000)
    colours = np.unique((pixels[..., :3].reshape(-1, 3) * 255).astype(int), axis=0)
    assert len(colours) > 50
    is_teal = (abs(pixels[..., :3] * 255 - [15, 118, 110]) < 3).all(axis=2)
    assert is_teal.sum() > 200
