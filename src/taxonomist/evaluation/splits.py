"""Split items for training and testing: stratified folds, given folds, few items per category.

All three accept one label per item or a set of labels per item, and do not need a taxonomy.
Categories with fewer items than folds, even a single one, are allowed: the folds that test their
items may have none left for training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError, ParameterError
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from taxonomist._typing import CSR, Codes, ItemsLike, LabelsLike
    from taxonomist.evaluation.significance import Seed


@dataclass(frozen=True)
class StratifiedFolds:
    """Folds of equal size that distribute the items of every category evenly.

    With one label per item, the numbers of items of a category in any two folds differ by at most
    one, and so do the sizes of the folds. With label sets, the sizes are as equal, and labels are
    distributed from the rarest to the most frequent: each item goes to the fold that lacks most
    items of the label, a simple form of iterative stratification. This is a scikit-learn splitter.

    Parameters
    ----------
    n_splits
        Number of folds, at least 2.
    shuffle
        Whether to draw the folds at random instead of following the order of the items.
    random_state
        Seed of the shuffling; with an integer, every call gives the same folds.
    """

    n_splits: int = 3
    shuffle: bool = True
    random_state: Seed = None

    def __post_init__(self) -> None:
        if not isinstance(self.n_splits, int | np.integer) or self.n_splits < 2:
            message = f"n_splits must be a whole number, at least 2. Got {self.n_splits!r}."
            raise ParameterError(message)

    def folds(self, y: LabelsLike) -> Codes:
        """Return the test fold of each item.

        Parameters
        ----------
        y
            One label per item, a sequence of label sets, or an indicator matrix (dense or sparse).

        Returns
        -------
        ndarray
            A number from 0 to ``n_splits - 1`` per item.

        Raises
        ------
        LabelError
            If a label is missing, or there are fewer items than folds.
        """
        n_items = n_rows(y)
        if n_items < self.n_splits:
            message = f"Cannot make {self.n_splits} folds of {n_items} items; decrease n_splits."
            raise LabelError(message)
        rng = np.random.default_rng(self.random_state)
        order = rng.permutation(n_items) if self.shuffle else np.arange(n_items)
        if labels.is_label_sets(y):
            return _spread_sets(_indicator(y), order, self.n_splits)
        codes = _codes(y)
        if self.shuffle:
            codes = rng.permutation(codes.max() + 1)[codes]
        # Deal items like cards, category by category, so no two folds differ by more than one.
        folds = np.empty(n_items, dtype=np.intp)
        folds[order[np.argsort(codes[order], kind="stable")]] = np.arange(n_items) % self.n_splits
        return folds

    def split(
        self, X: ItemsLike, y: LabelsLike | None = None, groups: object = None
    ) -> Iterator[tuple[Codes, Codes]]:
        """Yield the training and test items of each fold.

        Parameters
        ----------
        X
            The items; only their number is used.
        y
            Their labels, in any form.
        groups
            Must be None, because groups are not kept together.

        Yields
        ------
        tuple of ndarray
            Sorted indices of the training and of the test items.

        Raises
        ------
        LabelError
            As in :meth:`folds`; also if ``X`` and ``y`` differ in length or ``y`` is None.
        ValueError
            If groups are given.
        """
        if groups is not None:
            message = "StratifiedFolds cannot keep groups together; use StratifiedGroupKFold."
            raise ParameterError(message)
        if y is None:
            message = "StratifiedFolds needs labels; pass y."
            raise LabelError(message)
        check_lengths(X, y)
        return _pairs(self.folds(y))

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:  # noqa: ARG002
        """Return the number of folds; the arguments are ignored."""
        return self.n_splits


class GivenFolds:
    """Predefined folds; -1 marks items that are always used for training.

    For a fixed split, use one fold: -1 for the training items, 0 for the test items.

    Parameters
    ----------
    folds
        An integer per item: the number of the fold that tests it, or -1.

    Raises
    ------
    ValueError
        If the numbers are not integers of at least -1, or a fold would leave nothing to train on.
    """

    def __init__(self, folds: ArrayLike) -> None:
        given = np.asarray(folds)
        if given.ndim != 1 or given.dtype.kind not in "iu" or given.size == 0 or given.min() < -1:
            message = f"folds must be a sequence of integers, at least -1. Got {folds!r}."
            raise ParameterError(message)
        if given.max() < 0 or given.min() == given.max():
            message = f"All items are in fold {given[0]}, so nothing is left to train or test on."
            raise ParameterError(message)
        self.fold_numbers = given.astype(np.intp)

    def __repr__(self) -> str:
        return f"GivenFolds({self.get_n_splits()} folds of {self.fold_numbers.size} items)"

    def split(
        self,
        X: ItemsLike,
        y: object = None,  # noqa: ARG002
        groups: object = None,  # noqa: ARG002
    ) -> Iterator[tuple[Codes, Codes]]:
        """Yield the training and test items of each fold, ordered by fold number.

        Parameters
        ----------
        X
            The items; only their number is used.
        y, groups
            Ignored; present for API consistency.

        Yields
        ------
        tuple of ndarray
            Sorted indices of the training and of the test items.

        Raises
        ------
        LabelError
            If the number of items differs from the number of fold numbers.
        """
        check_lengths(X, self.fold_numbers, "folds")
        return _pairs(self.fold_numbers)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:  # noqa: ARG002
        """Return the number of folds; the arguments are ignored."""
        return int(np.unique(self.fold_numbers[self.fold_numbers >= 0]).size)


def sample_per_category(y: LabelsLike, k: int, random_state: Seed = None) -> Codes:
    """Draw up to ``k`` items of each category.

    Parameters
    ----------
    y
        One label per item, a sequence of label sets, or an indicator matrix (dense or sparse).
        An item with several labels counts for each of them, and is drawn if one of them still
        has fewer than ``k`` items, so frequent labels can exceed ``k``.
    k
        Number of items per category, at least 1.
    random_state
        Seed of the draw.

    Returns
    -------
    ndarray
        Sorted indices of the drawn items.

    Raises
    ------
    LabelError
        If there are no items, or a label is missing.
    ValueError
        If ``k`` is not a whole number of at least 1.
    """
    if not isinstance(k, int | np.integer) or k < 1:
        message = f"k must be a whole number, at least 1. Got {k!r}."
        raise ParameterError(message)
    order = np.random.default_rng(random_state).permutation(n_rows(y))
    if labels.is_label_sets(y):
        return _sample_sets(_indicator(y), order, k)
    codes = _codes(y)
    order = order[np.argsort(codes[order], kind="stable")]
    rank = np.arange(order.size) - np.searchsorted(codes[order], codes[order])
    return np.sort(order[rank < k])


def n_rows(data: Any) -> int:
    """Return the number of items in a list, array, sparse matrix or data frame."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def take(data: Any, indices: Codes) -> Any:
    """Return the given items of a list, array, sparse matrix or data frame."""
    if hasattr(data, "iloc"):
        return data.iloc[indices]
    if hasattr(data, "tocsr"):
        return data.tocsr()[indices]
    return data[indices] if hasattr(data, "shape") else [data[i] for i in indices]


