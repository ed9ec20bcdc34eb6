"""Labels in the form that models take: one id per item, or a list of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taxonomist.errors import LabelError
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["as_targets", "as_truth"]


def as_targets(given: Iterable[Any]) -> tuple[list[Any], bool]:
    """Return one id per item, or a list of them, and whether items have label sets.

    Sets of one label each, throughout, are single labels.
    """
    items = list(given)
    if not items:
        raise LabelError("There are no items, so there is nothing to learn.")
    if not any(labels.is_set(item) for item in items):
        return [str(item) if not isinstance(item, str) else item for item in items], False
    sets = [list(item) if labels.is_set(item) else [item] for item in items]
    if all(len(item) == 1 for item in sets):
        return [item[0] for item in sets], False
    return sets, True


def as_truth(given: Iterable[Any], is_multilabel: bool) -> list[Any]:
    """Return true labels in the form of the predictions that they are compared with.

    Raises
    ------
    LabelError
        If items have none or several where predictions have one.
    """
    y, _ = as_targets(given)
    if is_multilabel:
        return [[label] if isinstance(label, str) else label for label in y]
    if any(not isinstance(label, str) for label in y):
        raise LabelError("The model has one category per item, but some items have none or more.")
    return y
