"""Convert labels to the form that models take: one id per item, or a list of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taxonomist.errors import LabelError
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["as_targets", "as_truth"]


def as_targets(given: Iterable[Any]) -> tuple[list[Any], bool]:
    """Return one id or a list of ids per item, and whether items have label sets.

    If every set has exactly one label, the labels are single labels.
    """
    items = list(given)
    if not items:
        raise LabelError("There are no items to learn from.")
    if not any(labels.is_set(item) for item in items):
        return [str(item) if not isinstance(item, str) else item for item in items], False
    sets = [list(item) if labels.is_set(item) else [item] for item in items]
    if all(len(item) == 1 for item in sets):
        return [item[0] for item in sets], False
    return sets, True


def as_truth(given: Iterable[Any], is_multilabel: bool) -> list[Any]:
    """Return true labels in the form of predictions.

    Raises
    ------
    LabelError
        If the model predicts one label per item and an item does not have exactly one.
    """
    y, _ = as_targets(given)
    if is_multilabel:
        return [[label] if isinstance(label, str) else label for label in y]
    if any(not isinstance(label, str) for label in y):
        raise LabelError(
            "The model predicts one category per item, but some items have none or several labels."
        )
    return y
