"""``LinearScorer``: scores that sum linear functions of an item over attributes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from taxonomist._typing import is_sparse
from taxonomist.compiled.arrays import Attributes, Rows, read_only
from taxonomist.compiled.ranking import best_categories
from taxonomist.compiled.rows import score_rows
from taxonomist.inference.scorers import SCORES_AT_A_TIME, NoWeightsError, ScorePart, strongest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Codes, Floats, Matrix, Reals
    from taxonomist.inference.row_maps import RowMap
    from taxonomist.inference.scorers import Cut

CELLS_IN_CACHE = 2**17
"""Attribute scores per block of a thread: half a megabyte, which fits into the cache."""


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """f(x, c) = Σ_z λ_z(c) <w_z, φ(x)> [CH04, Eq. 10]; raw scores are attribute scores.

    Attributes
    ----------
    W
        Weights, (n_features, n_attributes). With a kernel, the coefficients of training items.
    attributes
        Λ, (n_categories, n_attributes) CSR.
    rows
        Maps items to the rows that are multiplied with ``W``.
    """

    W: Reals
    attributes: CSR
    rows: RowMap

    @property
    def block_size(self) -> int:
        """The number of items to score per block if not all scores are kept."""
        return max(1, SCORES_AT_A_TIME // int(self.attributes.shape[0]))

    def raw(self, X: Matrix, n_threads: int = 1) -> Reals:
        """Return <w_z, φ(x)> for all items and attributes, dense."""
        out = np.zeros((X.shape[0], self.W.shape[1]), dtype=self.W.dtype)

        def work(block: slice) -> None:
            score_into(self.rows(X[block]), self.W, out[block])

        in_blocks(work, X.shape[0], in_cache(self.W.shape[1]), n_threads)
        return out

    def categories(self, raw: Reals) -> Floats:
        """Return f(x, c) for all categories."""
        scores: Floats = np.ascontiguousarray(raw @ self.attributes.T, dtype=np.float64)
        return scores

    def best(self, X: Matrix, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""
        found, scores, table = *_room(X.shape[0], k), self._table()

        def work(block: slice) -> None:
            part = np.zeros((block.stop - block.start, self.W.shape[1]), dtype=self.W.dtype)
            score_into(self.rows(X[block]), self.W, part)
            best_categories(part, table, found[block], scores[block])

        in_blocks(work, X.shape[0], in_cache(self.W.shape[1]), n_threads)
        return found, scores

    def best_of(self, raw: Reals, k: int) -> tuple[Codes, Floats]:
        """Return the k best categories and their scores, given raw scores."""
        found, scores = _room(len(raw), k)
        best_categories(raw, self._table(), found, scores)
        return found, scores

    def explain(self, row: Matrix, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return the contribution of each attribute to a score; see ``Explains``."""
        weights = self.attributes[[category]].toarray().ravel()
        if against is not None:
            weights = weights - self.attributes[[against]].toarray().ravel()
        used = np.flatnonzero(weights).tolist()
        if not self.rows.is_linear:
            raw = self.raw(row)[0].astype(np.float64)
            return [ScorePart(z, float(weights[z] * raw[z])) for z in used]
        indices = row.indices if is_sparse(row) else np.flatnonzero(row[0])
        values = row.data if is_sparse(row) else row[0, indices]
        parts = []
        for z in used:
            shares = float(weights[z]) * values * self.W[indices, z].astype(np.float64)
            features, _ = strongest(shares, indices, n)
            value = float(shares.sum())
            rest = value - sum(share for _, share in features)
            parts.append(ScorePart(z, value, features, rest))
        return parts

    def pruned(self, cut: Cut) -> LinearScorer:
        """Return a scorer with the weights that ``cut`` returns; see ``Scorer``."""
        if not self.rows.is_linear:
            raise NoWeightsError
        return replace(self, W=cut(self.W))

    def _table(self) -> Attributes:
        csr = self.attributes
        indptr, indices = csr.indptr.astype(np.intp), csr.indices.astype(np.intp)
        return Attributes(indptr, indices, csr.data.astype(np.float64), np.empty((0, 0)))


def score_into(rows: Matrix, W: Reals, out: Reals) -> None:
    """Write the product of rows and weights into ``out``."""
    score_rows(as_rows(rows, W.dtype), W, out)


def in_cache(n_scores: int) -> int:
    """Return how many items have scores that fit into the cache, given the number of each item."""
    return CELLS_IN_CACHE // max(1, n_scores)


def in_blocks(work: Callable[[slice], None], n_items: int, size: int, n_threads: int) -> None:
    """Process blocks of ``size`` items in ``n_threads`` threads, including the calling thread."""
    size = max(1, size)
    starts = range(0, n_items, size)
    blocks = iter([slice(start, min(start + size, n_items)) for start in starts])

    def work_off() -> None:
        for block in blocks:
            work(block)

    if n_threads == 1 or len(starts) == 1:
        work_off()
        return
    with ThreadPoolExecutor(n_threads) as pool:
        others = [pool.submit(work_off) for _ in range(n_threads - 1)]
        work_off()
        for other in others:
            other.result()


def as_rows(X: Matrix, dtype: DTypeLike) -> Rows:
    """Convert a CSR or dense matrix to the rows that compiled loops read.

    Index arrays always have the same types, because other types would trigger a recompilation.
    """
    if is_sparse(X):
        indptr, indices = X.indptr.astype(np.intp, copy=False), X.indices
        if X.shape[1] <= np.iinfo(np.int32).max:
            indices = indices.astype(np.int32, copy=False)
        return read_only(Rows(indptr, indices, X.data.astype(dtype, copy=False)))
    ends = np.arange(X.shape[0] + 1) * X.shape[1]
    data = np.ascontiguousarray(X, dtype=dtype).ravel()
    return read_only(Rows(ends, np.empty(0, dtype=np.int32), data))


def _room(n_items: int, k: int) -> tuple[Codes, Floats]:
    return np.zeros((n_items, k), dtype=np.intp), np.zeros((n_items, k))
