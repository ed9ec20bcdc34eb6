"""Claims that compare measures of one cell, and claims that something is not so or much alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation import bootstrap_interval, permutation_test
from taxonomist.experiments.claims.better import LEVEL, judge_ratio
from taxonomist.experiments.declarations import Judgement, Verdict

if TYPE_CHECKING:
    from taxonomist.experiments.claims import Better
    from taxonomist.experiments.declarations import Results

_SEED = 0


@dataclass(frozen=True)
class NotSeen:
    """That an effect is not observed: "no" where a paired test does observe it, else "yes".

    Attributes
    ----------
    text
        What is claimed.
    effect
        What is said not to be observed.
    """

    text: str
    effect: Better

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells that it is about."""
        return self.effect.cells

    def judge(self, results: Results) -> Judgement:
        """Decide by the test of the effect."""
        judgement = self.effect.judge(results)
        return Judgement("no" if judgement.verdict == "yes" else "yes", judgement.because)


@dataclass(frozen=True)
class Falls:
    """That one measure is above another in each of several cells, by paired permutation tests.

    "yes" where it is significant in all cells, "no" where it is significantly the other way in one.

    Attributes
    ----------
    text
        What is claimed.
    cells
        The names of the cells.
    above, below
        The measures, which have values for the same items.
    """

    text: str
    cells: tuple[str, ...]
    above: str
    below: str

    def judge(self, results: Results) -> Judgement:
        """Decide by a paired permutation test in each cell."""
        falls, verdicts = [], []
        for name in self.cells:
            items = results[name].items
            test = permutation_test(items[self.above], items[self.below], random_state=_SEED)
            falls.append(test.statistic)
            is_clear = test.p_value < LEVEL
            verdicts.append(("yes" if test.statistic > 0 else "no") if is_clear else "unclear")
        verdict: Verdict = "yes" if verdicts.count("yes") == len(verdicts) else "within noise"
        if "no" in verdicts:
            verdict = "no"
        return Judgement(
            verdict,
            f"falls by {min(falls):.3g} to {max(falls):.3g}, significantly in "
            f"{verdicts.count('yes')} of {len(verdicts)}, rises significantly in "
            f"{verdicts.count('no')}",
        )


@dataclass(frozen=True)
class Even:
    """That cells differ by little, by the interval of each difference.

    "yes" where all intervals lie within the limit, "no" where one lies beyond it.

    Attributes
    ----------
    text
        What is claimed.
    pairs
        The names of cells that are compared.
    measure
        What is compared, item by item.
    limit
        The largest difference that counts as little.
    """

    text: str
    pairs: tuple[tuple[str, str], ...]
    measure: str
    limit: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells that it is about."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def judge(self, results: Results) -> Judgement:
        """Decide by bootstrap intervals."""
        lows, highs, sizes = [], [], []
        for pair in self.pairs:
            first, second = (np.asarray(results[name].items[self.measure]) for name in pair)
            interval = bootstrap_interval(first - second, random_state=_SEED)
            lows.append(interval.low)
            highs.append(interval.high)
            sizes.append(abs(interval.estimate))
        least = np.maximum(np.maximum(lows, np.negative(highs)), 0.0)
        most = np.maximum(np.negative(lows), highs)
        verdict: Verdict = "yes" if (most <= self.limit).all() else "within noise"
        if (least > self.limit).any():
            verdict = "no"
        return Judgement(
            verdict,
            f"differences of {min(sizes):.3g} to {max(sizes):.3g}, of which "
            f"{np.count_nonzero(least > self.limit)} of {len(sizes)} are clearly beyond "
            f"{self.limit:g}",
        )


@dataclass(frozen=True)
class InnerRatio:
    """That one measure is at least so many times another of the same cell, repeat by repeat.

    Attributes
    ----------
    text
        What is claimed.
    cell
        The name of the cell.
    larger, smaller
        The measures.
    least
        The claimed ratio.
    """

    text: str
    cell: str
    larger: str
    smaller: str
    least: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The name of the cell that it is about."""
        return (self.cell,)

    def judge(self, results: Results) -> Judgement:
        """Decide by the interval of the mean logarithm of the ratio."""
        values = results[self.cell].values
        return judge_ratio(values[self.larger], values[self.smaller], self.least)
