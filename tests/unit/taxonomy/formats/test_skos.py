"""SKOS vocabularies: which concepts, ids, names and tops are taken."""

from __future__ import annotations

import re
import sys

import pytest

from taxonomist.errors import (
    FormatError,
    MissingExtraError,
    ParameterError,
    TaxonomyError,
    TaxonomyWarning,
)
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


@pytest.mark.parametrize("syntax", ["turtle", "n3"])
def test_misspelt_dates_are_not_logged(tmp_path, caplog, syntax):
    concept = ':a a skos:Concept ; :seen "2013-20-99"^^<http://www.w3.org/2001/XMLSchema#date> .'
    path = tmp_path / "t"
    path.write_text(PREFIXES + concept)
    assert Taxonomy.read(path, syntax).nodes == (HOME + "a",)
    assert not caplog.records


def test_ids():
    assert read(VOCABULARY).children(HOME + "animal")[0] == HOME + "cat"
    assert read(VOCABULARY, id="notation").children(HOME + "animal")[0] == "C"
    short = read("<http://x/a#b/> skos:broader <urn:x:y> .", id="fragment", outside="keep")
    assert short == Taxonomy([("y", "b")])


def test_shared_ids():
    with pytest.raises(FormatError, match="'http://x/a' and 'http://y/a' would both have the id"):
        read("<http://x/a> skos:broader <http://y/a> .", id="fragment", outside="keep")


def test_languages():
    german = read(VOCABULARY, id="fragment", language="de")
    assert german.raw_names == {"animal": "Tiere", "cat": "Katzen", "dog": "Canes"}


def test_scheme():
    assert read(VOCABULARY, id="fragment", scheme=HOME + "scheme").nodes == ("animal", "dog")
    with pytest.raises(FormatError, match=r"no concept scheme .*Did you mean 'http://.*/scheme'"):
        read(VOCABULARY, scheme=HOME + "schema")


def test_deprecated_concepts_stay_where_others_are_below():
    text = ":a a skos:Concept . "
    text += ":b a skos:Concept ; owl:deprecated true ; skos:broader :a . :c skos:broader :b ."
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


def test_deprecated_concepts_above_deprecated_ones_are_left_out():
    text = """
    :a a skos:Concept . :live skos:broader :kept .
    :kept owl:deprecated true ; skos:broader :a .
    :old owl:deprecated "True" ; skos:broader :a . :older owl:deprecated "1" ; skos:broader :old .
    :x owl:deprecated true ; skos:broader :y . :y owl:deprecated true ; skos:broader :x .
    """
    assert read(text, id="fragment") == Taxonomy([("a", "kept"), ("kept", "live")])


def test_deprecated_concepts_stay_only_for_concepts_of_the_scheme():
    text = """
    :a a skos:Concept ; skos:inScheme :one .
    :old owl:deprecated true ; skos:broader :a ; skos:inScheme :one .
    :other skos:broader :old ; skos:inScheme :two .
    """
    assert read(text, id="fragment", scheme=HOME + "one").nodes == ("a",)


OUTSIDE = """
:a a skos:Concept ; skos:broader <http://else.where/x>, <http://else.where/y> .
:b skos:broader :a ; skos:narrower <http://else.where/z> .
:scheme skos:hasTopConcept :top . :c skos:broader :top .
"""


def test_concepts_of_other_files_are_counted_and_left_out():
    message = r"not in the file \(3\) and the edges to them \(3\): 'http://else.where/x'"
    with pytest.warns(TaxonomyWarning, match=message) as caught:
        taxonomy = read(OUTSIDE, id="fragment")
    assert taxonomy == Taxonomy([("ROOT", "a"), ("ROOT", "top"), ("a", "b"), ("top", "c")])
    (warning,) = caught
    assert warning.message.edges == [
        ("http://else.where/x", HOME + "a"),
        ("http://else.where/y", HOME + "a"),
        (HOME + "b", "http://else.where/z"),
    ]


def test_concepts_of_other_files_are_nodes_on_request():
    taxonomy = read(OUTSIDE, id="fragment", outside="keep")
    assert taxonomy.parents("a") == ("x", "y")
    assert taxonomy.children("b") == ("z",)
    with pytest.raises(ParameterError, match="outside must be 'drop' or 'keep'. Got 'yes'"):
        read(OUTSIDE, outside="yes")


