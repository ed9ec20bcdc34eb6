"""The page in a real browser; skipped where there is no Chromium."""

import json
import re
import zlib
from base64 import b64encode
from html import escape, unescape

import numpy as np
import pytest

from taxonomist.evaluation import assess
from taxonomist.report import tree, write_report
from taxonomist.taxonomy import Taxonomy
from tests.unit.report.pages import EVIL, IMAGE, full_report, run_browser


def dom(folder, script="", width=None):
    """The document after its scripts and one of ours have run.

    A browser's window cannot be as narrow as a phone, but a frame in it can: with ``width``, the
    page stands in a frame.
    """
    page = (folder / "report.html").read_text(encoding="utf-8")
    page = page.replace("</body>", f"<script>{script}</script></body>")
    if width is not None:
        style = f"width:{width}px;height:900px;border:0"
        page = f'<!doctype html><title></title><iframe style="{style}" srcdoc="{escape(page)}">'
    copy = folder / "driven.html"
    copy.write_text(page, encoding="utf-8")
    return run_browser(folder, "--window-size=1400,900", "--dump-dom", copy.as_uri())


def told(folder, expression, width):
    """What an expression is in the page."""
    script = f"parent.document.title = 'JSON' + JSON.stringify({expression})"
    found = re.search(r"<title>JSON(.*?)</title>", dom(folder, script, width))
    return json.loads(unescape(found[1]))


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
    # The first portion of 200 and the one that holds it, and no more.
    assert len(drawn) == 101 + 400
    assert "400 more …" in text
    assert "150 more …" in text


def test_every_portion_can_be_drawn(tmp_path):
    taxonomy = Taxonomy.from_paths([("one", f"c{i:04}") for i in range(950)] + [("two",)])
    leaves = np.array(taxonomy.leaves)
    found = assess(leaves, leaves, taxonomy)
    write_report(tmp_path / "report.html", found, title="Large", taxonomy=taxonomy)
    text = dom(
        tmp_path,
        """
        const one = document.querySelector("details.node");
        one.open = true;
        one.dispatchEvent(new Event("toggle"));
        const box = document.getElementById("find");
        box.value = "c0777";
        box.dispatchEvent(new Event("input"));
        document.querySelector("#matches button").click();
        for (let i = 0; i < 20; i++) document.querySelector(".kids > button")?.click();
        """,
    )
    assert rows(text) == list(range(1, taxonomy.n_nodes))
    assert " more …" not in text.split('id="tree"')[1].split("<noscript")[0]


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


PHONE = 390
"""Width of a phone in pixels."""


def large_report(folder):
    """Write a report of 5,041 nodes, with long names, a chain, and a node of 4,800 children."""
    paths = [("one", f"c{i:04} a category with a long name") for i in range(4800)]
    paths += [(f"t{i}", f"t{i}.1") for i in range(100)]
    paths += [tuple(f"step {k}" for k in range(n + 1)) for n in range(40)]
    taxonomy = Taxonomy.from_paths(paths)
    leaves = np.array(taxonomy.leaves)
    found = assess(leaves, np.roll(leaves, 1), taxonomy)
    write_report(folder / "report.html", found, title="Large", taxonomy=taxonomy)
    return taxonomy


SCROLLED = """(() => {
  const boxes = [...document.querySelectorAll(".scroll")].map((box) => {
    const heads = [...box.querySelectorAll("thead th")];
    const f1 = heads.find((head) => head.textContent === "F1");
    const before = f1 && f1.getBoundingClientRect().right;
    box.scrollLeft = box.scrollWidth;
    const after = f1 && f1.getBoundingClientRect().right;
    const last = heads[heads.length - 1].getBoundingClientRect().right;
    return { before, after, last, is_scores: !!f1 };
  });
  return { boxes, width: document.documentElement.scrollWidth, seen: window.innerWidth };
})()"""


