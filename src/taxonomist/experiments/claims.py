"""Claims that the results decide: one model is better than another, or faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation import bootstrap_interval, permutation_test
from taxonomist.experiments.declarations import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Floats
    from taxonomist.experiments.declarations import Results

LEVEL = 0.05
"""A p-value below it is no chance."""
_SEED = 0


@dataclass(frozen=True)
class Better:
    """That cells are better than others, by paired permutation tests.

    The verdict is that of a test over all pairs together: "yes" or "no" where it is significant,
    else "within noise". A claim about every pair is refuted by one pair that is significantly
    the other way.

    Attributes
    ----------
    text
        What is claimed.
    pairs
        The names of the cell that is claimed to be better and of the one that it is better than.
    measure
        What is compared: item by item where both cells have it for the same items, else by folds.
    lower
        Whether lower is better.
    everywhere
        Whether it is claimed of every pair.
    """

    text: str
    pairs: tuple[tuple[str, str], ...]
    measure: str
    lower: bool = False
    everywhere: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells that it is about."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def judge(self, results: Results) -> Judgement:
        """Decide by a paired permutation test over all pairs, and one for each pair."""
        gains = [self._gains(results, *pair) for pair in self.pairs]
        verdicts = [_verdict(gain) for gain in gains]
        verdict = _verdict(np.concatenate(gains))
        if self.everywhere and "no" in verdicts:
            verdict = "no"
        return Judgement(verdict, self._because(gains, verdicts))

    def _gains(self, results: Results, better: str, worse: str) -> Floats:
        """Return by how much the first is better, for each item or fold."""
        a, b = results[better], results[worse]
        if self.measure in a.items and self.measure in b.items:
            pair = a.items[self.measure], b.items[self.measure]
        else:
            pair = a.values[self.measure], b.values[self.measure]
        difference = np.subtract(*pair)
        return np.asarray(-difference if self.lower else difference)

    def _because(self, gains: Sequence[Floats], verdicts: Sequence[Verdict]) -> str:
        """Return the figures behind a judgement."""
        every = np.concatenate(gains)
        p_value = permutation_test(every, np.zeros_like(every), random_state=_SEED).p_value
        text = f"better by {every.mean():.3g}"
        if every.size > 1:
            interval = bootstrap_interval(every, random_state=_SEED)
            text += f" [{interval.low:.3g}, {interval.high:.3g}]"
        text += f", p = {p_value:.2g}"
        if len(gains) == 1:
            return text
        up = sum(gain.mean() > 0 for gain in gains)
        return (
            f"{text}; better in {up} of {len(gains)} pairs, significantly in "
            f"{verdicts.count('yes')}, significantly worse in {verdicts.count('no')}"
        )


@dataclass(frozen=True)
class Ratio:
    """That a measure of one cell is at least so many times that of another.

    The verdict is "yes" or "no" where the bootstrap interval of the ratio lies on one side of the
    bar, else "within noise"; it needs values of several repeats.

    Attributes
    ----------
    text
        What is claimed.
    larger, smaller
        The names of the cells.
    measure
        What is compared.
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
        """The names of the cells that it is about."""
        return self.larger, self.smaller

    def judge(self, results: Results) -> Judgement:
        """Decide by the interval of the mean logarithm of the ratio over repeats."""
        parts = (results[name].values[self.measure] for name in self.cells)
        logs = np.log(np.divide(*map(np.asarray, parts)))
        if logs.size < 2:
            return Judgement("within noise", f"{np.exp(logs[0]):.3g} times, a single run")
        interval = bootstrap_interval(logs, random_state=_SEED)
        low, high = np.exp([interval.low, interval.high])
        verdict: Verdict = "within noise"
        if low >= self.least or high < self.least:
            verdict = "yes" if low >= self.least else "no"
        return Judgement(verdict, f"{np.exp(interval.estimate):.3g} times [{low:.3g}, {high:.3g}]")


def _verdict(gains: Floats) -> Verdict:
    """Return what a two-sided test of the gains says."""
    test = permutation_test(gains, np.zeros_like(gains), random_state=_SEED)
    if test.p_value >= LEVEL:
        return "within noise"
    return "yes" if test.statistic > 0 else "no"
