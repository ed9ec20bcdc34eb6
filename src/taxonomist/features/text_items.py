"""Items of texts as given: the first of them, and what counts as a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from taxonomist._typing import TextLike

__all__ = ["as_text", "peek"]


def peek(texts: Iterable[TextLike]) -> tuple[TextLike | None, Iterator[TextLike]]:
    """Return the first item (None if there is none) and an iterator over all items."""
    if isinstance(texts, (str, Mapping)):
        raise TypeError("texts must be a sequence with one entry per item, not a single text.")
    items = iter(texts)
    try:
        first = next(items)
    except StopIteration:
        return None, iter(())
    return first, chain([first], items)


def as_text(value: object, number: int) -> str:
    """Return a text; None and NaN become empty."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    raise TypeError(f"Item {number} is not a text but {type(value).__name__}: {value!r}.")
