"""OBO files: what is read, what is left out, and what each mistake is told."""

from __future__ import annotations

import pytest

from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy
from taxonomist.taxonomy.formats.obo import read, write

ONTOLOGY = """format-version: 1.2
! a comment

[Term]
id: GO:1
name: process

[Term]
id: GO:2 {source="x"} ! comment
name: Yahoo! growth \\! of \\{cells\\} ! comment
is_a: GO:1 {source="y"} ! process
relationship: part_of GO:3 ! organ

[Term]
id: GO:3
is_a: GO:1

[Term]
id: GO:4
is_a: GO:9
is_obsolete: true

[Typedef]
id: part_of
is_a: GO:9
"""


def test_terms():
    edges = [("GO:1", "GO:2"), ("GO:1", "GO:3")]
    names = {"GO:1": "process", "GO:2": "Yahoo! growth ! of {cells}"}
    assert read(ONTOLOGY) == Taxonomy(edges, names=names)
    assert read(ONTOLOGY.replace("\n", "\r\n")) == Taxonomy(edges, names=names)


def test_relations():
    both = read(ONTOLOGY, relations=("is_a", "part_of"))
    assert both.parents("GO:2") == ("GO:1", "GO:3")
    assert read(ONTOLOGY, relations="part_of").roots == ("GO:1", "GO:3")
    twice = ONTOLOGY.replace("part_of GO:3", "part_of GO:1")
    assert read(twice, relations=("is_a", "part_of")) == read(ONTOLOGY)


def test_written_text():
    taxonomy = Taxonomy([("a", "b! c")], names={"a": " A\\"})
    assert write(taxonomy) == (
        "format-version: 1.2\n\n[Term]\nid: a\nname: \\WA\\\\\n\n[Term]\nid: b\\! c\nis_a: a\n"
    )


def test_only_blanks_and_tabs_are_layout():
    taxonomy = Taxonomy([("a", "b")], names={"b": "no break\u00a0"})
    assert read(write(taxonomy)) == taxonomy


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("format-version: 1.2\n", r"the file has no \[Term\]"),
        ("[Term]\nid: a\nis_obsolete: true\n", r"the file has no \[Term\] that is not obsolete"),
        ("\n[Term]\nname: a\n", "line 2: the term has no id"),
        ("[Term]\nid: a\n[Term]\nid: a\n", "line 3: the term 'a' is already on line 1"),
        ("[Term]\nid: a\nnonsense\n", "line 3: expected 'tag: value'; got 'nonsense'"),
        ("[Term]\nid: abc\nis_a: abd\n", "line 3: the parent 'abd'.*Did you mean 'abc'"),
        (
            "[Term]\nid: a\n[Term]\nid: b\nis_a: a\nis_a: a\n",
            "line 6: the edge 'a' -> 'b' is already on line 5",
        ),
    ],
)
def test_mistakes(text, sentence):
    with pytest.raises(FormatError, match=sentence):
        read(text)
