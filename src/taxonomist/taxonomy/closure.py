"""The ancestor matrix, computed level by level on integer arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes


def ancestor_matrix(parent_indptr: Codes, parent_indices: Codes, depths: Codes) -> CSR:
    """Return the reflexive transitive closure of the parent relation.

    Nodes of the same depth are processed together: the ancestors of a node are the node itself and
    the ancestors of its parents, which have a smaller depth and are already known. Time and memory
    grow with the number of (node, ancestor) pairs.

    Parameters
    ----------
    parent_indptr, parent_indices
        Parents of each node as CSR arrays; codes are a topological order.
    depths
        Length of the longest path from the root to each node.

    Returns
    -------
    csr_array of bool, shape (n_nodes, n_nodes)
        Sorted column indices in each row.
    """
    from scipy.sparse import csr_array

    n = len(depths)
    rows, columns = [np.zeros(1, np.intp)], [np.zeros(1, np.intp)]
    buffer = np.zeros(max(2 * n, 16), dtype=np.intp)
    start, length = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    length[0], filled = 1, 1
    by_depth = np.argsort(depths, kind="stable")
    bounds = np.cumsum(np.bincount(depths))
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        level = by_depth[low:high]
        owner, parents = _ranges(level, parent_indptr, parent_indptr[level + 1], parent_indices)
        node, above = _ranges(parents, start, start[parents] + length[parents], buffer)
        # Keys sort by node, then by ancestor. Several parents of a node may share ancestors.
        keys = np.concatenate([level[owner][node] * n + above, level * (n + 1)])
        keys = np.unique(keys) if len(parents) > len(level) else np.sort(keys)
        row, column = np.divmod(keys, n)
        if filled + len(row) > len(buffer):
            buffer = np.concatenate([buffer, np.zeros(max(len(row), len(buffer)), np.intp)])
        buffer[filled : filled + len(row)] = column
        length[level] = np.bincount(np.searchsorted(level, row), minlength=len(level))
        start[level] = filled + np.cumsum(length[level]) - length[level]
        filled += len(row)
        rows.append(row)
        columns.append(column)
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = (n, n)
    return csr_array((np.ones(len(row), dtype=bool), (row, column)), shape=shape)


def _ranges(which: Codes, starts: Codes, ends: Codes, values: Codes) -> tuple[Codes, Codes]:
    """Return the run of values of each entry of ``which``, and for each value its entry."""
    begin = starts[which]
    counts = ends - begin
    owner = np.repeat(np.arange(len(which)), counts)
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, values[np.repeat(begin, counts) + offset]
