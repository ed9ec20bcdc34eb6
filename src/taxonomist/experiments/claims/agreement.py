"""Claims that models are about equally good, and that a value is beyond chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation import bootstrap_interval
from taxonomist.experiments.claims.pairing import SEED
from taxonomist.experiments.declarations import LEVEL, Judgement, Verdict

if TYPE_CHECKING:
    from taxonomist.experiments.declarations import Results


@dataclass(frozen=True)
class Alike:
    """The claim that cells differ by no more than a margin.

    The verdict is "yes" if the bootstrap intervals of all differences lie within the margin, "no"
    if one lies outside, and otherwise "within noise". A single fold has no interval.

    Attributes
    ----------
    text
        The claim in words.
    pairs
        Names of the cells that are compared, fold by fold.
    measure
        The measure to compare.
    margin
        The largest difference that counts as none.
    """

    text: str
    pairs: tuple[tuple[str, str], ...]
    measure: str
    margin: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def judge(self, results: Results) -> Judgement:
        """Decide by bootstrap intervals over folds."""
        found = []
        for pair in self.pairs:
            first, second = (np.asarray(results[name].values[self.measure]) for name in pair)
            difference = first - second
            if difference.size < 2:
                return Judgement("within noise", "a single run")
            interval = bootstrap_interval(difference, random_state=SEED)
            found.append((interval.low, interval.high, *pair))
        inside = [max(-low, high) <= self.margin for low, high, *_ in found]
        outside = [min(-low, high) < -self.margin for low, high, *_ in found]
        verdict: Verdict = "yes" if all(inside) else "no" if any(outside) else "within noise"
        low, high, *names = max(found, key=lambda one: max(-one[0], one[1]))
        return Judgement(
            verdict,
            f"within ±{self.margin:g} in {sum(inside)} of {len(found)} pairs, outside in "
            f"{sum(outside)}; the largest: {' less '.join(names)}, [{low:.3g}, {high:.3g}]",
        )


@dataclass(frozen=True)
class NoChance:
    """The claim that a value is larger than chance, by the p-value that the cell found.

    Attributes
    ----------
    text
        The claim in words.
    cell
        The name of the cell; its ``p_value`` is that of a permutation test.
    measure
        The tested measure.
    """

    text: str
    cell: str
    measure: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The name of the cell."""
        return (self.cell,)

    def judge(self, results: Results) -> Judgement:
        """Decide by the p-value."""
        values = results[self.cell].values
        p_value = values["p_value"][0]
        because = f"{values[self.measure][0]:.3g}, p = {p_value:.2g}"
        return Judgement("yes" if p_value < LEVEL else "within noise", because, p_value)
