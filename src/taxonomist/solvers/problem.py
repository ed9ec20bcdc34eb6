"""The joint multiclass problem that all solvers of this folder share.

Problem       min_{w, ξ}  ½ ||w||² + Σ_i C_i ξ_i
              s.t.  f(x_i, y_i) - f(x_i, c) >= 1 - ξ_i / Δ(y_i, c)  for all c != y_i,  ξ_i >= 0,
              with  f(x, c) = Σ_z λ_z(c) <w_z, φ(x)>                 [CH04, Eq. 10, 24]
Dual          max_α  Σ α_ic - ½ ||w(α)||²,  w_z(α) = Σ α_ic (λ_z(y_i) - λ_z(c)) φ(x_i),
              α_ic >= 0,  Σ_c α_ic / Δ(y_i, c) <= C_i               [CH04, Eq. 13, 25]

Solvers work on β_ic = α_ic / Δ(y_i, c): the feasible set of an item is then a simplex scaled by
C_i, and the gradient of the dual is F_ic = Δ(y_i, c) (1 - f(x_i, y_i) + f(x_i, c)) [CH04, Eq. 28].

Notation
    i   item             n_items         x_i   ``rows``
    c   category         n_categories    y_i   ``y``
    z   attribute        n_attributes    Λ     ``attributes`` (n_categories x n_attributes)
    Δ   loss             ``loss``        C_i   ``costs``
    β   ``Duals.beta``   ψ_i  ``Findings.violation`` [CH04, Eq. 33]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from taxonomist.compiled import joint
from taxonomist.inference.best import as_rows
from taxonomist.losses import AncestorLoss, CategoryLoss, ZeroOneLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import CSR, Codes, Floats

LEAST_MARGIN = 1e-5
"""Items that can only be separated by a smaller margin count as not separable."""

TABULATED_CATEGORIES = 2_000
"""Up to so many categories a table of losses (32 MB) is quicker than computing each row."""

GROUP = 256
"""Items that are scored at one state of the weights before these are updated."""


class Items(Protocol):
    """Where a solver gets the rows of items from."""

    norms: Floats
    dual_form: bool
    n_weights: int

    def groups(self, rng: np.random.Generator) -> list[Codes]:
        """Return all items in groups, in random order."""

    def batches(self) -> list[Codes]:
        """Return all items in batches, as large as rows can be had at once."""

    def rows(self, group: Codes, row_of: Codes) -> joint.Rows:
        """Return rows that hold a group's items, and write their positions to ``row_of``."""


