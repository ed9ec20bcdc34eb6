"""Cycles are broken the same way whatever the order, and no edge is left out in vain."""

from __future__ import annotations

import warnings

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.errors import CycleError, ParameterError, TaxonomyError, TaxonomyWarning
from taxonomist.taxonomy import Taxonomy
from taxonomist.taxonomy.cycles import closing_edges
from taxonomist.taxonomy.formats import delimited, json_format, obo

nodes = st.sampled_from("abcdefg")
edge_lists = st.lists(st.tuples(nodes, nodes), min_size=1, max_size=20, unique=True)


@given(edge_lists, st.randoms(use_true_random=False))
def test_every_edge_left_out_closes_a_cycle(edges, random):
    closing = closing_edges(edges)
    kept = networkx.DiGraph([edge for edge in edges if edge not in closing])
    assert closing <= set(edges)
    assert networkx.is_directed_acyclic_graph(kept)
    for parent, child in closing:
        assert parent == child or networkx.has_path(kept, child, parent)
    random.shuffle(edges)
    assert closing_edges(edges) == closing


@given(edge_lists)
def test_no_node_is_lost(edges):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TaxonomyWarning)
        taxonomy = Taxonomy.from_edges(edges, cycles="break")
    assert set(taxonomy) - {"ROOT"} == {node for edge in edges for node in edge}


def test_edges_that_lead_up_are_left_out_not_those_from_the_top():
    edges = [("c", "a"), ("a", "b"), ("b", "c"), ("top", "b")]
    assert closing_edges(edges) == {("a", "b")}


def test_a_long_cycle():
    edges = [(f"n{i:06}", f"n{(i + 1) % 100_000:06}") for i in range(100_000)]
    assert closing_edges(edges) == {("n099999", "n000000")}


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (delimited.read_edges, "parent,child\na,b\nb, b\n"),
        (obo.read, "[Term]\nid: a\n[Term]\nid: b\nis_a: a\n\nis_a: b ! self\n"),
    ],
)
def test_a_node_that_is_its_own_parent(read, text):
    n_lines = text.count("\n")
    with pytest.raises(CycleError, match=f"line {n_lines}: 'b' is given as its own parent"):
        read(text)
    with pytest.warns(TaxonomyWarning, match="Left out 1 of 2 edges .*'b -> b'"):
        assert read(text, cycles="break") == Taxonomy([("a", "b")])


def test_without_cycles_nothing_changes():
    edges = [("b", "c"), ("a", "b"), ("a", "c")]
    assert Taxonomy.from_edges(edges, cycles="break").nodes == Taxonomy.from_edges(edges).nodes


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (delimited.read_edges, "parent,child\na,b\nb,c\nc,b\n"),
        (json_format.read, '{"edges": [["a", "b"], ["b", "c"], ["c", "b"]]}'),
        (obo.read, "[Term]\nid: a\n[Term]\nid: b\nis_a: a\nis_a: c\n[Term]\nid: c\nis_a: b\n"),
    ],
)
def test_files_with_cycles(read, text):
    with pytest.warns(TaxonomyWarning, match="Left out 1 of 3 edges to break cycles: 'c -> b'"):
        taxonomy = read(text, cycles="break")
    assert taxonomy == Taxonomy([("a", "b"), ("b", "c")])
    with pytest.raises(TaxonomyError, match="form a cycle"):
        read(text)
    with pytest.raises(ParameterError, match="cycles must be 'error' or 'break'. Got 'cut'"):
        read(text, cycles="cut")
