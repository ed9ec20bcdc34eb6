"""Junction trees of DAGs: the cliques that exact inference works on, and their states.

Inference on a graph that is not a tree works on a tree of cliques [RSSS06, Sec. 2.5, 4]. The graph
has an edge between each node and its parents and between the parents of a node, so that every node
is in a clique with all its parents. Nodes are eliminated one after another, always the one whose
later neighbours lack the fewest edges among each other (minimum fill); the largest number of such
neighbours is the *width*, 1 for a tree. Time and memory of inference go with the number of states
of all cliques, which grows exponentially with the width, but much more slowly if only labellings
that are closed under ancestors count.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.compiled.cliques import CliqueTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Bools, Codes, Integers

    Extension = Callable[[Integers, list[int], int], list[Bools]]

MAX_WIDTH = 20
"""Graphs of a larger width have no junction tree here: 2^21 states of one clique."""


class Elimination(NamedTuple):
    """An order in which nodes are eliminated, with the later neighbours of each."""

    order: list[int]
    later: list[list[int]]

    @property
    def width(self) -> int:
        """The largest number of later neighbours."""
        return max(map(len, self.later))


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """The cliques of a graph and their states.

    Attributes
    ----------
    width
        The largest number of nodes of a clique, less 1.
    cliques
        The arrays for compiled loops.
    members
        The nodes of each clique, its own first.
    states
        The states of each clique, (n_states, n_members).
    """

    width: int
    cliques: CliqueTree
    members: list[list[int]]
    states: list[Integers]

    @property
    def n_states(self) -> int:
        """The number of states of all cliques."""
        return len(self.cliques.own)


def eliminate(indptr: Codes, indices: Codes, max_width: int = MAX_WIDTH) -> Elimination | None:
    """Return an elimination order by minimum fill; None if its width exceeds ``max_width``.

    Nodes with more than ``max_width`` neighbours wait until some of these are eliminated.

    Parameters
    ----------
    indptr, indices
        The parents of each node as CSR arrays.
    max_width
        The largest width.
    """
    near = _moral_graph(indptr, indices)
    fill = [_fill(near, v, max_width) for v in range(len(near))]
    heap = [(cost, v) for v, cost in enumerate(fill)]
    heapq.heapify(heap)
    order: list[int] = []
    later: list[list[int]] = []
    while heap:
        cost, v = heapq.heappop(heap)
        if cost != fill[v]:
            continue
        if len(near[v]) > max_width:
            return None
        order.append(v)
        later.append(sorted(near[v]))
        fill[v] = -1
        changed = set(later[-1])
        for a in later[-1]:
            near[a] |= near[v]
            near[a] -= {a, v}
        for a in later[-1]:
            if len(near[a]) <= max_width:
                changed |= near[a]
        for a in changed:
            new = _fill(near, a, max_width)
            if new != fill[a]:
                fill[a] = new
                heapq.heappush(heap, (new, a))
    return Elimination(order, later)


def _moral_graph(indptr: Codes, indices: Codes) -> list[set[int]]:
    """Return the neighbours of each node: parents, children, and other parents of the children."""
    near: list[set[int]] = [set() for _ in range(len(indptr) - 1)]
    for j in range(len(near)):
        family = {j, *indices[indptr[j] : indptr[j + 1]].tolist()}
        for a in family:
            near[a] |= family - {a}
    return near


def _fill(near: list[set[int]], v: int, max_width: int) -> int:
    """Return the number of edges that eliminating a node adds; large if it has many neighbours."""
    if len(near[v]) > max_width:
        return len(near) ** 2 + len(near[v])
    missing = sum(len(near[v] - near[a]) - 1 for a in near[v])
    return missing // 2


def junction_tree(
    order: Elimination, extend: Extension, n_domain: int, max_states: int
) -> JunctionTree | None:
    """Return the junction tree of an elimination order; None if it has too many states.

    Parameters
    ----------
    order
        From ``eliminate``.
    extend
        Called with states, the nodes that they are states of, and one more node; returns for each
        state 0, 1, ... of that node which of the rows it may be added to. Nodes come in ascending
        order.
    n_domain
        The number of states of a node.
    max_states
        The largest number of states of all cliques.
    """
    members = [[v, *later] for v, later in zip(order.order, order.later, strict=True)]
    states, total = [], 0
    for clique in members:
        found = _states(clique, extend)
        total += len(found)
        if total > max_states:
            return None
        states.append(found)
    rank = np.empty(len(members), dtype=np.intp)
    rank[order.order] = np.arange(len(members))
    cliques = _join(members, states, rank, n_domain)
    return JunctionTree(order.width, cliques, members, states)


def _states(clique: list[int], extend: Extension) -> Integers:
    """Return the states of a clique, (n_states, n_members)."""
    nodes = sorted(clique)
    states = np.zeros((1, 0), dtype=np.int8)
    for k, node in enumerate(nodes):
        rows = extend(states, nodes[:k], node)
        parts = [
            np.column_stack([states[which], np.full(np.count_nonzero(which), state, np.int8)])
            for state, which in enumerate(rows)
        ]
        states = np.concatenate(parts)
    return states[:, [nodes.index(node) for node in clique]]


def _join(
    members: list[list[int]], states: list[Integers], rank: Codes, n_domain: int
) -> CliqueTree:
    """Return the arrays of the cliques."""
    n, last = len(members), len(members) - 1
    up = np.full(n, -1, dtype=np.intp)
    below, lift, gap_start, lift_start = [], [], [0], [0]
    for c, clique in enumerate(members[:last]):
        up[c] = min(rank[node] for node in clique[1:])
        above = members[up[c]]
        keys = _keys(states[c][:, 1:], n_domain)
        keys_above = _keys(states[up[c]][:, [above.index(node) for node in clique[1:]]], n_domain)
        both, place = np.unique(np.concatenate([keys, keys_above]), return_inverse=True)
        below.append(place[: len(keys)] + gap_start[-1])
        lift.append(place[len(keys) :] + gap_start[-1])
        gap_start.append(gap_start[-1] + len(both))
        lift_start.append(lift_start[-1] + len(keys_above))
    below.append(np.zeros(len(states[last]), dtype=np.intp))
    gap_start.append(gap_start[-1])
    lift_start.append(lift_start[-1])
    empty = np.empty(0, dtype=np.intp)
    return CliqueTree(
        node=np.array([clique[0] for clique in members], dtype=np.intp),
        up=up,
        start=np.cumsum([0, *map(len, states)]).astype(np.intp),
        own=np.concatenate([table[:, 0] for table in states]).astype(np.int8),
        below=np.concatenate(below).astype(np.intp),
        gap_start=np.array(gap_start, dtype=np.intp),
        lift_start=np.array(lift_start, dtype=np.intp),
        lift=np.concatenate([*lift, empty]).astype(np.intp),
    )


def _keys(states: Integers, n_domain: int) -> Codes:
    """Return a number for each state."""
    keys: Codes = states.astype(np.int64) @ (n_domain ** np.arange(states.shape[1]))
    return keys
