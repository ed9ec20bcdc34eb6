"""Input and output of learning, and cross-validation with held-out scores."""

from __future__ import annotations

import logging
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from taxonomist._spill import taken
from taxonomist.errors import ParameterError
from taxonomist.inference.scorers import Scored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taxonomist._typing import CSR, Codes, Floats, FoldsLike, Matrix
    from taxonomist.inference.scorers import Scorer
    from taxonomist.models.targets import Targets

    Folds = list[tuple[Codes, Codes]]
    """Pairs of training and test items."""

logger = logging.getLogger(__name__)


class Training(NamedTuple):
    """The input of ``learn``.

    Attributes
    ----------
    X
        Validated rows. With a precomputed kernel, the kernel matrix.
    targets
        The categories of the items.
    weights
        The weights of the items.
    is_gram
        Whether ``X`` is a precomputed kernel.
    """

    X: Any
    targets: Targets
    weights: Floats
    is_gram: bool = False

    def rows(self, items: Codes, train: Codes) -> Matrix:
        """Return the rows of some items; with a precomputed kernel, their values with ``train``."""
        if isinstance(self.X, csr_array) and not self.is_gram:
            return taken(self.X, items)
        rows: Matrix = self.X[np.ix_(items, train)] if self.is_gram else self.X[items]
        return rows

    def only(self, items: Codes) -> Training:
        """Return the training data of some items."""
        chosen = self.rows(items, items)
        return Training(chosen, self.targets.select(items), self.weights[items], self.is_gram)

    def with_weight(self) -> Training:
        """Return the items whose weight is above 0."""
        if (self.weights > 0).all():
            return self
        items = np.flatnonzero(self.weights)
        if not len(items):
            raise ParameterError("No item has a weight above 0, so there is nothing to learn.")
        return self.only(items)


class Learned(NamedTuple):
    """The result of ``learn``.

    Attributes
    ----------
    scorer
        The scorer of new items.
    facts
        Fitted attributes of the model by name: certificate, history, chosen parameters.
    start
        The state for a warm start, or None if the model has none.
    """

    scorer: Scorer
    facts: dict[str, object]
    start: Any = None


class Learner(Protocol):
    """The part of a model that learns from items."""

    def learn(self, training: Training, start: Any = None) -> Learned:
        """Learn from items, with an optional warm start, without changing the model."""

    def start_of(self, items: Codes) -> Any:
        """Return the warm start for some items of the last fit."""


class ItemStart(Protocol):
    """A warm start that has a row for each item; see ``Traits.starts_by_item``."""

    @property
    def alpha(self) -> CSR:
        """Dual variables, (n_items, n_columns)."""

    def of(self, items: Codes) -> Self:
        """Return the start of some items; those beyond the last row start at 0."""


class HeldOutTaker(Protocol):
    """Receiver of the scores of held-out items."""

    def take(self, items: Codes, scored: Scored) -> None:
        """Take a block of scored items, numbered as in the training data."""


def hold_out(
    learner: Learner,
    training: Training,
    folds: Folds,
    takers: Sequence[HeldOutTaker],
    n_threads: int = 1,
) -> None:
    """Learn without each fold in turn, and pass the scores of held-out items to all takers.

    Parameters
    ----------
    learner
        A model that was fitted to all items.
    training
        All items.
    folds
        Pairs of training and test items.
    takers
        Receivers of the scores. Each gets every held-out item once, block by block.
    n_threads
        The number of threads to score with; the result does not depend on it.
    """
    for number, (train, test) in enumerate(folds, 1):
        logger.info("Fold %d of %d: scoring %d held-out items.", number, len(folds), len(test))
        learned = learner.learn(training.only(train), learner.start_of(train))
        scored = Scored(learned.scorer, training.rows(test, train), n_threads)
        hand_over(scored, test, takers)


def hand_over(scored: Scored, items: Codes, takers: Sequence[HeldOutTaker]) -> None:
    """Pass the scores of items to all takers, block by block."""
    begin = 0
    for block in scored.blocks():
        end = begin + block.X.shape[0]
        for taker in takers:
            taker.take(items[begin:end], block)
        begin = end


