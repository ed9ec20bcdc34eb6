"""The joint problem over pairs of categories that all solvers of this folder share.

Problem       min_{w, ξ}  ½ ||w||² + Σ_i C_i ξ_i
              s.t.  f(x_i, y) - f(x_i, c) >= 1 - ξ_i / Δ(y, c)  for all y in Y_i, c not in Y_i,
              ξ_i >= 0,  with  f(x, c) = Σ_z λ_z(c) <w_z, φ(x)>  [CH04, Eq. 10, 24; CH07]
              or with a slack ξ_iyc for each pair in place of ξ_i [CH07, variant]
Dual          max_α  Σ α_iyc - ½ ||w(α)||²,  w_z(α) = Σ α_iyc (λ_z(y) - λ_z(c)) φ(x_i),
              α_iyc >= 0,  Σ_yc α_iyc / Δ(y, c) <= C_i          [CH04, Eq. 13, 25; CH07]
              or, with a slack for each pair,  α_iyc <= C_i Δ(y, c)

With one category per item this is the joint multiclass SVM. Solvers work on
β_iyc = α_iyc / Δ(y, c): the feasible set of an item is then a simplex scaled by C_i (or a cube),
and the gradient of the dual is G_iyc = Δ(y, c) (1 - f(x_i, y) + f(x_i, c)) [CH04, Eq. 28; CH07].

Notation
    i   item             n_items         x_i   ``rows``
    y   one of Y_i       ``labels``      c     another category, n_categories
    z   attribute        n_attributes    Λ     ``attributes`` (n_categories x n_attributes)
    Δ   loss             ``loss``        C_i   ``costs``
    β   ``Duals.beta``   ψ_i  ``JointFindings.violation`` [CH04, Eq. 33]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from taxonomist._typing import is_sparse
from taxonomist.compiled.arrays import (
    ANCESTORS,
    MATRIX,
    ZERO_ONE,
    Attributes,
    Labels,
    Loss,
    Rows,
    no_rows,
    read_only,
)
from taxonomist.compiled.attributes import write_shared
from taxonomist.compiled.joint_arrays import JointArrays
from taxonomist.compiled.losses import write_loss_matrix
from taxonomist.inference.linear_scorer import as_rows
from taxonomist.losses import AncestorLoss, CategoryLoss, ZeroOneLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike

    from taxonomist._typing import CSR, Codes, Floats, Matrix

LEAST_MARGIN = 1e-5
"""Items that cannot be separated by this margin count as not separable."""

TABULATED_CATEGORIES = 5_000
"""Number of categories up to which tables of losses and of products of attributes, 200 MB each, are
faster than computing each value when it is needed."""

NEIGHBOURS = 16
"""Items in random order that are visited together. What belongs to them is near in memory, which
takes a fifth of the time off a pass; 64 would need more passes."""

ROWS_TOGETHER = 1024
"""Rows that are copied, or whose values are squared, at once."""

GRAM_ROWS_AT_A_TIME = 256
"""Items whose rows of the Gram matrix are computed at once."""


class Items(Protocol):
    """A source of the items' rows for solvers."""

    dual_form: bool
    n_weights: int

    @property
    def norms(self) -> Floats:
        """||φ(x_i)||² of every item."""

    def groups(self, rng: np.random.Generator, size: int) -> list[Codes]:
        """Return all items in random order, in groups of at most ``size``."""

    def batches(self) -> list[Codes]:
        """Return all items in batches whose rows fit into memory together."""

    def rows(self, group: Codes, row_of: Codes) -> Rows:
        """Return rows that hold a group's items, and write their positions to ``row_of``."""


