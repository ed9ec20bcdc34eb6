"""Whether two taxonomies are equal, decided on their arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import Codes
    from taxonomist.taxonomy.graph import Graph


def are_equal(a: Graph, b: Graph) -> bool:
    """Return whether ids, names, texts and edges are the same, regardless of their order."""
    if a.n_nodes != b.n_nodes or a.root != b.root or a.raw_names != b.raw_names:
        return False
    if a.texts != b.texts:
        return False
    place = a.topological_order if a.nodes == b.nodes else a.places_of(b)
    if (place < 0).any():
        return False
    return np.array_equal(_keys(a.edges, a.n_nodes), _keys(place[b.edges], a.n_nodes))


def _keys(edges: Codes, n_nodes: int) -> Codes:
    """Return one number for each edge, in order."""
    return np.sort(edges[:, 0] * n_nodes + edges[:, 1])
