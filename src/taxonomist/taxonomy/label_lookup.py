"""Find the nodes that labels mean: ids, paths of ids or names, and the ids closest to others."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import UnknownNodeError, closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.taxonomy.graph import Graph

__all__ = ["code_meant", "codes_meant", "similar_ids"]

MOST_COMPARED = 200
"""Maximum number of ids that are compared letter by letter."""


def code_meant(graph: Graph, label: object) -> int:
    """Return the code of the node that a label means; see ``Graph.resolve``."""
    found = codes_meant(graph, label)
    if len(found) > 1:
        raise UnknownNodeError(
            f"The path {label!r} is ambiguous: it leads to {len(found)} nodes. Pass an id."
        )
    if not found:
        hint = similar_ids(graph.nodes, label)
        raise UnknownNodeError(f"{label!r} is not a node of the taxonomy.{hint}")
    return found.pop()


def codes_meant(graph: Graph, label: object) -> set[int]:
    """Return the codes that a label matches: none, one, or several for a path of names."""
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        label = str(int(label))
    if isinstance(label, str):
        if (node := label.strip()) in graph:
            return {graph.code(node)}
        label = label.split(">")
        if len(label) == 1:
            return set()
    if not isinstance(label, (list, tuple)) or not label:
        return set()
    return _at_end(graph, [str(part).strip() for part in label])


def _at_end(graph: Graph, parts: list[str]) -> set[int]:
    """Return the codes of the nodes at the end of a path of ids or names from the top."""
    indptr, indices = graph.parent_indptr, graph.parent_indices
    found = {0}
    if not graph.has_artificial_root or parts[0] == graph.root:
        found &= graph.codes_by_name.get(parts[0], set())
        parts = parts[1:]
    for part in parts:
        called = graph.codes_by_name.get(part, set())
        found = {
            code
            for code in called
            if not found.isdisjoint(indices[indptr[code] : indptr[code + 1]].tolist())
        }
    return found


def similar_ids(nodes: Sequence[str], label: object) -> str:
    """Suggest the closest ids; only those that share most substrings are compared."""
    word = str(label).casefold()
    size, step = max(2, len(word) // 8), max(1, len(word) // 16)
    pieces = [word[start : start + size] for start in range(0, len(word), step)]

    def shared(node: str) -> int:
        return sum(map(node.casefold().__contains__, pieces))

    return closest(str(label), heapq.nlargest(MOST_COMPARED, nodes, key=shared))
