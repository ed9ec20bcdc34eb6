"""The classifiers of ``PathSVC``: which nodes have one, and what it is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array

from taxonomist.models.node_margins import parents_of
from taxonomist.solvers.node_svms import Group

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

    groups: list[Group]
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
    members = np.split(table.indices.astype(np.intp), table.indptr[1:-1])
    above = np.full(n_nodes, -1, np.intp)
    beside = np.full(n_nodes, -1, np.intp)
    groups: list[Group] = []
    nodes: list[int] = []
    kinds: list[int] = []

    def add(candidates: list[int], items: Codes, columns: Codes, kind: int) -> None:
        used = [code for code in candidates if 0 < len(members[code]) < len(items)]
        if not used:
            return
        columns[used] = len(nodes) + np.arange(len(used))
        groups.append(Group(items, _own([members[code] for code in used], items)))
        nodes.extend(used)
        kinds.extend([kind] * len(used))

    everyone = np.arange(n_items)
    if negatives in ("all", "both"):
        add(list(range(1, n_nodes)), everyone, above, ALL)
    if negatives in ("siblings", "both"):
        for parents, children in _families(taxonomy).items():
            if parents != (0,):
                items = np.unique(np.concatenate([members[code] for code in parents]))
                add(children, items, beside, SIBLINGS)
            elif negatives == "both":
                beside[children] = above[children]
            else:
                add(children, everyone, beside, SIBLINGS)
    counts = np.array([len(found) for found in members], dtype=np.float64)
    codes, columns = np.array(nodes, np.intp), np.array(kinds, np.intp)
    return PathColumns(groups, codes, columns, above, beside, counts, n_items)


def _own(positive: list[Codes], items: Codes) -> CSR:
    """Return in which columns each item is positive, (n_items, n_columns)."""
    rows = np.searchsorted(items, np.concatenate(positive))
    columns = np.repeat(np.arange(len(positive)), [len(found) for found in positive])
    ones = np.ones(len(rows), dtype=bool)
    return csr_array((ones, (rows, columns)), shape=(len(items), len(positive)))


def _families(taxonomy: Taxonomy) -> dict[tuple[int, ...], list[int]]:
    """Return the children of each set of parents."""
    families: dict[tuple[int, ...], list[int]] = {}
    for code in range(1, taxonomy.n_nodes):
        families.setdefault(parents_of(taxonomy, code), []).append(code)
    return families
