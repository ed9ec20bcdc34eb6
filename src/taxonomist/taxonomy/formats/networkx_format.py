"""Directed networkx graphs with edges from parent to child."""

from __future__ import annotations

from typing import Any

from taxonomist.errors import TaxonomyError, import_extra
from taxonomist.taxonomy.build import as_id
from taxonomist.taxonomy.core import Taxonomy
from taxonomist.taxonomy.formats.edges import edge_ids
from taxonomist.taxonomy.node_texts import KINDS, as_data


def from_networkx(graph: Any, name: str = "name") -> Taxonomy:
    """Return the taxonomy of a directed graph.

    Parameters
    ----------
    graph
        A ``networkx.DiGraph`` with edges from parent to child.
    name
        The node attribute that holds display names. Attributes ``synonyms``, ``definitions`` and
        ``notes`` hold texts.

    Raises
    ------
    TaxonomyError
        If the graph is not directed, or its edges do not form a taxonomy.
    """
    is_directed = getattr(graph, "is_directed", None)
    if is_directed is None or not is_directed():
        raise TaxonomyError(
            "A taxonomy needs a directed networkx graph with edges from parent to child. "
            f"Got {graph!r} instead."
        )
    attributes = {as_id(node): data.get(name) for node, data in graph.nodes(data=True)}
    names = {node: str(given) for node, given in attributes.items() if given is not None}
    texts = {
        as_id(node): {kind: data[kind] for kind in KINDS if kind in data}
        for node, data in graph.nodes(data=True)
    }
    return Taxonomy.from_edges(graph.edges(), names, nodes=attributes, texts=texts)


def to_networkx(taxonomy: Taxonomy) -> Any:
    """Return a ``networkx.DiGraph`` with names and texts in the attributes of nodes."""
    graph = import_extra("networkx", "io").DiGraph()
    graph.add_nodes_from(taxonomy.nodes)
    graph.add_nodes_from((node, {"name": name}) for node, name in taxonomy.raw_names.items())
    graph.add_nodes_from((node, as_data(texts)) for node, texts in taxonomy.texts.items())
    graph.add_edges_from(edge_ids(taxonomy))
    return graph
