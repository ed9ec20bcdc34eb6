"""The large dense arrays of models, and the size beyond which a model refuses the data.

A model whose memory grows with items times categories, or with features times nodes, declares these
arrays in its ``Traits``. Without a limit, such a model would fill the memory of the machine and be
killed, without a word about what would have worked.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.errors import DataSizeError, ParameterError

if TYPE_CHECKING:
    from taxonomist.models.base import TaxonomyClassifier
    from taxonomist.models.learning import Training

DENSE_GIB = 4.0
"""Default limit on the size of a dense array."""

DENSE_VARIABLE = "TAXONOMIST_DENSE_GIB"
"""Environment variable with another limit."""

WEIGHT_BYTES = 4
"""Bytes of a weight of ``PathSVC``."""


class DenseArray(NamedTuple):
    """A dense array of a model.

    Attributes
    ----------
    rows
        ``"items"`` or ``"features"``; the latter are items for a kernel that is not linear.
    columns
        ``"categories"`` or ``"nodes"``; the latter are categories with ``attributes="flat"``.
    cell_bytes
        Bytes per entry.
    """

    rows: str
    columns: str
    cell_bytes: int


def dense_limit_gib() -> float:
    """Return the limit on the size of a dense array in GiB.

    Raises
    ------
    ParameterError
        If the environment variable holds no positive number.
    """
    given = os.environ.get(DENSE_VARIABLE)
    if given is None:
        return DENSE_GIB
    try:
        limit = float(given)
    except ValueError:
        limit = 0.0
    if not limit > 0:
        raise ParameterError(f"{DENSE_VARIABLE} must be a number of GiB above 0. Got {given!r}.")
    return limit


def check_dense(model: TaxonomyClassifier, training: Training) -> None:
    """Raise if a dense array of a model would be larger than the limit.

    Raises
    ------
    DataSizeError
        With the size, the limit, and the model to use instead.
    """
    # A model that is made of models of scikit-learn has the arrays of these.
    arrays = model.traits.dense if getattr(model, "estimator", None) is None else ()
    limit = dense_limit_gib()
    counts = {
        "items": len(training.weights),
        "features": training.X.shape[1],
        "categories": len(training.targets.categories),
        "nodes": training.targets.categories.expanded.n_nodes,
    }
    attributes = getattr(model, "attributes", None)
    is_flat = isinstance(attributes, str) and attributes == "flat"
    for rows, columns, cell_bytes in arrays:
        if rows == "features" and getattr(model, "kernel", "linear") != "linear":
            rows = "items"
        if columns == "nodes" and is_flat:
            columns = "categories"
        size = counts[rows] * counts[columns] * cell_bytes / 2**30
        if size > limit:
            name = type(model).__name__
            raise DataSizeError(
                f"{name} would keep a dense array of {counts[rows]:,} {rows} x "
                f"{counts[columns]:,} {columns}, {size:,.1f} GiB; the limit is {limit:g} GiB. Use "
                f"PathSVC, whose arrays are sparse, or set the environment variable "
                f"{DENSE_VARIABLE} to a larger limit."
            )


def check_weights(n_features: int, n_nodes: int) -> None:
    """Raise if classifiers that are trained on all items would have more weights than the limit.

    Nearly all features have a weight in such classifiers.

    Parameters
    ----------
    n_features
        The number of features.
    n_nodes
        The number of nodes whose classifiers are trained on all items.

    Raises
    ------
    DataSizeError
        With the size, the limit, and what to use instead.
    """
    size, limit = n_features * n_nodes * WEIGHT_BYTES / 2**30, dense_limit_gib()
    if size > limit:
        raise DataSizeError(
            f"PathSVC would keep weights of {n_features:,} features x {n_nodes:,} nodes that are "
            f"trained on all items, {size:,.1f} GiB; the limit is {limit:g} GiB. Use a taxonomy "
            'with more levels and negatives="siblings", fewer features (min_df, max_features), or '
            f"LidstoneNB; or set the environment variable {DENSE_VARIABLE} to a larger limit."
        )
