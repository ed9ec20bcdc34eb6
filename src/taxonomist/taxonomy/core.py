"""``Taxonomy``: the public class, with constructors, files, edits and drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from taxonomist.errors import TaxonomyError
from taxonomist.taxonomy import build, edit, show
from taxonomist.taxonomy.cycles import without_cycles
from taxonomist.taxonomy.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from taxonomist._typing import LabelsLike, MatrixLike, NodeTextsLike
    from taxonomist.taxonomy.edit import TaxonomyDiff


class Taxonomy(Graph):
    """An immutable rooted DAG of categories.

    Nodes have unique string ids and optional display names, which need not be unique. A node may
    have several parents, any depth, and no documents. There is always exactly one root: if several
    nodes have no parent, a virtual root with the id ``"ROOT"`` is added above them. A root with
    that id (in any case) is not a category: paths leave it out, and ``roots`` are its children.

    Internally, nodes are codes ``0 ... n_nodes - 1`` in a topological order (preorder on trees);
    the root has code 0. Two taxonomies are equal if they have the same ids, names, texts and
    edges, regardless of order.

    Parameters
    ----------
    edges
        Pairs (parent, child) of ids, or a data frame with these two columns.
    names
        Display names by id; a node without one is shown by its id.
    nodes
        Ids of extra nodes. Nodes listed here come first among their siblings.
    texts
        Further texts by id, such as ``{"dog": {"synonyms": ["hound"], "definitions": "..."}}``.
        The kinds are synonyms, definitions and notes; strings without a kind are notes. A text
        classifier can learn from them.

    Raises
    ------
    TaxonomyError
        If the edges contain a cycle, a self-loop or a duplicate, or if there are no nodes.

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
        cycles: str = "error",
        texts: NodeTextsLike | None = None,
    ) -> Self:
        """Return the taxonomy with these (parent, child) edges.

        Parameters
        ----------
        edges, names, nodes, texts
            See ``Taxonomy``.
        cycles
            ``"error"`` raises a ``TaxonomyError`` for a cycle. ``"break"`` leaves out the edges
            that close one, the same whatever the order of the edges, and lists them in a
            ``TaxonomyWarning``.
        """
        edges, nodes = without_cycles(edges, nodes, cycles)
        return cls(edges, names=names, nodes=nodes, texts=texts)

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[str, str | Iterable[str] | None],
        names: Mapping[str, str] | None = None,
        texts: NodeTextsLike | None = None,
    ) -> Self:
        """Return the taxonomy given by each node's parent, several parents, or None."""
        above = dict(parents)
        return cls(build.edges_from_parents(above), names=names, nodes=above, texts=texts)

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
            Separator between the components of a string; white space around it is ignored.
        ids
            ``"name"``: a component is the id of its node, so the same component under two parents
            is one node with two parents. ``"path"``: the whole path is the id and the component is
            the name. ``"auto"``: the component if it is unique, otherwise the whole path.
        """
        nodes, edges, names = build.edges_from_paths(paths, sep, ids)
        return cls(edges, names=names, nodes=nodes)

    @classmethod
    def from_nested(cls, nested: Mapping[str, object], sep: str = " > ", ids: str = "auto") -> Self:
        """Return the taxonomy of nested dicts, e.g. ``{"A": {"B": ["C", "D"]}}``.

        Keys are path components; see ``from_paths`` for ``sep`` and ``ids``.
        """
        return cls.from_paths(build.paths_from_nested(nested), sep, ids)

    @classmethod
    def from_networkx(cls, graph: Any, name: str = "name") -> Taxonomy:
        """Return the taxonomy of a directed networkx graph with edges from parent to child."""
        from taxonomist.taxonomy import formats

        return formats.from_networkx(graph, name=name)

    @classmethod
    def flat(cls, labels: Iterable[object]) -> Self:
        """Return the taxonomy of depth one over these labels, in order of first appearance."""
        ids = list(dict.fromkeys(build.as_id(label) for label in labels))
        if not ids:
            raise TaxonomyError("A flat taxonomy needs at least one label; none was given.")
        if build.ROOT in ids:
            raise TaxonomyError(f"The label {build.ROOT!r} is the id of the root; rename it.")
        return cls([(build.ROOT, node) for node in ids])

    @classmethod
    def from_documents(
        cls, X: MatrixLike, y: LabelsLike, n_groups: int, **options: Any
    ) -> Taxonomy:
        """Return a taxonomy whose middle layer groups categories with similar documents.

        See ``taxonomist.taxonomy.cluster.group_categories`` for the parameters.
        """
        from taxonomist.taxonomy.cluster import group_categories

        return group_categories(X, y, n_groups, **options)

    # Reading and writing ---------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | PathLike[str], format: str | None = None, **options: Any) -> Taxonomy:
        """Read a taxonomy from a file; ``taxonomist.taxonomy.formats`` lists the formats."""
        from taxonomist.taxonomy import formats

        return formats.read(path, format, **options)

    def write(self, path: str | PathLike[str], format: str | None = None, **options: Any) -> None:
        """Write the taxonomy to a file; ``taxonomist.taxonomy.formats`` lists the formats."""
        from taxonomist.taxonomy import formats

        formats.write(self, path, format, **options)

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` with edges from parent to child."""
        from taxonomist.taxonomy import formats

        return formats.to_networkx(self)

    # Changing --------------------------------------------------------------------------------

    def subtree(self, node: str) -> Taxonomy:
        """Return the taxonomy of a node and its descendants, with the node as root."""
        return edit.subtree(self, node)

    def prune(self, labels: Iterable[str]) -> Taxonomy:
        """Return the taxonomy of these nodes and their ancestors."""
        return edit.prune(self, labels)

    def truncate(self, depth: int) -> Taxonomy:
        """Return the taxonomy without the nodes below this depth."""
        return edit.truncate(self, depth)

    def collapse_chains(self, keep: Iterable[str] = ()) -> Taxonomy:
        """Return the taxonomy without inner nodes that have a single child.

        The child takes their place; the root and the nodes in ``keep`` stay.
        """
        return edit.collapse_chains(self, keep)

    def spanning_tree(self, parents: Mapping[str, str] | None = None) -> Taxonomy:
        """Return a tree of the same nodes, in which each node keeps one of its parents.

        Parameters
        ----------
        parents
            The parent to keep, by node. By default the deepest one, so that a node keeps as many
            ancestors as possible; ties go to the first.
        """
        return edit.spanning_tree(self, parents)

    def with_terminals(self, ids: Iterable[str]) -> Taxonomy:
        """Return a copy in which interior nodes used as categories have a terminal child.

        Leaves among ``ids`` stay as they are. ``terminals`` of the result maps each new id to the
        interior node that it represents; ``without_terminals`` undoes the change [CH04, Sec. 2.4].
        """
        return edit.with_terminals(self, ids)

    def without_terminals(self) -> Taxonomy:
        """Return the taxonomy that ``with_terminals`` was called on."""
        return edit.without_terminals(self)

    def rename(
        self, ids: Mapping[str, str] | None = None, *, names: Mapping[str, str] | None = None
    ) -> Taxonomy:
        """Return a copy with new ids (by old id), new display names (by old id), or both."""
        return edit.rename(self, ids, names)

    def with_texts(self, texts: NodeTextsLike) -> Taxonomy:
        """Return a copy with these texts instead of its own; see ``Taxonomy`` for their form."""
        return edit.with_texts(self, texts)

    def diff(self, other: Taxonomy) -> TaxonomyDiff:
        """Return the nodes added, removed, moved and renamed between this taxonomy and another."""
        return edit.diff(self, other)

    # Showing ---------------------------------------------------------------------------------

    def to_text(
        self,
        max_depth: int | None = None,
        max_children: int | None = None,
        labels: LabelsLike | None = None,
    ) -> str:
        """Draw the taxonomy as a text tree.

        Parameters
        ----------
        max_depth
            Number of levels to draw below the top; all by default.
        max_children
            Number of children to draw per node; the rest are summarised by their number.
        labels
            One label or a set of labels per item. If given, every node shows the number of items
            at or below it.
        """
        return show.to_text(self, max_depth, max_children, labels)

    def to_html(
        self,
        max_depth: int | None = None,
        max_children: int | None = None,
        labels: LabelsLike | None = None,
    ) -> str:
        """Return the taxonomy as collapsible HTML; the parameters are those of ``to_text``."""
        return show.to_html(self, max_depth, max_children, labels)

    def __str__(self) -> str:
        """Return a text tree short enough for a screen or two."""
        return self.to_text(max_depth=3, max_children=12)

    def _repr_html_(self) -> str:
        """Return a collapsible tree for notebooks."""
        return self.to_html(max_depth=6, max_children=100)
