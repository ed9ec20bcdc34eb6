"""What a learner returns and everything after learning asks: a scorer.

A scorer turns checked rows into *raw* scores, dense and one row an item: scores of categories,
scores of attributes, or gains of nodes, whatever the model computes first. ``categories`` makes
scores of categories of them. All questions about an item (the best category, a label set,
probabilities, reasons) start from the same raw scores, so an item is scored once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils import gen_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taxonomist._typing import Codes, Floats

    Cut = Callable[[Any], Any]
    """Returns an array of weights without the smallest."""

SCORES_AT_A_TIME = 2**22
"""Scores of categories held at a time when not all of them are returned: 32 MiB."""


class ScorePart(NamedTuple):
    """What one attribute, node or source of words adds to a score.

    Attributes
    ----------
    source
        Its number; what the numbers mean is up to the model.
    value
        What it adds.
    features
        The strongest features and their shares, strongest first.
    rest
        What all other features add.
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

    def raw(self, X: Any, n_threads: int = 1) -> Any:
        """Return the raw scores of checked rows, (n_items, n_raw)."""

    def categories(self, raw: Any) -> Floats:
        """Return the scores of categories, (n_items, n_categories)."""

    def best(self, X: Any, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""

    def best_of(self, raw: Any, k: int) -> tuple[Codes, Floats]:
        """Return the same from raw scores."""

    def pruned(self, cut: Cut) -> Scorer:
        """Return a scorer whose weights have gone through ``cut``; raise if it has none."""


class Explains(Protocol):
    """A scorer that can say what makes up a score."""

    def explain(self, row: Any, category: int, against: int | None, n: int) -> list[ScorePart]:
        """Return parts that add up to the score of a category, or to a difference of two.

        Parameters
        ----------
        row
            One checked item, (1, n_features).
        category, against
            Columns; None explains the score itself.
        n
            Features to name in each part.
        """


class DenseScorer:
    """Methods of a scorer whose raw scores are already those of categories."""

    n_categories: int

    @property
    def block_size(self) -> int:
        """How many items to score at a time when not all scores are kept."""
        return max(1, SCORES_AT_A_TIME // self.n_categories)

    def raw(self, X: Any, n_threads: int = 1) -> Any:
        """Return the scores of categories."""
        raise NotImplementedError

    def categories(self, raw: Any) -> Floats:
        """Return the raw scores as they are."""
        scores: Floats = raw
        return scores

    def best(self, X: Any, k: int, n_threads: int = 1) -> tuple[Codes, Floats]:
        """Return the columns of the k best categories of each item, and their scores."""
        blocks = gen_batches(X.shape[0], self.block_size)
        found = [self.best_of(self.raw(rows_of(X, block), n_threads), k) for block in blocks]
        return np.vstack([best for best, _ in found]), np.vstack([scores for _, scores in found])

    def best_of(self, raw: Any, k: int) -> tuple[Codes, Floats]:
        """Return the same from raw scores; the first of equal scores wins."""
        return best_columns(self.categories(raw), k)

    def pruned(self, cut: Cut) -> Any:  # noqa: ARG002
        """Raise: there are no weights of features."""
        raise NoWeightsError


class NoWeightsError(ValueError):
    """The scorer has no weights of features."""


class Scored:
    """Items and their raw scores, which are computed once, when first needed.

    Parameters
    ----------
    scorer
        What scores them.
    X
        Checked rows.
    n_threads
        Threads; the result does not depend on it.
    """

    def __init__(self, scorer: Scorer, X: Any, n_threads: int = 1) -> None:
        self.scorer = scorer
        self.X = X
        self.n_threads = n_threads

    @cached_property
    def raw(self) -> Any:
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
        """Yield the items in blocks small enough to hold all their scores."""
        size = self.scorer.block_size
        if self.X.shape[0] <= size or "raw" in self.__dict__:
            yield self
            return
        for block in gen_batches(self.X.shape[0], size):
            yield Scored(self.scorer, self.X[block], self.n_threads)


def best_columns(scores: Floats, k: int) -> tuple[Codes, Floats]:
    """Return the columns of the k largest scores of each row, the first of equals first."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return best, np.take_along_axis(scores, best, axis=1)


def rows_of(X: Any, block: slice) -> Any:
    """Return a block of rows; all rows are not copied."""
    return X if block.stop - block.start == X.shape[0] else X[block]


def strongest(shares: Floats, names: Any, n: int) -> tuple[tuple[tuple[int, float], ...], float]:
    """Return the n largest shares with their features, and the sum of the others."""
    order = np.argsort(-np.abs(shares), kind="stable")[:n].tolist()
    features = tuple((int(names[k]), float(shares[k])) for k in order if shares[k])
    return features, float(np.delete(shares, order).sum())
