"""Kernels between classes, as attributes whose inner products they are [HCC03, Sec. 3]."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from taxonomist.errors import LabelError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist._typing import CSR, Floats, MatrixLike, Objects

ClassKernelLike: TypeAlias = "MatrixLike | Callable[[str, str], float]"
"""A matrix of similarities between classes, or a function of two class ids."""

ROUNDING = 1e-8
"""Part of the largest entry or eigenvalue below which differences count as rounding."""
NEGLIGIBLE = 1e-13
"""Part of the largest diagonal entry below which the rest of the matrix is zero."""


def kernel_attributes(class_kernel: ClassKernelLike, classes: Objects) -> CSR:
    """Return attributes Λ with <Λ(y), Λ(c)> = k(y, c) for all classes [HCC03, Eq. 12].

    The dual problem contains attributes only in inner products [HCC03, Eq. 11, 12], so any such Λ
    gives the same model. This one is the pivoted Cholesky factor of the kernel matrix: it has as
    many columns as the matrix has rank, and is sparse where the matrix is.

    Parameters
    ----------
    class_kernel
        Similarities k(y, c): a symmetric, positive semidefinite matrix of shape (n_classes,
        n_classes), in the order of ``classes``, or a function of two class ids.
    classes
        The class ids.

    Returns
    -------
    csr_array, shape (n_classes, rank)

    Raises
    ------
    LabelError
        If the shape is wrong, or values are not finite.
    ParameterError
        If the matrix is not symmetric and positive semidefinite.
    """
    from scipy.linalg.lapack import dpstrf
    from scipy.sparse import csr_array

    K = _checked(class_kernel, classes)
    lower, pivots, rank, _ = dpstrf(K, tol=NEGLIGIBLE * K.diagonal().max(initial=0.0), lower=1)
    factor = np.zeros((len(K), rank))
    factor[pivots - 1] = np.tril(lower)[:, :rank]
    return csr_array(factor)


def _checked(class_kernel: ClassKernelLike, classes: Objects) -> Floats:
    """Return the kernel matrix; raise unless it is symmetric and positive semidefinite."""
    n = len(classes)
    if callable(class_kernel):
        ids = classes.tolist()
        K = np.array([[float(class_kernel(a, b)) for b in ids] for a in ids])
    else:
        given = class_kernel.toarray() if hasattr(class_kernel, "toarray") else class_kernel
        K = np.array(given, dtype=np.float64)
    if K.shape != (n, n):
        raise LabelError(
            f"class_kernel has shape {K.shape}, but there are {n} categories; give a square matrix "
            "with one row and column for each, in the order of classes_."
        )
    if not np.isfinite(K).all():
        raise LabelError("class_kernel contains NaN or infinite values.")
    size = np.abs(K).max(initial=0.0)
    if np.abs(K - K.T).max(initial=0.0) > ROUNDING * size:
        a, b = np.unravel_index(np.abs(K - K.T).argmax(), K.shape)
        raise ParameterError(
            f"class_kernel must be symmetric. Got {K[a, b]:g} for {classes[a]!r} and "
            f"{classes[b]!r}, but {K[b, a]:g} for {classes[b]!r} and {classes[a]!r}."
        )
    lowest = np.linalg.eigvalsh(K).min(initial=0.0)
    if lowest < -ROUNDING * n * size:
        raise ParameterError(
            f"class_kernel must be positive semidefinite. Its smallest eigenvalue is {lowest:.3g}; "
            f"adding {-lowest:.2g} to the diagonal would make it a kernel."
        )
    symmetric: Floats = (K + K.T) / 2
    return symmetric
