"""Scores of categories, and where the relevant ones stand in their order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from taxonomist.errors import LabelError, some
from taxonomist.metrics._inputs import count_items
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats

CELLS = 2**22
"""Scores that are held dense at a time, beyond those that were given dense."""


@dataclass(frozen=True)
class Ranking:
    """The relevant categories of all items, item by item, best first.

    Attributes
    ----------
    item
        The item to which the entry belongs.
    nth
        1 for the best relevant category of the item, 2 for the next, and so on.
    position
        Its position among all categories, 1 for the first.
    n_relevant
        The number of relevant categories of each item.
    n_classes
        The number of categories.
    """

    item: Codes
    nth: Codes
    position: Codes
    n_relevant: Codes
    n_classes: int

    def per_item(self, values: Floats | Codes | Bools) -> Floats:
        """Return the sum of the entries' values for each item."""
        totals = np.bincount(self.item, weights=values, minlength=self.n_relevant.size)
        return totals.astype(np.float64)


def rank(y_true: Any, scores: Any, classes: Sequence[Any] | None) -> Ranking:
    """Rank the categories of every item; ties count against the relevant ones."""
    relevant, scores = read(y_true, scores, classes)
    n_relevant = np.diff(relevant.indptr).astype(np.intp)
    ahead = np.empty(relevant.nnz, dtype=np.intp)
    for start, stop in blocks(n_relevant, scores.shape[1]):
        block = dense(scores, slice(start, stop))
        item, column = relevant[start:stop].nonzero()
        own = block[item, column][:, np.newaxis]
        # NaN compares false, which leaves the irrelevant categories to be counted.
        block[item, column] = np.nan
        count = (block[item] >= own).sum(axis=1)
        entries = slice(relevant.indptr[start], relevant.indptr[stop])
        ahead[entries] = count[np.lexsort((count, item))]
    item = np.repeat(np.arange(n_relevant.size), n_relevant)
    nth = np.arange(1, item.size + 1) - relevant.indptr[item]
    return Ranking(item, nth, ahead + nth, n_relevant, scores.shape[1])


def blocks(n_relevant: Codes, n_classes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of items whose relevant categories x all categories fill at most CELLS."""
    filled = np.cumsum(np.maximum(n_relevant, 1)) * n_classes // CELLS
    bounds = [*np.flatnonzero(np.diff(filled, prepend=-1)).tolist(), n_relevant.size]
    return pairwise(bounds)


def dense(scores: Any, rows: slice | Codes) -> Floats:
    """Return some rows of the scores as a dense array of their own."""
    part = scores[rows]
    return part.toarray() if sparse.issparse(part) else np.array(part)


def read(y_true: Any, scores: Any, classes: Sequence[Any] | None) -> tuple[CSR, Any]:
    """Return the relevant categories, items x classes, and the checked scores."""
    scores = check_scores(scores)
    count_items(y_true, scores, "scores")
    if classes is not None and len(classes) != scores.shape[1]:
        message = f"scores has {scores.shape[1]} columns and classes {len(classes)} labels."
        raise LabelError(message)
    if _is_indicator(y_true):
        relevant = _indicator(y_true)
        if relevant.shape != scores.shape:
            message = f"y_true has shape {relevant.shape} and scores {scores.shape}."
            raise LabelError(f"{message} An indicator needs the columns of scores.")
        return relevant, scores
    if classes is None:
        message = "y_true holds labels: say with classes= what the columns of scores stand for."
        raise LabelError(message)
    return _relevant(y_true, list(classes)), scores


def check_scores(scores: Any) -> Any:
    """Return scores as a dense or CSR array of floats without NaN, items x classes."""
    scores = sparse.csr_array(scores) if sparse.issparse(scores) else np.asarray(scores)
    if scores.ndim != 2:
        message = f"scores has {scores.ndim} dimension(s); give one row per item"
        raise LabelError(f"{message} and one column per category.")
    if scores.shape[1] == 0:
        raise LabelError("scores has no columns: give one column per category.")
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    if sparse.issparse(scores):
        rows = scores.tocoo().coords[0][np.isnan(scores.data)]
    else:
        rows = np.flatnonzero(np.isnan(scores).any(axis=1))
    if rows.size:
        message = f"scores is NaN in row {rows[0]}: every category needs a score to be ranked."
        raise LabelError(message)
    return scores


def _relevant(y_true: Any, classes: list[Any]) -> CSR:
    """Return labels or label sets as items x classes."""
    column = {label: j for j, label in enumerate(classes)}
    if len(column) < len(classes):
        raise LabelError("classes names a label twice: each column of scores needs its own.")
    if labels.is_label_sets(y_true):
        table = np.asarray(y_true) if getattr(y_true, "ndim", 1) == 2 else y_true
        rows = [[label for label in row if not _is_padding(label)] for row in table]
    else:
        rows = [[label] for label in y_true]
    flat = [label for row in rows for label in row]
    unknown = [label for label in dict.fromkeys(flat) if label not in column]
    if unknown:
        message = f"y_true has labels that have no column in scores: {some(unknown)}."
        raise LabelError(f"{message} Score every category, or leave these items out.")
    indptr = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter((column[label] for label in flat), dtype=np.intp, count=len(flat))
    relevant = sparse.csr_array(
        (np.ones(len(flat), dtype=bool), columns, indptr), shape=(len(rows), len(classes))
    )
    relevant.sum_duplicates()
    return relevant


def _is_padding(label: Any) -> bool:
    """Return whether a cell of a table of ids only fills up its row."""
    return label is None or label == "" or label != label


def _is_indicator(y: Any) -> bool:
    """Return whether labels are a matrix of numbers, and not a table of ids."""
    if sparse.issparse(y):
        return True
    return getattr(y, "ndim", 1) == 2 and np.asarray(y).dtype.kind in "biuf"


def _indicator(y: Any) -> CSR:
    """Return a matrix of zeros and ones as a sparse array of booleans."""
    matrix = sparse.csr_array(y if sparse.issparse(y) else np.asarray(y))
    if not np.isin(matrix.data, (0, 1)).all():
        raise LabelError("y_true is a matrix with values other than 0 and 1: give an indicator.")
    matrix = matrix.astype(bool)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
