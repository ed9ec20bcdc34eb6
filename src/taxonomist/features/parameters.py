"""Parameter checks that the transformers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def check_lengths(lengths: Any) -> tuple[int, int]:
    """Return the smallest and largest length, given as a pair or as one length.

    Raises
    ------
    ValueError
        If they are not whole numbers of at least 1 in ascending order.
    """
    pair = (lengths, lengths) if _is_whole(lengths) else tuple(np.ravel(lengths).tolist())
    if len(pair) != 2 or not all(map(_is_whole, pair)) or not 1 <= pair[0] <= pair[1]:
        raise ParameterError(
            "lengths must be a whole number, at least 1, or a pair of them in ascending order. "
            f"Got {lengths!r}."
        )
    return int(pair[0]), int(pair[1])


def check_dtype(dtype: DTypeLike) -> Any:
    """Return the dtype of the values.

    Raises
    ------
    ValueError
        If it is neither float32 nor float64.
    """
    if dtype in ("float32", "float64", np.float32, np.float64):
        return np.dtype(dtype)
    raise ParameterError(f"dtype must be one of float32, float64. Got {dtype!r}.")


def check_whole(name: str, number: Any, least: int) -> int:
    """Return a whole number that is at least ``least``.

    Raises
    ------
    ValueError
        If it is not whole, or too small.
    """
    if not _is_whole(number) or number < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}. Got {number!r}.")
    return int(number)


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