@pytest.mark.parametrize("make", [full_report, large_report])
def test_wide_tables_scroll_inside_their_frame_on_a_phone(tmp_path, make):
    make(tmp_path / "report.html" if make is full_report else tmp_path)
    found = told(tmp_path, SCROLLED, PHONE)
    assert found["seen"] == PHONE
    # The page itself is as wide as the screen.
    assert found["width"] == PHONE
    scores = [box for box in found["boxes"] if box["is_scores"]]
    assert len(scores) == 2
    for box in scores:
        assert 0 < box["before"] <= PHONE
        assert 0 < box["after"] <= PHONE
    assert all(box["last"] <= PHONE for box in found["boxes"])


BROKEN = """(() => {
  const broken = [];
  for (const name of document.querySelectorAll(".confusions .name")) {
    const text = name.firstChild, range = document.createRange();
    for (const word of text.data.matchAll(/[A-Za-z]+/g)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (range.getClientRects().length > 1) broken.push(word[0]);
    }
  }
  return { broken, width: document.documentElement.scrollWidth };
})()"""


def test_words_of_confusions_are_not_broken_on_a_phone(tmp_path):
    names = ("Medical Equipment Manufacturing", "Navigational and Electromedical Instruments")
    taxonomy = Taxonomy.from_paths([("Miscellaneous", name) for name in names])
    labels = [leaf for leaf in taxonomy.leaves for _ in range(3)]
    found = assess(labels, labels[::-1], taxonomy)
    write_report(tmp_path / "report.html", found, title="Words", taxonomy=taxonomy)
    assert told(tmp_path, BROKEN, PHONE) == {"broken": [], "width": PHONE}


CAPTIONS = """[...document.querySelectorAll("caption")].map((caption) => {
  const line = parseFloat(getComputedStyle(caption).lineHeight) || 20;
  return Math.floor(caption.querySelector("span").getBoundingClientRect().height / line);
})"""


def test_captions_use_the_width_of_a_phone(tmp_path):
    taxonomy = Taxonomy.from_paths([("a", "b"), ("a", "c")])
    labels = ["b", "c", "b"]
    found = assess(labels, ["c", "b", "c"], taxonomy)
    write_report(tmp_path / "report.html", found, title="Captions", taxonomy=taxonomy)
    lines = told(tmp_path, CAPTIONS, PHONE)
    assert len(lines) >= 4
    assert max(lines) <= 4


DEEPEST = """(() => {
  const isStep = (made) => made.textContent.includes("step");
  for (let i = 0; i < 60; i++) {
    [...document.querySelectorAll("details.node:not([open])")].filter(isStep).forEach((made) => {
      made.open = true;
      made.dispatchEvent(new Event("toggle"));
    });
  }
  const scores = [...document.querySelectorAll(".tree .row")].filter(isStep)
    .map((row) => row.children[2]);
  return scores.map((score) => [score.textContent, score.getBoundingClientRect().right]);
})()"""


def test_the_tree_shows_f1_on_a_phone_at_every_depth(tmp_path):
    paths = [tuple(f"step {k}" for k in range(n + 1)) for n in range(1, 9)]
    taxonomy = Taxonomy.from_paths([*paths, ("other",)])
    labels = list(taxonomy.nodes[1:])
    found = assess(labels, labels, taxonomy)
    write_report(tmp_path / "report.html", found, title="Deep", taxonomy=taxonomy)
    rows_ = told(tmp_path, DEEPEST, PHONE)
    assert [text for text, _ in rows_] == ["1.000"] * 9
    assert all(0 < right <= PHONE for _, right in rows_)


