"""Names for the array types that the layers exchange."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.intp]
"""Integer codes of nodes, categories or items."""

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

CSR: TypeAlias = Any
"""A ``scipy.sparse.csr_array`` (scipy ships no types)."""
