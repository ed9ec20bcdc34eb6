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
        hint = _similar_step(graph, label) or similar_ids(graph.nodes, label)
        raise UnknownNodeError(f"{label!r} is not a node of the taxonomy.{hint}")
    return found.pop()


def codes_meant(graph: Graph, label: object) -> set[int]:
    """Return the codes that a label matches: none, one, or several for a path of names."""
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        label = str(int(label))
    if isinstance(label, str) and (node := label.strip()) in graph:
        return {graph.code(node)}
    steps = _steps(label)
    return _at_end(graph, steps) if steps else set()


def _steps(label: object) -> list[str]:
    """Return the steps of a label that is a path, and none for other labels."""
    if isinstance(label, str):
        steps = label.split(">")
        label = steps if len(steps) > 1 else ()
    return [str(step).strip() for step in label] if isinstance(label, (list, tuple)) else []


def _similar_step(graph: Graph, label: object) -> str:
    """Suggest names for the first step of a path that is not below the steps before it."""
    steps = _steps(label)
    for place, step in enumerate(steps):
        above = _at_end(graph, steps[:place]) if place else {0}
        if not _at_end(graph, steps[: place + 1]):
            nodes = graph.roots if not place else ()
            below = [child for code in above for child in graph.children(graph.nodes[code])]
            called = dict.fromkeys(map(graph.name, nodes or below))
            return similar_ids(list(called), step)
    return ""


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