class FeatureRows:
    """Items as rows of a feature matrix: the linear kernel, with weights per feature.

    Parameters
    ----------
    X
        Items x features, dense or CSR.
    dtype
        Type of the values and of the weights.
    """

    dual_form = False

    def __init__(self, X: Any, dtype: Any) -> None:
        self._rows = as_rows(X, dtype)
        if hasattr(X, "indptr"):
            squares = type(X)((X.data**2, X.indices, X.indptr), shape=X.shape).sum(axis=1)
        else:
            squares = np.einsum("ij,ij->i", X, X)
        self.norms: Floats = np.asarray(squares, dtype=np.float64).ravel()
        self.n_weights = X.shape[1]

    def groups(self, rng: np.random.Generator) -> list[Codes]:
        """Return all items in groups, in random order."""
        order = rng.permutation(len(self.norms))
        return np.split(order, range(GROUP, len(order), GROUP))

    def batches(self) -> list[Codes]:
        """Return all items in one batch."""
        return [np.arange(len(self.norms))]

    def rows(self, group: Codes, row_of: Codes) -> joint.Rows:
        """Return all rows; an item is in the row of its own number."""
        row_of[group] = group
        return self._rows


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
        self.norms = norms
        self.n_weights = len(norms)
        self._kernel = kernel
        self._blocks = np.split(np.arange(len(norms)), range(GROUP, len(norms), GROUP))
        self._kept: dict[int, Floats] = {}
        self._most_kept = min(budget // (8 * GROUP * len(norms)), len(self._blocks))

    def groups(self, rng: np.random.Generator) -> list[Codes]:
        """Return all items in groups, the blocks and the items in each in random order."""
        return [rng.permutation(self._blocks[b]) for b in rng.permutation(len(self._blocks))]

    def batches(self) -> list[Codes]:
        """Return the blocks."""
        return self._blocks

    def rows(self, group: Codes, row_of: Codes) -> joint.Rows:
        """Return the block that a group was made from."""
        number = int(group[0]) // GROUP
        members = self._blocks[number]
        row_of[members] = np.arange(len(members))
        block = self._kept.get(number)
        if block is None:
            block = np.ascontiguousarray(self._kernel(members), dtype=np.float64)
            if len(self._kept) < self._most_kept:
                self._kept[number] = block
        ends = np.arange(len(members) + 1) * len(self.norms)
        return joint.Rows(ends, np.empty(0, dtype=np.int32), block.ravel())


@dataclass(frozen=True)
class JointProblem:
    """A joint problem over items, categories and attributes.

    Attributes
    ----------
    items
        The rows of the items.
    y
        Category of each item.
    costs
        C_i of each item; infinite for a hard margin.
    attributes
        Λ, (n_categories, n_attributes) CSR.
    loss
        Δ between categories.
    """

    items: Items
    y: Codes
    costs: Floats
    attributes: CSR
    loss: CategoryLoss

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.y)

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return int(self.attributes.shape[0])

    def is_hopeless(self, dual: float) -> bool:
        """Return whether a hard margin is asked for where there is none worth the name.

        An item without features cannot have one. The dual value bounds ½ ||w||² of every separating
        w from below, and a margin of size γ in units of the longest item has ½ ||w||² = 1 / (2 γ²).
        """
        if not np.isinf(self.costs).any() or self.n_categories < 2:
            return False
        longest = self.items.norms.max() * self.attributes.power(2).sum(axis=1).max()
        return bool(self.items.norms.min() == 0 or dual * longest > 1 / (2 * LEAST_MARGIN**2))

    def arrays(self) -> joint.Problem:
        """Return what the compiled loops work on; ``rows`` is set group by group."""
        attributes = self.attributes
        nothing = joint.Rows(np.zeros(1, np.intp), np.empty(0, np.int32), np.empty(0))
        return joint.Problem(
            rows=nothing,
            row_of=np.zeros(self.n_items, dtype=np.intp),
            y=self.y,
            costs=self.costs,
            norms=self.items.norms,
            attributes=joint.Attributes(
                attributes.indptr.astype(np.intp),
                attributes.indices.astype(np.intp),
                attributes.data.astype(np.float64),
            ),
            loss=loss_arrays(self.loss),
            dual_form=self.items.dual_form,
        )


def loss_arrays(loss: CategoryLoss) -> joint.Loss:
    """Return a loss as the arrays that compiled loops compute its rows from."""
    no_codes, no_floats, no_matrix = np.zeros(1, np.intp), np.empty(0), np.empty((0, 0))
    if isinstance(loss, ZeroOneLoss):
        return joint.Loss(joint.ZERO_ONE, no_codes, no_codes, no_floats, no_floats, no_matrix)
    if isinstance(loss, AncestorLoss):
        above = loss.ancestors
        indptr, indices = above.indptr.astype(np.intp), above.indices.astype(np.intp)
        costs = loss.miss, loss.false_alarm
        by_row = joint.Loss(joint.ANCESTORS, indptr, indices, *costs, no_matrix)
        if loss.n_categories > TABULATED_CATEGORIES:
            return by_row
        matrix = np.empty((loss.n_categories, loss.n_categories))
        joint.write_loss_matrix(by_row, matrix)
        return by_row._replace(kind=joint.MATRIX, matrix=matrix)
    matrix = loss.rows(range(loss.n_categories))
    return joint.Loss(joint.MATRIX, no_codes, no_codes, no_floats, no_floats, matrix)
