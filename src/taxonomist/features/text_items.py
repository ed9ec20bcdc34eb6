"""Items of texts as given: the first of them, what counts as a text, and weights of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.errors import ParameterError, some

if TYPE_CHECKING:
    from taxonomist._typing import TextLike

__all__ = ["as_text", "column_weights", "peek"]


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


def column_weights(
    weights: Mapping[str, float] | Iterable[float] | None, first: TextLike | None
) -> list[float]:
    """Return the weight of each column of items, given the parameter and the first item.

    Raises
    ------
    ParameterError
        If the weights do not fit.
    """
    is_one = first is None or isinstance(first, str) or not isinstance(first, Collection)
    n_columns = 1 if is_one else len(list(first or ()))
    columns = list(first) if isinstance(first, Mapping) else None
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in (columns or ())]
        if unknown:
            have = some(columns or ["(one text without a name)"])
            raise ParameterError(f"weights has {some(unknown)}, but the columns are {have}.")
        found = [float(weights.get(name, 1.0)) for name in columns or ()]
    else:
        found = [1.0] * n_columns if weights is None else [*map(float, weights)]
    if len(found) != n_columns or not all(0 <= weight < np.inf for weight in found):
        raise ParameterError(
            "weights must be finite numbers of at least 0, one for each column of texts "
            f"({n_columns} here). Got {weights!r}."
        )
    return found
