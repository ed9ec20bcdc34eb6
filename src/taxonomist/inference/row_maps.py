"""What the weights of a kernel model apply to: features, or kernel values with training items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taxonomist._typing import Codes
    from taxonomist.kernels import PairwiseKernel


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """The features themselves: the kernel is linear."""

    is_linear = True

    def __call__(self, X: Any) -> Any:
        """Return the rows as they are."""
        return X


@dataclass(frozen=True, eq=False)
class KernelMap:
    """Kernel values with the training items.

    Attributes
    ----------
    kernel
        The kernel.
    items
        The training items that were learned from.
    """

    kernel: PairwiseKernel
    items: Any
    is_linear = False

    def __call__(self, X: Any) -> Any:
        """Return the kernel values of rows, (n_items, n_train)."""
        return self.kernel(X, self.items)


@dataclass(frozen=True, eq=False)
class GramMap:
    """Columns of a precomputed kernel.

    Attributes
    ----------
    items
        The training items that were learned from: those with a weight.
    n_train
        All training items, the columns of the kernel.
    """

    items: Codes
    n_train: int
    is_linear = False

    def __call__(self, X: Any) -> Any:
        """Return the columns of the items that were learned from."""
        return X if len(self.items) == self.n_train else X[:, self.items]


RowMap = FeatureMap | KernelMap | GramMap
