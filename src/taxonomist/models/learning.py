"""What learning takes and returns, and learning again without the items that are held out."""

from __future__ import annotations

import logging
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from sklearn.model_selection import KFold

from taxonomist.inference.scorers import Scored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taxonomist._typing import Codes, Floats
    from taxonomist.inference.scorers import Scorer
    from taxonomist.models.targets import Targets

    Folds = list[tuple[Codes, Codes]]
    """Pairs of the items to learn from and those to hold out."""

logger = logging.getLogger(__name__)


class Training(NamedTuple):
    """What a model learns from.

    Attributes
    ----------
    X
        Checked rows; with a precomputed kernel the values between them.
    targets
        Their categories.
    weights
        What each item counts.
    is_gram
        Whether ``X`` is a precomputed kernel.
    """

    X: Any
    targets: Targets
    weights: Floats
    is_gram: bool = False

    def rows(self, items: Codes, train: Codes) -> Any:
        """Return some items, with a precomputed kernel their values with the training items."""
        return self.X[np.ix_(items, train)] if self.is_gram else self.X[items]

    def only(self, items: Codes) -> Training:
        """Return some of the items."""
        chosen = self.rows(items, items)
        return Training(chosen, self.targets.select(items), self.weights[items], self.is_gram)

    def with_weight(self) -> Training:
        """Return the items whose weight is above 0."""
        if (self.weights > 0).all():
            return self
        items = np.flatnonzero(self.weights)
        if not len(items):
            raise ValueError("No item has a weight above 0, so there is nothing to learn.")
        return self.only(items)


class Learned(NamedTuple):
    """What a learner returns.

    Attributes
    ----------
    scorer
        What scores items.
    facts
        Fitted attributes of the model by name: certificate, history, chosen parameters.
    start
        Where learning from the same items may go on; None if it cannot.
    """

    scorer: Scorer
    facts: dict[str, Any]
    start: Any = None


class Learner(Protocol):
    """Learns from items: the models themselves."""

    def learn(self, training: Training, start: Any = None) -> Learned:
        """Return what is learned, from a start if there is one; the model stays as it is."""

    def start_of(self, items: Codes) -> Any:
        """Return where learning from some items of the last fit may start."""


class HeldOutTaker(Protocol):
    """Takes the scores of held-out items."""

    def take(self, items: Codes, scored: Scored) -> None:
        """Take scored items, numbered as in the training."""


def hold_out(
    learner: Learner, training: Training, folds: Folds, takers: Sequence[HeldOutTaker]
) -> None:
    """Learn without the items of each fold in turn, and hand their scores to all takers.

    Parameters
    ----------
    learner
        A model that was fitted to all items.
    training
        All items.
    folds
        Pairs of the items to learn from and those to score.
    takers
        Each gets the scores of every held-out item once, block by block.
    """
    for number, (train, test) in enumerate(folds, 1):
        logger.info("Fold %d of %d: scoring %d held-out items.", number, len(folds), len(test))
        learned = learner.learn(training.only(train), learner.start_of(train))
        hand_over(Scored(learned.scorer, training.rows(test, train)), test, takers)


def hand_over(scored: Scored, items: Codes, takers: Sequence[HeldOutTaker]) -> None:
    """Hand the scores of items to all takers, block by block."""
    begin = 0
    for block in scored.blocks():
        end = begin + block.X.shape[0]
        for taker in takers:
            taker.take(items[begin:end], block)
        begin = end


def plain_folds(cv: Any, n_items: int) -> Folds:
    """Return folds that do not look at the labels.

    Parameters
    ----------
    cv
        A number of folds, drawn with a fixed seed; an object with ``split``; or the folds.
    n_items
        How many items there are.
    """
    if isinstance(cv, Integral):
        folds = KFold(min(int(cv), n_items), shuffle=True, random_state=0)
        return list(folds.split(np.arange(n_items)))
    return list(cv.split(np.arange(n_items)) if hasattr(cv, "split") else cv)


def dealt_folds(cv: Any, targets: Targets, weights: Floats) -> Folds:
    """Return folds of items with a weight, each with its share of every category.

    Parameters
    ----------
    cv
        A number of folds; an object with ``split``; or pairs of arrays.
    targets
        What the items are labelled with.
    weights
        Those of the items; items without weight are left out of all folds.

    Returns
    -------
    list of pairs of arrays
        Empty if there is only one item, which cannot be held out.

    Raises
    ------
    ValueError
        If there are fewer than two folds, or an item would be held out twice.
    """
    if isinstance(cv, Integral):
        return _dealt(int(cv), targets, np.flatnonzero(weights))
    n_items = len(weights)
    splits = cv.split(np.zeros((n_items, 1)), _strata(targets)) if hasattr(cv, "split") else cv
    folds = [tuple(np.arange(n_items)[np.asarray(part)] for part in pair) for pair in splits]
    folds = [(train[weights[train] > 0], test[weights[test] > 0]) for train, test in folds]
    held_out = np.concatenate([test for _, test in folds]) if folds else np.arange(0)
    if len(np.unique(held_out)) < len(held_out):
        raise ValueError("cv holds an item out twice; give splits whose test items are disjoint.")
    if not len(held_out):
        raise ValueError("cv holds no item out, so there is nothing to calibrate by.")
    return folds


def _dealt(n_folds: int, targets: Targets, items: Codes) -> Folds:
    """Return folds to which the items are dealt out, category by category."""
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2, or splits. Got {n_folds}.")
    if len(items) < 2:
        return []
    mixed = np.random.default_rng(0).permutation(items)
    order = mixed[np.argsort(_strata(targets)[mixed], kind="stable")]
    n_folds = min(n_folds, len(items))
    return [
        (np.sort(np.delete(order, np.s_[k::n_folds])), np.sort(order[k::n_folds]))
        for k in range(n_folds)
    ]


def _strata(targets: Targets) -> Codes:
    """Return the first category of each item, -1 if it has none."""
    labels = targets.labels
    first = np.full(labels.shape[0], -1, dtype=np.intp)
    has_any = np.diff(labels.indptr) > 0
    first[has_any] = labels.indices[labels.indptr[:-1][has_any]]
    return first


class KeptScores:
    """Keeps the scores of all held-out items, dense.

    Attributes
    ----------
    items
        Which items were held out.
    scores
        Scores of their categories, (n_items, n_categories).
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
        """Which items were held out."""
        return np.concatenate([items for items, _ in self._blocks])

    @property
    def scores(self) -> Floats:
        """Scores of their categories, (n_items, n_categories)."""
        return np.concatenate([scores for _, scores in self._blocks])
