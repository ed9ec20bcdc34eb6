"""Losses between categories and between labellings of a taxonomy.

`category_loss` compares a predicted category with the true one; `labelling_loss` compares two
labellings of all nodes. Both accept a name, costs, or a user-defined loss.
"""

from __future__ import annotations

from taxonomist.losses.ancestors import AncestorLoss, WeightedTree, weighted_tree
from taxonomist.losses.base import CategoryLoss
from taxonomist.losses.categories import CATEGORY_LOSSES, ZeroOneLoss, category_loss
from taxonomist.losses.given import CallableLoss, MatrixLoss
from taxonomist.losses.labellings import LABELLING_LOSSES, LabellingLoss, labelling_loss

__all__ = [
    "CATEGORY_LOSSES",
    "LABELLING_LOSSES",
    "AncestorLoss",
    "CallableLoss",
    "CategoryLoss",
    "LabellingLoss",
    "MatrixLoss",
    "WeightedTree",
    "ZeroOneLoss",
    "category_loss",
    "labelling_loss",
    "weighted_tree",
]