def check_lengths(X: ItemsLike, y: LabelsLike, name: str = "y") -> None:
    """Raise if items and labels differ in number."""
    if n_rows(X) != n_rows(y):
        message = f"X has {n_rows(X)} items, but {name} has {n_rows(y)}."
        raise LabelError(message)


def _pairs(folds: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield the items outside and inside each fold."""
    for fold in np.unique(folds[folds >= 0]):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _codes(y: LabelsLike) -> Codes:
    """Return the labels numbered by first appearance."""
    rows = labels.as_sets(y)
    if not rows:
        message = "There are no items: y is empty."
        raise LabelError(message)
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for (label,) in rows], dtype=np.intp)


def _indicator(y: LabelsLike) -> CSR:
    """Return label sets as a sparse matrix, one row per item and one column per label."""
    from scipy.sparse import csr_array

    if labels.is_indicator(y):
        # Copy, because the next steps work in place.
        given = y if hasattr(y, "tocsr") else np.asarray(y, dtype=bool)
        matrix = csr_array(given, dtype=bool, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix
    # Sort, because sets of strings iterate in a different order in each process.
    rows = [sorted(set(row), key=str) for row in labels.as_sets(y)]
    numbers: dict[object, int] = {}
    columns = [numbers.setdefault(label, len(numbers)) for row in rows for label in row]
    indptr = np.cumsum([0, *map(len, rows)])
    shape = (len(rows), max(1, len(numbers)))
    return csr_array((np.ones(len(columns), dtype=bool), columns, indptr), shape=shape)


def _spread_sets(Y: CSR, order: Codes, n_splits: int) -> Codes:
    """Return folds of equal size, distributing labels from the rarest to the most frequent."""
    n_items = Y.shape[0]
    folds = np.full(n_items, -1, dtype=np.intp)
    room = np.full(n_splits, n_items // n_splits) + (np.arange(n_splits) < n_items % n_splits)
    by_label = Y[order].tocsc()
    counts = np.diff(by_label.indptr)
    lacking = np.repeat(counts[:, None] / n_splits, n_splits, axis=1)
    for label in np.argsort(counts, kind="stable"):
        for item in order[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]]:
            if folds[item] >= 0:
                continue
            need = np.where(room > 0, lacking[label], -np.inf)
            fold = np.lexsort((room, need))[-1]
            folds[item] = fold
            room[fold] -= 1
            lacking[Y.indices[Y.indptr[item] : Y.indptr[item + 1]], fold] -= 1
    folds[order[folds[order] < 0]] = np.repeat(np.arange(n_splits), room)
    return folds


def _sample_sets(Y: CSR, order: Codes, k: int) -> Codes:
    """Take items in the given order if one of their labels has fewer than k items so far."""
    drawn = np.zeros(Y.shape[1], dtype=np.intp)
    chosen = []
    for item in order:
        columns = Y.indices[Y.indptr[item] : Y.indptr[item + 1]]
        if (drawn[columns] < k).any():
            drawn[columns] += 1
            chosen.append(item)
    return np.sort(np.array(chosen, dtype=np.intp))
