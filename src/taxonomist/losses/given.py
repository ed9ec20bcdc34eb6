"""User-defined losses: a matrix or a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from taxonomist.errors import LabelError, some
from taxonomist.losses.base import CategoryLoss, check_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import Codes, Floats, MatrixLike
    from taxonomist.taxonomy import Taxonomy

CACHED_CELLS = 2**22
"""Maximum number of values in a callable's row cache: 32 MB."""


class MatrixLoss(CategoryLoss):
    """A loss given as a matrix.

    Parameters
    ----------
    taxonomy, categories
        See `CategoryLoss`.
    matrix
        Dense or sparse, of shape (n_categories, n_categories), rows for the true category; or
        a pandas DataFrame whose index and columns are ids, in any order.

    Attributes
    ----------
    matrix
        The matrix as a dense array in the column order of the categories.

    Raises
    ------
    LabelError
        If the shape does not match, or if a value is not finite, not zero on the diagonal, or
        not positive elsewhere.
    """

    def __init__(self, taxonomy: Taxonomy, categories: Codes, matrix: MatrixLike) -> None:
        super().__init__(taxonomy, categories)
        if hasattr(matrix, "reindex"):
            matrix = self._aligned(matrix)
        if np.shape(matrix) != (self.n_categories, self.n_categories):
            raise LabelError(
                f"The loss matrix has shape {np.shape(matrix)}; it needs one row and one column "
                f"for each of the {self.n_categories} categories."
            )
        self.matrix = self._dense(matrix)
        positions = np.arange(self.n_categories)
        check_values(self, positions[:, None], positions[None, :], self.matrix)

    def pairs(self, i: Codes, j: Codes) -> Floats:
        """Return the entries of the matrix; see `CategoryLoss.pairs`."""
        found: Floats = self.matrix[i, j]
        return found

    def _aligned(self, frame: Any) -> Any:
        """Return the values of a DataFrame in category order."""
        ids = list(self.ids)
        for axis, known in (("index", set(frame.index)), ("columns", set(frame.columns))):
            absent = [id_ for id_ in ids if id_ not in known]
            if absent:
                raise LabelError(f"The {axis} of the loss matrix lacks {some(absent)}.")
        return frame.loc[ids, ids].to_numpy()

    def _dense(self, matrix: MatrixLike) -> Floats:
        """Return a dense copy; reject a sparse matrix with gaps before making it dense."""
        if not sparse.issparse(matrix):
            return np.array(matrix, dtype=np.float64)
        stored = sparse.csr_array(matrix)
        for i in np.flatnonzero(np.diff(stored.indptr) < self.n_categories - 1)[:1]:
            present = stored.indices[stored.indptr[i] : stored.indptr[i + 1]]
            gap = np.setdiff1d(np.arange(self.n_categories), [*present, i])[:1]
            check_values(self, np.array([i]), gap, np.zeros(1))
        return np.asarray(stored.toarray(), dtype=np.float64)


class CallableLoss(CategoryLoss):
    """A loss computed by a function on demand.

    Parameters
    ----------
    taxonomy, categories
        See `CategoryLoss`.
    function
        A function of the true and the predicted id that returns the loss.

    Raises
    ------
    LabelError
        On evaluation, if a value is not finite, not zero on equality, or not positive
        elsewhere.
    """

    def __init__(
        self, taxonomy: Taxonomy, categories: Codes, function: Callable[[str, str], float]
    ) -> None:
        super().__init__(taxonomy, categories)
        self.function = function
        self._recent: dict[int, Floats] = {}

    def row(self, i: int) -> Floats:
        """Return one row, from the cache if it was used recently."""
        found = self._recent.pop(i, None)
        if found is None:
            found = super().row(i)
            found.flags.writeable = False
        self._recent[i] = found
        if len(self._recent) > max(1, CACHED_CELLS // self.n_categories):
            del self._recent[next(iter(self._recent))]
        return found

    def pairs(self, i: Codes, j: Codes) -> Floats:
        """Return the loss of every pair, calling the function once per distinct pair."""
        cells = np.asarray(i, dtype=np.intp) * self.n_categories + j
        distinct, inverse = np.unique(cells, return_inverse=True)
        true, predicted = np.divmod(distinct, self.n_categories)
        ids, couples = self.ids, zip(true, predicted, strict=True)
        values = np.array([self.function(ids[y], ids[u]) for y, u in couples], dtype=np.float64)
        check_values(self, true, predicted, values)
        return values[inverse]
