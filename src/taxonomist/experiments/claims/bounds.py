"""Claims about single values: that they lie in a range, or how fast they grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.experiments.declarations import Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist.experiments.declarations import Results


@dataclass(frozen=True)
class Within:
    """The claim that the mean of a measure lies in a range, in most rows or in every row.

    The verdict is "yes" if it does in more than half of the rows (or in all), and otherwise "no".

    Attributes
    ----------
    text
        The claim in words.
    rows
        Names of cells by the name of their row.
    measure
        The measure.
    low, high
        The ends of the range, which are part of it.
    everywhere
        Whether the claim is about every row.
    """

    text: str
    rows: Mapping[str, str]
    measure: str
    low: float
    high: float
    everywhere: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(self.rows.values())

    def judge(self, results: Results) -> Judgement:
        """Decide by counting rows."""
        means = {
            row: float(np.mean(results[cell].values[self.measure]))
            for row, cell in self.rows.items()
        }
        outside = {row: mean for row, mean in means.items() if not self.low <= mean <= self.high}
        n_inside = len(means) - len(outside)
        holds = not outside if self.everywhere else 2 * n_inside > len(means)
        because = f"inside in {n_inside} of {len(means)} rows"
        if outside:
            told = ", ".join(f"{row} {mean:.3g}" for row, mean in outside.items())
            because += f"; outside: {told}"
        return Judgement("yes" if holds else "no", because)


@dataclass(frozen=True)
class Slows:
    """The claim that a curve grows fast at first, or that it grows slowly at last.

    The verdict is "yes" if it holds in every row, and otherwise "no".

    Attributes
    ----------
    text
        The claim in words.
    rows
        Names of cells by the name of their row.
    measure
        Growth a step, in periods of equal length.
    first
        The least growth in the first period.
    last
        A bound that growth in the last period is below.
    """

    text: str
    rows: Mapping[str, str]
    measure: str
    first: float = 0.0
    last: float = np.inf

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(self.rows.values())

    def judge(self, results: Results) -> Judgement:
        """Decide by the first and the last period."""
        growth = {row: results[cell].values[self.measure] for row, cell in self.rows.items()}
        holds = all(g[0] >= self.first and g[-1] < self.last for g in growth.values())
        told = ", ".join(f"{row} {g[0]:.2f} to {g[-1]:.2f}" for row, g in growth.items())
        return Judgement("yes" if holds else "no", f"variables a step, first to last pass: {told}")
