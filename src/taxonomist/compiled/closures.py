"""Loops that find the best set of nodes of a DAG that is closed under ancestors.

A node of the set adds its gain, and all its parents must be in the set too. This is the problem of
the maximum closure: its linear program has integral vertices, so a minimum cut solves it exactly on
every DAG, whatever its width [P76].

Most of the graph needs no cut. From the leaves up, a node without useful children is dropped if its
gain is not positive, and added to its parent if it has only one. From the root down, a node with a
positive gain is taken if all its parents are. Flow is pushed only through what is left: from nodes
with positive gains to ancestors with negative ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers, Reals
from taxonomist.compiled.jit import compiled

OPEN, OFF, FOLDED, ON = 0, 1, 2, 3
"""What is known of a node: nothing yet, not in the set, in it if its parent is, in it."""


class Dag(NamedTuple):
    """A DAG; parents come before their children, and the parents of node j are a run of edges."""

    indptr: Codes  # (n_nodes + 1,)  the edges above node j start at indptr[j]
    upper: Codes  # (n_edges,)
    lower: Codes  # (n_edges,)
    kids: Codes  # (n_nodes + 1,)  the edges below node j start at below[kids[j]]
    below: Codes  # (n_edges,)  edges in the order of their upper nodes


class ClosureScratch(NamedTuple):
    """Work arrays for one search."""

    value: Floats  # (n_nodes,)  gain, with those of folded children; later what flow has left of it
    rest: Floats  # (n_nodes,)  at least what a set can gain below the node
    status: Integers  # (n_nodes,)
    n_open: Codes  # (n_nodes,)  open children
    flow: Floats  # (n_edges,)  flow from the lower to the upper node
    via: Codes  # (n_nodes,)  the edge by which a search came; edge + 1 up, -(edge + 1) down
    seen: Codes  # (n_nodes,)  the last search that came here
    queue: Codes  # (n_nodes,)


def make_dag(indptr: Codes, indices: Codes) -> Dag:
    """Return a DAG from the parents of each node, as CSR arrays."""
    lower = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    upper = np.asarray(indices, dtype=np.intp)
    counts = np.bincount(upper, minlength=len(indptr) - 1)
    kids = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    below = np.argsort(upper, kind="stable").astype(np.intp)
    return Dag(np.asarray(indptr, dtype=np.intp), upper, lower.astype(np.intp), kids, below)


def closure_scratch(dag: Dag) -> ClosureScratch:
    """Return work arrays for a DAG."""
    n_nodes, n_edges = len(dag.indptr) - 1, len(dag.upper)
    return ClosureScratch(
        value=np.zeros(n_nodes),
        rest=np.zeros(n_nodes),
        status=np.zeros(n_nodes, np.int8),
        n_open=np.zeros(n_nodes, np.intp),
        flow=np.zeros(n_edges),
        via=np.zeros(n_nodes, np.intp),
        seen=np.zeros(n_nodes, np.intp),
        queue=np.zeros(n_nodes, np.intp),
    )


@compiled(inner=True)
def fold(dag: Dag, scratch: ClosureScratch) -> None:
    """Drop or fold nodes without open children, from the leaves up."""
    value, status, n_open = scratch.value, scratch.status, scratch.n_open
    n_open[:] = 0
    for j in range(len(value) - 1, -1, -1):
        begin, end = dag.indptr[j], dag.indptr[j + 1]
        status[j] = OPEN
        if n_open[j] == 0 and not value[j] > 0.0:
            status[j] = OFF
        elif n_open[j] == 0 and end - begin == 1:
            status[j] = FOLDED
            value[dag.upper[begin]] += value[j]
        else:
            for e in range(begin, end):
                n_open[dag.upper[e]] += 1


@compiled(inner=True)
def settle(dag: Dag, scratch: ClosureScratch) -> int:
    """Decide the open nodes that need no flow; return how many are left.

    A node is off if all positive gains at and below it, counted along every path, cannot pay for
    it, or if a parent is off. It is on if its gain is positive and all its parents are on.
    """
    value, rest, status = scratch.value, scratch.rest, scratch.status
    rest[:] = 0.0
    for j in range(len(value) - 1, -1, -1):
        if status[j] == OPEN:
            if not value[j] + rest[j] > 0.0:
                status[j] = OFF
            else:
                for e in range(dag.indptr[j], dag.indptr[j + 1]):
                    rest[dag.upper[e]] += rest[j] + max(value[j], 0.0)
    n_left = 0
    for j in range(len(value)):
        if status[j] == OPEN:
            n_off, n_on = 0, 0
            for e in range(dag.indptr[j], dag.indptr[j + 1]):
                n_off += status[dag.upper[e]] == OFF
                n_on += status[dag.upper[e]] == ON
            if n_off > 0:
                status[j] = OFF
            elif value[j] > 0.0 and n_on == dag.indptr[j + 1] - dag.indptr[j]:
                status[j] = ON
            else:
                n_left += 1
    return n_left


@compiled(inner=True)
def search(dag: Dag, scratch: ClosureScratch, start: int, stamp: int) -> int:
    """Search open nodes from one of them for a negative value; return where it is.

    The search goes up along every edge, and down along edges that have flow. If there is no
    negative value, -n is returned, where n is the number of nodes that were found, in the queue.
    """
    queue, seen, via = scratch.queue, scratch.seen, scratch.via
    queue[0], seen[start] = start, stamp
    begin, end = 0, 1
    while begin < end:
        j = queue[begin]
        begin += 1
        for e in range(dag.indptr[j], dag.indptr[j + 1]):
            p = int(dag.upper[e])
            if seen[p] != stamp and scratch.status[p] == OPEN:
                seen[p], via[p], queue[end] = stamp, e + 1, p
                end += 1
                if scratch.value[p] < 0.0:
                    return p
        for k in range(dag.kids[j], dag.kids[j + 1]):
            e = int(dag.below[k])
            c = int(dag.lower[e])
            if scratch.flow[e] > 0.0 and seen[c] != stamp:
                seen[c], via[c], queue[end] = stamp, -e - 1, c
                end += 1
                if scratch.value[c] < 0.0:
                    return c
    return -end


@compiled(inner=True)
def push(dag: Dag, scratch: ClosureScratch, start: int, end: int) -> float:
    """Push as much flow as possible along the path that the last search found; return it."""
    amount = float(min(scratch.value[start], -scratch.value[end]))
    j = end
    while j != start:
        if scratch.via[j] > 0:
            j = dag.lower[scratch.via[j] - 1]
        else:
            e = -scratch.via[j] - 1
            amount = min(amount, float(scratch.flow[e]))
            j = dag.upper[e]
    scratch.value[start] -= amount
    scratch.value[end] += amount
    j = end
    while j != start:
        if scratch.via[j] > 0:
            e = scratch.via[j] - 1
            scratch.flow[e] += amount
            j = dag.lower[e]
        else:
            e = -scratch.via[j] - 1
            scratch.flow[e] -= amount
            j = dag.upper[e]
    return amount


@compiled(inner=True)
def cut(dag: Dag, scratch: ClosureScratch) -> int:
    """Push flow from positive to negative values; the open nodes that are left with any are on.

    Nothing that a positive value can still reach has a negative one, so it is on as a whole. Return
    the number of searches.
    """
    value, status = scratch.value, scratch.status
    stamp = 0
    scratch.seen[:] = 0
    for j in range(len(value)):
        while status[j] == OPEN and value[j] > 0.0:
            stamp += 1
            end = search(dag, scratch, j, stamp)
            if end >= 0:
                push(dag, scratch, j, end)
            else:
                for k in range(-end):
                    status[scratch.queue[k]] = ON
    return stamp


@compiled(inner=True)
def best_closure(dag: Dag, gain: Reals, scratch: ClosureScratch, out: Bools) -> float:
    """Write the closed set with the largest sum of gains, the smallest of them; return that sum."""
    for j in range(len(gain)):
        scratch.value[j] = gain[j]
    fold(dag, scratch)
    if settle(dag, scratch) > 0:
        scratch.flow[:] = 0.0
        cut(dag, scratch)
    total = 0.0
    for j in range(len(gain)):
        if scratch.status[j] == FOLDED:
            out[j] = out[dag.upper[dag.indptr[j]]]
        else:
            out[j] = scratch.status[j] == ON
        if out[j]:
            total += gain[j]
    return total


@compiled(inner=True)
def balance(dag: Dag, gain: Reals, scratch: ClosureScratch) -> int:
    """Find the best closed set with all flow that proves it; return the number of searches.

    Afterwards nodes of the set are ``ON`` and all others ``OPEN``. Values are what is left of the
    gains: positive ones only in the set, negative ones only outside.
    """
    for j in range(len(gain)):
        scratch.value[j] = gain[j]
    fold(dag, scratch)
    scratch.flow[:] = 0.0
    for j in range(len(gain)):
        if scratch.status[j] == FOLDED:
            scratch.flow[dag.indptr[j]] = scratch.value[j]
            scratch.value[j] = 0.0
        scratch.status[j] = OPEN
    return cut(dag, scratch)


@compiled(inner=True)
def search_back(dag: Dag, scratch: ClosureScratch, start: int, stamp: int) -> int:
    """Search the set for a positive value that can flow to a node of it; return where, or -1."""
    queue, seen, via = scratch.queue, scratch.seen, scratch.via
    queue[0], seen[start] = start, stamp
    begin, end = 0, 1
    while begin < end:
        j = int(queue[begin])
        begin += 1
        if scratch.value[j] > 0.0:
            return j
        for k in range(dag.kids[j], dag.kids[j + 1]):
            e = dag.below[k]
            c = dag.lower[e]
            if seen[c] != stamp and scratch.status[c] == ON:
                seen[c], via[c], queue[end] = stamp, e + 1, c
                end += 1
        for e in range(dag.indptr[j], dag.indptr[j + 1]):
            p = dag.upper[e]
            if scratch.flow[e] > 0.0 and seen[p] != stamp:
                seen[p], via[p], queue[end] = stamp, -e - 1, p
                end += 1
    return -1


@compiled(inner=True)
def push_back(dag: Dag, scratch: ClosureScratch, start: int, end: int) -> float:
    """Push as much flow as possible from where ``search_back`` ended to its start; return it."""
    amount = float(scratch.value[end])
    j = end
    while j != start:
        if scratch.via[j] > 0:
            j = dag.upper[scratch.via[j] - 1]
        else:
            e = -scratch.via[j] - 1
            amount = min(amount, float(scratch.flow[e]))
            j = dag.lower[e]
    scratch.value[end] -= amount
    j = end
    while j != start:
        if scratch.via[j] > 0:
            e = scratch.via[j] - 1
            scratch.flow[e] += amount
            j = dag.upper[e]
        else:
            e = -scratch.via[j] - 1
            scratch.flow[e] -= amount
            j = dag.lower[e]
    return amount


@compiled(inner=True)
def cost_of_change(dag: Dag, scratch: ClosureScratch, j: int, stamp: int) -> float:
    """Return how much worse the best closed set with the opposite decision about node j is.

    ``balance`` must come first, and a stamp that no search used. Flow and values change.
    """
    total = 0.0
    if scratch.status[j] == ON:
        while True:
            end = search_back(dag, scratch, j, stamp)
            if end < 0:
                return total
            total += push_back(dag, scratch, j, end)
            stamp += 1
    if scratch.value[j] < 0.0:
        total, scratch.value[j] = -scratch.value[j], 0.0
    while True:
        end = search(dag, scratch, j, stamp)
        if end < 0:
            return total
        scratch.value[j] = np.inf
        total += push(dag, scratch, j, end)
        scratch.value[j] = 0.0
        stamp += 1
