"""Held-out scores, the evidence that decision rules are tuned on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from taxonomist.compiled.decisions import choose_categories, list_best
from taxonomist.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Bools, Codes, Floats, Reals
    from taxonomist.inference.limits import Limits

SAMPLED_PAIRS = 2**20
"""Pairs of item and category that are sampled at random. If there are fewer, all are kept."""

LISTED_PER_ITEM = 3
"""Best items kept per category, as a multiple of the number of its own items."""

MIN_LISTED = 100
"""Minimum number of best items kept per category."""


class HeldOutReader:
    """Reads held-out scores block by block and checks that every item occurs exactly once.

    Parameters
    ----------
    labels
        The true labels, (n_items, n_categories) boolean CSR.
    limits
        The minimum and maximum number of labels of a prediction.
    """

    def __init__(self, labels: CSR, limits: Limits) -> None:
        if labels.shape[0] == 0:
            raise LabelError("A decision rule needs at least one item to learn from.")
        self.labels = labels
        self.limits = limits
        self._seen = np.zeros(labels.shape[0], dtype=bool)

    def add(self, items: Codes, scores: Reals) -> None:
        """Add the scores of a block of items, (n_block, n_categories)."""
        items = np.asarray(items)
        checked = check_scores(scores, self.labels.shape[1], items)
        values, counts = np.unique(items, return_counts=True)
        twice = values[self._seen[values] | (counts > 1)]
        if twice.size:
            raise LabelError(f"Held-out scores contain item {twice[0]} twice: score it once.")
        self._seen[items] = True
        self._take(items, checked, self.labels[items].toarray().astype(bool))

    @classmethod
    def of(cls, blocks: Iterable[tuple[Codes, Reals]], labels: CSR, limits: Limits) -> Self:
        """Return a reader of all blocks, which are pairs of items and scores."""
        reader = cls(labels, limits)
        for items, scores in blocks:
            reader.add(items, scores)
        return reader

    def check_complete(self) -> None:
        """Raise if the scores of an item are missing."""
        missing = np.flatnonzero(~self._seen)
        if missing.size:
            message = f"Held-out scores lack {missing.size} of {len(self._seen)} items"
            raise LabelError(f"{message}, such as {missing[0]}: score every item.")

    def _take(self, items: Codes, scores: Floats, truth: Bools) -> None:
        raise NotImplementedError


class Evidence(NamedTuple):
    """Pairs of items and categories, sorted by category and item.

    The weight of a pair is the number of pairs that it represents.
    """

    items: Codes
    categories: Codes
    scores: Floats
    truth: Bools
    weights: Floats
    starts: Codes  # (n_categories + 1,)


def check_scores(given: ArrayLike, n_categories: int, items: Codes | None = None) -> Floats:
    """Return scores as floats; raise if one is not finite or the number of columns is wrong."""
    scores: Floats = np.ascontiguousarray(given, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != n_categories:
        message = f"Scores have shape {scores.shape}; give one row per item and one column for"
        raise LabelError(f"{message} each of the {n_categories} categories.")
    if items is not None and len(items) != len(scores):
        raise LabelError(
            f"There are {len(items)} items, but {len(scores)} rows of scores: give one row each."
        )
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        item = row if items is None else items[row]
        message = f"The score of category {column} for item {item} is {scores[row, column]}"
        raise LabelError(f"{message}: a decision needs finite scores.")
    return scores


class EvidenceReader(HeldOutReader):
    """Keeps the most informative scores of all items in bounded memory.

    It keeps all pairs of an item and one of its own categories, the best categories of each item
    (as many as any item has labels), the best items of each category, and all categories of a
    random sample of items. The result does not depend on how the items are split into blocks. Up
    to ``SAMPLED_PAIRS`` pairs, everything is kept.
    """

    def __init__(self, labels: CSR, limits: Limits) -> None:
        super().__init__(labels, limits)
        n_items, n_categories = labels.shape
        n_largest = int(labels.sum(axis=1).max(initial=0))
        self.depth = min(limits.most, max(limits.least, n_largest))
        room = np.maximum(LISTED_PER_ITEM * np.asarray(labels.sum(axis=0)).ravel(), MIN_LISTED)
        ends = np.cumsum(np.minimum(room, n_items))
        self.list_starts = np.append(0, ends).astype(np.intp)
        self.listed_items = np.zeros(ends[-1], dtype=np.intp)
        self.listed_scores = np.zeros(ends[-1])
        self.n_seen = 0
        n_drawn = -(-SAMPLED_PAIRS // n_categories)
        self.is_drawn = np.zeros(n_items, dtype=bool)
        self.is_drawn[np.random.default_rng(0).permutation(n_items)[:n_drawn]] = True
        self.own: list[tuple[Codes, Floats]] = []
        self.drawn: list[tuple[Codes, Floats]] = []

    def _take(self, items: Codes, scores: Floats, truth: Bools) -> None:
        best = np.zeros(scores.shape, dtype=bool)
        room = np.empty(max(self.depth, 1), np.intp)
        choose_categories(scores, self.depth, self.depth, room, best)
        own = np.nonzero(best | truth)
        self.own.append((self._keys(items[own[0]], own[1]), scores[own]))
        lists = self.list_starts, self.listed_items, self.listed_scores
        list_best(scores, items, self.n_seen, *lists)
        self.n_seen += len(items)
        drawn = self.is_drawn[items]
        keys = self._keys(items[drawn][:, None], np.arange(scores.shape[1]))
        self.drawn.append((keys.ravel(), scores[drawn].ravel()))

    def evidence(self) -> Evidence:
        """Return the pairs that were kept, without duplicates."""
        self.check_complete()
        n_items, n_categories = self.labels.shape
        columns = np.repeat(np.arange(n_categories), np.diff(self.list_starts))
        lists = self._keys(self.listed_items, columns), self.listed_scores
        keys, scores = _joined([*self.own, lists, *self.drawn])
        n_own = len(keys) - sum(len(part) for part, _ in self.drawn)
        keys, first = np.unique(keys, return_index=True)
        categories, items = np.divmod(keys, n_items)
        starts = np.searchsorted(categories, np.arange(n_categories + 1)).astype(np.intp)
        truth = np.zeros(len(keys), dtype=bool)
        rows, columns = self.labels.nonzero()
        truth[np.searchsorted(keys, self._keys(rows, columns))] = True
        is_listed = first < n_own
        n_listed = np.bincount(categories[is_listed], minlength=n_categories)
        n_others = np.diff(starts) - n_listed
        each = (n_items - n_listed) / np.maximum(n_others, 1)
        weights = np.where(is_listed, 1.0, each[categories])
        return Evidence(items, categories, scores[first], truth, weights, starts)

    def _keys(self, items: Codes, categories: Codes) -> Codes:
        """Return integers that sort pairs by category, then item."""
        keys: Codes = categories.astype(np.intp) * self.labels.shape[0] + items
        return keys


def _joined(parts: list[tuple[Codes, Floats]]) -> tuple[Codes, Floats]:
    return np.concatenate([keys for keys, _ in parts]), np.concatenate([s for _, s in parts])
