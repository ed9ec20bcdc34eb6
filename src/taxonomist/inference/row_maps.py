"""Maps from items to the rows that weights apply to: features or kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Matrix
    from taxonomist.kernels import PairwiseKernel


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """The identity map of a linear kernel: rows of features."""

    is_linear = True

    def __call__(self, X: Matrix) -> Matrix:
        """Return the rows unchanged."""
        return X


@dataclass(frozen=True, eq=False)
class KernelMap:
    """Map from items to kernel values with the training items.

    Attributes
    ----------
    kernel
        The kernel.
    items
        The training items with nonzero coefficients.
    """

    kernel: PairwiseKernel
    items: Matrix
    is_linear = False

    def __call__(self, X: Matrix) -> Matrix:
        """Return the kernel values of rows, (n_items, n_train)."""
        return self.kernel(X, self.items)


@dataclass(frozen=True, eq=False)
class GramMap:
    """Map from rows of a precomputed kernel to the columns with a coefficient.

    Attributes
    ----------
    items
        The training items with nonzero coefficients.
    n_train
        The number of training items, which is the number of columns of the kernel.
    """

    items: Codes
    n_train: int
    is_linear = False

    def __call__(self, X: Matrix) -> Matrix:
        """Return the columns of the training items with nonzero coefficients."""
        return X if len(self.items) == self.n_train else X[:, self.items]


RowMap = FeatureMap | KernelMap | GramMap
