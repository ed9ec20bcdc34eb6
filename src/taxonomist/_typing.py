"""Types of what the layers exchange, and of what users may pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
    from typing_extensions import TypeIs

Codes: TypeAlias = NDArray[np.intp]
"""Integer codes of nodes, categories or items."""

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

Integers: TypeAlias = NDArray[np.integer[Any]]
"""Integers of any width, such as the indices of a sparse array."""

Reals: TypeAlias = NDArray[np.floating[Any]]
"""Floating-point numbers of single or double precision."""

Objects: TypeAlias = NDArray[Any]
"""Labels in an array: strings, integers or objects, with the type that the user's labels have."""

LabelList: TypeAlias = "list[str] | list[list[str]]"
"""One label or one label set per item, as ids."""

Options: TypeAlias = dict[str, Any]
"""Parameters by name."""

NodeTextsLike: TypeAlias = Mapping[str, Any]
"""Texts of nodes by id, as users pass them: one or several strings, or a mapping from kinds."""

CSR: TypeAlias = "csr_array"
"""A sparse array in compressed rows. ``stubs`` holds its types, because scipy ships none."""

Matrix: TypeAlias = "Reals | csr_array"
"""Validated rows, or weights: a dense array or a sparse one in compressed rows."""

SparseMatrix: TypeAlias = "csr_array | csc_array | coo_array"
"""A sparse array in any format."""

MatrixLike: TypeAlias = "ArrayLike | SparseMatrix | csr_matrix"
"""Rows as users pass them: arrays, lists of lists, data frames or sparse matrices."""

LabelsLike: TypeAlias = "MatrixLike | Iterable[object]"
"""Labels as users pass them: one label per item, label sets, or an indicator matrix."""

ItemsLike: TypeAlias = "MatrixLike | Sequence[object]"
"""Items as users pass them to models: rows of features, or texts."""

TextLike: TypeAlias = str | Mapping[str, object] | Sequence[object]
"""A text, or an item with several texts: by column, or one after the other."""

Seed: TypeAlias = int | np.random.RandomState | None
"""A seed or a source of random numbers as in scikit-learn. None draws a new seed."""


class Classifier(Protocol):
    """A classifier as in scikit-learn, or a pipeline or a search that ends in one."""

    def fit(self, X: Any, y: Any) -> object:
        """Learn from items."""

    def predict(self, X: Any) -> Any:
        """Return the labels of items, in the form of ``y``."""


class Splitter(Protocol):
    """A splitter as in scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Codes, Codes]]:
        """Yield the training and test items of each fold."""


FoldsLike: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]
"""Folds as users pass them: their number, a splitter, or pairs of training and test items."""


def is_sparse(X: object) -> TypeIs[SparseMatrix]:
    """Return whether a matrix is sparse."""
    return hasattr(X, "tocsr")
