"""Blocks of Dask collections: arrays, data frames, bags and lists of delayed parts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from dask.delayed import Delayed

    Collection: TypeAlias = Delayed
    """A Dask array, data frame, series or bag, or a list of delayed parts."""
    Block: TypeAlias = Delayed
    """The value of a part of a collection: a matrix, a data frame, a list."""


def is_collection(given: object) -> bool:
    """Return whether an object is a Dask collection or a list of delayed parts."""
    if isinstance(given, (list, tuple)):
        return bool(given) and all(_is_delayed(part) for part in given)
    return hasattr(given, "to_delayed") and not _is_delayed(given)


def _is_delayed(part: object) -> bool:
    from dask.delayed import Delayed
    from distributed import Future

    return isinstance(part, (Delayed, Future))


def blocks_of(collection: Collection, name: str) -> list[Delayed]:
    """Return the blocks of a collection, each with some items, as delayed values.

    Parameters
    ----------
    collection
        A Dask array, data frame, series or bag, or a list of delayed parts.
    name
        The name of the argument in error messages.
    """
    if not is_collection(collection):
        raise ParameterError(
            f"{name} must be a Dask array, data frame, series or bag, or a list of delayed parts. "
            f"Got {type(collection).__name__}; local data needs no cluster: use the local model."
        )
    if isinstance(collection, (list, tuple)):
        return list(collection)
    if getattr(collection, "ndim", 1) == 2 and hasattr(collection, "numblocks"):
        whole = collection if collection.numblocks[1] == 1 else collection.rechunk({1: -1})
        # Optimised graphs have the keys of the array, but other tasks behind them.
        return list(whole.to_delayed(optimize_graph=False)[:, 0])
    return list(np.ravel(collection.to_delayed()))


def aligned_blocks(
    X: Collection, y: Collection, sample_weight: Collection | None
) -> list[list[Delayed]]:
    """Return the blocks of items, labels and weights; raise if their numbers differ.

    Labels and weights may be local if the numbers of items of all blocks are known. Weights are
    None if there are none.
    """
    items = blocks_of(X, "X")
    if not items:
        raise ParameterError("X has no partitions, so there is nothing to learn.")
    labels = _like(X, y, "y", len(items))
    if sample_weight is None:
        return [items, labels, [None] * len(items)]
    return [items, labels, _like(X, sample_weight, "sample_weight", len(items))]


def _like(X: Collection, given: Collection, name: str, n_blocks: int) -> list[Delayed]:
    """Return the blocks of labels or weights that belong to the blocks of items."""
    sizes = getattr(X, "chunks", ((np.nan,),))[0]
    if not is_collection(given) and not np.isnan(sizes).any() and given is not None:
        if len(given) != sum(sizes):
            raise ParameterError(f"X has {sum(sizes)} items, but {name} has {len(given)}.")
        ends = np.cumsum([0, *sizes])
        return [given[begin:end] for begin, end in pairwise(ends)]
    found = blocks_of(given, name)
    if len(found) != n_blocks:
        raise ParameterError(
            f"X has {n_blocks} partitions, but {name} has {len(found)}; give both the same "
            "partitions, with the same items in each."
        )
    return found


def matrix_of(block: Block) -> Block:
    """Return a block of items as a matrix; the partition of a bag is a list of rows."""
    from scipy import sparse

    if not isinstance(block, (list, tuple)):
        return block
    if any(sparse.issparse(row) for row in block):
        return sparse.csr_array(sparse.vstack([_as_row(row) for row in block]))
    return np.array([np.ravel(row) for row in block])


def _as_row(row: Block) -> Block:
    """Return a sparse row with two dimensions."""
    from scipy import sparse

    return sparse.csr_array(row.reshape(1, -1) if row.ndim == 1 else row)
