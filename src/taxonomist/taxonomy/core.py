"""``Taxonomy``: what a user builds, asks, changes, reads, writes and looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from taxonomist.errors import TaxonomyError
from taxonomist.taxonomy import build, edit, show
from taxonomist.taxonomy.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from taxonomist.taxonomy.edit import TaxonomyDiff


class Taxonomy(Graph):
    """An immutable rooted DAG of categories.

    Nodes have string ids, which are unique, and optional display names, which need not be. A node
    may have several parents, no documents, and any depth. There is always one root: where
    several nodes have no parent they are joined under a node with the id ``"ROOT"``. A
    root with that id (in any case) only joins; it is then left out of paths, and ``roots`` are its
    children.

    Inside, nodes are codes ``0 ... n_nodes - 1`` in a topological order (preorder on trees);
    the root is code 0. Two taxonomies are equal if they have the same ids, names and edges, in
    whatever order.

    Parameters
    ----------
    edges
        Pairs (parent, child) of ids, or a data frame with these two columns.
    names
        Display names by id; a node without one shows its id.
    nodes
        Ids of further nodes; those given here also come first in the order of siblings.

    Raises
    ------
    TaxonomyError
        If the edges hold a cycle, a self-loop or a duplicate, or if there is no node.

    Examples
    --------
    >>> from taxonomist import Taxonomy
    >>> animals = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("pet", "dog")])
    >>> animals
    Taxonomy(5 nodes, 2 leaves, height 2, DAG)
    >>> animals.roots, animals.parents("dog")
    (('animal', 'pet'), ('animal', 'pet'))
    """

    # Building --------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        names: Mapping[str, str] | None = None,
        nodes: Iterable[str] = (),
    ) -> Self:
        """Return the taxonomy with these (parent, child) edges."""
        return cls(edges, names=names, nodes=nodes)

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[str, str | Iterable[str] | None],
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the taxonomy of a mapping from each node to its parent, parents, or nothing."""
        above = dict(parents)
        return cls(build.edges_from_parents(above), names=names, nodes=above)

    @classmethod
    def from_paths(
        cls, paths: Iterable[str | Sequence[str]], sep: str = " > ", ids: str = "auto"
    ) -> Self:
        """Return the taxonomy of root-to-node paths.

        Parameters
        ----------
        paths
            Strings such as ``"A > B > C"``, sequences of components, or a data frame with one
            column per level. Depths may differ.
        sep
            What parts the components of a string; blanks around it do not matter.
        ids
            ``"name"``: a component is its node's id, so the same component under two parents is
            one node with two parents. ``"path"``: the whole path is the id and the component the
            name. ``"auto"``: the component where it stands in one place only, else the whole path.
        """
        nodes, edges, names = build.edges_from_paths(paths, sep, ids)
        return cls(edges, names=names, nodes=nodes)

    @classmethod
    def from_nested(cls, nested: Mapping[str, object], sep: str = " > ", ids: str = "auto") -> Self:
        """Return the taxonomy of nested dicts, e.g. ``{"A": {"B": ["C", "D"]}}``.

        Keys are treated as the components of paths; see ``from_paths`` for ``sep`` and ``ids``.
        """
        return cls.from_paths(build.paths_from_nested(nested), sep, ids)

    @classmethod
    def from_networkx(cls, graph: Any, name: str = "name") -> Taxonomy:
        """Return the taxonomy of a directed networkx graph with edges from parent to child."""
        from taxonomist.taxonomy import formats

        return formats.from_networkx(graph, name=name)

    @classmethod
    def flat(cls, labels: Iterable[object]) -> Self:
        """Return the taxonomy of depth one over these labels, in their order of appearance."""
        ids = list(dict.fromkeys(build.as_id(label) for label in labels))
        if not ids:
            raise TaxonomyError("A flat taxonomy needs at least one label; none was given.")
        if build.ROOT in ids:
            raise TaxonomyError(f"The label {build.ROOT!r} is the id of the root; rename it.")
        return cls([(build.ROOT, node) for node in ids])

    @classmethod
    def from_documents(cls, X: Any, y: Any, n_groups: int, **options: Any) -> Taxonomy:
        """Return a taxonomy whose middle layer groups categories with similar documents.

        See ``taxonomist.taxonomy.cluster.group_categories`` for the parameters.
        """
        from taxonomist.taxonomy.cluster import group_categories

        return group_categories(X, y, n_groups, **options)

    # Reading and writing ---------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | PathLike[str], format: str | None = None, **options: Any) -> Taxonomy:
        """Return the taxonomy in a file; see ``taxonomist.taxonomy.formats`` for the formats."""
        from taxonomist.taxonomy import formats

        return formats.read(path, format, **options)

    def write(self, path: str | PathLike[str], format: str | None = None, **options: Any) -> None:
        """Write the taxonomy to a file; see ``taxonomist.taxonomy.formats`` for the formats."""
        from taxonomist.taxonomy import formats

        formats.write(self, path, format, **options)

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` with edges from parent to child."""
        from taxonomist.taxonomy import formats

        return formats.to_networkx(self)

    # Changing --------------------------------------------------------------------------------

    def subtree(self, node: str) -> Taxonomy:
        """Return the taxonomy of a node, which becomes the root, and all below it."""
        return edit.subtree(self, node)

    def prune(self, labels: Iterable[str]) -> Taxonomy:
        """Return the taxonomy of these nodes and all above them."""
        return edit.prune(self, labels)

    def truncate(self, depth: int) -> Taxonomy:
        """Return the taxonomy of the nodes down to this depth."""
        return edit.truncate(self, depth)

    def collapse_chains(self, keep: Iterable[str] = ()) -> Taxonomy:
        """Return the taxonomy without inner nodes that have a single child.

        The child takes their place; the root and the nodes in ``keep`` stay.
        """
        return edit.collapse_chains(self, keep)

    def spanning_tree(self, parents: Mapping[str, str] | None = None) -> Taxonomy:
        """Return a tree of the same nodes, in which each keeps one of its parents.

        Parameters
        ----------
        parents
            The parent to keep, by node. By default the deepest one, so that a node keeps as many
            ancestors as it can; of several, the first.
        """
        return edit.spanning_tree(self, parents)

    def with_terminals(self, ids: Iterable[str]) -> Taxonomy:
        """Return the taxonomy in which interior nodes used as categories have a terminal child.

        Leaves among ``ids`` stay as they are. ``terminals`` of the result maps each new id to
        the interior node that it stands for, ``without_terminals`` leads back [CH04, Sec. 2.4].
        """
        return edit.with_terminals(self, ids)

    def without_terminals(self) -> Taxonomy:
        """Return the taxonomy that ``with_terminals`` was called on."""
        return edit.without_terminals(self)

    def rename(
        self, ids: Mapping[str, str] | None = None, *, names: Mapping[str, str] | None = None
    ) -> Taxonomy:
        """Return the taxonomy with other ids (old to new), display names (by old id), or both."""
        return edit.rename(self, ids, names)

    def diff(self, other: Taxonomy) -> TaxonomyDiff:
        """Return which nodes are added, removed, moved and renamed from this to another."""
        return edit.diff(self, other)

    # Showing ---------------------------------------------------------------------------------

    def to_text(
        self, max_depth: int | None = None, max_children: int | None = None, labels: Any = None
    ) -> str:
        """Return the taxonomy drawn as a text tree.

        Parameters
        ----------
        max_depth
            Levels below the top to draw; all by default.
        max_children
            Children of a node to draw; the number of the others is given.
        labels
            Labels of items, one or a set each; every node then shows how many items it has at or
            below it.
        """
        return show.to_text(self, max_depth, max_children, labels)

    def to_html(
        self, max_depth: int | None = None, max_children: int | None = None, labels: Any = None
    ) -> str:
        """Return the taxonomy as collapsible HTML; the parameters are those of ``to_text``."""
        return show.to_html(self, max_depth, max_children, labels)

    def __str__(self) -> str:
        """Return a text tree that fits on a screen or two."""
        return self.to_text(max_depth=3, max_children=12)

    def _repr_html_(self) -> str:
        """Return a collapsible tree, for notebooks."""
        return self.to_html(max_depth=6, max_children=100)
