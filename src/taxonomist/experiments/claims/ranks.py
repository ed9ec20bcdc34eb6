"""Claims about the mean rank of a contestant, and about its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.experiments.declarations import Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist.experiments.declarations import Results


def _cells(rows: Mapping[str, tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    named = ((ours, *others) for ours, others in rows.values())
    return tuple(dict.fromkeys(name for row in named for name in row))


def _mean(results: Results, cell: str, measure: str) -> float:
    return float(np.mean(results[cell].values[measure]))


@dataclass(frozen=True)
class FirstRank:
    """The claim that a contestant has the best mean rank over rows.

    Contestants with equal values share their ranks. One that takes no part in a row has no rank
    there, and its mean is over its own rows.

    Attributes
    ----------
    text
        The claim in words.
    rows
        For each row, the name of the cell and those of the other cells.
    measure
        The measure; higher is better.
    """

    text: str
    rows: Mapping[str, tuple[str, tuple[str, ...]]]
    measure: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return _cells(self.rows)

    def judge(self, results: Results) -> Judgement:
        """Decide by mean ranks."""
        from scipy.stats import rankdata

        ranks: dict[str, list[float]] = {}
        for ours, others in self.rows.values():
            names = [ours, *others]
            found = rankdata([-_mean(results, name, self.measure) for name in names])
            for name, rank in zip(names, found.tolist(), strict=True):
                ranks.setdefault(name.rpartition("/")[2], []).append(rank)
        means = {name: float(np.mean(found)) for name, found in ranks.items()}
        first = next(iter(self.rows.values()))[0].rpartition("/")[2]
        told = ", ".join(
            f"{name} {means[name]:.2f}" for name in sorted(means, key=means.__getitem__)
        )
        is_first = all(means[first] < mean for name, mean in means.items() if name != first)
        return Judgement("yes" if is_first else "no", f"mean ranks: {told}")


@dataclass(frozen=True)
class WithinTime:
    """The claim that a contestant takes at most a multiple of the slowest of some others.

    Attributes
    ----------
    text
        The claim in words.
    rows
        For each row, the name of the cell and those of the others to compare with.
    measure
        The time.
    factor
        The largest multiple.
    """

    text: str
    rows: Mapping[str, tuple[str, tuple[str, ...]]]
    measure: str
    factor: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        return _cells(self.rows)

    def judge(self, results: Results) -> Judgement:
        """Decide by the largest multiple."""
        times = {
            row: _mean(results, ours, self.measure)
            / max(_mean(results, other, self.measure) for other in others)
            for row, (ours, others) in self.rows.items()
        }
        late = [f"{row} {ratio:.2g}" for row, ratio in times.items() if ratio > self.factor]
        largest = max(times.values())
        because = f"at most {largest:.2g} times, median {np.median(list(times.values())):.2g}"
        if late:
            because += f"; longer in {', '.join(late)}"
        n_within = len(times) - len(late)
        counted = f"in {n_within} of {len(times)} rows"
        return Judgement("no" if late else "yes", because, rows=counted)
