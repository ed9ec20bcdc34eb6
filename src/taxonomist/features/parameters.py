"""Checks of the parameters that the transformers share."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_lengths(lengths: Any) -> tuple[int, int]:
    """Return the shortest and the longest length, of a pair or of one length.

    Raises
    ------
    ValueError
        If they are not whole numbers from 1 in this order.
    """
    pair = (lengths, lengths) if _is_whole(lengths) else tuple(np.ravel(lengths).tolist())
    if len(pair) != 2 or not all(map(_is_whole, pair)) or not 1 <= pair[0] <= pair[1]:
        raise ValueError(
            "lengths must be a whole number from 1, or a pair of them, the smaller first. "
            f"Got {lengths!r}."
        )
    return int(pair[0]), int(pair[1])


def check_dtype(dtype: Any) -> Any:
    """Return the type of values.

    Raises
    ------
    ValueError
        If it is neither float32 nor float64.
    """
    if dtype in ("float32", "float64", np.float32, np.float64):
        return np.dtype(dtype)
    raise ValueError(f"dtype must be one of float32, float64. Got {dtype!r}.")


def check_whole(name: str, number: Any, least: int) -> int:
    """Return a number.

    Raises
    ------
    ValueError
        If it is not whole, or too small.
    """
    if not _is_whole(number) or number < least:
        raise ValueError(f"{name} must be a whole number from {least}. Got {number!r}.")
    return int(number)


def _is_whole(number: Any) -> bool:
    """Return whether something is a whole number."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
