"""Names and paths of nodes, also of nodes that only an older taxonomy has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taxonomist.server.live_model import LiveModel

__all__ = ["NodePlace", "node_name", "place_of"]


class NodePlace(NamedTuple):
    """A node with its name and its path: ids and names from the top to the node."""

    label: str
    name: str
    path: list[str]
    path_names: list[str]


def node_name(model: LiveModel, node: str) -> str:
    """Return the name of a node; its id if it has none, or if the taxonomy lost the node."""
    return (model.titles.name(node) if node in model.taxonomy else "") or node


def place_of(model: LiveModel, node: str) -> NodePlace:
    """Return where a node is; a DAG's first path."""
    path = list(model.taxonomy.paths(node, limit=1)[0]) if node in model.taxonomy else [node]
    return NodePlace(node, node_name(model, node), path, [node_name(model, each) for each in path])
