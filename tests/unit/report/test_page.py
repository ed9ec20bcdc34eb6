"""The page as text: whole, well-formed, safe, self-contained, and small."""

import json
import os
import re
import zlib
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pytest

from taxonomist.evaluation import assess
from taxonomist.report import tree, write_report
from taxonomist.taxonomy import Taxonomy
from tests.unit.report.pages import EVIL, IMAGE, curve, full_report, shop

VOID = {"meta", "input", "img", "br"}


class Structure(HTMLParser):
    """Elements of a page, each closed where it was opened."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.texts, self.attributes = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @classmethod
    def of(cls, text):
        made = cls()
        made.feed(text)
        made.close()
        assert made.open == []
        return made


def headings(text):
    return re.findall(r"<h2>(.*?)</h2>", text)


def data_of(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found[1])


@pytest.fixture(params=[False, True], ids=["single", "sets"])
def report(request, tmp_path):
    assessment = full_report(tmp_path / "report.html", request.param)
    return assessment, (tmp_path / "report.html").read_text(encoding="utf-8")


def test_every_section_is_there(report):
    _, text = report
    assert headings(text) == [
        "Headline",
        "By level",
        "By subtree",
        "How far off",
        "Taxonomy",
        "Confusions",
        "Reliability",
        "Telling words",
        "Against the flat twin",
        "Learning curve",
        "Model",
        "What was tried",
    ]
    links = re.findall(r'<a href="#(.*?)">', text)
    assert links
    assert all(f'<section id="{link}">' in text for link in links)


def test_the_page_is_well_formed_and_safe(report):
    _, text = report
    structure = Structure.of(text)
    assert structure.seen.count("script") == 2
    assert "img" not in structure.seen
    assert EVIL not in text
    assert IMAGE not in text
    assert any(EVIL in words for words in structure.texts)
    assert not [name for name, _ in structure.attributes if name.startswith("on")]
    assert structure.seen.count("h1") == 1


def test_the_page_needs_nothing_from_elsewhere(report):
    _, text = report
    names = {name for name, _ in Structure.of(text).attributes}
    assert not names & {"src", "srcset", "data", "action"}
    assert "http" not in text.replace("http-equiv", "")
    assert "@import" not in text
    assert "url(" not in text


def test_tables_have_captions_and_titles(report):
    _, text = report
    seen = Structure.of(text).seen
    assert seen.count("table") == seen.count("caption") == seen.count("thead")
    assert all(role in text for role in ('scope="col"', 'scope="row"', 'lang="en"'))
    assert text.count("<svg") == text.count('role="img" aria-label=')


def test_numbers_are_those_of_the_assessment(report):
    assessment, text = report
    for interval in assessment.measures.values():
        assert f'<p class="value">{interval.estimate:.3f}</p>' in text
        assert f"{interval.low:.3f} to {interval.high:.3f}" in text
    for level in assessment.levels:
        low, high = level.f1.low, level.f1.high
        cells = (f"{low:.3f} to {high:.3f}", f"{level.precision:.3f}", f"{level.recall:.3f}")
        assert "".join(f"<td>{cell}</td>" for cell in cells) in text
        assert (
            f'Level {level.level}</th><td>{level.f1.estimate:.3f}</td><td><span class="bar"' in text
        )
    for each in assessment.subtrees:
        cells = (each.precision, each.recall, each.pooled_f1)
        assert "".join(f"<td>{value:.3f}</td>" for value in cells) in text
        assert f'</th><td>{each.f1:.3f}</td><td><span class="bar"' in text
    for level in assessment.reliability:
        assert f"calibration error {level.error:.3f}" in text
        assert text.count(f"{level.bins[0].weight:,.0f} items: predicted") >= 1
    n_right = assessment.distances.get(0, 0)
    assert f"<b>{n_right:,} ({100 * n_right / assessment.n_items:.1f} %)</b>" in text


def test_confusions_have_paths_counts_and_examples(report):
    assessment, text = report
    for confusion in assessment.confusions:
        share = f"<td>{confusion.count}</td><td>{100 * confusion.share:.1f} %</td>"
        assert share in text
    assert text.count("<blockquote>") == sum(len(c.texts) for c in assessment.confusions)
    assert '<span class="path">' in text


def test_the_tree_has_every_node(report):
    assessment, text = report
    taxonomy, data = shop(), data_of(text)
    assert data["ids"] == list(taxonomy.nodes)
    assert [n or i for n, i in zip(data["names"], data["ids"], strict=True)] == list(taxonomy.names)
    for code, node in enumerate(assessment.nodes, start=1):
        assert data["support"][code] == node.support
        assert data["predicted"][code] == node.predicted
        assert data["found"][code] == node.found
        others = [[data["ids"][other], n] for other, n in data["takenFor"][code] or ()]
        assert others == [list(pair) for pair in node.taken_for]
        below = [data["ids"][child] for child in data["children"][code]]
        assert below == list(taxonomy.children(node.node))
    assert data["words"][taxonomy.code("garden")] == [EVIL, "green"]
    assert data["words"][taxonomy.code("pot")] == 0


def test_the_flat_twin_is_compared_with_direction_and_significance(report):
    _, text = report
    assert "better than the flat model: 1 of 2; significantly worse: 1 of 2 (p &lt; 0.05)." in text
    assert '<span class="better">+0.400</span> better' in text
    assert '<span class="worse">+1.000</span> worse' in text
    assert "cannot be below" not in text


def test_facts_and_trials_are_told(report):
    _, text = report
    assert "<dt>n items</dt><dd>12,345</dd>" in text
    assert "<dt>seconds</dt><dd>1.235</dd>" in text
    assert "<dt>calibrated</dt><dd>yes</dd>" in text
    assert "<dt>measures</dt><dd>accuracy 0.5</dd>" in text
    assert "<dt>search</dt>" not in text
    assert text.count("✓ chosen") == 1


def test_learning_curves_show_means(report):
    _, text = report
    assert "hierarchical: 0.350 with 1 items per category" in text
    assert "flat: 0.600 with 16 items per category" in text
    assert '<th scope="row">flat, 4</th><td>0.450</td>' in text


def minimal(path, taxonomy=None, **options):
    taxonomy = taxonomy or shop()
    labels = taxonomy.leaves
    return write_report(
        path, assess(labels, labels, taxonomy), title="T", taxonomy=taxonomy, **options
    )


def test_what_is_not_given_is_left_out(tmp_path):
    assert minimal(tmp_path / "report.html") == tmp_path / "report.html"
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert headings(text)[-1] == "Confusions"
    assert len(headings(text)) == 6
    assert "No confusions." in text
    Structure.of(text)


def test_a_single_curve_needs_no_name(tmp_path):
    minimal(tmp_path / "report.html", learning_curve=curve(0))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "model: 0.350 with 1 items" in text


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_smallest_taxonomies_have_reports(tmp_path, nodes):
    taxonomy = Taxonomy.from_edges([("a", "b")][: nodes - 1], nodes=["a"])
    minimal(tmp_path / "report.html", taxonomy)
    Structure.of((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_the_file_is_replaced_whole(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    minimal(target)
    assert target.read_text(encoding="utf-8").endswith("</html>\n")
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        minimal(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_half_a_character_does_not_stop_the_report(tmp_path):
    taxonomy = Taxonomy.flat(["a", "b"])
    found = assess(["a"], ["b"], taxonomy, texts=["broken \ud83d text"])
    write_report(tmp_path / "report.html", found, title="é 漢 \ud83d", taxonomy=taxonomy)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "broken ? text" in text
    assert "é 漢 ?" in text


def test_ten_thousand_nodes_make_a_page_of_two_megabytes(tmp_path):
    paths = [
        (f"area {i}", f"field {i}.{j}", f"topic {i}.{j}.{k}")
        for i in range(10)
        for j in range(30)
        for k in range(33)
    ]
    taxonomy = Taxonomy.from_paths(paths)
    rng = np.random.default_rng(0)
    leaves = np.array(taxonomy.leaves)
    truth, predicted = rng.integers(len(leaves), size=(2, 20_000))
    found = assess(leaves[truth], leaves[predicted], taxonomy, texts=["text " * 100] * 20_000)
    words = {node: [(f"word{i}", 1.0) for i in range(10)] for node in taxonomy.nodes}
    write_report(tmp_path / "report.html", found, title="Large", taxonomy=taxonomy, words=words)
    assert taxonomy.n_nodes > 10_000
    assert (tmp_path / "report.html").stat().st_size < 2_500_000


def unpacked(data):
    """The columns of a large page, over all blocks."""
    columns = {}
    for block in data["blocks"]:
        for name, values in json.loads(zlib.decompress(b64decode(block), -15)).items():
            columns.setdefault(name, []).extend(values)
    return columns


def test_fifty_thousand_nodes_make_a_page_below_three_megabytes(large_report):
    folder, taxonomy, assessment, words = large_report
    path = folder / "report.html"
    assert taxonomy.n_nodes > 50_000
    assert path.stat().st_size < 3_000_000
    data = data_of(path.read_text(encoding="utf-8"))
    found = unpacked(data)
    ids = found["ids"]
    assert sorted(ids) == sorted(taxonomy.nodes)
    assert dict(zip(ids, found["names"], strict=True)) == {
        node: name if name != node else 0
        for node, name in zip(taxonomy.nodes, taxonomy.names, strict=True)
    }
    by_id = {node.node: node for node in assessment.nodes}
    for place in range(1, len(ids), 97):
        node = by_id[ids[place]]
        assert found["support"][place] == node.support
        assert found["predicted"][place] == node.predicted
        assert found["found"][place] == node.found
        assert ids[found["parent"][place]] == taxonomy.parents(ids[place])[0]
        assert tuple(ids[child] for child in found["children"][place]) == taxonomy.children(
            ids[place]
        )
        # Opening a branch unpacks no more than two of the 51 blocks.
        assert len({child // data["size"] for child in found["children"][place]}) <= 2
        others = [(ids[other], n) for other, n in found["takenFor"][place] or ()]
        assert others == list(node.taken_for)
        shown = found["words"][place] or []
        assert shown == [word for word, _ in words[ids[place]][: len(shown)]]


def test_words_that_do_not_fit_are_left_out(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    monkeypatch.setattr(tree, "MOST_PLAIN", 3)
    monkeypatch.setattr(tree, "MOST_PACKED", 10)
    full_report(path)
    data = data_of(path.read_text(encoding="utf-8"))
    assert not any(unpacked(data)["words"])
