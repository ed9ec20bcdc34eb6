"""Claims about measures of one cell, and claims that an effect is absent or small."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation import bootstrap_interval
from taxonomist.experiments.claims.better import judge_each, judge_ratio
from taxonomist.experiments.claims.pairing import SEED, Paired, paired, shares
from taxonomist.experiments.declarations import Judgement, Verdict

if TYPE_CHECKING:
    from taxonomist.experiments.claims import Better
    from taxonomist.experiments.declarations import Results


@dataclass(frozen=True)
class NotSeen:
    """The claim that an effect is absent.

    The verdict is "no" if a paired test finds the effect, "within noise" if the averages point to
    it without being significant, and "yes" if they do not even point to it. A "yes" has no p-value:
    no test can show that an effect is absent.

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
        if judgement.verdict == "yes":
            return replace(judgement, verdict="no")
        if self.effect.average_gain(results) > 0:
            return replace(judgement, verdict="within noise")
        return Judgement("yes", judgement.because)


@dataclass(frozen=True)
class Falls:
    """The claim that one measure exceeds another in every one of several cells.

    Each cell is a row, with a paired permutation test; rows are counted as in ``Better``.

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
        falls = []
        for name in self.cells:
            above, below = (
                shares(results[name], measure, name) for measure in (self.above, self.below)
            )
            falls.append(Paired(above.ids, above.values - below.values))
        judgement = judge_each(falls, "every")
        sizes = [fall.mean for fall in falls]
        because = f"falls by {min(sizes):.3g} to {max(sizes):.3g}; {judgement.because}"
        return replace(judgement, because=because)


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
            difference = paired(results, *pair, self.measure)
            low, high = difference.interval()
            lows.append(low)
            highs.append(high)
            sizes.append(abs(difference.mean))
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
        """Decide by the interval of the ratio of the averages."""
        values = results[self.cell].values
        return judge_ratio(values[self.larger], values[self.smaller], self.least)


@dataclass(frozen=True)
class Below:
    """The claim that a share of a cell is below a limit.

    The verdict is "yes" or "no" if the bootstrap interval of its mean over repeats lies on one side
    of the limit, and otherwise "within noise".

    Attributes
    ----------
    text
        The claim in words.
    cell
        Name of the cell.
    share
        The measure, a share from 0 to 1 for each repeat.
    limit
        The claimed limit.
    """

    text: str
    cell: str
    share: str
    limit: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The name of the cell."""
        return (self.cell,)

    def judge(self, results: Results) -> Judgement:
        """Decide by the interval of the mean."""
        values = np.asarray(results[self.cell].values[self.share])
        if values.size < 2:
            return Judgement("within noise", f"{values.mean():.1%}, a single run")
        interval = bootstrap_interval(values, random_state=SEED)
        verdict: Verdict = "within noise"
        if interval.high < self.limit or interval.low >= self.limit:
            verdict = "yes" if interval.high < self.limit else "no"
        shown = f"{interval.estimate:.1%} [{interval.low:.1%}, {interval.high:.1%}]"
        return Judgement(verdict, shown)
