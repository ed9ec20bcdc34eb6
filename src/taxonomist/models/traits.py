"""What the rest of the library asks of a model before it is made or fitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    Options = Mapping[str, Any]


@dataclass(frozen=True)
class Traits:
    """Facts of a class of models.

    Attributes
    ----------
    single, sets
        Names for the command line and ``TextClassifier``, with the parameters that each stands
        for: for one category per item, and for label sets.
    label_sets
        Whether items may have label sets.
    takes_counts
        Whether it takes counts of words; others take tf-idf.
    needs_tree
        Whether nodes with several parents are refused.
    parts
        Classes whose objects its files hold beside those that all models share.
    """

    single: Options = field(default_factory=dict)
    sets: Options = field(default_factory=dict)
    label_sets: bool = True
    takes_counts: bool = False
    needs_tree: bool = False
    parts: tuple[type, ...] = ()
