from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from tests.strategies import taxonomies

ANIMALS = Taxonomy.from_edges(
    [("animal", "cat"), ("animal", "dog"), ("pet", "dog"), ("dog", "poodle")],
    names={"cat": "Cat & kitten"},
)


def test_text_tree():
    assert ANIMALS.to_text() == (
        "ROOT\n"
        "├── animal\n"
        "│   ├── cat  Cat & kitten\n"
        "│   └── dog\n"
        "│       └── poodle\n"
        "└── pet\n"
        "    └── dog (see above)"
    )


def test_limits_say_what_is_left_out():
    assert ANIMALS.to_text(max_depth=1) == "ROOT\n├── animal [2 below]\n└── pet [1 below]"
    assert ANIMALS.to_text(max_children=1).splitlines()[-1] == "└── … 1 more"
    shortcut = Taxonomy.from_edges([("r", "a"), ("a", "x"), ("x", "y"), ("r", "x")])
    assert shortcut.to_text(max_depth=2) == ("r\n├── a\n│   └── x [1 below]\n└── x\n    └── y"), (
        "what was cut off is not above"
    )
    shared = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    assert "see above" not in shared.to_text(), "there is nothing below x"
    with pytest.raises(ValueError, match="max_depth must be 0 or more"):
        ANIMALS.to_text(max_depth=-1)


def test_counts_are_of_items_at_or_below():
    text = ANIMALS.to_text(labels=[["poodle", "cat"], ["cat"], []])
    assert "animal  (2)" in text
    assert "cat  Cat & kitten  (2)" in text
    assert "poodle  (1)" in text
    assert "pet  (1)" in text


class Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@given(taxonomies(named=True, hard_ids=True), st.none() | st.integers(0, 3))
def test_html_is_well_formed_and_shows_what_the_text_shows(taxonomy, limit):
    checker = Checker()
    checker.feed(taxonomy.to_html(max_depth=limit, max_children=limit))
    assert not checker.open
    text = taxonomy.to_text(max_depth=limit, max_children=limit)
    assert len(checker.text) == len(text.split("\n"))


def test_representations():
    assert repr(ANIMALS) == "Taxonomy(6 nodes, 2 leaves, height 3, DAG)"
    assert str(ANIMALS) == ANIMALS.to_text()
    assert "Cat &amp; kitten" in ANIMALS._repr_html_()
    assert ANIMALS.to_html().count("<details open") == 1
    wide = Taxonomy.flat(str(code) for code in range(200))
    assert str(wide).endswith("└── … 188 more")
    assert "… 100 more" in wide._repr_html_()


def test_a_long_chain_is_drawn_in_linear_space():
    n = 10_000
    chain = Taxonomy.from_edges([(f"n{k}", f"n{k + 1}") for k in range(n)])
    lines = chain.to_text().split("\n")
    assert lines[:3] == ["n0", "└── n1", "    └── n2"]
    assert lines[n].startswith("[depth 10,000] ")
    assert lines[n].endswith("└── n10000")
    assert len(lines) == n + 1
    assert max(map(len, lines)) < 300


def test_control_characters_do_not_leave_their_line():
    taxonomy = Taxonomy.from_edges(
        [("a", "b")], names={"b": "\x1b[2J\nfake\r\t\x07\x9b\u202eevil\x7f"}
    )
    expected = r"└── b  \u001b[2J\u000afake\u000d\u0009\u0007\u009b\u202eevil\u007f"
    assert taxonomy.to_text().split("\n") == ["a", expected]
