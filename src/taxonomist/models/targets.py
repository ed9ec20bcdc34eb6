"""What a model is fitted to: categories, the column of each item, costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from taxonomist.taxonomy import Categories, Taxonomy

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Floats


@dataclass(frozen=True)
class Targets:
    """One category per item.

    Attributes
    ----------
    categories
        The categories of the model.
    codes
        Column of each item's category.
    classes
        Labels by column, as the user writes them.
    """

    categories: Categories
    codes: Codes
    classes: Any

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy in which every category is a leaf."""
        return self.categories.expanded

    @classmethod
    def from_labels(cls, taxonomy: Taxonomy | None, y: Any, X: Any) -> Targets:
        """Return the targets of labels; without a taxonomy, those of a flat one over them."""
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        if taxonomy is not None:
            categories, codes = Categories.of_items(taxonomy, y)
            return cls(categories, codes, np.array(categories.ids, dtype=object))
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        return cls(flat_categories(classes.tolist()), codes.astype(np.intp), classes)


def flat_categories(labels: list[Any]) -> Categories:
    """Return categories of a taxonomy of depth one over labels of any kind."""
    ids = [str(label) for label in labels]
    if len({label.strip().casefold() for label in [*ids, "", "root"]}) < len(ids) + 2:
        ids = [f"class {number}" for number in range(len(ids))]
    return Categories.from_labels(Taxonomy.flat(ids), [])


def item_costs(C: float, sample_weight: Any, X: Any) -> Floats:
    """Return C times the weight of each item."""
    if not C > 0:
        raise ValueError(f"C must be a number above 0, or infinite. Got {C!r}.")
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    costs: Floats = np.where(weights > 0, C, 0.0) if np.isinf(C) else C * weights
    return costs
