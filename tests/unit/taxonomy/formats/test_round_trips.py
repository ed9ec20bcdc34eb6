"""What is written in any format reads back equal."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy, formats
from taxonomist.taxonomy.formats import delimited, json_format, obo, skos
from tests.strategies import taxonomies

SUFFIXES = (
    ".csv",
    ".tsv",
    ".txt",
    ".json",
    ".ttl",
    ".rdf",
    ".xml",
    ".jsonld",
    ".nt",
    ".n3",
    ".owl",
    ".obo",
)

ANIMALS = Taxonomy.from_edges(
    [("ROOT", "animal"), ("ROOT", "pet"), ("animal", "cat"), ("animal", "dog"), ("pet", "dog")],
    names={"cat": "Cats", "ROOT": "All", "pet": 'Pets, "tame"'},
)

# Control characters, line ends, blanks at the ends of names, addresses and escapes as ids.
texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
node_ids = st.one_of(
    texts.map(str.strip).filter(bool),
    st.sampled_from(
        [
            "ROOT", "root", "http://example.org/a?b=c#d", "https://example.org/ä", "urn:x:y",
            "urn:taxonomist:a", "a%20b", "a\\nb", "! x", "a {b}", "a > b", "x\ny", "c:10", "_:b0",
            "tag:x,2020:ä", "info:x/y z", "http://例え.jp/犬",
        ]
    ),
)  # fmt: skip


@st.composite
def odd_taxonomies(draw):
    """Draw a DAG of one to five nodes with any ids and names."""
    nodes = draw(st.lists(node_ids, min_size=1, max_size=5, unique=True))
    edges = [
        (nodes[parent], nodes[child])
        for child in range(1, len(nodes))
        for parent in sorted(draw(st.sets(st.integers(0, child - 1), min_size=1)))
    ]
    return Taxonomy(edges, names=draw(st.dictionaries(st.sampled_from(nodes), texts)), nodes=nodes)


@given(taxonomies(named=True, hard_ids=True, min_nodes=1) | odd_taxonomies())
def test_edge_list(taxonomy):
    for delimiter in ",\t":
        text = delimited.write_edges(taxonomy, delimiter=delimiter)
        assert delimited.read_edges(text) == taxonomy


@given(taxonomies(named=True, hard_ids=True, min_nodes=1) | odd_taxonomies())
def test_json(taxonomy):
    assert json_format.read(json_format.write(taxonomy)) == taxonomy
    if taxonomy.is_tree:
        assert json_format.read(json_format.write(taxonomy, nested=True)) == taxonomy


@given(taxonomies(named=True))
def test_edge_lists_keep_the_order_of_codes(taxonomy):
    assert delimited.read_edges(delimited.write_edges(taxonomy)).nodes == taxonomy.nodes
    assert json_format.read(json_format.write(taxonomy)).nodes == taxonomy.nodes
    assert formats.from_networkx(formats.to_networkx(taxonomy)).nodes == taxonomy.nodes


@given(taxonomies(named=True, hard_ids=True, min_nodes=1) | odd_taxonomies())
def test_obo(taxonomy):
    if any("\r" in text for text in (*taxonomy.nodes, *taxonomy.names)):
        with pytest.raises(FormatError, match="carriage return"):
            obo.write(taxonomy)
    else:
        assert obo.read(obo.write(taxonomy)) == taxonomy


def beyond_xml(letter):
    return letter in "\ufffe\uffff" or (letter < " " and letter not in "\t\n\r")


@pytest.mark.parametrize("syntax", ["turtle", "xml", "json-ld"])
@given(taxonomy=taxonomies(named=True, hard_ids=True, min_nodes=1) | odd_taxonomies())
def test_skos(syntax, taxonomy):
    letters = {letter for text in (*taxonomy.nodes, *taxonomy.names) for letter in text}
    if syntax == "xml" and any(map(beyond_xml, letters)):
        with pytest.raises(FormatError, match="XML cannot hold"):
            skos.write(taxonomy, syntax=syntax)
    else:
        assert skos.read(skos.write(taxonomy, syntax=syntax), syntax=syntax) == taxonomy


@given(taxonomies(trees_only=True, hard_ids=True) | odd_taxonomies())
def test_levels(taxonomy):
    try:
        table = delimited.write_levels(taxonomy)
    except FormatError:
        lost_root = taxonomy.has_artificial_root and (
            taxonomy.root != "ROOT" or len(taxonomy.roots) == 1
        )
        assert not taxonomy.is_tree or taxonomy.raw_names or lost_root
    else:
        assert delimited.read_levels(table, delimiter=",") == taxonomy


@given(taxonomies(named=True, hard_ids=True, min_nodes=1) | odd_taxonomies())
def test_networkx(taxonomy):
    assert Taxonomy.from_networkx(taxonomy.to_networkx()) == taxonomy


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "taxonomy",
    [
        ANIMALS,
        Taxonomy(nodes=["ROOT"]),
        Taxonomy(nodes=["alone"], names={"alone": "A node"}),
        Taxonomy([("ROOT", "one child")]),
        Taxonomy([("real root", "a"), ("real root", "b")], names={"real root": "Top"}),
    ],
    ids=["dag", "ROOT alone", "alone", "one child", "real root"],
)
def test_files(tmp_path, taxonomy, suffix, ending):
    path = tmp_path / f"taxonomy{suffix}{ending}"
    taxonomy.write(path)
    assert Taxonomy.read(path) == taxonomy
    first = path.read_bytes()
    assert (first[:8] == b"\x1f\x8b\x08" + bytes(5)) == bool(ending), "gzip without a time"
    taxonomy.write(path)
    assert path.read_bytes() == first, "writing twice gives the same bytes"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_levels_files(tmp_path):
    tree = Taxonomy.from_paths(["a > b > c", "a > d", "e"])
    for suffix in (".csv", ".tsv.gz"):
        path = tmp_path / f"levels{suffix}"
        tree.write(path, format="levels")
        assert Taxonomy.read(path, format="levels") == tree
    assert b"\t" in gzip.decompress((tmp_path / "levels.tsv.gz").read_bytes())


def test_skos_with_a_base_and_a_language(tmp_path):
    for suffix in (".ttl", ".rdf", ".jsonld"):
        path = tmp_path / f"animals{suffix}"
        ANIMALS.write(path, language="en", base="http://example.org/")
        assert Taxonomy.read(path, base="http://example.org/") == ANIMALS
        assert Taxonomy.read(path, id="notation") == ANIMALS
        assert "http://example.org/cat" in Taxonomy.read(path)


def test_skos_ids_that_look_encoded_are_encoded_again():
    taxonomy = Taxonomy([("r", "urn:taxonomist:a")])
    text = skos.write(taxonomy, syntax="turtle", base="http://example.org/")
    assert skos.read(text, syntax="turtle", base="http://example.org/") == taxonomy
    assert skos.read(text, syntax="turtle", id="notation") == taxonomy
