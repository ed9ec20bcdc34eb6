"""Kernels on feature vectors: linear, polynomial, Gaussian, sigmoid, or any function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from taxonomist._typing import is_sparse
from taxonomist.errors import ParameterError, closest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from taxonomist._typing import Floats, Matrix


KernelLike: TypeAlias = "str | Callable[[Matrix, Matrix], ArrayLike]"
"""A kernel by name, or a function of two matrices."""


KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
"""Names of the built-in kernels."""


DIAGONAL_BLOCK = 64
"""Rows for which a kernel function is evaluated at a time to get its diagonal."""


@dataclass(frozen=True)
class PairwiseKernel:
    """A kernel function of two sets of items.

    Attributes
    ----------
    kernel
        ``"linear"``, ``"poly"`` (γ<x, x'> + r)^degree, ``"rbf"`` exp(-γ ||x - x'||²),
        ``"sigmoid"`` tanh(γ<x, x'> + r), or a function of two matrices that returns the matrix of
        values.
    gamma, degree, coef0
        γ, degree and r.
    """

    kernel: KernelLike
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        """Raise if the kernel is unknown."""
        if isinstance(self.kernel, str) and self.kernel not in KERNELS:
            hint = closest(self.kernel, KERNELS)
            known = ", ".join(KERNELS)
            raise ParameterError(
                f"kernel must be one of {known}, or a function. Got {self.kernel!r}.{hint}"
            )

    def __call__(self, A: Matrix, B: Matrix) -> Floats:
        """Return the values between the rows of two matrices, shape (rows of A, rows of B)."""
        from sklearn.metrics.pairwise import pairwise_kernels

        if callable(self.kernel):
            values = np.asarray(self.kernel(A, B), dtype=np.float64)
            if values.shape != (A.shape[0], B.shape[0]):
                raise ParameterError(
                    f"The kernel function returned shape {values.shape} for {A.shape[0]} and "
                    f"{B.shape[0]} items; it must return one value for each pair."
                )
            return values
        options = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        values = pairwise_kernels(A, B, metric=self.kernel, filter_params=True, **options)
        return np.asarray(values.toarray() if hasattr(values, "toarray") else values)

    def diagonal(self, X: Matrix) -> Floats:
        """Return the value of every row with itself, shape (rows of X,)."""
        if self.kernel == "rbf":
            return np.ones(X.shape[0])
        if not callable(self.kernel):
            squares = X.multiply(X).sum(axis=1) if is_sparse(X) else (X * X).sum(axis=1)
            products = self.gamma * np.asarray(squares, dtype=np.float64).ravel() + self.coef0
            return products**self.degree if self.kernel == "poly" else np.tanh(products)
        starts = range(0, X.shape[0], DIAGONAL_BLOCK)
        blocks = [X[start : start + DIAGONAL_BLOCK] for start in starts]
        return np.concatenate([self(block, block).diagonal() for block in blocks])


def resolve_gamma(gamma: float | str, X: Matrix) -> float:
    """Return γ: a number, or like scikit-learn ``"scale"`` 1 / (d Var(X)) or ``"auto"`` 1 / d."""
    if gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma == "scale":
        mean = X.mean()
        variance = float(X.multiply(X).mean() - mean**2 if is_sparse(X) else X.var())
        return 1.0 / (float(X.shape[1]) * variance) if variance > 0 else 1.0
    if isinstance(gamma, str) or not gamma > 0:
        raise ParameterError(f"gamma must be 'scale', 'auto' or a number above 0. Got {gamma!r}.")
    return float(gamma)
