"""Break the cycles of a graph by leaving out as few edges as a single search finds necessary."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from taxonomist.errors import ParameterError, TaxonomyWarning, some
from taxonomist.taxonomy.build import as_id, rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    Edge = tuple[str, str]


def without_cycles(
    edges: Iterable[Any], nodes: Iterable[str], cycles: str
) -> tuple[Iterable[Any], Iterable[str]]:
    """Return edges and nodes, with ``cycles="break"`` without the edges that close a cycle.

    Warns
    -----
    TaxonomyWarning
        If edges were left out; the warning lists them.

    Raises
    ------
    ParameterError
        If ``cycles`` is neither ``"error"`` nor ``"break"``.
    """
    if cycles not in ("error", "break"):
        raise ParameterError(f"cycles must be 'error' or 'break'. Got {cycles!r} instead.")
    if cycles == "error":
        return edges, nodes
    pairs = [(as_id(parent), as_id(child)) for parent, child in rows(edges)]
    broken = closing_edges(pairs)
    if not broken:
        return pairs, nodes
    shown = some([f"{parent} -> {child}" for parent, child in sorted(broken)])
    message = f"Left out {len(broken):,} of {len(pairs):,} edges to break cycles: {shown}."
    warnings.warn(TaxonomyWarning(message, broken), stacklevel=3)
    # A node may occur in no edge but one to itself.
    alone = [parent for parent, child in pairs if parent == child]
    return [pair for pair in pairs if pair not in broken], [*nodes, *alone]


def closing_edges(edges: Iterable[Edge]) -> set[Edge]:
    """Return the edges that close a cycle, in a depth-first search from the top.

    The search starts at the nodes without a parent, then at nodes that no search has reached, and
    visits nodes in alphabetical order, so the result does not depend on the order of the edges.
    Every edge of the result points from a node to itself or to one of its ancestors. Without these
    edges there is no cycle; with any one of them there is.
    """
    children: dict[str, list[str]] = {}
    for parent, child in sorted(set(edges), reverse=True):
        children.setdefault(parent, []).append(child)
    has_parent = {child for parent, below in children.items() for child in below if child != parent}
    starts = sorted(children, key=lambda node: (node in has_parent, node))
    closing: set[Edge] = set()
    is_open: dict[str, bool] = {}
    for start in starts:
        if start in is_open:
            continue
        is_open[start] = True
        stack = [start]
        while stack:
            node = stack[-1]
            below = children.get(node)
            if not below:
                is_open[stack.pop()] = False
                continue
            child = below.pop()
            if child not in is_open:
                is_open[child] = True
                stack.append(child)
            elif is_open[child]:
                closing.add((node, child))
    return closing