TIMED = """(() => {
  const times = {};
  const timed = (name, work) => {
    const start = performance.now();
    work();
    document.body.getBoundingClientRect();
    times[name] = performance.now() - start;
  };
  const box = document.getElementById("find"), order = document.getElementById("order");
  const type = (text) => { box.value = text; box.dispatchEvent(new Event("input")); };
  times.loaded = performance.now();
  timed("order", () => { order.value = "f1"; order.dispatchEvent(new Event("change")); });
  timed("open", () => {
    const nodes = [...document.querySelectorAll("details.node")];
    const made = nodes.find((node) => node.textContent.startsWith("one"));
    made.open = true; made.dispatchEvent(new Event("toggle"));
  });
  timed("many", () => type("long"));
  times.said = document.querySelector("#matches li:last-child").textContent;
  timed("one", () => type("c4777"));
  timed("reveal", () => document.querySelector("#matches button").click());
  times.hit = document.querySelector(".hit .label").textContent;
  return times;
})()"""


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_a_tree_of_5000_nodes_opens_and_searches_quickly(tmp_path, width):
    taxonomy = large_report(tmp_path)
    assert taxonomy.n_nodes > 5000
    found = told(tmp_path, TIMED, width)
    assert found["said"] == "4780 more; type more letters."
    assert found["hit"].startswith("c4777")
    # Milliseconds; on an idle machine a tenth of this.
    assert found["loaded"] < 4000
    for name in ("order", "open", "many", "one"):
        assert found[name] < 500, name
    assert found["reveal"] < 1000


UNPACKED = """(() => {
  const found = {};
  const timed = (name, work) => {
    const start = performance.now();
    work();
    document.body.getBoundingClientRect();
    found[name] = performance.now() - start;
  };
  let calls = 0;
  const parse = JSON.parse;
  JSON.parse = (text) => { calls++; return parse(text); };
  const change = (id, value, event) => {
    const box = document.getElementById(id);
    box.value = value;
    box.dispatchEvent(new Event(event));
  };
  found.loaded = performance.now();
  timed("open", () => {
    const made = [...document.querySelectorAll("details.node")].slice(-1)[0];
    made.open = true; made.dispatchEvent(new Event("toggle"));
  });
  found.blocks = calls;
  timed("worst", () => change("order", "f1", "change"));
  found.lowest = document.querySelector("#matches .note").textContent;
  timed("search", () => change("find", "K49999", "input"));
  timed("again", () => change("find", "ba", "input"));
  change("find", "K49999", "input");
  timed("reveal", () => document.querySelector("#matches button").click());
  found.hit = document.querySelector(".hit .label").textContent;
  timed("confusions", () => change("confused", "NAME", "input"));
  found.pairs = document.getElementById("pairs").textContent;
  found.name = document.querySelector("#pairs button").textContent;
  return found;
})()"""


@pytest.mark.slow
def test_a_tree_of_50000_nodes_unpacks_its_branches(large_report):
    folder, taxonomy, assessment, _ = large_report
    confused = max(assessment.nodes, key=lambda node: len(node.taken_for))
    found = told(folder, UNPACKED.replace("NAME", confused.node), 1280)
    # One level down takes a block or two of 51.
    assert found["blocks"] <= 2
    assert found["lowest"].startswith(" F1 0.000, ")
    assert found["hit"] == f"{taxonomy.name('K49999')} K49999"
    assert found["name"] == taxonomy.name(confused.node)
    others = [taxonomy.name(node) for node, _ in confused.taken_for]
    assert all(f"taken for {other}" in found["pairs"] for other in others)
    # Milliseconds; on an idle machine a tenth of this.
    assert found["loaded"] < 6000
    assert found["open"] < 500
    for name in ("worst", "search", "again", "confusions", "reveal"):
        assert found[name] < 5000, name


def test_packed_texts_are_unpacked_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "MOST_PLAIN", 3)
    full_report(tmp_path / "report.html")
    text = dom(tmp_path)
    assert sorted(rows(text)) == [1, 2, 3, 4, 5, 6, 7]
    assert "The &lt;img src=x" in text
    assert "garden (5)</p>" in text
    assert "10 found, 0 missed, 5 wrongly predicted" in text
    contents = ["", "a", "stored" + "".join(map(chr, range(256))), "é漢😀 " * 500]
    packed = [deflated(content, level) for content in contents for level in (0, 1, 9)]
    found = told(tmp_path, f"{json.dumps(packed)}.map(unpacked)", 1280)
    assert found == [content for content in contents for _ in range(3)]


def deflated(text, level):
    """A text as the page holds it, packed more or less thoroughly."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return b64encode(packer.compress(text.encode()) + packer.flush()).decode("ascii")
