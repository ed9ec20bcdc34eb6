"""The classifiers of ``PathSVC``: which nodes have one, and what it is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
from scipy.sparse import csc_array, csr_array

from taxonomist.compiled.arrays import Labels
from taxonomist.solvers.node_svms import Groups

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats
    from taxonomist.taxonomy import Taxonomy

ALL, SIBLINGS = 0, 1


@dataclass(frozen=True, eq=False)
class PathColumns:
    """The classifiers of all nodes, in the order of the solver's columns.

    Attributes
    ----------
    groups
        The training items of classifiers, and which are positive.
    nodes
        The node of each column.
    kinds
        ``ALL`` or ``SIBLINGS`` for each column.
    above, beside
        The column of each node against all other items, and against siblings; -1 if it has none.
    counts
        The number of training items at or below each node.
    n_items
        The number of all items.
    """

    groups: Groups
    nodes: Codes
    kinds: Codes
    above: Codes
    beside: Codes
    counts: Floats
    n_items: int


def path_columns(taxonomy: Taxonomy, closed: CSR, negatives: str) -> PathColumns:
    """Return the classifiers that the nodes of a taxonomy need.

    A node needs no classifier if it has no items, or if all candidates are its items. The children
    of the root have the same negatives either way, so they get one classifier.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    closed
        The nodes of each item, (n_items, n_nodes) boolean, closed under ancestors.
    negatives
        ``"all"``, ``"siblings"`` or ``"both"``.
    """
    table = csc_array(closed)
    table.sort_indices()
    n_items, n_nodes = table.shape
    counts = np.diff(table.indptr)
    parts = _Parts(table, [], [])
    above = np.full(n_nodes, -1, np.intp)
    beside = np.full(n_nodes, -1, np.intp)
    if negatives in ("all", "both"):
        nodes = np.arange(1, n_nodes)
        parts.add(np.arange(n_items), nodes[(counts[1:] > 0) & (counts[1:] < n_items)], above)
    n_above = parts.n_columns
    if negatives in ("siblings", "both"):
        for parents, children in _families(taxonomy).items():
            if parents == (0,) and negatives == "both":
                beside[children] = above[children]
                continue
            items = np.arange(n_items) if parents == (0,) else parts.members(parents)
            inside = counts[children]
            parts.add(items, children[(inside > 0) & (inside < len(items))], beside)
    codes = np.concatenate([np.arange(0), *parts.nodes])
    kinds = np.where(np.arange(len(codes)) < n_above, ALL, SIBLINGS)
    names = [taxonomy.nodes[code] for code in codes.tolist()]
    seeds = [crc32(name.encode(), kind) for name, kind in zip(names, kinds.tolist(), strict=True)]
    groups = parts.joined(np.array(seeds, dtype=np.intp))
    return PathColumns(groups, codes, kinds, above, beside, counts.astype(float), n_items)


class _Parts(NamedTuple):
    """The groups of classifiers so far: the items and the nodes of each."""

    table: csc_array
    items: list[Codes]
    nodes: list[Codes]

    @property
    def n_columns(self) -> int:
        """The number of classifiers."""
        return sum(map(len, self.nodes))

    def members(self, nodes: tuple[int, ...]) -> Codes:
        """Return the items that belong to at least one of some nodes."""
        indptr, indices = self.table.indptr, self.table.indices
        found = [indices[indptr[node] : indptr[node + 1]] for node in nodes]
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    def add(self, items: Codes, nodes: Codes, columns: Codes) -> None:
        """Add a group, and write the columns of its nodes."""
        if len(nodes):
            columns[nodes] = self.n_columns + np.arange(len(nodes))
            self.items.append(items)
            self.nodes.append(nodes)

    def joined(self, seeds: Codes) -> Groups:
        """Return all groups."""
        n_items = max(1, self.table.shape[0])
        sizes, widths = ([len(part) for part in parts] for parts in (self.items, self.nodes))
        items = np.concatenate([np.arange(0), *self.items])
        nodes = np.concatenate([np.arange(0), *self.nodes])
        # The items of a column's node are at places of its group: look them up by number.
        places = np.repeat(np.arange(len(sizes)), sizes) * n_items + items
        counts = np.diff(self.table.indptr)[nodes]
        group = np.repeat(np.repeat(np.arange(len(sizes)), widths), counts)
        rows = np.searchsorted(places, group * n_items + self.table[:, nodes].indices)
        columns = np.repeat(np.arange(len(nodes)), counts)
        shape = len(items), max(1, len(nodes))
        own = csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
        return Groups(
            items.astype(np.intp),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
            Labels(own.indptr.astype(np.intp), own.indices.astype(np.intp)),
            np.concatenate([[0], np.cumsum(widths)]).astype(np.intp),
            seeds,
        )


def _families(taxonomy: Taxonomy) -> dict[tuple[int, ...], Codes]:
    """Return the children of each set of parents."""
    families: dict[tuple[int, ...], list[int]] = {}
    parents, ends = taxonomy.parent_indices.tolist(), taxonomy.parent_indptr.tolist()
    for code in range(1, taxonomy.n_nodes):
        families.setdefault(tuple(parents[ends[code] : ends[code + 1]]), []).append(code)
    return {key: np.array(children) for key, children in families.items()}
