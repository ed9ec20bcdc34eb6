"""JSON documents of the three forms, and what each mistake is told."""

from __future__ import annotations

import json

import pytest

from taxonomist.errors import FormatError, TaxonomyError
from taxonomist.taxonomy import Taxonomy
from taxonomist.taxonomy.formats.json_format import read, write

DIAMOND = Taxonomy([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], names={"b": "Bee"})


@pytest.mark.parametrize(
    "document",
    [
        {
            "nodes": [{"id": "b", "name": "Bee"}],
            "edges": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]],
        },
        {
            "nodes": [
                {"id": "a"},
                {"id": "b", "name": "Bee", "parents": ["a"]},
                {"id": "c", "name": None, "parents": ["a"]},
                {"id": "d", "parents": ["b", "c"]},
            ]
        },
        {
            "id": "a",
            "children": [
                {"id": "b", "name": "Bee", "children": [{"id": "d"}]},
                {"id": "c", "children": [{"id": "d"}]},
            ],
        },
    ],
    ids=["edges", "parents", "nested"],
)
def test_forms(document):
    assert read(json.dumps(document)) == DIAMOND


def test_other_objects_are_nested_names():
    assert read('{"a": {"b": ["c", "d"], "e": {}}}') == Taxonomy(
        [("a", "b"), ("a", "e"), ("b", "c"), ("b", "d")]
    )


def test_several_tops_and_whole_numbers():
    assert read('[{"id": 1, "children": [{"id": 11}]}, {"id": 2}]').roots == ("1", "2")


def test_nested_objects_keep_their_order_and_the_name_that_one_of_them_has():
    text = """[{"id": "b", "children": [{"id": "z", "name": "Zed"}, {"id": "y"}]},
               {"id": "a", "children": [{"id": "z"}]}]"""
    taxonomy = read(text)
    assert (taxonomy.roots, taxonomy.children("b")) == (("b", "a"), ("z", "y"))
    assert taxonomy.raw_names == {"z": "Zed"}


def test_written_text():
    taxonomy = Taxonomy([("a", "ä")], names={"ä": "Ä"})
    flat = '{"nodes": [\n{"id": "a"},\n{"id": "ä", "name": "Ä"}\n],\n"edges": [\n["a", "ä"]\n]}\n'
    assert write(taxonomy) == flat
    assert json.loads(write(taxonomy, nested=True)) == {
        "id": "a",
        "children": [{"id": "ä", "name": "Ä"}],
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"nodes": [\n{"id": "a"},]}', "line 2: invalid JSON"),
        ("3", "expected an object or a list of objects; got 3"),
        ('["a"]', 'a node is an object with an "id"; got "a"'),
        ('{"nodes": [{"name": "a"}]}', 'a node is an object with an "id"; got {"name": "a"}'),
        ('{"nodes": [{"id": "a"}, {"id": "a"}]}', "the node 'a' is listed twice"),
        ('{"nodes": [{"id": true}]}', "an id must be a non-empty string; got true"),
        ('{"nodes": [{"id": " "}]}', "an id must be a non-empty string"),
        ('{"nodes": [{"id": "a", "name": 3}]}', "the name of 'a' is not a string: 3"),
        ('{"nodes": [{"id": "b", "parents": "a"}]}', '"parents" must be a list; got "a"'),
        ('{"nodes": {}, "edges": [["a", "b"]]}', '"nodes" must be a list; got {}'),
        ('{"edges": [["a", "b", "c"]]}', r'an edge is a list \[parent, child\]; got \["a", "b"'),
        ('{"id": "a", "children": {}}', '"children" must be a list; got {}'),
        (json.dumps({"edges": ["x" * 99]}), r"x\.\.\.\."),
        ('{"name": "a", "children": [{"name": "b"}]}', 'a node is an object with an "id"'),
        (
            '[{"id": "a", "children": [{"id": "c", "name": "x"}]}, {"id": "c", "name": "y"}]',
            "'c' is named 'x' and 'y'; give it one name",
        ),
        ("[" * 10**5, "nested too deeply"),
    ],
)
def test_mistakes(text, sentence):
    with pytest.raises(FormatError, match=sentence):
        read(text)


@pytest.mark.parametrize("text", ["{}", "[]", '{"edges": [["a", "b"], ["a", "b"]]}'])
def test_no_taxonomy(text):
    with pytest.raises(TaxonomyError):
        read(text)


def test_nested_holds_trees_only():
    with pytest.raises(FormatError, match="nested objects need a tree"):
        write(DIAMOND, nested=True)


def test_nested_has_a_depth_limit():
    chain = Taxonomy([(str(i), str(i + 1)) for i in range(10**4)])
    assert read(write(chain)) == chain
    with pytest.raises(FormatError, match="too deep for nesting"):
        write(chain, nested=True)
