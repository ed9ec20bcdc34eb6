"""The graph behind ``Taxonomy``: ids, edges as arrays, and queries."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from taxonomist.errors import ParameterError, TaxonomyError, UnknownNodeError
from taxonomist.taxonomy import build
from taxonomist.taxonomy.closure import ancestor_matrix
from taxonomist.taxonomy.equality import are_equal
from taxonomist.taxonomy.label_lookup import code_meant, similar_ids
from taxonomist.taxonomy.node_texts import texts_of_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from taxonomist._typing import CSR, Bools, Codes, NodeTextsLike, Options
    from taxonomist.taxonomy.node_texts import NodeTexts

Array = TypeVar("Array", bound="NDArray[Any]")


class Graph:
    """An immutable rooted DAG with its queries; ``Taxonomy`` is the public class.

    Attributes
    ----------
    nodes
        Ids in code order: a topological order, preorder on trees, the root first.
    parent_indptr, parent_indices, child_indptr, child_indices
        Codes of the parents and of the children of each node as CSR arrays.
    raw_names
        Display names by id, only for nodes whose name differs from the id.
    terminals
        For each terminal child made by ``with_terminals``, the interior node that it represents.
    texts
        Synonyms, definitions and notes by id, only for nodes that have any.
    """

    nodes: tuple[str, ...]
    parent_indptr: Codes
    parent_indices: Codes
    child_indptr: Codes
    child_indices: Codes
    raw_names: Mapping[str, str]
    terminals: Mapping[str, str]
    texts: Mapping[str, NodeTexts] = MappingProxyType({})

    def __init__(
        self,
        edges: Iterable[tuple[str, str]] = (),
        *,
        names: Mapping[str, str] | None = None,
        nodes: Iterable[str] = (),
        terminals: Mapping[str, str] | None = None,
        texts: NodeTextsLike | None = None,
    ) -> None:
        ids, *arrays = build.assemble(edges, nodes)
        called = build.texts_by_id({} if names is None else dict(names))
        told = texts_of_nodes(texts, build.as_id)
        self._set(ids, arrays, called, dict(terminals or {}), told)
        for what, given in (("name is", called), ("text is", told)):
            if not self._index.keys() >= given.keys():
                unknown = next(node for node in given if node not in self._index)
                hint = similar_ids(self.nodes, unknown)
                raise TaxonomyError(f"A {what} given for {unknown!r}, which is not a node.{hint}")

    @classmethod
    def from_arrays(
        cls,
        arrays: build.Arrays,
        names: dict[str, str],
        terminals: dict[str, str],
        texts: dict[str, NodeTexts] | None = None,
    ) -> Self:
        """Return the graph of arrays of ``build``, with names, terminals and texts by id."""
        graph = cls.__new__(cls)
        graph._set(arrays.ids, arrays[1:], names, terminals, texts or {})
        return graph

    def _set(
        self,
        ids: tuple[str, ...],
        arrays: Sequence[Codes],
        names: dict[str, str],
        terminals: dict[str, str],
        texts: dict[str, NodeTexts],
    ) -> None:
        arrays = [_frozen(array) for array in arrays]
        fields = ("parent_indptr", "parent_indices", "child_indptr", "child_indices")
        self.__dict__.update(zip(fields, arrays, strict=True))
        views: Options = {"raw_names": names, "terminals": terminals}
        views.update({"texts": texts} if texts else {})
        self.__dict__.update(nodes=ids, **{key: MappingProxyType(of) for key, of in views.items()})

    # Queries: the whole taxonomy ---------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the root included."""
        return len(self.nodes)

    @property
    def root(self) -> str:
        """Id of the root, the node with code 0."""
        return self.nodes[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Display names in code order; the id where a node has none."""
        return tuple(self.raw_names.get(node, node) for node in self.nodes)

    @cached_property
    def has_artificial_root(self) -> bool:
        """Whether the root is a virtual root, which is not a category."""
        return build.is_artificial(self.root) and self.n_nodes > 1

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Ids of the topmost categories: the root, or the children of a virtual root."""
        return self.children(self.root) if self.has_artificial_root else (self.root,)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Ids of the nodes without children."""
        return self._ids(np.flatnonzero(self.is_leaf))

    @cached_property
    def is_tree(self) -> bool:
        """Whether every node but the root has exactly one parent."""
        return len(self.parent_indices) == self.n_nodes - 1

    @cached_property
    def height(self) -> int:
        """Number of edges on the longest path from the root."""
        return int(self.depths.max())

    # Queries: one node -----------------------------------------------------------------------

    def code(self, node: str) -> int:
        """Return the code of a node."""
        try:
            return self._index[node]
        except (KeyError, TypeError):
            message = f"{node!r} is not a node of the taxonomy.{similar_ids(self.nodes, node)}"
            raise UnknownNodeError(message) from None

    def codes(self, nodes: Iterable[str]) -> Codes:
        """Return the codes of several nodes as an array."""
        wanted = list(nodes)
        try:
            found = map(self._index.__getitem__, wanted)
            return np.fromiter(found, dtype=np.intp, count=len(wanted))
        except (KeyError, TypeError):
            # One after the other, because ``code`` says which of them is unknown.
            return np.fromiter(map(self.code, wanted), dtype=np.intp)

    def has_all(self, nodes: Iterable[object]) -> bool:
        """Return whether all are ids of nodes."""
        return self._index.keys() >= {*nodes}

    def name(self, node: str) -> str:
        """Return the display name of a node."""
        return self.names[self.code(node)]

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the ids of a node's parents."""
        code = self.code(node)
        start, end = self.parent_indptr[code : code + 2]
        return self._ids(self.parent_indices[start:end])

    def children(self, node: str) -> tuple[str, ...]:
        """Return the ids of a node's children."""
        code = self.code(node)
        start, end = self.child_indptr[code : code + 2]
        return self._ids(self.child_indices[start:end])

    def siblings(self, node: str) -> tuple[str, ...]:
        """Return the ids of the other children of the node's parents."""
        found = {child for parent in self.parents(node) for child in self.children(parent)}
        return self._ids(np.sort(self.codes(found - {node})))

    def ancestors(self, node: str) -> tuple[str, ...]:
        """Return the ids of a node's proper ancestors, the root first."""
        return self._reach(node, self.parent_indptr, self.parent_indices)

    def descendants(self, node: str) -> tuple[str, ...]:
        """Return the ids of a node's proper descendants."""
        return self._reach(node, self.child_indptr, self.child_indices)

    def depth(self, node: str) -> int:
        """Return the number of edges on the longest path from the root to a node."""
        return int(self.depths[self.code(node)])

    def level(self, depth: int) -> tuple[str, ...]:
        """Return the ids of the nodes at this depth."""
        return self._ids(np.flatnonzero(self.depths == depth))

    def paths(self, node: str, limit: int | None = None) -> tuple[tuple[str, ...], ...]:
        """Return the paths from one of ``roots`` to a node, both ends included.

        Parameters
        ----------
        node
            The id at which the paths end.
        limit
            Maximum number of paths; in a DAG their number can grow exponentially with depth.
        """
        if limit is not None and limit < 1:
            raise ParameterError(f"limit must be at least 1, or None. Got {limit} instead.")
        found: list[tuple[str, ...]] = []
        # Paths are linked lists, (code, rest of the path), so that long ones are not copied.
        stack: list[tuple[int, Any]] = [(self.code(node), None)]
        while stack and (limit is None or len(found) < limit):
            path = stack.pop()
            parents = self._parents_of(path[0])
            above = [code for code in parents if code or not self.has_artificial_root]
            stack.extend((code, path) for code in reversed(above))
            if not above or len(above) < len(parents):
                found.append(tuple(self._unlinked(path)))
        return tuple(found)

    def common_ancestors(self, a: str, b: str) -> tuple[str, ...]:
        """Return the ids of the nodes above or equal to both nodes, the root first."""
        both = {a, *self.ancestors(a)} & {b, *self.ancestors(b)}
        return self._ids(np.sort(self.codes(both)))

    def distance(self, a: str, b: str) -> int:
        """Return the number of nodes above or equal to exactly one of two nodes.

        On a tree this is the length of the path between them; it is a metric on DAGs too.
        """
        return len({a, *self.ancestors(a)} ^ {b, *self.ancestors(b)})

    def resolve(self, label: object) -> str:
        """Return the id for a label, which is an id or a path of ids or names from the top.

        Parameters
        ----------
        label
            An id (integers are read as strings), a string ``"A > B > C"``, or a sequence of
            components.

        Raises
        ------
        UnknownNodeError
            If there is no such node, or a path of names is ambiguous.
        """
        return self.nodes[code_meant(self, label)]

    @cached_property
    def codes_by_name(self) -> Mapping[str, set[int]]:
        """Codes of the nodes by id and by display name."""
        found: dict[str, set[int]] = {}
        for code, text in chain(enumerate(self.nodes), enumerate(self.names)):
            found.setdefault(text, set()).add(code)
        return found

    # Queries: arrays -------------------------------------------------------------------------

    @cached_property
    def topological_order(self) -> Codes:
        """Codes with every parent before its children, which is 0, 1, 2, ..."""
        return _frozen(np.arange(self.n_nodes, dtype=np.intp))

    @cached_property
    def edges(self) -> Codes:
        """Codes (parent, child) of every edge, grouped by parent; shape (n_edges, 2)."""
        parents = np.repeat(self.topological_order, np.diff(self.child_indptr))
        return _frozen(np.column_stack([parents, self.child_indices]))

    @cached_property
    def is_leaf(self) -> Bools:
        """Whether each node has no children."""
        return _frozen(np.equal(np.diff(self.child_indptr), 0))

    @cached_property
    def depths(self) -> Codes:
        """Depth of each node: edges on the longest path from the root."""
        depths = [0] * self.n_nodes
        parents, children = self.edges.T.tolist()
        for parent, child in zip(parents, children, strict=True):
            depth = depths[parent] + 1
            if depth > depths[child]:
                depths[child] = depth
        return _frozen(np.array(depths, dtype=np.intp))

    def ancestor_matrix(self) -> CSR:
        """Return the nodes above or equal to each node.

        Returns
        -------
        csr_array of bool, shape (n_nodes, n_nodes)
            Row n marks n itself and all its ancestors, including the root. The matrix is computed
            once and shared, so its arrays are read-only.
        """
        return self._ancestor_matrix

    # Value semantics -------------------------------------------------------------------------

    def __contains__(self, node: object) -> bool:
        """Return whether there is a node with this id."""
        return isinstance(node, str) and node in self._index

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids in code order."""
        return iter(self.nodes)

    def __eq__(self, other: object) -> bool:
        """Return whether ids, names, texts and edges are the same, regardless of order."""
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or are_equal(self, other)

    def __hash__(self) -> int:
        """Return a hash that equal taxonomies share."""
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        """Raise, because a taxonomy is immutable."""
        raise AttributeError(
            f"A Taxonomy is immutable: {name!r} cannot be set. Its methods return changed copies."
        )

    def __delattr__(self, name: str) -> None:
        """Raise, because a taxonomy is immutable."""
        raise AttributeError(f"A Taxonomy is immutable: {name!r} cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arrays without cached properties."""
        arrays = (self.parent_indptr, self.parent_indices, self.child_indptr, self.child_indices)
        views = (self.raw_names, self.terminals, self.texts)
        return _restore, (type(self), self.nodes, arrays, *map(dict, views))

    def __repr__(self) -> str:
        """Return the size and the shape, e.g. ``Taxonomy(5 nodes, 2 leaves, height 2, DAG)``."""
        shape = "tree" if self.is_tree else "DAG"
        return (
            f"{type(self).__name__}({self.n_nodes} nodes, {int(self.is_leaf.sum())} leaves, "
            f"height {self.height}, {shape})"
        )

    # Internals -------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[str, int]:
        return dict(zip(self.nodes, range(self.n_nodes), strict=True))

    @cached_property
    def _hash(self) -> int:
        return hash((self.root, len(self.child_indices), frozenset(self.nodes)))

    def places_of(self, other: Graph) -> Codes:
        """Return the code that each node of another taxonomy has in this one; -1 for none."""
        find = self._index.get
        return np.fromiter((find(node, -1) for node in other.nodes), np.intp, other.n_nodes)

    @cached_property
    def _ancestor_matrix(self) -> CSR:
        matrix = ancestor_matrix(self.parent_indptr, self.parent_indices, self.depths)
        for array in (matrix.data, matrix.indices, matrix.indptr):
            _frozen(array)
        return matrix

    def _ids(self, codes: Codes) -> tuple[str, ...]:
        return tuple(map(self.nodes.__getitem__, codes.tolist()))

    def _parents_of(self, code: int) -> list[int]:
        start, end = self.parent_indptr[code : code + 2]
        found: list[int] = self.parent_indices[start:end].tolist()
        return found

    def _unlinked(self, path: tuple[int, Any] | None) -> Iterator[str]:
        while path is not None:
            code, path = path
            yield self.nodes[code]

    def _reach(self, node: str, indptr: Codes, indices: Codes) -> tuple[str, ...]:
        """Return the ids reachable over the given edges, in code order."""
        found, front = set[int](), [self.code(node)]
        while front:
            code = front.pop()
            for near in indices[indptr[code] : indptr[code + 1]].tolist():
                if near not in found:
                    found.add(near)
                    front.append(near)
        return tuple(self.nodes[code] for code in sorted(found))


def _frozen(array: Array) -> Array:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


def _restore(kind: type[Graph], ids: tuple[str, ...], arrays: Any, *mappings: Any) -> Graph:
    return kind.from_arrays(build.Arrays(ids, *arrays), *mappings)
