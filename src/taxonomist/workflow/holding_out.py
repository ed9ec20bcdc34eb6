"""Items that are held out of training, to measure a model on."""

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
"""Shares of held-out items are rounded to this part."""


def held_out(labelled: Labelled, share: float, seed: int) -> Bools:
    """Return which items are held out: a share of those of every category, as far as possible.

    Parameters
    ----------
    labelled
        The items.
    share
        How many are held out, from 0 to below 1.
    seed
        Seed of the draw.

    Raises
    ------
    LabelError
        If there are too few items for such a share.
    """
    n_items = len(labelled.texts)
    if not share:
        return np.zeros(n_items, dtype=bool)
    part = Fraction(share).limit_denominator(min(MOST_FOLDS, n_items))
    if not 0 < part < 1:
        raise LabelError(f"A share of {share:g} of {n_items} items leaves none on one side.")
    folds = StratifiedFolds(part.denominator, random_state=seed).folds(labelled.targets)
    # Spread over the folds, as neighbouring folds get neighbouring items of a category.
    ends = np.arange(part.denominator + 1) * part.numerator // part.denominator
    is_test: Bools = (np.diff(ends) > 0)[folds]
    several = np.array([len(labels) > 1 for labels in labelled.labels])
    if several.any() and is_test[several].all():
        # A model that has seen no label set would not know that there are any: one changes sides.
        is_test[[np.argmax(several), np.argmin(is_test)]] = False, True
    return is_test
