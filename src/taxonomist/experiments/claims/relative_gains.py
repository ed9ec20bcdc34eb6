"""Claims about relative gains: that one is larger than another, or than a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import ndtr

from taxonomist.experiments.claims.pairing import Paired, check_same_items, shares
from taxonomist.experiments.declarations import Judgement, Verdict

if TYPE_CHECKING:
    from taxonomist.experiments.declarations import Results

NORMAL_95 = 1.96
"""Standard deviations from the mean to the ends of a normal 95 % interval."""


class Gain(NamedTuple):
    """How much better one cell is than another by a measure, relative to the worse of the two."""

    better: str
    worse: str
    measure: str
    lower: bool = False

    def is_defined(self, results: Results) -> bool:
        """Return whether neither mean is zero."""
        return all(shares(results[name], self.measure, name).mean > 0 for name in self[:2])

    def logarithm(self, results: Results) -> tuple[float, Paired]:
        """Return the log of the ratio, and each item's first-order influence on it."""
        a, b = (shares(results[name], self.measure, name) for name in self[:2])
        check_same_items(a, b, *self[:2])
        sign = -1.0 if self.lower else 1.0
        moves = sign * (a.values / a.mean - b.values / b.mean)
        return sign * math.log(a.mean / b.mean), Paired(a.ids, moves)


@dataclass(frozen=True)
class LargerRelativeGain:
    """The claim that one relative gain is larger than another.

    The verdict is "yes" or "no" if the 95 % interval of the difference between the logs of the two
    ratios lies on one side of zero, and otherwise "within noise". The interval is a normal
    approximation, linear in the items' values; gains of the same items are paired item by item.

    Attributes
    ----------
    text
        The claim in words.
    larger, smaller
        The two gains; their cells have the measure for each item.
    """

    text: str
    larger: Gain
    smaller: Gain

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(dict.fromkeys((*self.larger[:2], *self.smaller[:2])))

    def judge(self, results: Results) -> Judgement:
        """Decide by the interval of the difference, which a normal test has a p-value for."""
        gains = (self.larger, self.smaller)
        if not all(gain.is_defined(results) for gain in gains):
            return Judgement("within noise", "a ratio to a mean of zero")
        (large, moves), (small, others) = (gain.logarithm(results) for gain in gains)
        same = self.larger[:2] == self.smaller[:2] or None is not moves.ids == others.ids
        parts = (moves.values - others.values,) if same else (moves.values, others.values)
        error = math.sqrt(sum(part.var() / part.size for part in parts))
        low, high = (large - small + side * NORMAL_95 * error for side in (-1, 1))
        verdict: Verdict = "within noise"
        if low > 0 or high < 0:
            verdict = "yes" if low > 0 else "no"
        p_value = 2 * float(ndtr(-abs(large - small) / error)) if error else 1.0
        shown = f"a relative gain of {math.expm1(large):.1%} against {math.expm1(small):.1%}"
        because = f"{shown}, difference of logarithms [{low:.2g}, {high:.2g}], p = {p_value:.2g}"
        return Judgement(verdict, because, p_value)


@dataclass(frozen=True)
class RelativeGain:
    """The claim that a relative gain is at least as large as a given one.

    The verdict is "yes" or "no" if the 95 % interval of the gain lies on one side of it, and
    otherwise "within noise". The interval is that of :class:`LargerRelativeGain`.

    Attributes
    ----------
    text
        The claim in words.
    gain
        The gain; its cells have the measure for each item.
    least
        The claimed gain, as a fraction.
    """

    text: str
    gain: Gain
    least: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return self.gain[:2]

    def judge(self, results: Results) -> Judgement:
        """Decide by the interval of the logarithm of the ratio."""
        if not self.gain.is_defined(results):
            return Judgement("within noise", "a ratio to a mean of zero")
        found, moves = self.gain.logarithm(results)
        error = math.sqrt(moves.values.var() / moves.values.size)
        low, high = (math.expm1(found + side * NORMAL_95 * error) for side in (-1, 1))
        verdict: Verdict = "within noise"
        if low >= self.least or high < self.least:
            verdict = "yes" if low >= self.least else "no"
        return Judgement(verdict, f"{math.expm1(found):+.1%} [{low:+.1%}, {high:+.1%}]")
