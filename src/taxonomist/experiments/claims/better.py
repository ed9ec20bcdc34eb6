"""Claims that one model is better or faster than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation import bootstrap_interval
from taxonomist.experiments.claims.multiplicity import judge_rows
from taxonomist.experiments.claims.pairing import SEED, Paired, paired, together
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
            return Judgement(verdict_of(test), text, test.p_value)
        return judge_each(gains, self.rows)

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
    text = (
        f"better by {np.mean(means):.3g} on average; in {sum(mean > 0 for mean in means)} of "
        f"{len(gains)} rows, significantly in {verdicts.count('yes')}, significantly worse in "
        f"{verdicts.count('no')}; p = {p_value:.2g}"
    )
    return Judgement(verdict, text, p_value)


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
        test = Paired(None, more).test()
        because = f"a gain of {gains[0].mean():.3g} against {gains[1].mean():.3g}"
        return Judgement(verdict_of(test), f"{because}, p = {test.p_value:.2g}", test.p_value)

    def _gains(self, results: Results, better: str, worse: str) -> Floats:
        """Return by how much the first cell is better, for each repeat."""
        gained, other = (results[name].values[self.measure] for name in (better, worse))
        difference = np.subtract(gained, other)
        return np.asarray(-difference if self.lower else difference)


@dataclass(frozen=True)
class Ratio:
    """The claim that a measure of one cell is at least ``least`` times that of another.

    The verdict is "yes" or "no" if the bootstrap interval of the ratio lies on one side of
    ``least``, and otherwise "within noise"; it needs several repeats.

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
        """Decide by the interval of the mean logarithm of the ratio over repeats."""
        larger, smaller = (results[name].values[self.measure] for name in self.cells)
        return judge_ratio(larger, smaller, self.least)


def judge_ratio(larger: ArrayLike, smaller: ArrayLike, least: float) -> Judgement:
    """Decide by the interval of the mean logarithm of a ratio over repeats."""
    logs = np.log(np.divide(larger, smaller))
    if logs.size < 2:
        return Judgement("within noise", f"{np.exp(logs[0]):.3g} times, a single run")
    interval = bootstrap_interval(logs, random_state=SEED)
    low, high = np.exp([interval.low, interval.high])
    verdict: Verdict = "within noise"
    if low >= least or high < least:
        verdict = "yes" if low >= least else "no"
    return Judgement(verdict, f"{np.exp(interval.estimate):.3g} times [{low:.3g}, {high:.3g}]")


def verdict_of(test: PermutationResult) -> Verdict:
    """Return the verdict of a two-sided test of gains."""
    if test.p_value >= LEVEL:
        return "within noise"
    return "yes" if test.statistic > 0 else "no"
