"""Edges as pairs of ids, and edges that remember the line of the file they stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from taxonomist.taxonomy.core import Taxonomy


class EdgeLines(dict[tuple[str, str], int]):
    """Edges (parent, child) with their line numbers; the parent of a top node may be empty."""

    def add(self, parent: str, child: str, line: int) -> None:
        """Add the edge that stands on a line.

        Raises
        ------
        FormatError
            If the child is empty or its own parent, or if the edge stands on an earlier line too.
        """
        if not child:
            raise FormatError(f"line {line}: the child is empty; every row needs a child.")
        if parent == child:
            raise FormatError(
                f"line {line}: {child!r} is given as its own parent; remove the line."
            )
        earlier = self.setdefault((parent, child), line)
        if earlier != line:
            raise FormatError(
                f"line {line}: the edge {parent!r} -> {child!r} stands on line {earlier} already; "
                "remove one of the two."
            )


def edge_ids(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    """Return the edges as pairs of ids, grouped by parent, in the order of the children."""
    nodes = taxonomy.nodes
    return [(nodes[parent], nodes[child]) for parent, child in taxonomy.edges.tolist()]