class FeatureRows:
    """Items as rows of a feature matrix: the linear kernel, with weights per feature.

    Parameters
    ----------
    X
        Items x features, dense or CSR.
    dtype
        Type of the values and of the weights.
    n_together
        Number of neighbours that stay together in the random order of ``groups``.
    """

    dual_form = False

    def __init__(self, X: Matrix, dtype: DTypeLike, n_together: int = 1) -> None:
        self._X, self._dtype, self._n_together = X, dtype, n_together
        self.n_weights = X.shape[1]

    @cached_property
    def _rows(self) -> Rows:
        return as_rows(self._X, self._dtype)

    @cached_property
    def norms(self) -> Floats:
        """||x_i||² of every item."""
        rows = self._rows
        norms = np.zeros(self._X.shape[0])
        # Squares of all entries at once would take twice the memory of the rows.
        for begin in range(0, len(norms), ROWS_TOGETHER):
            ends = rows.indptr[begin : begin + ROWS_TOGETHER + 1]
            squares = np.square(rows.data[ends[0] : ends[-1]], dtype=np.float64)
            filled = np.flatnonzero(np.diff(ends))
            norms[begin + filled] = np.add.reduceat(squares, ends[filled] - ends[0])
        return norms

    def groups(self, rng: np.random.Generator, size: int) -> list[Codes]:
        """Return all items in random order, in groups of at most ``size``."""
        n_items, n_together = self._X.shape[0], self._n_together
        first = n_together * rng.permutation(-(-n_items // n_together))
        order = (first[:, None] + np.arange(n_together)).ravel()
        return np.split(order[order < n_items], range(size, n_items, max(1, size)))

    def batches(self) -> list[Codes]:
        """Return all items in one batch."""
        return [np.arange(self._X.shape[0])]

    def rows(self, group: Codes, row_of: Codes) -> Rows:
        """Return all rows; the row of an item is its own number."""
        row_of[group] = group
        return self._rows

    def take(self, order: Codes) -> FeatureRows:
        """Return the items in a random order, whose neighbours are visited together."""
        X = self._X
        taken = _taken(X, order, self._dtype) if is_sparse(X) else X[order]
        return FeatureRows(taken, self._dtype, NEIGHBOURS)

    def scaled(self, scale: Floats) -> FeatureRows:
        """Return the same items with each feature times a number, (n_features,)."""
        X = self._X
        if is_sparse(X):
            values = (X.data * scale[X.indices]).astype(X.data.dtype)
            scaled: Matrix = type(X)((values, X.indices, X.indptr), shape=X.shape)
            return FeatureRows(scaled, self._dtype, self._n_together)
        return FeatureRows(X * scale, self._dtype, self._n_together)

    def in_double(self) -> FeatureRows:
        """Return the same items with values of type float64."""
        return FeatureRows(self._X, np.float64, self._n_together)


def _taken(X: CSR, order: Codes, dtype: DTypeLike) -> CSR:
    """Return rows in another order and of another type, without a copy of the first type."""
    indptr = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[order])])
    indices, data = np.empty(indptr[-1], X.indices.dtype), np.empty(indptr[-1], dtype)
    for begin in range(0, len(order), ROWS_TOGETHER):
        part = X[order[begin : begin + ROWS_TOGETHER]]
        at = slice(indptr[begin], indptr[begin] + part.nnz)
        indices[at], data[at] = part.indices, part.data
    return type(X)((data, indices, indptr), shape=(len(order), X.shape[1]))


class GramRows:
    """Items as rows of a Gram matrix, computed in blocks and kept within a memory budget.

    Parameters
    ----------
    kernel
        Returns k(x_i, x_j) for the given items i and all items j.
    norms
        k(x_i, x_i) of every item.
    budget
        Bytes that kept blocks may take.
    """

    dual_form = True

    def __init__(self, kernel: Callable[[Codes], Floats], norms: Floats, budget: float) -> None:
        # A diagonal is a view of other strides, for which numba would compile all loops again.
        self.norms: Floats = np.array(norms, dtype=np.float64)
        self.n_weights = len(norms)
        self._kernel = kernel
        self._blocks = np.split(
            np.arange(len(norms)), range(GRAM_ROWS_AT_A_TIME, len(norms), GRAM_ROWS_AT_A_TIME)
        )
        self._kept: dict[int, Floats] = {}
        self._most_kept = min(
            budget // (8 * GRAM_ROWS_AT_A_TIME * max(1, len(norms))), len(self._blocks)
        )

    def groups(self, rng: np.random.Generator, size: int) -> list[Codes]:
        """Return all items in random order, block by block, in groups of at most ``size``."""
        parts = range(size, GRAM_ROWS_AT_A_TIME, max(1, size))
        blocks = [rng.permutation(self._blocks[b]) for b in rng.permutation(len(self._blocks))]
        return [group for block in blocks for group in np.split(block, parts) if len(group)]

    def batches(self) -> list[Codes]:
        """Return the blocks."""
        return self._blocks

    def rows(self, group: Codes, row_of: Codes) -> Rows:
        """Return the rows of the block that the group is part of."""
        number = int(group[0]) // GRAM_ROWS_AT_A_TIME
        members = self._blocks[number]
        row_of[members] = np.arange(len(members))
        block = self._block(number)
        ends = np.arange(len(members) + 1) * len(self.norms)
        return read_only(Rows(ends, np.empty(0, dtype=np.int32), block.ravel()))

    def row(self, i: int) -> Floats:
        """Return k(x_i, x_j) for all items j; compute only this row if its block cannot be kept."""
        number, place = divmod(i, GRAM_ROWS_AT_A_TIME)
        if number in self._kept or len(self._kept) < self._most_kept:
            return np.asarray(self._block(number)[place])
        only: Floats = np.asarray(self._kernel(np.array([i])), dtype=np.float64)
        return only.ravel()

    def _block(self, number: int) -> Floats:
        """Return the rows of a block, and keep them if the budget allows."""
        block = self._kept.get(number)
        if block is None:
            block = np.ascontiguousarray(self._kernel(self._blocks[number]), dtype=np.float64)
            if len(self._kept) < self._most_kept:
                self._kept[number] = block
        return block


