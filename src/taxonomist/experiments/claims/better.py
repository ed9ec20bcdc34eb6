"""Claims that one model is better or faster than another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from taxonomist.experiments.claims.multiplicity import judge_rows
from taxonomist.experiments.claims.pairing import Paired, paired, together
from taxonomist.experiments.declarations import LEVEL, Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import Floats
    from taxonomist.evaluation import PermutationResult
    from taxonomist.experiments.claims.multiplicity import Rows
    from taxonomist.experiments.declarations import Results


@dataclass(frozen=True)
class Better:
    """The claim that cells are better than others, by paired permutation tests.

    Tests use the averages that the table shows, and an item that occurs several times counts once.
    Each pair is a row. A claim about the rows together is decided by one test of their average
    difference; a claim about every row or most rows counts rows, with one test for each, as
    :func:`~taxonomist.experiments.claims.multiplicity.judge_rows` does.

    Attributes
    ----------
    text
        The claim in words.
    pairs
        Names of the cell that is claimed to be better and of the one it is compared with.
    measure
        The measure to compare: item by item if both cells have it for items, else by repeat.
    lower
        Whether lower is better.
    rows
        Whether the claim is about ``"every"`` row, ``"most"`` rows or the rows ``"together"``.
    """

    text: str
    pairs: tuple[tuple[str, str], ...]
    measure: str
    lower: bool = False
    rows: Rows = "together"

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def judge(self, results: Results) -> Judgement:
        """Decide by a paired permutation test of the rows together, or by one for each row."""
        gains = [self._gains(results, *pair) for pair in self.pairs]
        if len(gains) == 1 or self.rows == "together":
            whole = together(gains)
            test = whole.test()
            text = f"better by {whole.mean:.3g}"
            if whole.values.size > 1:
                low, high = whole.interval()
                text += f" [{low:.3g}, {high:.3g}]"
            text += f", p = {test.p_value:.2g}"
            if len(gains) > 1:
                text += f"; better in {sum(gain.mean > 0 for gain in gains)} of {len(gains)} rows"
            is_least = whole.is_least(test.p_value)
            return Judgement(verdict_of(test), text, test.p_value, is_least=is_least)
        return judge_each(gains, self.rows)

    def average_gain(self, results: Results) -> float:
        """Return by how much the averages of the table are better, on average over rows."""
        return float(np.mean([self._gains(results, *pair).mean for pair in self.pairs]))

    def _gains(self, results: Results, better: str, worse: str) -> Paired:
        """Return by how much the first cell is better."""
        first, second = (worse, better) if self.lower else (better, worse)
        return paired(results, first, second, self.measure)


def judge_each(gains: Sequence[Paired], rows: Rows) -> Judgement:
    """Decide a claim about every row or most rows by a test of each row."""
    tests = [gain.test() for gain in gains]
    means, p_values = [gain.mean for gain in gains], [test.p_value for test in tests]
    verdict, p_value = judge_rows(means, p_values, rows)
    verdicts = [verdict_of(test) for test in tests]
    counted = f"in {sum(mean > 0 for mean in means)} of {len(gains)} rows"
    text = (
        f"better by {np.mean(means):.3g} on average; {counted}, significantly in "
        f"{verdicts.count('yes')}, significantly worse in {verdicts.count('no')}; p = {p_value:.2g}"
    )
    is_least = all(gain.is_least(p) for gain, p in zip(gains, p_values, strict=True))
    return Judgement(verdict, text, p_value, counted, is_least)


@dataclass(frozen=True)
class LargerGain:
    """The claim that one cell gains more over another in one setting than in a second setting.

    The verdict comes from a permutation test of the differences between gains, repeat by repeat.

    Attributes
    ----------
    text
        The claim in words.
    larger, smaller
        For each setting, the names of the cell that gains and of the one it is compared with.
    measure
        The measure to compare; all four cells have the same number of repeats.
    lower
        Whether lower is better.
    """

    text: str
    larger: tuple[str, str]
    smaller: tuple[str, str]
    measure: str
    lower: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return *self.larger, *self.smaller

    def judge(self, results: Results) -> Judgement:
        """Decide by a permutation test of the differences between gains."""
        gains = [self._gains(results, *pair) for pair in (self.larger, self.smaller)]
        more = gains[0] - gains[1]
        repeats = Paired(None, more)
        test = repeats.test()
        because = (
            f"a gain of {gains[0].mean():.3g} against {gains[1].mean():.3g}, p = {test.p_value:.2g}"
        )
        is_least = repeats.is_least(test.p_value)
        return Judgement(verdict_of(test), because, test.p_value, is_least=is_least)

    def _gains(self, results: Results, better: str, worse: str) -> Floats:
        """Return by how much the first cell is better, for each repeat."""
        gained, other = (results[name].values[self.measure] for name in (better, worse))
        difference = np.subtract(gained, other)
        return np.asarray(-difference if self.lower else difference)


@dataclass(frozen=True)
class LargerGains:
    """The claim that gains are larger in one setting than in another, over several rows.

    The verdict comes from a permutation test over rows of the differences between gains.

    Attributes
    ----------
    text
        The claim in words.
    larger, smaller
        For each row, in both settings, the names of the cell that gains and of the one it is
        compared with.
    measure
        The measure to compare.
    lower
        Whether lower is better.
    """

    text: str
    larger: tuple[tuple[str, str], ...]
    smaller: tuple[tuple[str, str], ...]
    measure: str
    lower: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(dict.fromkeys(n for pair in (*self.larger, *self.smaller) for n in pair))

    def judge(self, results: Results) -> Judgement:
        """Decide by a permutation test over rows."""
        gains = [
            np.array([self._gain(results, *pair) for pair in pairs])
            for pairs in (self.larger, self.smaller)
        ]
        more = gains[0] - gains[1]
        rows = Paired(None, more)
        test = rows.test()
        because = (
            f"a gain of {gains[0].mean():.3g} against {gains[1].mean():.3g} on average; larger in "
            f"{np.count_nonzero(more > 0)} of {more.size} rows, p = {test.p_value:.2g}"
        )
        is_least = rows.is_least(test.p_value)
        return Judgement(verdict_of(test), because, test.p_value, is_least=is_least)

    def _gain(self, results: Results, better: str, worse: str) -> float:
        """Return the difference of the averages that the table shows."""
        gained, other = (np.mean(results[name].values[self.measure]) for name in (better, worse))
        return float(other - gained if self.lower else gained - other)


@dataclass(frozen=True)
class Ratio:
    """The claim that a measure of one cell is at least ``least`` times that of another.

    The ratio is that of the averages that the table shows. The verdict is "yes" or "no" if its
    95 % interval over repeats lies on one side of ``least``, and otherwise "within noise"; it needs
    several repeats.

    Attributes
    ----------
    text
        The claim in words.
    larger, smaller
        Names of the cells.
    measure
        The measure to compare.
    least
        The claimed ratio.
    """

    text: str
    larger: str
    smaller: str
    measure: str
    least: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return self.larger, self.smaller

    def judge(self, results: Results) -> Judgement:
        """Decide by the interval of the ratio of the averages over repeats."""
        larger, smaller = (results[name].values[self.measure] for name in self.cells)
        return judge_ratio(larger, smaller, self.least)


def judge_ratio(larger: ArrayLike, smaller: ArrayLike, least: float) -> Judgement:
    """Decide by the interval of the ratio of two averages over the same repeats.

    The logarithm of the ratio is taken as linear in the values, and Student's distribution gives
    the interval, since repeats are few.
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (larger, smaller))
    if min(a.mean(), b.mean()) <= 0:
        return Judgement("within noise", "a ratio to a mean of zero")
    log_ratio = math.log(a.mean() / b.mean())
    if a.size < 2:
        return Judgement("within noise", f"{math.exp(log_ratio):.3g} times, a single run")
    error = float(np.std(a / a.mean() - b / b.mean(), ddof=1)) / math.sqrt(a.size)
    reach = float(stdtrit(a.size - 1, 1 - LEVEL / 2)) * error
    low, high = (math.exp(log_ratio + side * reach) for side in (-1, 1))
    more = log_ratio - math.log(least)
    p_value = 2 * float(stdtr(a.size - 1, -abs(more) / error)) if error else float(more == 0)
    verdict: Verdict = "within noise"
    if p_value < LEVEL:
        verdict = "yes" if more > 0 else "no"
    shown = f"{math.exp(log_ratio):.3g} times [{low:.3g}, {high:.3g}]"
    return Judgement(verdict, f"{shown}, p = {p_value:.2g}", p_value)


def verdict_of(test: PermutationResult) -> Verdict:
    """Return the verdict of a two-sided test of gains."""
    if test.p_value >= LEVEL:
        return "within noise"
    return "yes" if test.statistic > 0 else "no"
