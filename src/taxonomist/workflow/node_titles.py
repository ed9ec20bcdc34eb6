"""Names and paths of nodes for people, in which codes and names are never mixed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taxonomist.taxonomy import Taxonomy

__all__ = ["NodeTitles"]


class NodeTitles:
    """The name and the path of each node.

    Ids that are whole paths, such as those of ``Taxonomy.from_paths``, are shortened to their last
    component, so that a path does not repeat the ids above it.

    If the taxonomy has codes with display names, ``name`` returns the display name, and an empty
    string for a node without one. Paths consist of names if all nodes have one; otherwise all paths
    consist of codes. If the taxonomy has no display names, ids serve as names.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        self._names: dict[str, str] = {}
        self._paths: dict[str, tuple[str, ...]] = {}

    def name(self, node: str) -> str:
        """Return the name of a node; empty if it has only a code."""
        if node not in self._names:
            coded = self._taxonomy.raw_names.get(node, "")
            self._names[node] = coded if self._is_coded else self._short(node)
        return self._names[node]

    def path(self, node: str) -> tuple[str, ...]:
        """Return the steps on the path from the top to a node; a DAG's first one."""
        if node not in self._paths:
            steps = self._taxonomy.paths(node, limit=1)[0]
            of_step = self._taxonomy.name if self._has_all_names else self._short
            self._paths[node] = tuple(map(of_step, steps))
        return self._paths[node]

    @cached_property
    def _is_coded(self) -> bool:
        """Whether a node has a display name that is not the end of its id."""
        return any(self._short(node) == node for node in self._taxonomy.raw_names)

    @cached_property
    def _has_all_names(self) -> bool:
        taxonomy = self._taxonomy
        shown = taxonomy.nodes[1:] if taxonomy.has_artificial_root else taxonomy.nodes
        return all(node in taxonomy.raw_names for node in shown)

    def _short(self, node: str) -> str:
        """Return an id, or its last component if it is a whole path."""
        taxonomy = self._taxonomy
        name = taxonomy.raw_names.get(node, node)
        if name == node or not node.endswith(name):
            return node
        top = taxonomy.name(taxonomy.paths(node, limit=1)[0][0])
        return name if node.startswith(top) else node
