"""Scores of categories as sums along paths, and the search for the best ones from the top."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Bools, Codes, Floats, Integers, Reals
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.block_scores import BlockTable
from taxonomist.compiled.jit import compiled


class PathTerms(NamedTuple):
    """The terms of every category's score as CSR rows: weights of margins, plain and squashed."""

    indptr: Codes  # (n_categories + 1,)
    columns: Integers  # (nnz,)
    linear: Floats  # (nnz,)
    squashed: Floats  # (nnz,)
    offset: Floats  # (n_categories,)


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


@compiled(inline=True)
def squash(margin: float) -> float:
    """Return -max(0, 1 - s)²."""
    lack = max(0.0, 1.0 - margin)
    return -lack * lack


@compiled()
def path_scores(raw: Reals, terms: PathTerms, out: Floats) -> None:
    """Write the score of every category for every item, given the margins of all columns."""
    bent = np.empty(raw.shape[1])
    for i in range(len(raw)):
        for b in range(raw.shape[1]):
            bent[b] = squash(raw[i, b])
        for c in range(len(terms.offset)):
            total = 0.0
            for k in range(terms.indptr[c], terms.indptr[c + 1]):
                b = terms.columns[k]
                total += terms.linear[k] * raw[i, b] + terms.squashed[k] * bent[b]
            out[i, c] = total + terms.offset[c]


def few_path_scores(raw: Reals, terms: PathTerms, out: Floats) -> None:
    """Do the same as ``path_scores`` for few items, without numba; the results are the same."""
    rows = np.repeat(np.arange(len(terms.offset)), np.diff(terms.indptr))
    for i in range(len(raw)):
        margins = raw[i].astype(np.float64)[terms.columns]
        lacks = np.maximum(0.0, 1.0 - margins)
        out[i] = 0.0
        # This adds one after the other, in the order of the loop.
        np.add.at(out[i], rows, terms.linear * margins + terms.squashed * (-lacks * lacks))
        out[i] += terms.offset


@compiled()
def score_block(rows: Rows, i: int, table: BlockTable, block: int, raw: Reals) -> None:
    """Write the margins of item i in all columns of one block."""
    begin, end = table.first[block], table.first[block + 1]
    for b in range(begin, end):
        raw[b] = table.bias[b]
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        low, high = table.indptr[rows.indices[k]], table.indptr[rows.indices[k] + 1]
        last = high
        while low < high:
            middle = (low + high) // 2
            if table.block[middle] < block:
                low = middle + 1
            else:
                high = middle
        if low < last and table.block[low] == block:
            x, weights = rows.data[k], table.values[table.start[low] :]
            for b in range(end - begin):
                raw[begin + b] += x * weights[b]


@compiled(inline=True)
def push(heap: Codes, size: int, node: int, bound: Floats) -> int:
    """Put a node into a heap whose first entry has the largest bound; return the new size."""
    at = size
    while at > 0 and bound[heap[(at - 1) // 2]] < bound[node]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = node
    return size + 1


@compiled(inline=True)
def drop_first(heap: Codes, size: int, bound: Floats) -> int:
    """Remove the first entry of a heap; return the new size."""
    node, at = heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and bound[heap[child + 1]] > bound[heap[child]]:
            child += 1
        if bound[heap[child]] <= bound[node]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = node
    return size - 1


class Known(NamedTuple):
    """The margins of one item that were computed so far."""

    raw: Reals  # (n_columns,)
    block_of: Codes  # (n_columns,)
    item: Codes  # (n_blocks,)  the last item whose margins were computed


@compiled()
def margin(rows: Rows, i: int, table: BlockTable, known: Known, column: int) -> float:
    """Return a margin of item i; all margins of a block are computed together."""
    block = known.block_of[column]
    if known.item[block] != i:
        score_block(rows, i, table, block, known.raw)
        known.item[block] = i
    return float(known.raw[column])


@compiled()
def expand(
    rows: Rows,
    i: int,
    table: BlockTable,
    tree: SearchTree,
    known: Known,
    node: int,
    sums: Floats,
    bound: Floats,
) -> None:
    """Write the sums and the bounds of the children of a node."""
    for t in range(tree.first[node], tree.first[node + 1]):
        child, gain, own = tree.children[t], 0.0, 0.0
        if tree.above[child] >= 0:
            found = margin(rows, i, table, known, tree.above[child])
            gain += tree.above_weight * squash(found)
            own = tree.own_weight * found
        if tree.beside[child] >= 0:
            found = margin(rows, i, table, known, tree.beside[child])
            gain += tree.beside_weight * squash(found)
        sums[child] = sums[node] + gain
        bound[child] = sums[child] + tree.bonus[child]
        if tree.category[child] >= 0:
            bound[child] += own


@compiled()
def nothing_known(table: BlockTable) -> Known:
    """Return room for margins, of which none is computed."""
    n_columns, n_blocks = len(table.bias), len(table.first) - 1
    block_of, item = np.empty(n_columns, np.intp), np.empty(n_blocks, np.intp)
    for block in range(n_blocks):
        item[block] = -1
        for b in range(table.first[block], table.first[block + 1]):
            block_of[b] = block
    return Known(np.empty(n_columns, np.float32), block_of, item)


@compiled()
def search_paths(
    rows: Rows,
    table: BlockTable,
    tree: SearchTree,
    beam: int,
    found: Codes,
    scores: Floats,
    is_exact: Bools,
) -> None:
    """Write the best categories of every item, best first, by expanding the best nodes first.

    A node's bound is its sum so far, plus the largest offset below it. Squashed margins are at most
    0, so that no category below a node exceeds its bound, unless categories' own margins count. At
    most ``beam`` nodes of each depth are expanded; if none was left out and bounds hold, the answer
    is exact. Categories that are not found are -1.
    """
    n_nodes, known = len(tree.category), nothing_known(table)
    sums, bound = np.empty(n_nodes), np.empty(n_nodes)
    heap, n_expanded = np.empty(n_nodes, np.intp), np.empty(tree.depth.max() + 1, np.intp)
    for i in range(len(found)):
        for depth in range(len(n_expanded)):
            n_expanded[depth] = 0
        is_exact[i] = tree.own_weight == 0.0
        sums[0] = bound[0] = 0.0
        size, n_found = push(heap, 0, 0, bound), 0
        while size > 0 and n_found < found.shape[1]:
            node = heap[0]
            size = drop_first(heap, size, bound)
            if tree.category[node] >= 0:
                found[i, n_found], scores[i, n_found] = tree.category[node], bound[node]
                n_found += 1
            elif n_expanded[tree.depth[node]] < beam:
                n_expanded[tree.depth[node]] += 1
                expand(rows, i, table, tree, known, node, sums, bound)
                for t in range(tree.first[node], tree.first[node + 1]):
                    size = push(heap, size, tree.children[t], bound)
            else:
                is_exact[i] = False
        for t in range(n_found, found.shape[1]):
            found[i, t], scores[i, t] = -1, -np.inf
