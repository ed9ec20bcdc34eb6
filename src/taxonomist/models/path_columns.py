"""The classifiers of ``PathSVC``: which nodes have one, and what it is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
from scipy.sparse import csc_array, csr_array

from taxonomist.compiled.arrays import Labels
from taxonomist.solvers.node_svms import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

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


class Family(NamedTuple):
    """Nodes whose classifiers have the same training items.

    Attributes
    ----------
    kind
        ``ALL`` or ``SIBLINGS``.
    parents
        The nodes below which the items are; ``(0,)`` stands for all items.
    nodes
        The nodes.
    """

    kind: int
    parents: tuple[int, ...]
    nodes: Codes

    def members(self, table: csc_array) -> Codes:
        """Return the items of the family, given the nodes of each item, closed and sorted."""
        if self.parents == (0,):
            return np.arange(table.shape[0])
        indptr, indices = table.indptr, table.indices
        found = [indices[indptr[node] : indptr[node + 1]] for node in self.parents]
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    @property
    def has_one_parent(self) -> bool:
        """Whether the items are those of a single node."""
        return len(self.parents) == 1 and self.parents != (0,)


class ColumnPlan(NamedTuple):
    """The classifiers of all nodes, without their training items.

    Attributes
    ----------
    families
        The families that have classifiers, with the nodes that have one.
    nodes, kinds, above, beside
        As in ``PathColumns``.
    seeds
        As in ``Groups``.
    """

    families: list[Family]
    nodes: Codes
    kinds: Codes
    above: Codes
    beside: Codes
    seeds: Codes

    @property
    def first(self) -> Codes:
        """The first column of each family, (n_families + 1,)."""
        return np.cumsum([0, *(len(family.nodes) for family in self.families)])


def families_of(taxonomy: Taxonomy, negatives: str) -> list[Family]:
    """Return the families of a taxonomy.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    negatives
        ``"all"``, ``"siblings"`` or ``"both"``.
    """
    found = []
    if negatives in ("all", "both"):
        found.append(Family(ALL, (0,), np.arange(1, taxonomy.n_nodes)))
    if negatives in ("siblings", "both"):
        found += [
            Family(SIBLINGS, parents, children)
            for parents, children in _siblings(taxonomy).items()
            if parents != (0,) or negatives == "siblings"
        ]
    return found


def plan_columns(
    taxonomy: Taxonomy, negatives: str, families: Sequence[Family], counts: Codes, sizes: Codes
) -> ColumnPlan:
    """Return the classifiers that the nodes of a taxonomy need.

    A node needs no classifier if it has no items, or if all candidates are its items. The children
    of the root have the same negatives either way, so they get one classifier.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    negatives
        ``"all"``, ``"siblings"`` or ``"both"``.
    families
        The result of ``families_of``.
    counts
        The number of items at or below each node.
    sizes
        The number of items of each family.
    """
    kinds = np.array([family.kind for family in families], dtype=np.intp)
    family_of = np.repeat(np.arange(len(families)), [len(family.nodes) for family in families])
    codes = np.concatenate([np.arange(0), *(family.nodes for family in families)])
    is_needed = (counts[codes] > 0) & (counts[codes] < sizes[family_of])
    codes, family_of = codes[is_needed], family_of[is_needed]
    kinds, columns = kinds[family_of], np.arange(len(codes))
    above = np.full(taxonomy.n_nodes, -1, np.intp)
    beside = np.full(taxonomy.n_nodes, -1, np.intp)
    above[codes[kinds == ALL]] = columns[kinds == ALL]
    beside[codes[kinds == SIBLINGS]] = columns[kinds == SIBLINGS]
    if negatives == "both":
        top = taxonomy.child_indices[: taxonomy.child_indptr[1]]
        top = top[np.diff(taxonomy.parent_indptr)[top] == 1]
        beside[top] = above[top]
    ends = np.searchsorted(family_of, np.arange(len(families) + 1)).tolist()
    used = [
        Family(family.kind, family.parents, codes[begin:end])
        for family, begin, end in zip(families, ends, ends[1:], strict=False)
        if end > begin
    ]
    names = map(str.encode, map(taxonomy.nodes.__getitem__, codes.tolist()))
    seeds = np.fromiter(map(crc32, names, kinds.tolist()), dtype=np.intp, count=len(codes))
    return ColumnPlan(used, codes, kinds, above, beside, seeds)


def path_columns(taxonomy: Taxonomy, closed: CSR, negatives: str) -> PathColumns:
    """Return the classifiers that the nodes of a taxonomy need, with their training items.

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
    counts = np.diff(table.indptr)
    families = families_of(taxonomy, negatives)
    sizes = counts[[family.parents[0] for family in families]]
    for number, family in enumerate(families):
        if not family.has_one_parent:
            sizes[number] = len(family.members(table))
    plan = plan_columns(taxonomy, negatives, families, counts, sizes)
    groups = groups_of(table, plan.families, plan.seeds)
    return PathColumns(groups, *plan[1:5], counts.astype(float), table.shape[0])


def groups_of(table: csc_array, families: Sequence[Family], seeds: Codes) -> Groups:
    """Return a group for each family.

    Parameters
    ----------
    table
        The nodes of each item, (n_items, n_nodes), with sorted indices.
    families
        The families.
    seeds
        A number of each column.
    """
    n_items = max(1, table.shape[0])
    members = [family.members(table) for family in families]
    sizes, widths = map(len, members), [len(family.nodes) for family in families]
    first = np.cumsum([0, *sizes])
    items = np.concatenate([np.arange(0), *members])
    nodes = np.concatenate([np.arange(0), *(family.nodes for family in families)])
    # The items of a column's node are at places of its group: look them up by number.
    places = np.repeat(np.arange(len(members)), np.diff(first)) * n_items + items
    counts = np.diff(table.indptr)[nodes]
    group = np.repeat(np.repeat(np.arange(len(members)), widths), counts)
    rows = np.searchsorted(places, group * n_items + table[:, nodes].indices)
    columns = np.repeat(np.arange(len(nodes)), counts)
    shape = len(items), max(1, len(nodes))
    own = csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
    return Groups(
        items.astype(np.intp),
        first.astype(np.intp),
        Labels(own.indptr.astype(np.intp), own.indices.astype(np.intp)),
        np.cumsum([0, *widths]).astype(np.intp),
        seeds,
    )


def _siblings(taxonomy: Taxonomy) -> dict[tuple[int, ...], Codes]:
    """Return the children of each set of parents."""
    if taxonomy.is_tree:
        # Parents come in the order of their first children.
        ends, children = taxonomy.child_indptr.tolist(), taxonomy.child_indices
        return {
            (parent,): children[begin:end]
            for parent, (begin, end) in enumerate(pairwise(ends))
            if end > begin
        }
    families: dict[tuple[int, ...], list[int]] = {}
    parents, ends = taxonomy.parent_indices.tolist(), taxonomy.parent_indptr.tolist()
    for code in range(1, taxonomy.n_nodes):
        families.setdefault(tuple(parents[ends[code] : ends[code + 1]]), []).append(code)
    return {key: np.array(children) for key, children in families.items()}
