"""Edges as pairs of ids, and edges with the lines of the file that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.errors import CycleError, FormatError

if TYPE_CHECKING:
    from taxonomist.taxonomy.core import Taxonomy


class EdgeLines(dict[tuple[str, str], int]):
    """Edges (parent, child) with their line numbers; a top node may have an empty parent.

    Parameters
    ----------
    cycles
        With ``"break"``, a node may be its own parent; see ``Taxonomy.from_edges``.
    """

    def __init__(self, cycles: str) -> None:
        super().__init__()
        self._cycles = cycles

    def add(self, parent: str, child: str, line: int) -> None:
        """Add the edge found on a line.

        Raises
        ------
        FormatError
            If the child is empty, or if an earlier line has the same edge.
        CycleError
            If the child is its own parent.
        """
        if not child:
            raise FormatError(f"line {line}: the child is empty; every row needs a child.")
        if parent == child and self._cycles != "break":
            raise CycleError(f"line {line}: {child!r} is given as its own parent; remove the line.")
        earlier = self.setdefault((parent, child), line)
        if earlier != line:
            raise FormatError(
                f"line {line}: the edge {parent!r} -> {child!r} is already on line {earlier}; "
                "remove one of the two."
            )


def edge_ids(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    """Return the edges as pairs of ids, grouped by parent, in the order of the children."""
    nodes = taxonomy.nodes
    return [(nodes[parent], nodes[child]) for parent, child in taxonomy.edges.tolist()]