@dataclass(frozen=True)
class JointProblem:
    """A joint problem over items, categories and attributes.

    Attributes
    ----------
    items
        The rows of the items.
    labels
        Y_i, the categories of each item: (n_items, n_categories) boolean CSR.
    costs
        C_i of each item; infinite for a hard margin.
    attributes
        Λ, (n_categories, n_attributes) CSR.
    loss
        Δ between categories.
    slack
        ``"example"``: one slack for each item; ``"pair"``: one for each of its pairs (y, c).
    """

    items: Items
    labels: CSR
    costs: Floats
    attributes: CSR
    loss: CategoryLoss
    slack: str = "example"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[0])

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return int(self.attributes.shape[0])

    @property
    def n_pairs(self) -> int:
        """Number of dual variables: pairs of an item's category and another."""
        n_own = np.diff(self.labels.indptr)
        return int((n_own * (self.n_categories - n_own)).sum())

    def is_hopeless(self, dual: float) -> bool:
        """Return whether a hard margin is wanted, but ``LEAST_MARGIN`` cannot be reached.

        An item with pairs but no features cannot be separated. The dual value bounds ½ ||w||² of
        every separating w from below, and a margin of size γ in units of the longest item has
        ½ ||w||² = 1 / (2 γ²).
        """
        n_own = np.diff(self.labels.indptr)
        ranked = np.isinf(self.costs) & (n_own > 0) & (n_own < self.n_categories)
        if not ranked.any():
            return False
        norms = self.items.norms[ranked]
        longest = norms.max() * self.attributes.power(2).sum(axis=1).max()
        return bool(norms.min() == 0 or dual * longest > 1 / (2 * LEAST_MARGIN**2))

    def arrays(self, like: JointArrays | None = None) -> JointArrays:
        """Return the arrays for the compiled loops, as yet without rows.

        Parameters
        ----------
        like
            The arrays of other items with the same categories, whose tables are used again.
        """
        attributes = self._attribute_arrays() if like is None else like.attributes
        return JointArrays(
            rows=no_rows(),
            row_of=np.zeros(self.n_items, dtype=np.intp),
            labels=Labels(self.labels.indptr.astype(np.intp), self.labels.indices.astype(np.intp)),
            costs=self.costs,
            norms=self.items.norms,
            attributes=attributes,
            shared=_shared(attributes) if like is None else like.shared,
            loss=loss_arrays(self.loss) if like is None else like.loss,
            slack_per_pair=self.slack == "pair",
            dual_form=self.items.dual_form,
        )

    def _attribute_arrays(self) -> Attributes:
        """Return Λ for the compiled loops."""
        attributes = self.attributes
        return Attributes(
            attributes.indptr.astype(np.intp),
            attributes.indices.astype(np.intp),
            attributes.data.astype(np.float64),
            self._products(),
        )

    def _products(self) -> Floats:
        """Return <Λ(c), Λ(d)> of all categories, or an empty table if there are too many."""
        if self.n_categories > TABULATED_CATEGORIES:
            return np.empty((0, 0))
        return np.ascontiguousarray((self.attributes @ self.attributes.T).toarray())


def _shared(attributes: Attributes) -> Codes:
    """Return how many attributes each category shares with the one before; () if none does."""
    shared: Codes = np.zeros(len(attributes.indptr) - 1, np.intp)
    write_shared(attributes, shared)
    return shared if shared.any() else shared[:0]


def one_label_each(codes: Codes, n_categories: int) -> CSR:
    """Return the labels of a problem in which each item has one category."""
    from scipy.sparse import csr_array

    ones, ends = np.ones(len(codes), dtype=bool), np.arange(len(codes) + 1)
    return csr_array((ones, codes, ends), shape=(len(codes), n_categories))


def loss_arrays(loss: CategoryLoss) -> Loss:
    """Return a loss as the arrays for the compiled loops."""
    no_codes, no_floats, no_matrix = np.zeros(1, np.intp), np.empty(0), np.empty((0, 0))
    if isinstance(loss, ZeroOneLoss):
        return Loss(ZERO_ONE, no_codes, no_codes, no_floats, no_floats, no_matrix)
    if isinstance(loss, AncestorLoss):
        above = loss.ancestors
        indptr, indices = above.indptr.astype(np.intp), above.indices.astype(np.intp)
        costs = loss.miss, loss.false_alarm
        by_row = Loss(ANCESTORS, indptr, indices, *costs, no_matrix)
        if loss.n_categories > TABULATED_CATEGORIES:
            return by_row
        matrix = np.empty((loss.n_categories, loss.n_categories))
        write_loss_matrix(by_row, matrix)
        return by_row._replace(kind=MATRIX, matrix=matrix)
    matrix = loss.rows(range(loss.n_categories))
    return Loss(MATRIX, no_codes, no_codes, no_floats, no_floats, matrix)
