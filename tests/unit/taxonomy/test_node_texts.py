"""Synonyms, definitions and notes of nodes: kept through copies, files and models."""

from __future__ import annotations

import pickle

import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.errors import FormatError, TaxonomyError
from taxonomist.taxonomy import NodeTexts

EDGES = [("ROOT", "a"), ("ROOT", "b"), ("a", "c"), ("b", "c"), ("b", "d")]
TEXTS = {
    "c": {"synonyms": ["Z!{x}", 'he said "hi"', " blank first"], "definition": "two\nlines"},
    "d": "a note",
    "a": {"synonyms": ["fauna", "beasts"], "notes": "живо́тные, 動物"},
    "ROOT": {"notes": ["all of them"]},
}


@pytest.fixture
def told() -> Taxonomy:
    return Taxonomy.from_edges(EDGES, {"a": "Animals"}, texts=TEXTS)


def test_texts_have_kinds_and_are_sorted(told):
    assert told.texts["a"] == NodeTexts(("beasts", "fauna"), (), ("живо́тные, 動物",))
    assert told.texts["d"].all == ("a note",)
    assert "b" not in told.texts
    with pytest.raises(TypeError):
        told.texts["b"] = NodeTexts()


def test_without_texts_there_is_no_attribute_and_old_pickles_are_read():
    plain = Taxonomy.from_edges(EDGES)
    assert "texts" not in vars(plain)
    assert plain.texts == {}
    restore, (kind, nodes, arrays, names, terminals, _) = plain.__reduce__()
    assert restore(kind, nodes, arrays, names, terminals) == plain


def test_equality_counts_texts_and_copies_keep_them(told):
    assert told != Taxonomy.from_edges(EDGES, {"a": "Animals"})
    assert told == Taxonomy.from_edges(EDGES, {"a": "Animals"}).with_texts(TEXTS)
    assert pickle.loads(pickle.dumps(told)) == told
    assert set(told.prune(["d"]).texts) == {"d", "ROOT"}
    assert told.rename({"d": "e"}).texts["e"].notes == ("a note",)
    assert told.with_terminals(["a"]).without_terminals() == told


@pytest.mark.parametrize(
    "file", ["x.csv", "x.tsv", "x.json", "x.ttl", "x.rdf", "x.jsonld", "x.nt", "x.n3", "x.obo"]
)
def test_round_trip_through_files(told, file, tmp_path):
    if file in ("x.rdf", "x.jsonld", "x.n3"):
        pytest.importorskip("rdflib")
    told.write(tmp_path / file)
    assert Taxonomy.read(tmp_path / file) == told


def test_round_trip_through_nested_json_and_networkx(tmp_path):
    tree = Taxonomy.from_edges(EDGES[:3], texts={"c": TEXTS["c"]})
    tree.write(tmp_path / "x.json", nested=True)
    assert Taxonomy.read(tmp_path / "x.json") == tree
    pytest.importorskip("networkx")
    assert Taxonomy.from_networkx(tree.to_networkx()) == tree


def test_a_table_of_levels_holds_no_texts(tmp_path):
    with pytest.raises(FormatError, match="texts"):
        Taxonomy.from_edges(EDGES[:2], texts={"a": "x"}).write(tmp_path / "x.csv", format="levels")


def test_csv_columns_are_known_by_name_or_given(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("Parent,child,Description,altLabel,scope\n,a,about a,x,within\n,b,,,\n")
    assert Taxonomy.read(file).texts["a"] == NodeTexts(("x",), ("about a",))
    assert Taxonomy.read(file, texts="scope").texts["a"].notes == ("within",)


def test_skos_texts_come_in_the_best_language(tmp_path):
    file = tmp_path / "x.ttl"
    file.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<urn:x:1> a skos:Concept; skos:prefLabel "dog"@en; skos:altLabel "hound"@en, "Hund"@de;\n'
        '  skos:hiddenLabel "dgo"@en; skos:definition "ein Tier"@de; skos:scopeNote "tame only" .\n'
        '<urn:x:2> a skos:Concept; skos:altLabel "cat"@en, "kitty"@en .\n'
    )
    found = Taxonomy.read(file, id="fragment")
    assert found.texts["1"] == NodeTexts(("dgo", "hound"), ("ein Tier",), ("tame only",))
    # The first alternative label stands for the name, and is no synonym of itself.
    assert (found.name("2"), found.texts["2"].synonyms) == ("cat", ("kitty",))


def test_models_keep_texts(told, tmp_path):
    items = ["one two", "three four"] * 4
    model = TextClassifier(told).fit(items, ["c", "d"] * 4)
    model.save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").taxonomy_ == told


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"x": "a"}, "A text is given for 'x', which is not a node"),
        ({"c": {"synonim": "a"}}, "kind 'synonim'; the kinds are"),
        ({"c": [3]}, "must be strings. Got 3"),
    ],
)
def test_wrong_texts(texts, message):
    with pytest.raises(TaxonomyError, match=message):
        Taxonomy.from_edges(EDGES, texts=texts)
