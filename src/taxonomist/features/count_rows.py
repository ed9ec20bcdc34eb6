"""Sparse rows of counts: made of their parts, one below another and side by side."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

from taxonomist._spill import is_large, joined, row_cuts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taxonomist._typing import CSR, Integers, Reals

__all__ = ["csr_of", "side_by_side", "whole_rows"]


def csr_of(indices: Integers, values: Reals, ends: Integers, n_columns: int) -> CSR:
    """Return a count matrix with the smallest possible index type and entries in given order."""
    shape = (len(ends) - 1, n_columns)
    if not len(indices):
        return csr_array(shape)
    # liblinear accepts only 32-bit indices, and they use half the memory.
    width = get_index_dtype(maxval=max(len(indices), *shape))
    return csr_array(
        (values, indices.astype(width, copy=False), ends.astype(width, copy=False)), shape=shape
    )


def whole_rows(blocks: Iterable[CSR], n_columns: int, most_values: int) -> CSR:
    """Return the rows of all blocks, with the smallest possible index type."""
    blocks = iter(blocks)
    first = [*islice(blocks, 2)]
    if len(first) == 1 and not is_large(first[0]):
        return first[0]
    blocks = chain(first, blocks)
    found = joined(blocks, n_columns, most_values, np.float64)
    return csr_of(found.indices, found.data, found.indptr, n_columns)


def side_by_side(parts: Sequence[CSR]) -> CSR:
    """Return the sum of matrices of the same shape and with entries in different columns.

    The entries of each row are in the order of the matrices.
    """
    if len(parts) == 1:
        return parts[0]
    if any(map(is_large, parts)):
        n_values = sum(part.nnz for part in parts)
        ends = np.sum([part.indptr.astype(np.intp) for part in parts], axis=0)
        cuts = row_cuts(ends, parts[0].data.itemsize)
        blocks = (_beside([part[begin:end] for part in parts]) for begin, end in cuts)
        return whole_rows(blocks, parts[0].shape[1], n_values)
    return _beside(parts)


def _beside(parts: Sequence[CSR]) -> CSR:
    """Return the sum of matrices that fit into memory."""
    sizes = np.array([np.diff(part.indptr) for part in parts])
    ends = np.append(0, np.cumsum(sizes.sum(axis=0)))
    starts = ends[:-1] + np.cumsum(sizes, axis=0) - sizes
    width = get_index_dtype(maxval=max(ends[-1], parts[0].shape[1]))
    indices, values = np.empty(ends[-1], dtype=width), np.empty(ends[-1])
    for part, size, start in zip(parts, sizes, starts, strict=True):
        places = np.repeat(start - part.indptr[:-1], size) + np.arange(part.nnz)
        indices[places], values[places] = part.indices, part.data
    return csr_of(indices, values, ends, parts[0].shape[1])
