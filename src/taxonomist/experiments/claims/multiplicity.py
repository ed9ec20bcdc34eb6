"""Several tests at once: Holm's correction, and claims about every row or most rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from taxonomist.experiments.declarations import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Floats
    from taxonomist.experiments.declarations import Verdict

Rows: TypeAlias = Literal["every", "most", "together"]
"""What a claim says about the rows of a table: that it holds in every row, in more than half of
them, or for their average."""


def holm(p_values: Sequence[float]) -> Floats:
    """Return p-values corrected for their number by Holm's step-down method [Holm79].

    Parameters
    ----------
    p_values
        The plain p-values.

    Returns
    -------
    ndarray
        In the same order, max over k <= j of (m - k + 1) p_(k) for the j-th smallest of m
        p-values, at most 1. The probability that any true null hypothesis has a corrected p-value
        below a level is at most that level, however the tests depend on each other.
    """
    plain = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(plain, kind="stable")
    corrected = np.empty_like(plain)
    steps = plain[order] * np.arange(plain.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def at_least(p_values: Sequence[float], count: int) -> float:
    """Return the p-value of the claim that at least ``count`` effects are there.

    Parameters
    ----------
    p_values
        A p-value for each effect.
    count
        The claimed number of effects.

    Returns
    -------
    float
        (m - count + 1) p_(count) of m p-values, at most 1: the partial conjunction test by
        Bonferroni's inequality [BH08]. For all m effects that is the largest p-value, and for one
        effect Bonferroni's correction of the smallest.
    """
    ordered = sorted(p_values)
    return min(1.0, (len(ordered) - count + 1) * ordered[count - 1])


def judge_rows(
    gains: Sequence[float], p_values: Sequence[float], rows: Rows
) -> tuple[Verdict, float]:
    """Judge a claim about every row or most rows of a table.

    Parameters
    ----------
    gains
        By how much each row is better.
    p_values
        The two-sided p-value of each row.
    rows
        ``"every"`` or ``"most"``.

    Returns
    -------
    tuple
        "yes" and its p-value if at least the claimed number of rows is significantly better; "no"
        if so many are significantly worse that the claim cannot hold; and otherwise "within
        noise", with the p-value of the side to which the rows point.
    """
    n_rows = len(gains)
    needed = n_rows if rows == "every" else n_rows // 2 + 1
    better, worse = (
        [p if sign * gain > 0 else 1.0 for gain, p in zip(gains, p_values, strict=True)]
        for sign in (1, -1)
    )
    holds = at_least(better, needed)
    fails = at_least(worse, n_rows - needed + 1)
    if holds < LEVEL:
        return "yes", holds
    if fails < LEVEL:
        return "no", fails
    return "within noise", min(holds, fails)
