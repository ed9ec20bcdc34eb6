"""Significance of differences: paired sign-flip test and bootstrap intervals.

If two models are equally good, each paired difference d_i = a_i - b_i could equally have had the
opposite sign. The test compares the mean difference with its values under all sign vectors, or
under a random sample of them. Flips do not change differences of zero, so these are left out of the
enumeration, which makes the exact test feasible for many long inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import Floats, Integers

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
Seed: TypeAlias = "int | Sequence[int] | np.random.Generator | None"

N_PERMUTATIONS = 10_000

# Bounds the memory of one block of resamples (32 MB of float64).
_BLOCK_CELLS = 2**22


@dataclass(frozen=True)
class PermutationResult:
    """The outcome of a paired permutation test.

    Attributes
    ----------
    statistic
        The mean of the paired differences a - b.
    p_value
        The probability of a difference at least as large if both models are equally good.
    exact
        Whether all sign vectors were enumerated.
    """

    statistic: float
    p_value: float
    exact: bool


@dataclass(frozen=True)
class Interval:
    """A bootstrap interval.

    Attributes
    ----------
    low, high
        The ends of the interval.
    estimate
        The statistic of the values as given.
    """

    low: float
    high: float
    estimate: float


def permutation_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_permutations: int = N_PERMUTATIONS,
    alternative: Alternative = "two-sided",
    random_state: Seed = None,
) -> PermutationResult:
    """Test whether the paired values ``a`` and ``b`` have the same mean.

    Parameters
    ----------
    a, b
        One value per item or per fold for each model, in the same order.
    n_permutations
        Number of random sign vectors. If there are no more sign vectors than this, all are
        enumerated instead.
    alternative
        The alternative hypothesis: the means differ, a's is ``"greater"``, or a's is ``"less"``.
    random_state
        Seed of the drawn sign vectors.

    Returns
    -------
    PermutationResult
        Mean difference, p-value and whether it is exact. With random signs, the observed ones
        count as one more draw, so the p-value is never zero.

    Raises
    ------
    ValueError
        If the values are empty, not finite or not paired, or an option is out of range.
    """
    a, b = _values(a, "a"), _values(b, "b")
    if a.shape != b.shape:
        message = f"a and b must be paired, but have {a.size} and {b.size} values."
        raise ParameterError(message)
    if alternative not in ("two-sided", "greater", "less"):
        message = f"alternative must be 'two-sided', 'greater' or 'less'. Got {alternative!r}."
        raise ParameterError(message)
    _check_count(n_permutations, "n_permutations")
    difference = a - b
    statistic = float(difference.mean())
    moving = difference[difference != 0]
    if alternative == "less":
        moving = -moving
    exact = _can_enumerate(moving.size, n_permutations)
    if exact:
        blocks, n_signs = _all_bits(moving.size), 2**moving.size
    else:
        blocks, n_signs = _drawn_bits(moving.size, n_permutations, random_state), n_permutations
    count = _count_extreme(moving, blocks, two_sided=alternative == "two-sided")
    p_value = count / n_signs if exact else (count + 1) / (n_signs + 1)
    return PermutationResult(statistic, p_value, exact)


def smallest_p_value(n_values: int, n_permutations: int = N_PERMUTATIONS) -> float:
    """Return the smallest p-value that a two-sided test of ``n_values`` pairs can reach.

    Parameters
    ----------
    n_values
        Number of pairs.
    n_permutations
        As in :func:`permutation_test`.

    Returns
    -------
    float
        For example 0.25 for 3 folds: no result over 3 folds is significant at 0.05.
    """
    if _can_enumerate(n_values, n_permutations):
        return min(1.0, 0.5 ** (n_values - 1))
    return 1 / (n_permutations + 1)


def bootstrap_interval(
    values: ArrayLike,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    statistic: Callable[..., Any] = np.mean,
    random_state: Seed = None,
) -> Interval:
    """Return a percentile bootstrap interval of a statistic of the values.

    Parameters
    ----------
    values
        One value per item or per fold. For two models on the same items, pass the differences
        ``a - b``: resampling differences keeps the pairs together.
    confidence
        Nominal coverage, between 0 and 1.
    n_resamples
        Number of resamples with replacement.
    statistic
        A function of an array and ``axis``, such as ``np.mean`` or ``np.median``.
    random_state
        Seed of the resamples.

    Returns
    -------
    Interval
        The ends of the interval and the estimate.

    Raises
    ------
    ValueError
        If there are fewer than two values, one is not finite, or an option is out of range.
    """
    values = _values(values, "values")
    if values.size < 2:
        message = "A bootstrap interval needs at least 2 values, not 1."
        raise ParameterError(message)
    if not 0 < confidence < 1:
        message = f"confidence must be between 0 and 1. Got {confidence!r}."
        raise ParameterError(message)
    _check_count(n_resamples, "n_resamples")
    rng = np.random.default_rng(random_state)
    resampled = [
        statistic(values[rng.integers(values.size, size=(n_rows, values.size))], axis=1)
        for n_rows in _block_rows(n_resamples, values.size)
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(resampled), [tail, 1 - tail])
    return Interval(float(low), float(high), float(statistic(values, axis=0)))


def _values(values: ArrayLike, name: str) -> Floats:
    """Return the values as a checked 1-d array."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        message = f"{name} must be a non-empty sequence of numbers. Got shape {array.shape}."
        raise ParameterError(message)
    if not np.isfinite(array).all():
        where = int(np.flatnonzero(~np.isfinite(array))[0])
        message = f"{name}[{where}] is {array[where]}; remove such items from both models first."
        raise ParameterError(message)
    return array


def _check_count(count: int, name: str) -> None:
    if count < 1:
        message = f"{name} must be at least 1. Got {count!r}."
        raise ParameterError(message)


def _can_enumerate(n_values: int, n_permutations: int) -> bool:
    """Return whether 2**n_values <= n_permutations, without computing a huge power."""
    return n_values < int(n_permutations).bit_length()


def _block_rows(n_rows: int, n_columns: int) -> Iterator[int]:
    """Yield the sizes of row blocks of bounded memory."""
    size = max(1, _BLOCK_CELLS // max(1, n_columns))
    for start in range(0, n_rows, size):
        yield min(size, n_rows - start)


def _all_bits(n_bits: int) -> Iterator[Integers]:
    """Yield all 0/1 vectors of the given length, in blocks of rows."""
    start = 0
    for n_rows in _block_rows(2**n_bits, n_bits):
        numbers = np.arange(start, start + n_rows)[:, None]
        yield numbers >> np.arange(n_bits) & 1
        start += n_rows


def _drawn_bits(n_bits: int, n_rows: int, random_state: Seed) -> Iterator[Integers]:
    """Yield random 0/1 vectors of the given length, in blocks of rows."""
    rng = np.random.default_rng(random_state)
    for size in _block_rows(n_rows, n_bits):
        packed = rng.integers(256, size=(size, -(-n_bits // 8)), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=n_bits)


def _count_extreme(difference: Floats, blocks: Iterator[Integers], *, two_sided: bool) -> int:
    """Count the sign vectors whose sum is at least as extreme as the observed one."""
    total = float(difference.sum())
    # Sums of the same numbers in another order differ by rounding, but must count as equal.
    slack = 1e-12 * float(np.abs(difference).sum())
    count = 0
    for bits in blocks:
        sums = 2 * (bits.astype(np.float64) @ difference) - total
        extreme = np.abs(sums) >= abs(total) - slack if two_sided else sums >= total - slack
        count += int(np.count_nonzero(extreme))
    return count