def plain_folds(cv: FoldsLike, weights: Floats) -> Folds:
    """Return folds of items with positive weight that do not depend on the labels.

    Parameters
    ----------
    cv
        A number of folds, drawn with a fixed seed; an object with ``split``; or the folds.
    weights
        Weights of all items.

    Returns
    -------
    list of pairs of arrays
        Empty for ``cv=0`` and for a single item, which cannot be held out.
    """
    items = np.flatnonzero(weights)
    if isinstance(cv, Integral):
        if cv == 0 or len(items) < 2:
            return []
        _check_number(int(cv))
        # These are KFold's folds, without the second that its package takes to import.
        mixed = check_random_state(0).permutation(len(items))
        parts = np.array_split(mixed, min(int(cv), len(items)))
        return [(np.delete(items, part), items[np.sort(part)]) for part in parts]
    splits = cv.split(np.arange(len(weights))) if hasattr(cv, "split") else cv
    return _weighted(splits, weights)


def dealt_folds(cv: FoldsLike, targets: Targets, weights: Floats) -> Folds:
    """Return folds that are stratified by category.

    Parameters
    ----------
    cv
        The number of folds; a splitter with a ``split`` method; or pairs of arrays.
    targets
        The categories of the items.
    weights
        The weights of the items. Items of weight 0 are excluded from all folds.

    Returns
    -------
    list of pairs of arrays
        Training and test items. Empty if there is only one item, which cannot be held out.

    Raises
    ------
    ValueError
        If there are fewer than two folds, or if an item is held out twice.
    """
    if isinstance(cv, Integral):
        return _dealt(int(cv), targets, np.flatnonzero(weights))
    n_items = len(weights)
    splits = cv.split(np.zeros((n_items, 1)), _strata(targets)) if hasattr(cv, "split") else cv
    folds = _weighted(splits, weights)
    held_out = np.concatenate([test for _, test in folds]) if folds else np.arange(0)
    if len(np.unique(held_out)) < len(held_out):
        raise ParameterError(
            "cv holds an item out twice; give splits whose test items are disjoint."
        )
    if not len(held_out):
        raise ParameterError("cv holds no item out, so there is nothing to calibrate with.")
    return folds


def _weighted(splits: Any, weights: Floats) -> Folds:
    """Return splits as numbers of items with positive weight."""
    everyone = np.arange(len(weights))
    parts = [tuple(everyone[np.asarray(part)] for part in pair) for pair in splits]
    return [(train[weights[train] > 0], test[weights[test] > 0]) for train, test in parts]


def _dealt(n_folds: int, targets: Targets, items: Codes) -> Folds:
    """Return stratified folds of items in random order."""
    _check_number(n_folds)
    if len(items) < 2:
        return []
    mixed = np.random.default_rng(0).permutation(items)
    order = mixed[np.argsort(_strata(targets)[mixed], kind="stable")]
    n_folds = min(n_folds, len(items))
    return [
        (np.sort(np.delete(order, np.s_[k::n_folds])), np.sort(order[k::n_folds]))
        for k in range(n_folds)
    ]


def _check_number(n_folds: int) -> None:
    """Raise if there are fewer than two folds."""
    if n_folds < 2:
        raise ParameterError(f"cv must be at least 2, or splits. Got {n_folds}.")


def _strata(targets: Targets) -> Codes:
    """Return the first category of each item, or -1 if it has none."""
    labels = targets.labels
    first = np.full(labels.shape[0], -1, dtype=np.intp)
    has_any = np.diff(labels.indptr) > 0
    first[has_any] = labels.indices[labels.indptr[:-1][has_any]]
    return first


class KeptScores:
    """A receiver that keeps the scores of all held-out items.

    Attributes
    ----------
    items
        The held-out items.
    scores
        Their category scores, (n_items, n_categories).
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[Codes, Floats]] = []

    def take(self, items: Codes, scored: Scored) -> None:
        """Keep a block; see ``HeldOutTaker``."""
        self._blocks.append((items, scored.categories))

    def __iter__(self) -> Iterator[tuple[Codes, Floats]]:
        """Return an iterator over the blocks."""
        return iter(self._blocks)

    @property
    def items(self) -> Codes:
        """The held-out items."""
        return np.concatenate([items for items, _ in self._blocks])

    @property
    def scores(self) -> Floats:
        """The category scores of the held-out items, (n_items, n_categories)."""
        return np.concatenate([scores for _, scores in self._blocks])
