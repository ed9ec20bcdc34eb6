"""Graphs of networkx."""

from __future__ import annotations

import sys

import networkx
import pytest

from taxonomist.errors import MissingExtraError, TaxonomyError
from taxonomist.taxonomy import Taxonomy


def test_graph_with_names_and_numbers():
    graph = networkx.DiGraph([(0, 1), (0, 2)])
    graph.nodes[1]["title"] = "One"
    graph.nodes[2]["title"] = None
    assert Taxonomy.from_networkx(graph, name="title") == Taxonomy(
        [("0", "1"), ("0", "2")], names={"1": "One"}
    )


def test_to_networkx():
    graph = Taxonomy([("a", "b"), ("a", "c")], names={"b": "Bee"}).to_networkx()
    assert list(graph.nodes(data=True)) == [("a", {}), ("b", {"name": "Bee"}), ("c", {})]
    assert list(graph.edges) == [("a", "b"), ("a", "c")]


@pytest.mark.parametrize("graph", [networkx.Graph([("a", "b")]), [("a", "b")]])
def test_other_graphs(graph):
    with pytest.raises(TaxonomyError, match="needs a directed networkx graph"):
        Taxonomy.from_networkx(graph)


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (networkx.DiGraph(), "at least one node"),
        (networkx.DiGraph([("a", "b"), ("b", "a")]), "cycle"),
        (networkx.MultiDiGraph([("a", "b"), ("a", "b")]), "given twice"),
    ],
)
def test_no_taxonomy(graph, sentence):
    with pytest.raises(TaxonomyError, match=sentence):
        Taxonomy.from_networkx(graph)


def test_without_networkx(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"taxonomist\[io\]"):
        Taxonomy(nodes=["a"]).to_networkx()
