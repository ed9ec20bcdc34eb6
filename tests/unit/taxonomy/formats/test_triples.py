"""Streamed triples against rdflib's, and files written without rdflib against rdflib's files."""

from __future__ import annotations

import gzip
import sys

import pytest
from hypothesis import given

from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy, formats
from taxonomist.taxonomy.formats import skos, skos_writer, triples
from tests.strategies import taxonomies

PREFIXES = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://example.org/> .
"""

VOCABULARIES = {
    "languages": """
        :a a skos:Concept ; skos:prefLabel "Tiere"@DE, "Animals"@en-GB, "Beasts" ;
            skos:narrower :b .
        :b skos:altLabel "other"@en , "B" ; skos:note "a note"@en ;
            skos:exactMatch <http://o.org/b> .
    """,
    "labels as resources": """
        :a a skos:Concept ; xl:prefLabel [ xl:literalForm "Anonymous"@en ] ; xl:altLabel :label .
        :b a skos:Concept ; skos:broader :a ; xl:altLabel :label, :none .
        :label xl:literalForm "Named"@en, "Benannt"@de .
    """,
    "notations": """
        :a a skos:Concept ; skos:notation 0101, "z"^^:code .
        :b a skos:Concept ; skos:broader :a ; skos:notation "007"^^xsd:integer .
        :c a skos:Concept ; skos:broader :a ; skos:notation "2024-01-02"^^xsd:date,
            <http://x.org/> .
    """,
    "schemes": """
        :s a skos:ConceptScheme ; skos:hasTopConcept :a ; skos:notation "ROOT" .
        :t skos:topConceptOf :s . :a a skos:Concept ; skos:inScheme :s . :t a skos:Concept .
    """,
    "deprecated": """
        :a a skos:Concept . :live skos:broader :kept . :kept owl:deprecated true ; skos:broader :a .
        :old owl:deprecated "1"^^xsd:boolean ; skos:broader :a .
    """,
    "blank nodes": """
        :a a skos:Concept ; skos:narrower [ a skos:Concept ; skos:prefLabel "nobody" ], :b .
        :b skos:broader _:x, :a . _:x a skos:Concept . :c a skos:Concept ; skos:broader "text" .
    """,
    "odd addresses": """
        <http://x.org/with space> a skos:Concept ; skos:prefLabel "\\u00e9\\n'quote'" .
        <http://x.org/ä{b}> skos:broader <http://x.org/with space> .
    """,
}


# rdflib reads odd addresses, but does not write them as N-Triples.
CASES = [(name, syntax) for name in VOCABULARIES for syntax in ("turtle", "nt")]
CASES.remove(("odd addresses", "nt"))


@pytest.mark.parametrize(("name", "syntax"), CASES)
@pytest.mark.parametrize("id", ["uri", "notation", "fragment"])
def test_a_stream_gives_the_taxonomy_of_rdflib(tmp_path, name, syntax, id):
    pytest.importorskip("pyoxigraph")
    rdflib = pytest.importorskip("rdflib")
    text = PREFIXES + VOCABULARIES[name]
    if syntax == "nt":
        text = rdflib.Graph().parse(data=text, format="turtle").serialize(format="nt")
    path = tmp_path / "vocabulary.nt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with triples.opened(path) as stream:
        found = skos.read(stream, syntax=syntax, id=id)
    assert found == skos.read(text, syntax=syntax, id=id)
    assert found.nodes == skos.read(text, syntax=syntax, id=id).nodes


def test_a_stream_needs_no_rdflib(tmp_path, monkeypatch):
    pytest.importorskip("pyoxigraph")
    path = tmp_path / "vocabulary.ttl"
    text = PREFIXES + VOCABULARIES["languages"]
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    monkeypatch.setitem(sys.modules, "rdflib", None)
    assert Taxonomy.read(path).names == ("Animals", "other")


@pytest.mark.parametrize("text", ["", " \n", "<http://a> <http://b", ":a :b :c .", "\xff"])
def test_a_small_broken_file_is_reported_as_without_a_stream(tmp_path, monkeypatch, text):
    pytest.importorskip("rdflib")
    path = tmp_path / "vocabulary.ttl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError) as streamed:
        Taxonomy.read(path)
    monkeypatch.setattr(formats, "can_stream", lambda format: False)
    with pytest.raises(FormatError) as whole:
        Taxonomy.read(path)
    assert str(streamed.value) == str(whole.value)


def test_a_large_broken_file_is_reported_with_its_line(tmp_path, monkeypatch):
    pytest.importorskip("pyoxigraph")
    monkeypatch.setattr(formats, "MOST_RETRIED", 10)
    path = tmp_path / "vocabulary.nt"
    path.write_text("<http://a> <http://b> <http://c> .\n<http://a> <http://b .\n")
    with pytest.raises(FormatError, match=r"invalid nt: .* line 2 "):
        Taxonomy.read(path)


@given(taxonomies(named=True, hard_ids=True))
def test_files_are_written_as_rdflib_writes_them(taxonomy):
    pytest.importorskip("rdflib")
    uris = [skos_writer._address(node, skos.BASE) for node in taxonomy.nodes]
    for syntax in ("turtle", "nt"):
        for language in (None, "en"):
            written = skos.write(taxonomy, syntax=syntax, language=language)
            assert written == skos_writer._by_rdflib(taxonomy, syntax, uris, language)


def test_hard_names_are_written_as_rdflib_writes_them():
    pytest.importorskip("rdflib")
    skos_ns = "http://www.w3.org/2004/02/skos/core#"
    names = ['one "line" \\', 'two\n"lines"', 'a """\n b', "c\r\nd", "tab\t", "é\u2028", 'x\n\\"']
    edges = [(f"http://x.org/{i // 2}", f"http://x.org/{i}") for i in range(1, len(names))]
    taxonomy = Taxonomy(edges, names={f"http://x.org/{i}": name for i, name in enumerate(names)})
    prefixed = Taxonomy([(f"{skos_ns}a", f"{skos_ns}b"), ("r", f"{skos_ns}a")])
    for each in (taxonomy, prefixed):
        uris = [skos_writer._address(node, skos.BASE) for node in each.nodes]
        for syntax in ("turtle", "nt"):
            expected = skos_writer._by_rdflib(each, syntax, uris, "en")
            assert skos.write(each, syntax=syntax, language="en") == expected
            assert skos.read(expected, syntax=syntax) == each
