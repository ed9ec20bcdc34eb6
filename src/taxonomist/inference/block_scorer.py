"""``BlockScorer``: the base class of scorers of categories by margins of nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from taxonomist.inference.linear_scorer import in_blocks, in_cache
from taxonomist.inference.scorers import ScorePart, best_columns, rows_of, strongest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist._typing import CSR, Codes, Floats, Reals
    from taxonomist.inference.block_weights import BlockWeights
    from taxonomist.inference.scorers import Cut

MARGINS_TOGETHER = 2**22
"""Margins that are computed together at most."""
LEAST_THREADED = 2**27
"""Products of values and weights from which on several threads are worth their start."""
MARGINS_AT_A_TIME = 2**20
"""Margins held in memory at a time if not all scores are kept: 8 MiB for each of a few copies."""


@dataclass(frozen=True, eq=False)
class BlockScorer:
    """Scores from the margins of linear classifiers of nodes; raw scores are the margins.

    Attributes
    ----------
    weights
        The classifiers.
    nodes
        The node of each classifier.
    """

    weights: BlockWeights
    nodes: Codes

    @property
    def block_size(self) -> int:
        """The number of items to score per block if not all scores are kept."""
        return max(1, MARGINS_AT_A_TIME // max(1, self.n_scores))

    @property
    def n_scores(self) -> int:
        """The number of scores of an item that are held at the same time."""
        return self.weights.n_columns

    @property
    def n_classifiers(self) -> int:
        """The number of columns that are classifiers of nodes; others come behind them."""
        return self.weights.n_columns

    def raw(self, X: CSR, n_threads: int = 1) -> Reals:
        """Return the margins of all classifiers, (n_items, n_columns)."""
        out = np.empty((X.shape[0], self.weights.n_columns), np.float32)
        if X.nnz * self.weights.n_columns < LEAST_THREADED:
            n_threads = 1

        def work(block: slice) -> None:
            self.weights.scores(rows_of(X, block), out[block])

        in_blocks(work, X.shape[0], self.n_together(X.shape[0], n_threads), n_threads)
        return out

    def n_together(self, n_items: int, n_threads: int) -> int:
        """Return how many of the items are scored together: many, for a block's weights at hand."""
        most = MARGINS_TOGETHER // max(1, self.weights.n_columns)
        return most if n_threads == 1 else min(most, -(-n_items // (2 * n_threads)))

    def categories(self, raw: Reals) -> Floats:
        """Return the scores of categories, (n_items, n_categories)."""
        raise NotImplementedError

    def best(self, X: CSR, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""
        found, scores = np.empty((X.shape[0], k), np.intp), np.empty((X.shape[0], k))

        def work(block: slice) -> None:
            found[block], scores[block] = self.best_of(self.raw(X[block]), k)

        in_blocks(work, X.shape[0], in_cache(self.n_scores), n_threads)
        return found, scores

    def best_of(self, raw: Reals, k: int) -> tuple[Codes, Floats]:
        """Return the k best categories and their scores; ties go to the first."""
        scores = self.categories(raw)
        if k > 1:
            return best_columns(scores, k)
        best = scores.argmax(axis=1)[:, None]
        return best, np.take_along_axis(scores, best, axis=1)

    def top_features(self, n: int) -> dict[int, list[tuple[int, float]]]:
        """Return the n features with the largest positive weights of every node, largest first.

        If a node has two classifiers, these are the weights of the one against siblings.
        """
        found: dict[int, list[tuple[int, float]]] = {}
        for first, features, weights in self.weights.blocks():
            if first >= self.n_classifiers:
                break
            for inside, column in enumerate(weights.T):
                best = np.argsort(-column, kind="stable")[:n]
                found[int(self.nodes[first + inside])] = [
                    (int(features[k]), float(column[k])) for k in best.tolist() if column[k] > 0
                ]
        return found

    def pruned(self, cut: Cut) -> Self:
        """Return a scorer with the weights that ``cut`` returns; see ``Scorer``."""
        return replace(self, weights=self.weights.pruned(cut))

    def packed(self) -> Self:
        """Return a scorer whose weights have 16 bits each if there are many."""
        weights = self.weights.packed()
        return self if weights is self.weights else replace(self, weights=weights)

    def node_parts(
        self, row: CSR, slopes: Iterable[tuple[int, float, float]], n: int
    ) -> list[ScorePart]:
        """Return the contributions of nodes to a score that sums functions of margins.

        Parameters
        ----------
        row
            One item.
        slopes
            For each used column: its number, the value that it adds to the score, and what it adds
            per unit of its margin. The rest of the value is no word's.
        n
            The number of features to list for each node.
        """
        shares: dict[int, Floats] = {}
        constants: dict[int, float] = {}
        for column, value, slope in slopes:
            node = int(self.nodes[column])
            found = slope * row.data * self.weights.of_column(column, row.indices)
            shares[node] = shares.get(node, 0.0) + found
            constants[node] = constants.get(node, 0.0) + value - float(found.sum())
        parts = []
        for node in sorted(shares):
            features, rest = strongest(shares[node], row.indices, n)
            total = float(shares[node].sum()) + constants[node]
            parts.append(ScorePart(node, total, features, rest + constants[node]))
        return parts
