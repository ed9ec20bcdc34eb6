"""The parts of an experiment: cells of work, the tables and figures they fill, and claims.

A cell does one piece of work, such as the cross-validation of one model on one corpus, and returns
a :class:`Result`. Tables, figures and claims refer to cells by name, so a cell can serve several of
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from taxonomist import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Verdict: TypeAlias = Literal["yes", "no", "within noise"]
IsFinished: TypeAlias = "Callable[[Cell], bool]"
"""Tells whether a cell has a result."""
LEVEL = 0.05
"""Significance level."""
_FORM = 2
"""Changes with the form of stored results, so that older ones are not read."""


@dataclass(frozen=True)
class Result:
    """The result of a cell.

    Attributes
    ----------
    values
        Values of each measure: one per fold or repeat, or the points of a curve.
    items
        Values of measures for each test item (or each category), fold by fold. Their mean, fold by
        fold, is the entry of ``values``.
    seconds
        Run time of the cell.
    item_ids
        For each measure of ``items``, the identity of each value's item. An item that occurs in
        several draws or in several cells has the same identity in all of them, so that it counts
        once in a test. Identities of different corpora differ.
    item_runs
        For each measure of ``items``, the position in ``values`` of the fold or repeat that each
        value belongs to; by default all belong to one.
    """

    values: Mapping[str, list[float]]
    items: Mapping[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    item_ids: Mapping[str, list[str]] = field(default_factory=dict)
    item_runs: Mapping[str, list[int]] = field(default_factory=dict)


Results: TypeAlias = Mapping[str, Result]
"""Results by cell name."""


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    Attributes
    ----------
    name
        Name within the paper, such as ``"D/flat"``.
    work
        A module-level function, or a ``partial`` of one, so that it can be identified by its
        parameters and sent to another process.
    corpus
        The named corpus that it needs; empty for none.
    is_timed
        Whether it measures seconds, so that nothing else may run at the same time.
    sources
        A digest of sources; a stored result is not used after they have changed. If empty, it is
        used until the version of the library changes.
    """

    name: str
    work: Callable[[], Result]
    corpus: str = ""
    is_timed: bool = False
    sources: str = ""

    @property
    def key(self) -> str:
        """A digest of the work, its parameters, the version of the library and ``sources``."""
        described = f"{_FORM} {__version__} {self.name} {describe(self.work)}{self.sources}"
        return hashlib.sha256(described.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Judgement:
    """Whether a claim holds, and the supporting numbers.

    Attributes
    ----------
    verdict
        Whether it holds.
    because
        The numbers behind the verdict.
    p_value
        The p-value of the test that decided; None if an interval decided.
    rows
        For a claim about rows, in how many of them it is right.
    is_least
        Whether the test has no smaller p-value, as where all of a few repeats agree.
    corrected
        The verdict after Holm's correction for all claims of the paper; None if it has not been
        made or does not apply, because an interval decided.
    """

    verdict: Verdict
    because: str
    p_value: float | None = None
    rows: str = ""
    is_least: bool = False
    corrected: Verdict | None = None


class Claim(Protocol):
    """A statement about cells that results can decide."""

    @property
    def text(self) -> str:
        """The claim in words."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells."""

    def judge(self, results: Results) -> Judgement:
        """Decide by intervals or a paired permutation test."""


@dataclass(frozen=True)
class Entry:
    """One number of a table.

    Attributes
    ----------
    row, column
        Its position.
    cell, measure
        The cell and the measure whose mean is shown.
    paper
        The paper's number, or None if there is none.
    digits
        Number of decimals.
    scale
        100 for per cent.
    relative_to
        Another cell. If given, the number is by what fraction of the smaller of the two means the
        cell is better, with a sign.
    lower
        Whether lower is better. Only used with ``relative_to`` and ``versus``.
    versus
        Other cells. If given, the number is by how much the cell is better than the best of them,
        shown with the 95 % bootstrap interval of the difference over items.
    """

    row: str
    column: str
    cell: str
    measure: str
    paper: float | None = None
    digits: int = 3
    scale: float = 1.0
    relative_to: str = ""
    lower: bool = False
    versus: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the numbers of a table or figure were made, in words.

    Attributes
    ----------
    tolerance
        When the optimisation stops.
    features
        How items become vectors, and from which items this was learnt.
    splits
        How items are divided into training and test items.
    draws
        How many samples or repeats there are, and how they are drawn.
    """

    tolerance: str
    features: str
    splits: str
    draws: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a paper.

    Attributes
    ----------
    number
        Its number in the paper, or a word if it has none.
    title
        What it shows.
    corpus
        The data used here, and what they substitute.
    settings
        Tolerance, features, splits and draws.
    entries
        Its numbers.
    claims
        The paper's claims about them.
    """

    number: str
    title: str
    corpus: str
    settings: Settings
    entries: tuple[Entry, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the required cells."""
        told = [name for claim in self.claims for name in claim.cells]
        shown = [name for entry in self.entries for name in (entry.cell, *entry.versus)]
        return tuple(dict.fromkeys([*shown, *told]))


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a paper; its fields are those of a table, with a drawing instead of entries.

    Attributes
    ----------
    draw
        A function of the results that draws the figure.
    drawn
        Names of the drawn cells.
    """

    number: str
    title: str
    corpus: str
    settings: Settings
    draw: Callable[[Results], Drawing]
    drawn: tuple[str, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the required cells."""
        told = [name for claim in self.claims for name in claim.cells]
        return tuple(dict.fromkeys([*self.drawn, *told]))

    def entries(self, results: Results) -> tuple[Entry, ...]:
        """Return the numbers behind the drawing: all measures of its cells, a row for each cell."""
        return tuple(
            Entry(name, measure, name, measure)
            for name in self.drawn
            for measure, values in results[name].values.items()
            if values
        )


@dataclass(frozen=True, kw_only=True)
class Paper:
    """All experiments of a paper.

    Attributes
    ----------
    key
        Short name, such as ``"CH04"``.
    title
        Authors, title and year.
    cells
        The work.
    tables, figures
        The tables and figures that show the results.
    notes
        What is left out here, in sentences.
    part
        Returns the same experiments with only those rows whose cells have finished, given a
        function that tells which cells have; None if tables cannot do without a row.
    """

    key: str
    title: str
    cells: tuple[Cell, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    part: Callable[[IsFinished], Paper] | None = None

    def finished(self, is_finished: IsFinished) -> Paper:
        """Return the tables and figures that can be written without running anything."""
        found = self if self.part is None else self.part(is_finished)
        done = {cell.name for cell in self.cells if is_finished(cell)}
        tables = tuple(table for table in found.tables if done.issuperset(table.cells))
        figures = tuple(figure for figure in found.figures if done.issuperset(figure.cells))
        return replace(found, tables=tables, figures=figures)

    def __post_init__(self) -> None:
        known = [cell.name for cell in self.cells]
        parts: list[Table | Figure] = [*self.tables, *self.figures]
        wanted = [name for part in parts for name in part.cells]
        missing = sorted(set(wanted) - set(known))
        if missing or len(set(known)) < len(known):
            raise ValueError(f"{self.key}: cells are declared twice or not declared: {missing}.")


def describe(value: Any) -> str:
    """Return a text for a declared value that is the same in every process."""
    if isinstance(value, partial):
        inner = [*map(describe, value.args)]
        inner += [f"{name}={describe(given)}" for name, given in sorted(value.keywords.items())]
        return f"{describe(value.func)}({', '.join(inner)})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{describe(k)}: {describe(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(describe, value)) + ")"
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)
