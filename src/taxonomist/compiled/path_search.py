"""The search for the best categories of items from the top of a tree."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.block_lookup import BlockIndex, Known, LookupRoom, score_block
from taxonomist.compiled.block_scores import WeightBlocks
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.path_scores import SHARPNESS, squash

MANY = 64
"""Nodes for whose margins an item asks at most when its first category is known."""


class SearchTree(NamedTuple):
    """A tree whose nodes have classifiers, and the weights of their margins."""

    first: Codes  # (n_nodes + 1,)  children as CSR rows
    children: Codes
    above: Codes  # (n_nodes,)  column against all other items, or -1
    beside: Codes  # (n_nodes,)  column against siblings, or -1
    category: Codes  # (n_nodes,)  or -1
    bonus: Floats  # (n_nodes,)  the largest offset of a category at or below
    depth: Codes  # (n_nodes,)
    own_weight: float
    above_weight: float
    beside_weight: float
    among_weight: float


class SearchRoom(NamedTuple):
    """Room for the search of one item, and lists of items that wait for margins.

    Items wait for the margins of the children of nodes; there is a list for each node. An item may
    be in several lists.
    """

    sums: Floats  # (n_nodes,)
    bound: Floats  # (n_nodes,)
    heap: Codes  # (n_nodes,)
    n_expanded: Codes  # (depth + 1,)
    left: Codes  # (n_items,)  items that are not finished; all of them before
    sizes: Codes  # (2,)  numbers of entries and of lists
    nodes: Codes  # (n_entries,)  nodes with a list
    first: Codes  # (n_nodes,)  the first entry of each list, or -1; -1 before and after
    items: Codes  # (n_entries,)  the item of each entry
    following: Codes  # (n_entries,)  the next entry of the same list, or -1


@compiled(inline=True)
def is_before(node: int, other: int, tree: SearchTree, bound: Floats) -> bool:
    """Return whether the search visits a node before another one.

    With equal bounds, it expands nodes first, and then finds the first category.
    """
    if bound[node] != bound[other]:
        return bool(bound[node] > bound[other])
    return bool(tree.category[node] < tree.category[other])


@compiled(inline=True)
def push(heap: Codes, size: int, node: int, tree: SearchTree, bound: Floats) -> int:
    """Put a node into a heap whose first entry is visited first; return the new size."""
    at = size
    while at > 0 and is_before(node, heap[(at - 1) // 2], tree, bound):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = node
    return size + 1


@compiled(inline=True)
def drop_first(heap: Codes, size: int, tree: SearchTree, bound: Floats) -> int:
    """Remove the first entry of a heap; return the new size."""
    node, at = heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and is_before(heap[child + 1], heap[child], tree, bound):
            child += 1
        if not is_before(heap[child], node, tree, bound):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = node
    return size - 1


@compiled(inline=True)
def lacks(i: int, tree: SearchTree, known: Known, node: int) -> bool:
    """Return whether margins of the children of a node are not known."""
    for t in range(tree.first[node], tree.first[node + 1]):
        above, beside = tree.above[tree.children[t]], tree.beside[tree.children[t]]
        if above >= 0 and not known.is_known[i, known.block_of[above]]:
            return True
        if beside >= 0 and not known.is_known[i, known.block_of[beside]]:
            return True
    return False


@compiled(inline=True)
def expand(i: int, tree: SearchTree, known: Known, node: int, sums: Floats, bound: Floats) -> None:
    """Write the sums and the bounds of the children of a node, whose margins are known."""
    peak, total = -np.inf, 0.0
    for t in range(tree.first[node], tree.first[node + 1]):
        if tree.beside[tree.children[t]] >= 0:
            peak = max(peak, known.raw[i, tree.beside[tree.children[t]]])
    for t in range(tree.first[node], tree.first[node + 1]):
        if tree.beside[tree.children[t]] >= 0:
            total += math.exp(SHARPNESS * (known.raw[i, tree.beside[tree.children[t]]] - peak))
    log_total = math.log(total) if total > 0.0 else 0.0
    for t in range(tree.first[node], tree.first[node + 1]):
        child, gain, own = tree.children[t], 0.0, 0.0
        above, beside = tree.above[child], tree.beside[child]
        if above >= 0:
            gain += tree.above_weight * squash(known.raw[i, above])
            own = tree.own_weight * known.raw[i, above]
        if beside >= 0:
            share = SHARPNESS * (known.raw[i, beside] - peak) - log_total
            gain += tree.beside_weight * squash(known.raw[i, beside]) + tree.among_weight * share
        sums[child] = sums[node] + gain
        bound[child] = sums[child] + tree.bonus[child]
        if tree.category[child] >= 0:
            bound[child] += own


@compiled(inline=True)
def ask(i: int, node: int, room: SearchRoom) -> None:
    """Put an item into the list of a node."""
    entry = room.sizes[0]
    room.sizes[0] += 1
    if room.first[node] < 0:
        room.nodes[room.sizes[1]] = node
        room.sizes[1] += 1
    room.items[entry], room.following[entry], room.first[node] = i, room.first[node], entry


@compiled(inline=True)
def dive(i: int, tree: SearchTree, known: Known, sums: Floats, bound: Floats) -> int:
    """Go down to the best child again and again; return the category at the end of the way.

    If margins lack on the way, return the node whose children lack them.
    """
    node, sums[0] = 0, 0.0
    while tree.category[node] < 0 and not lacks(i, tree, known, node):
        expand(i, tree, known, node, sums, bound)
        best = tree.children[tree.first[node]]
        for t in range(tree.first[node] + 1, tree.first[node + 1]):
            if bound[tree.children[t]] > bound[best]:
                best = tree.children[t]
        node = best
    return node


@compiled(inline=True)
def search_item(
    i: int,
    tree: SearchTree,
    beam: int,
    most: int,
    known: Known,
    room: SearchRoom,
    found: Codes,
    scores: Floats,
    is_exact: Bools,
) -> int:
    """Search for the best categories of one item; return for how many nodes margins lack.

    If some lack, the item is put into the lists of these nodes, and there is no result. The search
    goes on after the first of them, without its children, to find more, at most ``most``: those
    with at least the bound of a category that is known, if bounds hold.
    """
    sums, bound, heap, n_expanded = room.sums, room.bound, room.heap, room.n_expanded
    node = dive(i, tree, known, sums, bound)
    if tree.category[node] < 0:
        ask(i, node, room)
        return 1
    # Where bounds hold and all nodes may be expanded, what is below a known category cannot win.
    is_bounded = tree.own_weight == 0.0 and beam >= len(tree.above)
    least = bound[node] if is_bounded and found.shape[1] == 1 else -np.inf
    for depth in range(len(n_expanded)):
        n_expanded[depth] = 0
    is_exact[i] = tree.own_weight == 0.0
    sums[0] = bound[0] = 0.0
    heap[0], size, n_found, n_asked = 0, 1, 0, 0
    while size > 0 and n_found < found.shape[1] and n_asked < most:
        node = heap[0]
        size = drop_first(heap, size, tree, bound)
        if tree.category[node] >= 0:
            found[i, n_found], scores[i, n_found] = tree.category[node], bound[node]
            n_found += 1
        elif n_expanded[tree.depth[node]] >= beam:
            is_exact[i] = False
        else:
            n_expanded[tree.depth[node]] += 1
            if lacks(i, tree, known, node):
                ask(i, node, room)
                n_asked += 1
                continue
            expand(i, tree, known, node, sums, bound)
            for t in range(tree.first[node], tree.first[node + 1]):
                if bound[tree.children[t]] >= least:
                    size = push(heap, size, tree.children[t], tree, bound)
    for t in range(n_found, found.shape[1]):
        found[i, t], scores[i, t] = -1, -np.inf
    return n_asked


@compiled(inline=True)
def serve(
    rows: Rows,
    table: WeightBlocks,
    index: BlockIndex,
    tree: SearchTree,
    room: SearchRoom,
    known: Known,
    lookup: LookupRoom,
) -> None:
    """Compute the margins for which items wait, and empty the lists."""
    for k in range(room.sizes[1]):
        node = room.nodes[k]
        entry, last = room.first[node], -1
        room.first[node] = -1
        for columns in (tree.above, tree.beside):
            for t in range(tree.first[node], tree.first[node + 1]):
                column = columns[tree.children[t]]
                if column >= 0 and known.block_of[column] != last:
                    last = known.block_of[column]
                    score_block(
                        rows, table, index, last, entry, room.items, room.following, known, lookup
                    )
    room.sizes[0] = room.sizes[1] = 0


@compiled()
def search_paths(
    rows: Rows,
    table: WeightBlocks,
    index: BlockIndex,
    tree: SearchTree,
    beam: int,
    known: Known,
    room: SearchRoom,
    lookup: LookupRoom,
    found: Codes,
    scores: Floats,
    is_exact: Bools,
) -> None:
    """Write the best categories of every item, best first, by expanding the best nodes first.

    A node's bound is its sum so far, plus the largest offset below it. Squashed margins and
    log-probabilities are at most 0, so that no category below a node exceeds its bound, unless
    categories' own margins count. At most ``beam`` nodes of each depth are expanded; if none was
    left out and bounds hold, the answer is exact. Categories that are not found are -1.

    A search that lacks margins starts again once they are known. Margins in a block are computed
    for many items in turn, so that the block's weights stay in the cache. Once a category is known,
    a search asks for the margins of many nodes at a time, so that it starts again only a few times.
    """
    n_left, n_rounds, n_entries = len(found), 0, len(room.items)
    while n_left > 0:
        wanted, most, n_waiting = MANY, 1, 0
        for _ in range(len(room.n_expanded), n_rounds):
            wanted *= 4
        while most < wanted and 2 * most * n_left <= n_entries:
            most *= 2
        for k in range(n_left):
            i = room.left[k]
            if search_item(i, tree, beam, most, known, room, found, scores, is_exact) > 0:
                room.left[n_waiting] = i
                n_waiting += 1
        serve(rows, table, index, tree, room, known, lookup)
        n_left = n_waiting
        n_rounds += 1
