"""Ids and names are read in composed form, whatever the file has."""

import json

import pytest

from taxonomist import Taxonomy
from taxonomist.taxonomy.formats import read_as_spelled

ROWS = "parent,child,name\n,top,To\u0301p\ntop,Cafe\u0301,\nCafé,re\u0301,\n"


def test_ids_and_names_are_composed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(ROWS, encoding="utf-8")
    found = Taxonomy.read(path)
    assert found == Taxonomy.from_edges([("top", "Café"), ("Café", "ré")], {"top": "Tóp"})
    assert "Cafe\u0301" in read_as_spelled(path)


@pytest.mark.parametrize("name", ["Café", "Cafe\u0301"])
def test_only_names_may_need_it(tmp_path, name):
    path = tmp_path / "t.json"
    nodes = [{"id": "a"}, {"id": "b", "name": name, "parents": ["a"]}]
    path.write_text(json.dumps({"nodes": nodes}))
    assert Taxonomy.read(path).name("b") == "Café"


def test_a_parent_that_is_its_child_spelled_otherwise_is_one_node(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("parent,child\na,é\né,e\u0301\ne\u0301,b\n", encoding="utf-8")
    assert Taxonomy.read(path) == Taxonomy.from_edges([("a", "é"), ("é", "b")])
