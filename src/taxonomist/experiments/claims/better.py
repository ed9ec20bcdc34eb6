"""Claims that one model is better or faster than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation import bootstrap_interval, permutation_test
from taxonomist.experiments.declarations import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from taxonomist._typing import Floats
    from taxonomist.evaluation import PermutationResult
    from taxonomist.experiments.declarations import Results

LEVEL = 0.05
"""Significance level."""
N_PERMUTATIONS = 2000
_SEED = 0


@dataclass(frozen=True)
class Better:
    """The claim that cells are better than others, by paired permutation tests.

    The verdict comes from a test over all pairs together, in which several pairs of the same items
    count once, by their mean: "yes" or "no" if it is significant, and otherwise "within noise". A
    claim about every pair is refuted by one pair that is significantly the other way, and holds
    only if no pair is the other way at all.

    Attributes
    ----------
    text
        The claim in words.
    pairs
        Names of the cell that is claimed to be better and of the one it is compared with.
    measure
        The measure to compare: item by item if both cells have it for the same items, else by fold.
    lower
        Whether lower is better.
    everywhere
        Whether the claim is about every pair.
    """

    text: str
    pairs: tuple[tuple[str, str], ...]
    measure: str
    lower: bool = False
    everywhere: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def judge(self, results: Results) -> Judgement:
        """Decide by a paired permutation test over all pairs, and one for each pair."""
        gains = [self._gains(results, *pair) for pair in self.pairs]
        together = _together(gains)
        whole = _test(together)
        verdict, text = _verdict(whole), f"better by {whole.statistic:.3g}"
        if together.size > 1:
            interval = bootstrap_interval(together, random_state=_SEED)
            text += f" [{interval.low:.3g}, {interval.high:.3g}]"
        text += f", p = {whole.p_value:.2g}"
        if len(gains) > 1:
            verdicts = [_verdict(_test(gain)) for gain in gains]
            if self.everywhere and "no" in verdicts:
                verdict = "no"
            elif self.everywhere and verdict == "yes" and min(gain.mean() for gain in gains) <= 0:
                verdict = "within noise"
            text += (
                f"; better in {sum(gain.mean() > 0 for gain in gains)} of {len(gains)} pairs, "
                f"significantly in {verdicts.count('yes')}, significantly worse in "
                f"{verdicts.count('no')}"
            )
        return Judgement(verdict, text)

    def _gains(self, results: Results, better: str, worse: str) -> Floats:
        """Return by how much the first cell is better, for each item or fold."""
        a, b = results[better], results[worse]
        if self.measure in a.items and self.measure in b.items:
            pair = a.items[self.measure], b.items[self.measure]
        else:
            pair = a.values[self.measure], b.values[self.measure]
        difference = np.subtract(*pair)
        return np.asarray(-difference if self.lower else difference)


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
        test = _test(more)
        because = f"a gain of {gains[0].mean():.3g} against {gains[1].mean():.3g}"
        return Judgement(_verdict(test), f"{because}, p = {test.p_value:.2g}")

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
    interval = bootstrap_interval(logs, random_state=_SEED)
    low, high = np.exp([interval.low, interval.high])
    verdict: Verdict = "within noise"
    if low >= least or high < least:
        verdict = "yes" if low >= least else "no"
    return Judgement(verdict, f"{np.exp(interval.estimate):.3g} times [{low:.3g}, {high:.3g}]")


def _together(gains: Sequence[Floats]) -> Floats:
    """Combine the gains of all pairs; pairs with equal numbers of items share the same items."""
    by_size: dict[int, list[Floats]] = {}
    for gain in gains:
        by_size.setdefault(gain.size, []).append(gain)
    return np.concatenate([np.mean(group, axis=0) for group in by_size.values()])


def _test(gains: Floats) -> PermutationResult:
    """Test whether the mean of paired gains is zero."""
    zeros = np.zeros_like(gains)
    return permutation_test(gains, zeros, n_permutations=N_PERMUTATIONS, random_state=_SEED)


def _verdict(test: PermutationResult) -> Verdict:
    """Return the verdict of a two-sided test of gains."""
    if test.p_value >= LEVEL:
        return "within noise"
    return "yes" if test.statistic > 0 else "no"
