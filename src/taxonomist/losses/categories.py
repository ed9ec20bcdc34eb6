"""Losses between two categories: what it costs to predict u where y is true.

Losses are evaluated by row or by pair, so that 50,000 categories need no array of
50,000 x 50,000 entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError, closest, some
from taxonomist.losses.ancestors import AncestorLoss, WeightedTree, weighted_tree
from taxonomist.losses.base import CategoryLoss
from taxonomist.losses.given import CallableLoss, MatrixLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes, Floats
    from taxonomist.taxonomy import Taxonomy

CATEGORY_LOSSES = ("zero_one", "tree")
"""The losses between categories that have a name."""


class ZeroOneLoss(CategoryLoss):
    """One wherever the two categories differ."""

    def pairs(self, i: Codes, j: Codes) -> Floats:
        """Return 1.0 where the categories differ; see `CategoryLoss.pairs`."""
        return np.not_equal(i, j).astype(np.float64)


def category_loss(
    loss: Any, taxonomy: Taxonomy, categories: Sequence[str] | Codes | None = None
) -> CategoryLoss:
    """Return a loss between the categories of a taxonomy.

    Parameters
    ----------
    loss
        ``"zero_one"``; ``"tree"``, half the size of the symmetric difference of the two sets of
        ancestors [CH04, Eq. 34]; what `weighted_tree` returns; a matrix over the categories,
        dense, sparse or a pandas DataFrame indexed by ids; a function from the true and the
        predicted id to a number; or a `CategoryLoss`, which is returned as it is.
    taxonomy
        Where the categories live.
    categories
        Ids or node codes of the categories, in column order. By default the leaves.

    Returns
    -------
    CategoryLoss
        With the methods ``row``, ``rows`` and ``pairs``.

    Raises
    ------
    LabelError
        If the loss is unknown, does not fit the categories, or is not zero on equality and
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
                f"There is no loss {loss!r} between categories; the names are "
                f"{some(CATEGORY_LOSSES)}.{closest(loss, CATEGORY_LOSSES)}"
            )
        if loss == "zero_one":
            return ZeroOneLoss(taxonomy, codes)
        loss = weighted_tree()
    if isinstance(loss, WeightedTree):
        return AncestorLoss(taxonomy, codes, *loss.costs(taxonomy))
    kind = CallableLoss if callable(loss) else MatrixLoss
    return kind(taxonomy, codes, loss)


def _category_codes(taxonomy: Taxonomy, categories: Sequence[str] | Codes | None) -> Codes:
    """Return the node codes of distinct categories."""
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
        raise LabelError(f"Categories must be distinct; {some(twice)} came more than once.")
    return codes.astype(np.intp)


def _fitting(
    loss: CategoryLoss, taxonomy: Taxonomy, categories: Sequence[str] | Codes | None
) -> CategoryLoss:
    """Return the loss if it was made for this taxonomy and these categories."""
    if loss.taxonomy != taxonomy:
        raise LabelError("The loss was made for another taxonomy; make it anew for this one.")
    if categories is not None:
        wanted = _category_codes(taxonomy, categories)
        if not np.array_equal(loss.categories, wanted):
            raise LabelError(
                f"The loss was made for {loss.n_categories} categories that are not the "
                f"{len(wanted)} asked for, or in another order; make it anew for these."
            )
    return loss