def test_cycles_can_be_broken():
    text = (
        ":a skos:narrower :b . :b skos:narrower :c . :c skos:narrower :b, :c, :d . :d skos:note 1 ."
    )
    with pytest.warns(TaxonomyWarning, match=r"2 of 5 edges .*: 'c -> b', 'c -> c'\.") as caught:
        taxonomy = read(text, id="fragment", cycles="break")
    assert taxonomy == Taxonomy([("a", "b"), ("b", "c"), ("c", "d")])
    assert caught[0].message.edges == [("c", "b"), ("c", "c")]
    with pytest.raises(TaxonomyError):
        read(text, id="fragment")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en-GB", "British"),
        ("en-GB-oed", "British"),
        ("en-US", "English"),
        ("en", "English"),
        ("DE-de", "Deutsch"),
        ("de-x-private", "Deutsch"),
        ("pt", "Brasil"),
        ("pt-PT", "Brasil"),
        ("fr", "none"),
    ],
)
def test_languages_fall_back_by_lookup(language, expected):
    text = """:a a skos:Concept ; skos:prefLabel "Deutsch"@de, "English"@en, "British"@en-gb,
    "none", "Brasil"@pt-BR ."""
    assert read(text, language=language).names == (expected,)


def test_a_language_falls_back_to_another_only_at_last():
    text = ':a a skos:Concept ; skos:prefLabel "Deutsch"@de, "English"@en .'
    assert read(text, language="en-GB").names == ("English",)
    assert read(text, language="fr-CA").names == ("Deutsch",)


XL_LABELS = """
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
:a a skos:Concept ; xl:prefLabel :l1, :l2 ; xl:altLabel :l3 .
:l1 a xl:Label ; xl:literalForm "Animals"@en . :l2 a xl:Label ; xl:literalForm "Tiere"@de .
:l3 xl:literalForm "Beasts"@en .
:b skos:broader :a ; xl:altLabel [ xl:literalForm "Cats"@en ] .
:c skos:broader :a ; xl:prefLabel [ xl:literalForm "Hunde"@de ] ; skos:prefLabel "Dogs"@en .
:d skos:broader :a ; skos:altLabel "Fish"@en, "Aal"@en .
"""


def test_labels_of_skos_xl():
    names = {"a": "Animals", "b": "Cats", "c": "Dogs", "d": "Aal"}
    assert read(XL_LABELS, id="fragment").raw_names == names
    german = read(XL_LABELS, id="fragment", language="de").raw_names
    assert german == names | {"a": "Tiere", "c": "Hunde"}


ADDRESSES = (
    "http://example.org/früh",
    "https://例え.jp/分類#犬",
    "http://example.org/हिन्दी",
    "info:lc/authorities/sh85061212",
    "tag:example.org,2020:a",
    "urn:isbn:0-486-27557-4",
)


@pytest.mark.parametrize("syntax", ["turtle", "xml", "json-ld", "nt", "n3"])
def test_addresses_are_kept_as_they_are(syntax):
    taxonomy = Taxonomy.flat(ADDRESSES)
    text = skos.write(taxonomy, syntax=syntax)
    assert skos.read(text, syntax=syntax) == taxonomy
    assert skos.read(text, syntax=syntax, base="urn:none:", id="uri").leaves == tuple(
        sorted(ADDRESSES)
    )
    assert text.count("notation") <= 2  # of the scheme, and of its prefix


@pytest.mark.parametrize(
    "node", ["tag: x", "info:a b", "http://x/<y>", "mt:100141", "http://x/\ud7ff\ue000"]
)
def test_other_ids_are_not_taken_for_addresses(node):
    text = skos.write(Taxonomy.flat([node, "other"]), syntax="turtle")
    assert f"<{node}>" not in text
    assert set(skos.read(text, syntax="turtle").leaves) == {node, "other"}


@pytest.mark.parametrize("suffix", ["nt", "n3", "owl", "rdf", "ttl", "jsonld"])
def test_suffixes(tmp_path, suffix):
    taxonomy = Taxonomy([("ROOT", "a"), ("ROOT", "b"), ("a", "c")], names={"c": "Größe"})
    for name in (f"t.{suffix}", f"t.{suffix}.gz"):
        taxonomy.write(tmp_path / name)
        assert Taxonomy.read(tmp_path / name) == taxonomy


def test_an_ontology_without_concepts():
    text = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :a a owl:Class ."
    with pytest.raises(FormatError, match="only classes of an OWL ontology; convert it"):
        read(text)


def test_stw(data_folder):
    folder = data_folder("skos-vocabularies")
    vocabulary = Taxonomy.read(folder / "stw-9.06-skos.ttl.gz")
    # The table of edges has no synonyms.
    assert vocabulary.with_texts({}) == Taxonomy.read(folder / "stw-9.06-edges.csv.gz")
    assert len(vocabulary.texts) == 4821
    assert vocabulary.n_nodes == 6245


def test_ykl(data_folder):
    folder = data_folder("makupalat-ykl")
    vocabulary = Taxonomy.read(folder / "ykl-skos-2021-12-01.ttl.gz", id="fragment")
    table = Taxonomy.read(folder / "taxonomy.csv", name="name_en")
    assert set(vocabulary) == set(table)
    assert all(vocabulary.parents(node) == table.parents(node) for node in table)
    assert table.raw_names.items() <= vocabulary.raw_names.items()
