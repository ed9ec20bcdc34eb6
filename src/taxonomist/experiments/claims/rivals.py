"""A model against all others: differences to each of them, and in how many rows none is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from taxonomist.experiments.claims.pairing import paired
from taxonomist.experiments.declarations import Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist.experiments.claims.pairing import Paired
    from taxonomist.experiments.declarations import Results, Verdict

SHARE = 0.8
"""Share of the rows in which a model must be at least as good as every other."""
_ROUNDING = 1e-9


def lead(results: Results, ours: str, other: str, measure: str, *, lower: bool) -> Paired:
    """Return by how much one cell is better than another, item by item.

    Parameters
    ----------
    results
        The results.
    ours, other
        The names of the cells.
    measure
        The measure.
    lower
        Whether lower is better.

    Returns
    -------
    Paired
        Differences, positive where the first cell is better.
    """
    first, second = (other, ours) if lower else (ours, other)
    return paired(results, first, second, measure)


def best_of(
    results: Results, ours: str, others: Sequence[str], measure: str, *, lower: bool
) -> str:
    """Return the best of other cells: the one over which a cell has the smallest lead."""
    leads = {
        other: lead(results, ours, other, measure, lower=lower).mean for other in reversed(others)
    }
    return min(leads, key=lambda other: leads[other])


@dataclass(frozen=True)
class AtLeastAsGood:
    """The claim that a model is at least as good as every other one in most rows.

    A row counts by value if no other model has a better average, and within the interval if none
    has one that is significantly better: if no 95 % bootstrap interval of a difference over items
    lies below zero. The verdict is "yes" if enough rows count by value, "within noise" if enough
    count within the interval, and otherwise "no".

    Attributes
    ----------
    text
        The claim in words.
    rows
        For each row, the name of the cell and those of the other cells.
    measures
        The measures, all of which must be at least as good, and whether lower is better.
    share
        The share of rows that is enough.
    """

    text: str
    rows: Mapping[str, tuple[str, tuple[str, ...]]]
    measures: Mapping[str, bool]
    share: float = SHARE

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""
        named = ((ours, *others) for ours, others in self.rows.values())
        return tuple(dict.fromkeys(name for row in named for name in row))

    def judge(self, results: Results) -> Judgement:
        """Decide by counting rows."""
        behind = {row: self._behind(results, *cells) for row, cells in self.rows.items()}
        n_rows = len(behind)
        by_value = sum(not found for found in behind.values())
        within = sum(all(high >= 0 for _, high in found.values()) for found in behind.values())
        verdict: Verdict = "yes" if by_value >= self.share * n_rows else "no"
        if verdict == "no" and within >= self.share * n_rows:
            verdict = "within noise"
        counted = f"in {by_value} of {n_rows} rows"
        because = f"{counted} by value ({by_value / n_rows:.0%}), in {within} within the interval"
        told = [
            f"{row} ({', '.join(f'{name} {gap:.2g}' for name, (gap, _) in found.items())})"
            for row, found in behind.items()
            if found
        ]
        if told:
            because += f"; behind in {', '.join(told)}"
        return Judgement(verdict, because, rows=counted)

    def _behind(
        self, results: Results, ours: str, others: Sequence[str]
    ) -> dict[str, tuple[float, float]]:
        """Return the best of the better models by each measure: its lead, and our highest one."""
        found = {}
        for measure, lower in self.measures.items():
            ahead: dict[str, tuple[float, float]] = {}
            for other in others:
                gained = lead(results, ours, other, measure, lower=lower)
                if gained.mean < -_ROUNDING:
                    ahead[other] = (-gained.mean, gained.interval()[1])
            if ahead:
                worst = max(ahead, key=lambda other: ahead[other][0])
                highest = min(high for _, high in ahead.values())
                found[f"{contestant_of(worst)} {measure}"] = (ahead[worst][0], highest)
        return found


def contestant_of(cell: str) -> str:
    """Return the name of the contestant of a cell, which follows the last slash."""
    return cell.rpartition("/")[2].removesuffix(" sets")
