"""The scorer protocol: what learners return and predictions are made from.

A scorer turns validated rows into *raw* scores, a dense array with one row per item. Raw scores are
whatever the model computes first: scores of categories, scores of attributes, or gains of nodes.
``categories`` converts them to scores of categories. All predictions for an item (the best
category, a label set, probabilities, explanations) start from the same raw scores, so an item is
scored once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from sklearn.utils import gen_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taxonomist._typing import CSR, Codes, Floats, Integers, Matrix, Reals

    Cut = Callable[[Reals], Reals]
    """Function that returns an array of weights with the smallest set to 0."""

M = TypeVar("M", bound="Matrix")

SCORES_AT_A_TIME = 2**22
"""Category scores held in memory at a time if not all of them are returned: 32 MiB."""
KEPT_BYTES = 2**26
"""The raw scores of all blocks are kept for further questions if they take at most 64 MiB."""


class ScorePart(NamedTuple):
    """The contribution of one attribute, node or word source to a score.

    Attributes
    ----------
    source
        The number of the attribute, node or word source. Its meaning depends on the model.
    value
        The contribution.
    features
        The features with the largest contributions, largest first.
    rest
        The sum of the contributions of all other features.
    """

    source: int
    value: float
    features: tuple[tuple[int, float], ...] = ()
    rest: float = 0.0


class Scorer(Protocol):
    """Scores of categories for rows of items."""

    @property
    def block_size(self) -> int:
        """How many items to score at a time when not all scores are kept."""

    def raw(self, X: Any, n_threads: int = 1) -> Reals:
        """Return the raw scores of validated rows, (n_items, n_raw)."""

    def categories(self, raw: Reals) -> Floats:
        """Return the scores of categories, (n_items, n_categories)."""

    def best(self, X: Any, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""

    def best_of(self, raw: Reals, k: int) -> tuple[Codes, Floats]:
        """Return the k best categories and their scores, given raw scores."""

    def pruned(self, cut: Cut) -> Scorer:
        """Return a scorer with the weights that ``cut`` returns; raise if it has no weights."""


class Explains(Protocol):
    """A scorer that can explain its scores."""

    def explain(self, row: Any, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return parts that sum to the score of a category, or to a difference of two scores.

        Parameters
        ----------
        row
            One validated item, (1, n_features).
        category, against
            Columns of categories. If ``against`` is None, the score of ``category`` is explained.
        n
            The number of features to list in each part.
        """


class DenseScorer:
    """Base class of scorers whose raw scores are category scores."""

    n_categories: int

    @property
    def block_size(self) -> int:
        """How many items to score at a time when not all scores are kept."""
        return max(1, SCORES_AT_A_TIME // self.n_categories)

    def raw(self, X: Any, n_threads: int = 1) -> Reals:
        """Return the scores of categories."""
        raise NotImplementedError

    def categories(self, raw: Reals) -> Floats:
        """Return the raw scores as they are."""
        return cast("Floats", raw)

    def best(self, X: Any, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""
        blocks = gen_batches(X.shape[0], self.block_size)
        found = [self.best_of(self.raw(rows_of(X, block), n_threads), k) for block in blocks]
        return np.vstack([best for best, _ in found]), np.vstack([scores for _, scores in found])

    def best_of(self, raw: Reals, k: int) -> tuple[Codes, Floats]:
        """Return the k best categories and their scores; ties go to the first."""
        return best_columns(self.categories(raw), k)

    def pruned(self, cut: Cut) -> Scorer:  # noqa: ARG002
        """Raise ``NoWeightsError``."""
        raise NoWeightsError


class NoWeightsError(ValueError):
    """Raised if a scorer has no feature weights to prune."""


class Scored:
    """Items and their raw scores, which are computed once, on first use.

    Parameters
    ----------
    scorer
        The scorer of the items.
    X
        Validated rows.
    n_threads
        The number of threads. The result does not depend on it.
    """

    def __init__(self, scorer: Scorer, X: Any, n_threads: int = 1) -> None:
        self.scorer = scorer
        self.X = X
        self.n_threads = n_threads
        self._kept: dict[int, Reals] = {}

    @cached_property
    def raw(self) -> Reals:
        """Raw scores."""
        return self.scorer.raw(self.X, self.n_threads)

    @cached_property
    def categories(self) -> Floats:
        """Scores of categories."""
        return self.scorer.categories(self.raw)

    def best(self, k: int) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""
        if "raw" in self.__dict__:
            return self.scorer.best_of(self.raw, k)
        return self.scorer.best(self.X, k, self.n_threads)

    def blocks(self) -> Iterator[Scored]:
        """Yield the items in blocks whose scores fit into memory.

        Raw scores of a few blocks are kept, so that several questions need them only once.
        """
        size = self.scorer.block_size
        if self.X.shape[0] <= size or "raw" in self.__dict__:
            yield self
            return
        blocks = list(gen_batches(self.X.shape[0], size))
        for number, block in enumerate(blocks):
            part = Scored(self.scorer, self.X[block], self.n_threads)
            if number in self._kept:
                part.raw = self._kept[number]
            yield part
            raw = part.__dict__.get("raw")
            if raw is not None and raw.nbytes * len(blocks) <= KEPT_BYTES:
                self._kept[number] = raw


def best_columns(scores: Floats, k: int) -> tuple[Codes, Floats]:
    """Return the columns of the k largest scores of each row; ties go to the first column."""
    found = top_entries(scores, k)
    columns, values = (part.reshape(len(scores), k) for part in (found.indices, found.data))
    order = np.argsort(-values, axis=1, kind="stable")
    best = np.take_along_axis(columns, order, axis=1).astype(np.intp)
    return best, np.take_along_axis(values, order, axis=1)


def top_entries(scores: Floats, k: int) -> CSR:
    """Return the k largest scores of each row as a sparse matrix; ties go to the first column.

    Every row has k entries, in the order of columns.
    """
    from scipy.sparse import csr_array

    n_items, n_columns = scores.shape
    least = np.partition(scores, n_columns - k, axis=1)[:, n_columns - k, None]
    chosen, is_least = scores > least, scores == least
    n_missing = k - chosen.sum(axis=1, keepdims=True)
    chosen |= is_least & (is_least.cumsum(axis=1) <= n_missing)
    columns = np.broadcast_to(np.arange(n_columns, dtype=np.int32), scores.shape)[chosen]
    ends = np.arange(0, n_items * k + 1, k)
    return csr_array((scores[chosen], columns, ends), shape=scores.shape)


def rows_of(X: M, block: slice) -> M:
    """Return a block of rows, without a copy if it contains all rows."""
    return X if block.stop - block.start == X.shape[0] else cast("M", X[block])


def strongest(
    shares: Floats, names: Integers, n: int
) -> tuple[tuple[tuple[int, float], ...], float]:
    """Return the n largest contributions with their features, and the sum of the rest."""
    order = np.argsort(-np.abs(shares), kind="stable")[:n].tolist()
    features = tuple((int(names[k]), float(shares[k])) for k in order if shares[k])
    return features, float(np.delete(shares, order).sum())
