"""Limits on the number of labels per item, and the choice of categories within them."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

from taxonomist.compiled.decisions import choose_categories, choose_few_categories
from taxonomist.compiled.jit import can_spare
from taxonomist.errors import LabelError, ParameterError

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats

MOST_ITEMS = 1_000
"""Items that are decided without numba: this takes 20 ms, and numba and its cache take 300."""


class Limits(NamedTuple):
    """The minimum and maximum number of labels of an item."""

    least: int
    most: int


def label_limits(
    labels: CSR, min_labels: int | None = None, max_labels: int | None = None
) -> Limits:
    """Return the minimum and maximum number of labels of a prediction.

    Parameters
    ----------
    labels
        The labels of the training items, (n_items, n_categories) boolean CSR.
    min_labels, max_labels
        Explicit limits. None uses the smallest or largest number of labels of any training item,
        so predictions are never empty if every training item has a label. If only one limit is
        given, the default of the other is adjusted to it where they conflict.

    Returns
    -------
    Limits
        ``least`` and ``most``.

    Raises
    ------
    ValueError
        If no number of labels is within the limits.
    """
    n_categories = labels.shape[1]
    _check_limit("min_labels", min_labels, 0, n_categories)
    _check_limit("max_labels", max_labels, 1, n_categories)
    if min_labels is not None and max_labels is not None and min_labels > max_labels:
        message = f"min_labels is {min_labels} and max_labels is {max_labels}"
        raise ParameterError(f"{message}: give a min_labels that is not larger, or leave one out.")
    sizes = np.asarray(labels.sum(axis=1), dtype=np.intp)
    least = int(sizes.min(initial=n_categories)) if min_labels is None else int(min_labels)
    most = int(sizes.max(initial=0)) if max_labels is None else int(max_labels)
    if min_labels is None:
        return Limits(min(least, most), most)
    return Limits(least, max(least, most))


def _check_limit(name: str, value: Any, first: int, last: int) -> None:
    """Raise unless the limit is None or an integer within the range."""
    is_number = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and not (is_number and first <= value <= last):
        message = f"{name} is {value!r}; give an integer from {first} to {last}"
        raise ParameterError(f"{message}, the number of categories, or None.")


def choose(excess: Floats, least: int, most: int) -> CSR:
    """Return the categories with a positive excess, within limits.

    Each row is decided independently, and ties go to the first column, so a prediction does not
    depend on the other items in a block.

    Parameters
    ----------
    excess
        The amount by which each score exceeds its threshold, (n_items, n_categories); see ``Rule``.
    least, most
        The minimum and maximum number of categories per item. Categories with the largest excess
        are chosen first.

    Returns
    -------
    CSR
        (n_items, n_categories), boolean, with sorted indices.

    Raises
    ------
    LabelError
        If an excess is NaN.
    ValueError
        If a limit is negative or ``least`` is larger than ``most``.
    """
    excess = np.ascontiguousarray(excess, dtype=np.float64)
    if excess.ndim != 2:
        message = f"excess has {excess.ndim} dimension(s); give one row per item"
        raise LabelError(f"{message} and one column per category.")
    if not 0 <= least <= most:
        raise ParameterError(f"Limits are {least} and {most}; give 0 <= least <= most.")
    n_items, n_categories = excess.shape
    chosen = np.zeros(excess.shape, dtype=bool)
    least, most = min(least, n_categories), min(most, n_categories)
    if can_spare(choose_categories, n_items, MOST_ITEMS):
        missing = choose_few_categories(excess, least, most, chosen)
    else:
        room = np.empty(max(most, 1), np.intp)
        missing = choose_categories(excess, least, most, room, chosen)
    if missing >= 0:
        row, column = divmod(missing, n_categories)
        raise LabelError(f"The excess of category {column} in row {row} is NaN: score all items.")
    rows, columns = np.nonzero(chosen)
    ends = np.searchsorted(rows, np.arange(n_items + 1))
    # scikit-learn rejects index types that are wider than necessary.
    index = get_index_dtype(maxval=max(len(rows), n_categories))
    parts = np.ones(len(rows), dtype=bool), columns.astype(index), ends.astype(index)
    return csr_array(parts, shape=excess.shape)
