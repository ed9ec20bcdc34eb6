"""Scores of categories, and the positions of the relevant ones in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from taxonomist.errors import LabelError, some
from taxonomist.metrics._inputs import as_id, count_items
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taxonomist._typing import CSR, Bools, Codes, Floats, LabelsLike, Matrix, MatrixLike

DENSE_CELLS = 2**22
"""Maximum number of sparse scores made dense at a time; several copies are made."""


@dataclass(frozen=True)
class Ranking:
    """The relevant categories of all items, item by item, best first.

    Attributes
    ----------
    item
        The item of each entry.
    nth
        1 for the best relevant category of the item, 2 for the next, and so on.
    position
        Its position among all categories, 1 for the first.
    n_relevant
        Number of relevant categories of each item.
    n_classes
        Number of categories.
    """

    item: Codes
    nth: Codes
    position: Codes
    n_relevant: Codes
    n_classes: int

    def per_item(self, values: Floats | Codes | Bools) -> Floats:
        """Sum the values of the entries by item."""
        totals = np.bincount(self.item, weights=values, minlength=self.n_relevant.size)
        return totals.astype(np.float64)


def rank(y_true: LabelsLike, scores: MatrixLike, classes: Sequence[object] | None) -> Ranking:
    """Rank the categories of every item; ties count against the relevant ones."""
    relevant, scores = read(y_true, scores, classes)
    positions = []
    for rows in blocks(*scores.shape):
        hits = relevant[rows].toarray()
        # False sorts before True: among equal scores the irrelevant categories come first.
        order = np.lexsort((hits, -dense(scores, rows)), axis=1)
        positions.append(np.take_along_axis(hits, order, axis=1).nonzero()[1] + 1)
    n_relevant = np.diff(relevant.indptr).astype(np.intp)
    item = np.repeat(np.arange(n_relevant.size), n_relevant)
    nth = np.arange(1, item.size + 1) - relevant.indptr[item]
    return Ranking(item, nth, np.concatenate(positions), n_relevant, scores.shape[1])


def blocks(n_items: int, n_classes: int) -> Iterator[slice]:
    """Yield ranges of items with at most DENSE_CELLS scores, but at least one item."""
    size = max(1, DENSE_CELLS // n_classes)
    return (slice(start, start + size) for start in range(0, n_items, size))


def dense(scores: Matrix, rows: slice | Codes) -> Floats:
    """Return a dense copy of some rows of the scores."""
    part = scores[rows]
    return part.toarray() if sparse.issparse(part) else np.array(part)


def read(
    y_true: LabelsLike, scores: MatrixLike, classes: Sequence[object] | None
) -> tuple[CSR, Matrix]:
    """Return the relevant categories, items x classes, and the checked scores."""
    scores = check_scores(scores)
    count_items(y_true, scores, "scores")
    if classes is not None:
        check_classes(classes, scores)
    if labels.is_indicator(y_true):
        relevant = _indicator(y_true)
        if relevant.shape != scores.shape:
            message = f"y_true has shape {relevant.shape} but scores has {scores.shape}."
            raise LabelError(f"{message} An indicator matrix needs the same columns as scores.")
        return relevant, scores
    if classes is None:
        message = "y_true holds labels; pass classes=, the label of each column of scores."
        raise LabelError(message)
    return _relevant(y_true, classes), scores


def check_scores(scores: MatrixLike) -> Matrix:
    """Return scores as a dense or CSR array of floats without NaN, items x classes."""
    scores = sparse.csr_array(scores) if sparse.issparse(scores) else np.asarray(scores)
    if scores.ndim != 2:
        message = f"scores has {scores.ndim} dimension(s); pass one row per item"
        raise LabelError(f"{message} and one column per category.")
    if scores.shape[1] == 0:
        raise LabelError("scores has no columns; pass one column per category.")
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    if sparse.issparse(scores):
        rows = scores.tocoo().coords[0][np.isnan(scores.data)]
    else:
        rows = np.flatnonzero(np.isnan(scores).any(axis=1))
    if rows.size:
        message = f"scores is NaN in row {rows[0]}; every category needs a score to be ranked."
        raise LabelError(message)
    return scores


def check_classes(classes: Sequence[object], scores: Matrix) -> None:
    """Raise unless every column of the scores has its own label."""
    if len(classes) != scores.shape[1]:
        message = f"scores has {scores.shape[1]} columns but classes has {len(classes)} labels."
        raise LabelError(message)
    if len(set(map(as_id, classes))) < len(classes):
        raise LabelError("classes names a label twice; each column of scores needs its own.")


def _relevant(y_true: LabelsLike, classes: Sequence[object]) -> CSR:
    """Return labels or label sets as a boolean matrix, items x classes."""
    column = {as_id(label): j for j, label in enumerate(classes)}
    rows = [[as_id(label) for label in row] for row in labels.as_sets(y_true, "y_true")]
    flat = [label for row in rows for label in row]
    unknown = [label for label in dict.fromkeys(flat) if label not in column]
    if unknown:
        message = f"y_true has labels without a column in scores: {some(unknown)}."
        raise LabelError(f"{message} Score every category, or remove these items.")
    indptr = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter((column[label] for label in flat), dtype=np.intp, count=len(flat))
    relevant = sparse.csr_array(
        (np.ones(len(flat), dtype=bool), columns, indptr), shape=(len(rows), len(classes))
    )
    relevant.sum_duplicates()
    return relevant


def _indicator(y: LabelsLike) -> CSR:
    matrix = sparse.csr_array(y if sparse.issparse(y) else np.asarray(y))
    if not np.isin(matrix.data, (0, 1)).all():
        raise LabelError(
            "y_true is a matrix with values other than 0 and 1; pass an indicator matrix."
        )
    matrix = matrix.astype(bool)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
