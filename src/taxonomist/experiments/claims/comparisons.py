"""Claims about measures of one cell, and claims that an effect is absent or small."""

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
    """The claim that an effect is absent: "no" if a paired test finds it, otherwise "yes".

    Attributes
    ----------
    text
        The claim in words.
    effect
        The claim of the effect that should be absent.
    """

    text: str
    effect: Better

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return self.effect.cells

    def judge(self, results: Results) -> Judgement:
        """Decide by the test of the effect."""
        judgement = self.effect.judge(results)
        return Judgement("no" if judgement.verdict == "yes" else "yes", judgement.because)


@dataclass(frozen=True)
class Falls:
    """The claim that one measure exceeds another in each of several cells, by permutation tests.

    "yes" if it is significant in all cells, "no" if it is significantly the other way in one.

    Attributes
    ----------
    text
        The claim in words.
    cells
        Names of the cells.
    above, below
        The measures, with values for the same items.
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
    """The claim that cells differ little, by the interval of each difference.

    "yes" if all intervals lie within the limit, "no" if one lies beyond it.

    Attributes
    ----------
    text
        The claim in words.
    pairs
        Names of the cells that are compared.
    measure
        The measure to compare, item by item.
    limit
        The largest difference that counts as little.
    """

    text: str
    pairs: tuple[tuple[str, str], ...]
    measure: str
    limit: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
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
    """The claim that one measure is at least ``least`` times another of the same cell.

    Attributes
    ----------
    text
        The claim in words.
    cell
        Name of the cell.
    larger, smaller
        The measures, compared repeat by repeat.
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
        """The name of the cell."""
        return (self.cell,)

    def judge(self, results: Results) -> Judgement:
        """Decide by the interval of the mean logarithm of the ratio."""
        values = results[self.cell].values
        return judge_ratio(values[self.larger], values[self.smaller], self.least)
