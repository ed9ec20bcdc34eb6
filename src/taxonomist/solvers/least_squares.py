"""Regularised least squares for many right sides [RSSS06, Sec. 5].

Problem       W = A⁻¹ Sᵀ Y with A = I + Sᵀ S, and xᵀ A⁻¹ x for items x
Notation      S   items, n_items x n_features
              Y   right sides, n_items x n_targets
Step          where n_items < n_features, A is replaced by I + S Sᵀ, with
              A⁻¹ = I - Sᵀ (I + S Sᵀ)⁻¹ S; conjugate gradients, or a Cholesky factor
Stopping      a relative residual of ``RESIDUAL`` for each right side
Cost          with m = min(n_items, n_features): some tens of products with S for each right side;
              a factor takes m³/3 time and m² memory, and then m² for each item
References    [RSSS06, Sec. 5]
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from taxonomist._typing import is_sparse
from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csc_array

    from taxonomist._typing import Floats, Matrix

NUMBERS_AT_A_TIME = 2**22
"""Numbers in a block of right sides, 32 MiB."""
RESIDUAL = 1e-10
"""Relative residual at which conjugate gradients stop."""
PRODUCT_RESIDUAL = 1e-7
"""The same for products bᵀ A⁻¹ b, whose error goes with the square of the residual."""
MAX_STEPS = 1000
"""Most steps of conjugate gradients; tf-idf takes 25 to 80 at C = 1, 700 at C = 100."""
CHEAP = 1000
"""Size up to which a system is factored at once; conjugate gradients are faster above."""


class RidgeSystem:
    """A = I + Sᵀ S, or I + S Sᵀ where that is smaller, with its factor if there is room.

    Parameters
    ----------
    S
        Items x features.
    room
        Bytes that the factor may take.
    has_many_targets
        Whether there are so many right sides that factoring is faster than conjugate gradients.
    """

    def __init__(self, S: Matrix, room: float, has_many_targets: bool = False) -> None:
        self.S = S
        self.has_many_targets = has_many_targets
        self.is_dual = S.shape[0] < S.shape[1]
        self.has_factor = 8 * min(S.shape) ** 2 <= room

    @property
    def n_bytes(self) -> int:
        """Memory of the factor."""
        return 8 * min(self.S.shape) ** 2 if self.has_factor else 0

    @cached_property
    def factor(self) -> Floats:
        """The lower Cholesky factor of the matrix of the system."""
        size = min(self.S.shape)
        # The transpose, which is the same matrix, is in the order that is factored in place.
        gram = self._gram(np.empty((size, size))).T
        try:
            factor: Floats = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise ParameterError(
                "The features are too large for least squares: the system has no numerical "
                "solution. Scale them, such as with MaxAbsScaler, and fit the model again."
            ) from error
        return factor

    def __getstate__(self) -> dict[str, object]:
        """Return what is pickled: all but the factor, which is large and can be made again."""
        return {name: value for name, value in self.__dict__.items() if name != "factor"}

    def _gram(self, out: Floats) -> Floats:
        """Return the matrix of the system, made in blocks of rows."""
        left, right = (self.S, self.S.T) if self.is_dual else (self.S.T, self.S)
        if is_sparse(left) and is_sparse(right):
            left, right = left.tocsr(), right.tocsr()
        for block in gen_batches(len(out), max(1, NUMBERS_AT_A_TIME // len(out))):
            out[block] = _dense(left[block] @ right)
        out.flat[:: len(out) + 1] += 1
        return out

    def weights(self, Y: Floats) -> Floats:
        """Return A⁻¹ Sᵀ Y, (n_features, n_targets)."""
        W: Floats = self.S.T @ self._solve(Y) if self.is_dual else self._solve(self.S.T @ Y)
        return W

    def self_products(self, X: Matrix) -> Floats:
        """Return xᵀ A⁻¹ x for each item."""
        products = np.empty(X.shape[0])
        for block in gen_batches(X.shape[0], max(1, NUMBERS_AT_A_TIME // min(self.S.shape))):
            items = X[block]
            right = _dense(self.S @ items.T if self.is_dual else items.T)
            inside = self._inside(right)
            products[block] = _squared_norms(items) - inside if self.is_dual else inside
        return np.maximum(products, 0)

    def _inside(self, B: Floats) -> Floats:
        """Return bᵀ (matrix of the system)⁻¹ b for each column b."""
        if not self.has_factor:
            solved, converged = _conjugate_gradients(self._apply, B, PRODUCT_RESIDUAL)
            if not converged:
                _complain()
            return _products(B, solved)
        half = solve_triangular(self.factor, B, lower=True, check_finite=False)
        return _products(half, half)

    def _solve(self, B: Floats) -> Floats:
        """Return what the matrix of the system takes to B."""
        is_cheap = len(B) <= CHEAP or self.has_many_targets
        if not (self.has_factor and is_cheap):
            solved, converged = _conjugate_gradients(self._apply, B, RESIDUAL)
            if converged:
                return solved
            if not self.has_factor:
                _complain()
                return solved
        half = solve_triangular(self.factor, B, lower=True, check_finite=False)
        both: Floats = solve_triangular(self.factor, half, trans=1, lower=True, check_finite=False)
        return both

    def _apply(self, V: Floats) -> Floats:
        """Return the product of the matrix of the system with vectors."""
        S = self.S
        product: Floats = V + (S @ (S.T @ V) if self.is_dual else S.T @ (S @ V))
        return product


def _conjugate_gradients(
    apply: Callable[[Floats], Floats], B: Floats, residual: float
) -> tuple[Floats, bool]:
    """Return the solutions for the columns of B, each to a residual of its own, and if all are."""
    solved, rest, direction = np.zeros(B.shape), np.array(B), np.array(B)
    squared = _products(B, B)
    goal = residual**2 * squared
    for _ in range(MAX_STEPS):
        left = np.flatnonzero(squared > goal)
        if not len(left):
            return solved, True
        along = direction[:, left]
        product = apply(along)
        step = squared[left] / _products(along, product)
        solved[:, left] += step * along
        rest[:, left] -= step * product
        now = _products(rest[:, left], rest[:, left])
        direction[:, left] = rest[:, left] + now / squared[left] * along
        squared[left] = now
    return solved, False


def _complain() -> None:
    """Say that conjugate gradients did not get as far as they should."""
    warnings.warn(
        f"Conjugate gradients stopped after {MAX_STEPS} steps. Increase cache_size, so that the "
        "system can be factored, or scale the features.",
        ConvergenceWarning,
        stacklevel=2,
    )


def _products(A: Floats, B: Floats) -> Floats:
    """Return <a, b> for the columns of two matrices."""
    products: Floats = np.einsum("ij,ij->j", A, B)
    return products


def scaled(X: Matrix, factors: Floats) -> Matrix:
    """Return items multiplied by a number each."""
    return X.multiply(factors[:, None]).tocsr() if is_sparse(X) else X * factors[:, None]


def _squared_norms(X: Matrix) -> Floats:
    """Return <x, x> for each item."""
    squares: Floats = np.asarray((X.multiply(X) if is_sparse(X) else X * X).sum(axis=1)).ravel()
    return squares


def _dense(X: Matrix | csc_array) -> Any:
    """Return a matrix as a dense array."""
    return X.toarray() if is_sparse(X) else X
