"""Facts about model classes that the rest of the library uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist.models.dense_arrays import DenseArray

    Options = Mapping[str, object]


@dataclass(frozen=True)
class Traits:
    """Facts about a model class.

    Attributes
    ----------
    single, sets
        Names for the command line and ``TextClassifier``, with the parameters of each name: for one
        category per item, and for label sets.
    label_sets
        Whether the model supports label sets.
    takes_counts
        Whether the model needs word counts. Other models take tf-idf features.
    needs_tree
        Whether the taxonomy must be a tree.
    fits_probabilities
        Whether ``fit`` also fits calibrated probabilities to held-out items, so that the model
        needs no ``CalibratedClassifier``.
    starts_by_item
        Whether ``start_`` is an ``ItemStart``, so that ``text.updating`` can continue from it.
    parts
        Additional classes that the files of the model contain.
    dense
        The dense arrays that grow with items or features times categories or nodes.
    """

    single: Options = field(default_factory=dict)
    sets: Options = field(default_factory=dict)
    label_sets: bool = True
    takes_counts: bool = False
    needs_tree: bool = False
    fits_probabilities: bool = False
    starts_by_item: bool = False
    parts: tuple[type, ...] = ()
    dense: tuple[DenseArray, ...] = ()
