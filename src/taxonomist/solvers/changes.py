"""Changes of weights, which shards send and which are added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from taxonomist.compiled import changes
from taxonomist.compiled.arrays import Rows, fixed, read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Codes, Floats, Reals


class Change(NamedTuple):
    """A change of the weights: some of their rows.

    Attributes
    ----------
    rows
        The features, in ascending order.
    values
        The change of their weights, (n_rows, n_attributes).
    squares
        Σ_k ||w_f(Δα_k)||² over the shards whose changes these are, (n_rows,).
    n_bytes
        The bytes that shards sent for it.
    """

    rows: Codes
    values: CSR
    squares: Floats
    n_bytes: int

    @classmethod
    def of(cls, features: Codes, values: CSR | Reals) -> Change:
        """Return the change of a shard, without the features whose weights did not change."""
        table = csr_array(values)
        is_moved = np.diff(table.indptr) > 0
        indptr = np.append(0, table.indptr[1:][is_moved])
        shape = len(indptr) - 1, table.shape[1]
        moved = csr_array((table.data, table.indices, indptr), shape=shape)
        squares = _row_squares(moved)
        rows = features[is_moved]
        n_bytes = rows.nbytes + squares.nbytes + moved.data.nbytes + moved.indices.nbytes
        return cls(rows, moved, squares, n_bytes)

    @classmethod
    def joined(cls, parts: Sequence[Change]) -> Change:
        """Return the sum of changes."""
        if len(parts) == 1:
            return parts[0]
        features = np.concatenate([part.rows for part in parts])
        rows, places = np.unique(features, return_inverse=True)
        stacked = csr_array(sparse.vstack([part.values for part in parts]))
        marks = np.ones(len(features), stacked.dtype), (places, np.arange(len(features)))
        values = summed_rows(csr_array(marks, shape=(len(rows), len(features))), stacked)
        squares = np.bincount(places, np.concatenate([part.squares for part in parts]))
        return cls(rows, values, squares.astype(float), sum(part.n_bytes for part in parts))

    def couplings(self) -> Floats:
        """Return σ'_f of each row that follows from this sum of changes."""
        apart = np.maximum(self.squares, np.finfo(float).tiny)
        found: Floats = np.maximum(_row_squares(self.values) / apart, 1.0)
        return found

    def squared(self) -> float:
        """Return the squared norm of the change."""
        return float(np.square(self.values.data, dtype=np.float64).sum())

    def conflict(self) -> float:
        """Return ||Σ_k w(Δα_k)||² / Σ_k ||w(Δα_k)||²: 1 if the changes do not touch each other."""
        apart = float(self.squares.sum())
        return self.squared() / apart if apart > 0 else 1.0

    def along(self, w: Reals) -> float:
        """Return the sum of products of the change and weights."""
        return changes.product_with(fixed(self.rows), _sparse_rows(self.values), w)

    def add_to(self, w: Reals, step: float | Floats) -> None:
        """Make a step of weights along the change; each column may have a step of its own."""
        steps = np.broadcast_to(step, w.shape[1:]).astype(float)
        changes.add_steps(fixed(self.rows), _sparse_rows(self.values), steps, w)


def summed_rows(factors: CSR, table: CSR) -> CSR:
    """Return the product of sparse matrices, of the type of the first one.

    Parameters
    ----------
    factors
        How often each row of the table is in each row of the product.
    table
        The rows that are summed.
    """
    counts = np.append(0, np.cumsum(np.diff(table.indptr)[factors.indices]))
    n_sums = np.minimum(np.diff(counts[factors.indptr]), table.shape[1])
    room = int(n_sums.sum())
    sums = Rows(np.zeros(len(n_sums) + 1, np.intp), _codes(room), np.empty(room, factors.dtype))
    place = np.full(table.shape[1], -1, dtype=np.intp)
    n_used = changes.add_rows(_sparse_rows(factors), _sparse_rows(table), sums, place)
    # What is not used is given back; a few values more are not worth a copy.
    data, indices = sums.data[:n_used], sums.indices[:n_used]
    if 2 * n_used < room:
        data, indices = data.copy(), indices.copy()
    indptr = sums.indptr.astype(np.int32 if n_used < np.iinfo(np.int32).max else np.int64)
    return csr_array((data, indices, indptr), shape=(factors.shape[0], table.shape[1]))


def squared_norm(w: Reals) -> float:
    """Return the squared norm of weights."""
    return changes.sum_of_squares(w)


def _codes(n: int) -> Codes:
    codes: Codes = np.empty(n, np.int32)
    return codes


def _sparse_rows(table: CSR) -> Rows:
    """Return rows for loops: arrays that came from elsewhere cannot be written to."""
    indices: Codes = table.indices.astype(np.int32, copy=False)
    return read_only(Rows(table.indptr.astype(np.intp, copy=False), indices, table.data))


def _row_squares(table: CSR) -> Floats:
    """Return the squared norm of each row."""
    squares = np.square(table.data, dtype=np.float64)
    powers = csr_array((squares, table.indices, table.indptr), shape=table.shape)
    found: Floats = powers @ np.ones(table.shape[1])
    return found
