"""Types of the arrays that the layers exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Codes: TypeAlias = NDArray[np.intp]
"""Integer codes of nodes, categories or items."""

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

CSR: TypeAlias = "csr_array"
"""A sparse array in compressed rows. ``stubs`` holds its types, because scipy ships none."""
