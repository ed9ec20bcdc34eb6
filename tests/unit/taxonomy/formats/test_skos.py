"""SKOS vocabularies: which concepts, ids, names and tops are taken."""

from __future__ import annotations

import re
import sys

import pytest

from taxonomist.errors import FormatError, MissingExtraError, TaxonomyError
from taxonomist.taxonomy import Taxonomy
from taxonomist.taxonomy.formats import skos

PREFIXES = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://example.org/> .
"""
VOCABULARY = """
:scheme a skos:ConceptScheme ; skos:hasTopConcept :animal .
:animal a skos:Concept ; skos:prefLabel "Tiere"@de, "Animals"@en ; skos:narrower :cat .
:cat skos:broader :animal ; skos:prefLabel "Katzen"@de, "Chats"@fr ; skos:notation "C" .
:dog skos:broader :animal ; skos:prefLabel "Hounds"@en-GB, "Canes" ; skos:inScheme :scheme .
:old a skos:Concept ; owl:deprecated true ; skos:broader :animal .
:kept a skos:Concept ; owl:deprecated false ; skos:broader :animal .
:stone a skos:Concept ; skos:related :cat ; skos:broaderTransitive :animal .
:group a skos:Collection ; skos:member :cat .
[] skos:broader :animal .
"""
HOME = "http://example.org/"


def read(text, **options):
    return skos.read(PREFIXES + text, syntax="turtle", **options)


def test_concepts_and_edges():
    taxonomy = read(VOCABULARY, id="fragment")
    animals = [("animal", "cat"), ("animal", "dog"), ("animal", "kept")]
    names = {"animal": "Animals", "cat": "Katzen", "dog": "Hounds"}
    assert taxonomy == Taxonomy([*animals, ("ROOT", "animal"), ("ROOT", "stone")], names=names)


def test_order_is_that_of_the_ids():
    assert read(VOCABULARY, id="fragment").nodes == (
        "ROOT", "animal", "cat", "dog", "kept", "stone",
    )  # fmt: skip


def test_ids():
    assert read(VOCABULARY).children(HOME + "animal")[0] == HOME + "cat"
    assert read(VOCABULARY, id="notation").children(HOME + "animal")[0] == "C"
    short = read("<http://x/a#b/> skos:broader <urn:x:y> .", id="fragment")
    assert short == Taxonomy([("y", "b")])


def test_shared_ids():
    with pytest.raises(FormatError, match="'http://x/a' and 'http://y/a' would both have the id"):
        read("<http://x/a> skos:broader <http://y/a> .", id="fragment")


def test_languages():
    german = read(VOCABULARY, id="fragment", language="de")
    assert german.raw_names == {"animal": "Tiere", "cat": "Katzen", "dog": "Canes"}


def test_scheme():
    assert read(VOCABULARY, id="fragment", scheme=HOME + "scheme").nodes == ("animal", "dog")
    with pytest.raises(FormatError, match=r"no concept scheme .*Did you mean 'http://.*/scheme'"):
        read(VOCABULARY, scheme=HOME + "schema")


def test_deprecated_concepts_stay_where_others_are_below():
    text = ":b a skos:Concept ; owl:deprecated true ; skos:broader :a . :c skos:broader :b ."
    assert read(text, id="fragment") == Taxonomy([("a", "b"), ("b", "c")])


def test_scheme_that_is_the_artificial_root():
    taxonomy = Taxonomy([("root", "a"), ("root", "b"), ("a", "b")], names={"root": "All"})
    text = skos.write(taxonomy, syntax="turtle")
    assert "skos:ConceptScheme" in text
    assert skos.read(text, syntax="turtle") == taxonomy


@pytest.mark.parametrize("syntax", ["xml", "json-ld"])
def test_nodes_are_written_in_order(syntax):
    taxonomy = Taxonomy.flat([f"n{code}" for code in range(100, 200)])
    text = skos.write(taxonomy, syntax=syntax)
    found = re.findall(r'(?:about=|"@id": )"urn:taxonomist:(n\d+)"', text)
    assert found == list(taxonomy.leaves)


@pytest.mark.parametrize(
    ("text", "syntax", "sentence"),
    [
        ("<a> <b> <c> .", "turtle", "there is no skos:Concept"),
        ("<a> <b", "turtle", "invalid turtle: "),
        ("<a>", "xml", "invalid xml: .*1:3"),
        ("{", "json-ld", "invalid json-ld: .*line 1"),
        ("null", "json-ld", "invalid json-ld: "),
    ],
)
def test_mistakes(text, syntax, sentence):
    with pytest.raises(FormatError, match=sentence):
        skos.read(text, syntax=syntax)


def test_cycles_are_shown():
    with pytest.raises(TaxonomyError, match="'a' -> 'b' -> 'a'|'b' -> 'a' -> 'b'"):
        read(":a skos:broader :b . :b skos:broader :a .", id="fragment")


def test_unknown_kind_of_id():
    with pytest.raises(ValueError, match="id must be 'uri', 'notation' or 'fragment'. Got 'url'"):
        read(VOCABULARY, id="url")


def test_without_rdflib(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'taxonomist\[skos\]'"):
        read(VOCABULARY)


def test_stw(data_folder):
    folder = data_folder("skos-vocabularies")
    vocabulary = Taxonomy.read(folder / "stw-9.06-skos.ttl.gz")
    assert vocabulary == Taxonomy.read(folder / "stw-9.06-edges.csv.gz")
    assert vocabulary.n_nodes == 6245


def test_ykl(data_folder):
    folder = data_folder("makupalat-ykl")
    vocabulary = Taxonomy.read(folder / "ykl-skos-2021-12-01.ttl.gz", id="fragment")
    table = Taxonomy.read(folder / "taxonomy.csv", name="name_en")
    assert set(vocabulary) == set(table)
    assert all(vocabulary.parents(node) == table.parents(node) for node in table)
    assert table.raw_names.items() <= vocabulary.raw_names.items()
