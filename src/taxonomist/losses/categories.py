"""Losses between two categories: the cost of predicting u where y is true.

Losses are evaluated by row or by pair, so 50,000 categories do not need an array of 50,000 x 50,000
entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from taxonomist.errors import LabelError, closest, some
from taxonomist.losses.ancestors import AncestorLoss, WeightedTree, weighted_tree
from taxonomist.losses.base import CategoryLoss
from taxonomist.losses.given import CallableLoss, MatrixLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taxonomist._typing import Codes, Floats, MatrixLike
    from taxonomist.taxonomy import Taxonomy


LossLike: TypeAlias = "str | CategoryLoss | WeightedTree | MatrixLike | Callable[[str, str], float]"
"""A loss as users pass it; see ``category_loss``."""


CATEGORY_LOSSES = ("zero_one", "tree")
"""Names of the built-in losses between categories."""


class ZeroOneLoss(CategoryLoss):
    """1 if the two categories differ, otherwise 0."""

    def pairs(self, i: Codes, j: Codes) -> Floats:
        """Return 1.0 where the categories differ; see `CategoryLoss.pairs`."""
        return np.not_equal(i, j).astype(np.float64)


def category_loss(
    loss: LossLike, taxonomy: Taxonomy, categories: Sequence[str] | Codes | None = None
) -> CategoryLoss:
    """Return a loss between the categories of a taxonomy.

    Parameters
    ----------
    loss
        ``"zero_one"``; ``"tree"``, half the size of the symmetric difference of the two sets of
        ancestors [CH04, Eq. 34]; a `weighted_tree`; a matrix over the categories, dense, sparse
        or a pandas DataFrame indexed by ids; a function of the true and the predicted id; or a
        `CategoryLoss`, which is returned unchanged.
    taxonomy
        The taxonomy of the categories.
    categories
        Ids or node codes of the categories, in column order. The leaves by default.

    Returns
    -------
    CategoryLoss
        The loss, bound to the taxonomy and its categories.

    Raises
    ------
    LabelError
        If the loss is unknown, does not match the categories, or is not zero on equality and
        positive elsewhere.
    UnknownNodeError
        If a category is not in the taxonomy.
    """
    if isinstance(loss, CategoryLoss):
        return _fitting(loss, taxonomy, categories)
    codes = _category_codes(taxonomy, categories)
    if isinstance(loss, str):
        if loss not in CATEGORY_LOSSES:
            raise LabelError(
                f"There is no loss {loss!r} between categories; choose one of "
                f"{some(CATEGORY_LOSSES)}.{closest(loss, CATEGORY_LOSSES)}"
            )
        if loss == "zero_one":
            return ZeroOneLoss(taxonomy, codes)
        loss = weighted_tree()
    if isinstance(loss, WeightedTree):
        return AncestorLoss(taxonomy, codes, *loss.costs(taxonomy))
    if callable(loss):
        return CallableLoss(taxonomy, codes, loss)
    return MatrixLoss(taxonomy, codes, loss)


def _category_codes(taxonomy: Taxonomy, categories: Sequence[str] | Codes | None) -> Codes:
    """Return the codes of the categories; raise if they are not distinct."""
    if categories is None:
        return np.flatnonzero(taxonomy.is_leaf)
    if len(categories) == 0:
        raise LabelError("A loss needs at least one category; got none.")
    given = np.asarray(categories)
    codes: Codes = given if given.dtype.kind in "iu" else taxonomy.codes(categories)
    distinct, counts = np.unique(codes, return_counts=True)
    if distinct[0] < 0 or distinct[-1] >= taxonomy.n_nodes:
        raise LabelError(
            f"Category codes must lie between 0 and {taxonomy.n_nodes - 1}; "
            f"got {distinct[0]} to {distinct[-1]}."
        )
    if counts.max() > 1:
        twice = [taxonomy.nodes[code] for code in distinct[counts > 1]]
        raise LabelError(f"Categories must be distinct; {some(twice)} occur more than once.")
    return codes.astype(np.intp)


def _fitting(
    loss: CategoryLoss, taxonomy: Taxonomy, categories: Sequence[str] | Codes | None
) -> CategoryLoss:
    """Return the loss if it was made for this taxonomy and these categories, else raise."""
    if loss.taxonomy != taxonomy:
        raise LabelError("The loss was made for another taxonomy; create it for this one.")
    if categories is not None:
        wanted = _category_codes(taxonomy, categories)
        if not np.array_equal(loss.categories, wanted):
            raise LabelError(
                f"The loss was made for {loss.n_categories} categories, which differ from the "
                f"{len(wanted)} given ones or their order; create it for these."
            )
    return loss
