"""The best categories of items, by blocks of rows and in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.compiled.arrays import Attributes, Rows, read_only
from taxonomist.compiled.ranking import best_categories
from taxonomist.compiled.rows import score_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taxonomist._typing import CSR, Codes, Floats

BLOCK_CELLS = 2**17
"""Scores of attributes that each thread holds at a time: half a megabyte, which stays in cache."""

BLOCK_SCORES = 2**22
"""Scores of categories that are held at a time where all are wanted: 32 megabytes."""


@dataclass(frozen=True)
class LinearScores:
    """Scores of categories that are sums over attributes of linear functions of items.

    Attributes
    ----------
    W
        Weights, (n_features, n_attributes).
    attributes
        Λ, (n_categories, n_attributes) CSR.
    rows
        Turns a block of items into the rows that ``W`` applies to: the items themselves, or
        their kernel values with the training items.
    n_threads
        Threads to use; results do not depend on it.
    """

    W: Any
    attributes: CSR
    rows: Callable[[Any], Any]
    n_threads: int

    def best(self, X: Any, k: int) -> tuple[Codes, Floats]:
        """Return the k best categories of each item, best first, and their scores."""
        n_items = X.shape[0]
        categories = np.zeros((n_items, k), dtype=np.intp)
        scores = np.zeros((n_items, k))
        table = self._attribute_arrays()

        def work(block: slice) -> None:
            best_categories(self.of_attributes(X[block]), table, categories[block], scores[block])

        self._run(work, n_items)
        return categories, scores

    def all(self, X: Any) -> Floats:
        """Return the scores of all categories, dense, (n_items, n_categories)."""
        scores = np.zeros((X.shape[0], self.attributes.shape[0]))

        def work(block: slice) -> None:
            scores[block] = self.of_attributes(X[block]) @ self.attributes.T

        self._run(work, X.shape[0])
        return scores

    def blocks(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Yield the scores of all categories for one block of items after another."""
        size = max(1, BLOCK_SCORES // self.attributes.shape[0])
        for start in range(0, X.shape[0], size):
            block = slice(start, start + size)
            yield block, self.all(X[block])

    def apply(self, function: Callable[[Any], Any], X: Any, out: Any) -> None:
        """Write what a function makes of the scores of attributes, one row of ``out`` an item."""

        def work(block: slice) -> None:
            out[block] = function(self.of_attributes(X[block]))

        self._run(work, X.shape[0])

    def of_attributes(self, X: Any) -> Any:
        """Return <w_z, x> for all items and attributes, dense."""
        rows = self.rows(X)
        out = np.zeros((X.shape[0], self.W.shape[1]), dtype=self.W.dtype)
        score_rows(as_rows(rows, self.W.dtype), self.W, out)
        return out

    def _run(self, work: Callable[[slice], None], n_items: int) -> None:
        """Work through the blocks of items in several threads, of which this one is one."""
        blocks = iter(list(self._blocks(n_items)))

        def work_off() -> None:
            for block in blocks:
                work(block)

        with ThreadPoolExecutor(self.n_threads) as pool:
            others = [pool.submit(work_off) for _ in range(self.n_threads - 1)]
            work_off()
            for other in others:
                other.result()

    def _blocks(self, n_items: int) -> Iterator[slice]:
        size = max(1, BLOCK_CELLS // max(1, self.W.shape[1]))
        return (slice(start, start + size) for start in range(0, n_items, size))

    def _attribute_arrays(self) -> Attributes:
        csr = self.attributes
        indptr, indices = csr.indptr.astype(np.intp), csr.indices.astype(np.intp)
        return Attributes(indptr, indices, csr.data.astype(np.float64), np.empty((0, 0)))


def as_rows(X: Any, dtype: Any) -> Rows:
    """Return a matrix, CSR or dense, as the rows that compiled loops read.

    Indices have the same types for all matrices, since loops are compiled anew for others.
    """
    if hasattr(X, "indptr"):
        indptr, indices = X.indptr.astype(np.intp, copy=False), X.indices
        if X.shape[1] <= np.iinfo(np.int32).max:
            indices = indices.astype(np.int32, copy=False)
        return read_only(Rows(indptr, indices, X.data.astype(dtype, copy=False)))
    ends = np.arange(X.shape[0] + 1) * X.shape[1]
    data = np.ascontiguousarray(X, dtype=dtype).ravel()
    return read_only(Rows(ends, np.empty(0, dtype=np.int32), data))
