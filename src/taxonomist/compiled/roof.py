"""Loops that bound the best labelling of a graph from above by a linear program: roof duality.

The labelling maximises a sum over nodes and pairs of nodes. Its linear program has marginals of
nodes and pairs that agree with each other, the feasible set (8) of [RSSS06], which is only an outer
bound of the marginals of labellings if the graph has cycles. Its optimum is a maximum flow in a
graph with two copies of each node v, one for y_v = 1 and one for y_v = 0; what the flow decides is
so in a best labelling, and the rest is left open [BH02].

As a minimum of Σ_v a_v y_v + Σ_k b_k y_p y_q, a pair with b < 0 has arcs (p, 1) -> (q, 1) and
(q, 0) -> (p, 0), one with b > 0 has (p, 1) -> (q, 0) and (q, 1) -> (p, 0), of capacity |b| / 2.
Node v has the excess -a / 2 at (v, 1) and a / 2 at (v, 0).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers
from taxonomist.compiled.jit import compiled

ARCS = np.array([[[0, 0], [4, 1]], [[3, 1], [7, 0]], [[1, 0], [6, 1]], [[2, 1], [5, 0]]])
"""Where one can go by a pair: from its first node, y = 1 and y = 0, and from its second one. Each
entry is the capacity's number, and whether it leads to y = 0 of the other node. Numbers 2 k and
2 k + 1 are opposite directions."""


class Pairs(NamedTuple):
    """Pairs of nodes, and those of each node."""

    first: Codes  # (n_pairs,)
    second: Codes  # (n_pairs,)
    start: Codes  # (n_nodes + 1,)
    near: Codes  # pairs of each node


class RoofScratch(NamedTuple):
    """Work arrays of a maximum flow; entries 2 v and 2 v + 1 are y_v = 1 and y_v = 0."""

    unary: Floats  # (n_nodes,)  a
    joint: Floats  # (n_pairs,)  b
    capacity: Floats  # (n_pairs, 8)
    excess: Floats  # (2 n_nodes,)
    came: Codes  # (2 n_nodes,)  the entry that a search came from
    via: Codes  # (2 n_nodes,)  8 x pair + number of the capacity
    seen: Codes  # (2 n_nodes,)
    queue: Codes  # (2 n_nodes,)
    is_source: Bools  # (2 n_nodes,)  whether an excess that is left reaches the entry


def make_pairs(first: Codes, second: Codes, n_nodes: int) -> Pairs:
    """Return pairs of nodes with the pairs of each node."""
    ends, pairs = np.concatenate([first, second]), np.tile(np.arange(len(first)), 2)
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n_nodes))])
    near = pairs[np.argsort(ends, kind="stable")]
    return Pairs(*(part.astype(np.intp) for part in (first, second, start, near)))


def roof_scratch(pairs: Pairs) -> RoofScratch:
    """Return work arrays."""
    n_pairs, n_nodes = len(pairs.first), len(pairs.start) - 1
    return RoofScratch(
        unary=np.zeros(n_nodes),
        joint=np.zeros(n_pairs),
        capacity=np.zeros((n_pairs, 8)),
        excess=np.zeros(2 * n_nodes),
        came=np.zeros(2 * n_nodes, np.intp),
        via=np.zeros(2 * n_nodes, np.intp),
        seen=np.zeros(2 * n_nodes, np.intp),
        queue=np.zeros(2 * n_nodes, np.intp),
        is_source=np.zeros(2 * n_nodes, np.bool_),
    )


@compiled(copied=True)
def set_capacities(pairs: Pairs, scratch: RoofScratch) -> float:
    """Write capacities and excesses; return the part of the minimum that needs no flow."""
    scratch.capacity[:, :] = 0.0
    for k in range(len(pairs.first)):
        b = scratch.joint[k]
        if b < 0.0:
            scratch.unary[pairs.first[k]] += b
            scratch.capacity[k, 0] = scratch.capacity[k, 2] = -0.5 * b
        else:
            scratch.capacity[k, 4] = scratch.capacity[k, 6] = 0.5 * b
    base = 0.0
    for v in range(len(scratch.unary)):
        base += min(scratch.unary[v], 0.0)
        scratch.excess[2 * v] = -0.5 * scratch.unary[v]
        scratch.excess[2 * v + 1] = 0.5 * scratch.unary[v]
    return base


@compiled(copied=True)
def search_roof(pairs: Pairs, scratch: RoofScratch, start: int, stamp: int) -> int:
    """Search from an entry for one with a negative excess; return it, or minus how many were seen.

    Entries that a left-over excess reaches already lead nowhere.
    """
    queue, seen = scratch.queue, scratch.seen
    queue[0], seen[start] = start, stamp
    begin, end = 0, 1
    while begin < end:
        here = queue[begin]
        begin += 1
        v = here // 2
        for q in range(pairs.start[v], pairs.start[v + 1]):
            k = pairs.near[q]
            is_second = pairs.second[k] == v
            other = pairs.first[k] if is_second else pairs.second[k]
            for way in range(2):
                arc = ARCS[2 * is_second + here % 2, way]
                to = int(2 * other + arc[1])
                if (
                    scratch.capacity[k, arc[0]] > 0.0
                    and seen[to] != stamp
                    and not scratch.is_source[to]
                ):
                    seen[to], scratch.came[to], scratch.via[to] = stamp, here, 8 * k + arc[0]
                    if scratch.excess[to] < 0.0:
                        return to
                    queue[end] = to
                    end += 1
    return -end


@compiled(copied=True)
def push_roof(scratch: RoofScratch, start: int, end: int) -> float:
    """Push as much as possible along the path that the last search found; return the amount."""
    amount = float(min(scratch.excess[start], -scratch.excess[end]))
    here = end
    while here != start:
        k, arc = scratch.via[here] // 8, scratch.via[here] % 8
        amount = min(amount, float(scratch.capacity[k, arc]))
        here = scratch.came[here]
    scratch.excess[start] -= amount
    scratch.excess[end] += amount
    here = end
    while here != start:
        k, arc = scratch.via[here] // 8, scratch.via[here] % 8
        scratch.capacity[k, arc] -= amount
        scratch.capacity[k, arc ^ 1] += amount
        here = scratch.came[here]
    return amount


@compiled(inner=True)
def roof(pairs: Pairs, scratch: RoofScratch, state: Integers) -> float:
    """Return a lower bound of the minimum from ``unary`` and ``joint``, which change.

    ``state`` becomes 0 or 1 where the bound decides a node, and keeps its value elsewhere.
    """
    bound, stamp = set_capacities(pairs, scratch), 0
    scratch.seen[:] = 0
    scratch.is_source[:] = False
    for here in range(len(scratch.excess)):
        while scratch.excess[here] > 0.0 and not scratch.is_source[here]:
            stamp += 1
            end = search_roof(pairs, scratch, here, stamp)
            if end >= 0:
                bound += push_roof(scratch, here, end)
            else:
                for q in range(-end):
                    scratch.is_source[scratch.queue[q]] = True
    for v in range(len(state)):
        if scratch.is_source[2 * v] != scratch.is_source[2 * v + 1]:
            state[v] = 1 if scratch.is_source[2 * v] else 0
    return bound
