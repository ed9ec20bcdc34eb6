"""``BlockWeights``: linear classifiers whose weights exist only for features of their items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.compiled.arrays import Rows, read_only
from taxonomist.compiled.block_scores import (
    BlockTable,
    n_used_weights,
    score_blocks,
    score_few_blocks,
)
from taxonomist.compiled.jit import can_spare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taxonomist._typing import CSR, Codes, Integers, Reals
    from taxonomist.inference.scorers import Cut

MOST_WEIGHTS = 2_000_000
"""Weights that are added up without numba: this takes 50 ms, and numba and its cache take 300."""


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """Weights of columns (classifiers), in blocks of columns that were trained on the same items.

    Attributes
    ----------
    table
        The weights, indexed by feature.
    """

    table: BlockTable

    @classmethod
    def join(
        cls, n_features: int, blocks: Sequence[tuple[Integers, Reals]], constant: float
    ) -> BlockWeights:
        """Join the blocks.

        Parameters
        ----------
        n_features
            The number of features.
        blocks
            For each block, its features, and its weights of shape (n_block_features + 1,
            n_columns). The last row is the weight of the constant feature.
        constant
            The value of the constant feature.
        """
        widths = [weights.shape[1] for _, weights in blocks]
        kept = [weights[:-1].any(axis=1) for _, weights in blocks]
        features = [found[keep] for (found, _), keep in zip(blocks, kept, strict=True)]
        sizes = [len(found) for found in features]
        every = np.concatenate([*features, np.empty(0, np.int32)])
        order = np.argsort(every, kind="stable")
        ends = np.cumsum([0, *np.bincount(every, minlength=n_features).tolist()])
        steps = np.repeat(np.array(widths, dtype=np.intp), sizes)
        start = np.cumsum(steps) - steps
        parts = [w[:-1][keep].ravel() for (_, w), keep in zip(blocks, kept, strict=True)]
        bias = [np.float32(constant) * weights[-1] for _, weights in blocks]
        nothing = np.empty(0, np.float32)
        return cls(
            BlockTable(
                ends.astype(np.intp),
                np.repeat(np.arange(len(blocks), dtype=np.int32), sizes)[order],
                start[order],
                np.cumsum([0, *widths]).astype(np.intp),
                np.concatenate([*parts, nothing]),
                np.concatenate([*bias, nothing]),
            )
        )

    @property
    def n_columns(self) -> int:
        """The number of classifiers."""
        return len(self.table.bias)

    def scores(self, X: CSR, out: Reals) -> None:
        """Write the scores of sparse rows, (n_items, n_columns)."""
        rows = sparse_rows(X)
        n_weights = n_used_weights(rows, self.table, MOST_WEIGHTS)
        is_little = can_spare(score_blocks, n_weights, MOST_WEIGHTS)
        (score_few_blocks if is_little else score_blocks)(rows, self.table, out)

    def of_column(self, column: int, features: Codes) -> Reals:
        """Return the weights of some features in one column."""
        table = self.table
        block = int(np.searchsorted(table.first, column, side="right")) - 1
        inside = column - int(table.first[block])
        found = np.zeros(len(features), np.float32)
        for at, feature in enumerate(features.tolist()):
            segments = slice(*table.indptr[feature : feature + 2])
            here = np.flatnonzero(table.block[segments] == block)
            if len(here):
                found[at] = table.values[table.start[segments][here[0]] + inside]
        return found

    def blocks(self) -> Iterator[tuple[int, Codes, Reals]]:
        """Yield the first column of each block, its features, and their weights.

        The weights have the shape (n_block_features, n_block_columns).
        """
        table = self.table
        order = np.argsort(table.block, kind="stable")
        features = np.repeat(np.arange(len(table.indptr) - 1), np.diff(table.indptr))
        n_blocks = len(table.first) - 1
        ends = np.searchsorted(table.block[order], np.arange(n_blocks + 1))
        for block in range(n_blocks):
            found = order[ends[block] : ends[block + 1]]
            first = int(table.first[block])
            inside = np.arange(int(table.first[block + 1]) - first)
            yield first, features[found], table.values[table.start[found][:, None] + inside]

    def pruned(self, cut: Cut) -> BlockWeights:
        """Return the weights that ``cut`` returns."""
        return replace(self, table=self.table._replace(values=cut(self.table.values)))


def sparse_rows(X: CSR) -> Rows:
    """Return sparse rows as compiled loops read them, in single precision."""
    indptr, indices = X.indptr.astype(np.intp, copy=False), X.indices.astype(np.int32, copy=False)
    return read_only(Rows(indptr, indices, X.data.astype(np.float32, copy=False)))
