"""Choose the items to hold out for measuring a model."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.evaluation import StratifiedFolds

if TYPE_CHECKING:
    from taxonomist._typing import Bools
    from taxonomist.workflow.labelled import Labelled

__all__ = ["held_out"]

MOST_FOLDS = 100
"""Maximum denominator of the fraction of held-out items; the fraction is rounded to it."""


def held_out(labelled: Labelled, share: float, seed: int) -> Bools:
    """Return which items to hold out, stratified by category as far as possible.

    Parameters
    ----------
    labelled
        The items.
    share
        Fraction of items to hold out, at least 0 and below 1.
    seed
        Random seed.

    Raises
    ------
    LabelError
        If there are too few items for this fraction.
    """
    n_items = len(labelled.texts)
    if not share:
        return np.zeros(n_items, dtype=bool)
    part = Fraction(share).limit_denominator(min(MOST_FOLDS, n_items))
    if not 0 < part < 1:
        raise LabelError(
            f"Cannot hold out a fraction of {share:g} of {n_items:,} items: one part would be "
            "empty. Add items, or pass test_size=0 to hold out none."
        )
    folds = StratifiedFolds(part.denominator, random_state=seed).folds(labelled.targets)
    # Take folds at equal distances: neighbouring folds hold neighbouring items of a category.
    ends = np.arange(part.denominator + 1) * part.numerator // part.denominator
    is_test: Bools = (np.diff(ends) > 0)[folds]
    is_set = np.array([len(labels) != 1 for labels in labelled.labels])
    if is_set.any() and is_test[is_set].all():
        # Training needs at least one label set to learn that items need not have one label.
        is_test[[np.argmax(is_set), np.argmin(is_test)]] = False, True
    return is_test
