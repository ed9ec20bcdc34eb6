"""What an experiment is made of: cells of work, the tables and figures they fill, and claims.

A cell does one piece of work, such as the cross-validation of one model on one corpus, and gives a
:class:`Result`. Tables, figures and claims refer to cells by name, so that a cell can serve
several of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from taxonomist import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Verdict: TypeAlias = Literal["yes", "no", "within noise"]


@dataclass(frozen=True)
class Result:
    """What a cell found.

    Attributes
    ----------
    values
        Values of each measure: one per fold or repeat, or the points of a curve.
    items
        Values of measures for each test item, in an order that cells of the same data share.
    seconds
        How long the cell took.
    """

    values: Mapping[str, list[float]]
    items: Mapping[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0


Results: TypeAlias = Mapping[str, Result]
"""What was found, by the names of cells."""


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    Attributes
    ----------
    name
        Its name within the paper, such as ``"D/flat"``.
    work
        What does it: a function of a module, or a ``partial`` of one, so that it can be told from
        others by its parameters and sent to another process.
    corpus
        The named corpus that it needs; none if empty.
    is_timed
        Whether seconds are what it measures, so that nothing may run beside it.
    """

    name: str
    work: Callable[[], Result]
    corpus: str = ""
    is_timed: bool = False

    @property
    def key(self) -> str:
        """Digits that change with the work, its parameters or the version of the library."""
        described = f"{__version__} {self.name} {describe(self.work)}"
        return hashlib.sha256(described.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Judgement:
    """Whether a claim holds, and the figures that say so."""

    verdict: Verdict
    because: str


class Claim(Protocol):
    """A statement about cells that the results can decide."""

    @property
    def text(self) -> str:
        """What is claimed."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells that it is about."""

    def judge(self, results: Results) -> Judgement:
        """Decide by intervals or a paired permutation test."""


@dataclass(frozen=True)
class Entry:
    """One number of a table.

    Attributes
    ----------
    row, column
        Where it stands.
    cell, measure
        What it is the mean of.
    paper
        The paper's number, None where it gives none.
    digits
        Decimals that are shown.
    scale
        100 for per cent.
    """

    row: str
    column: str
    cell: str
    measure: str
    paper: float | None = None
    digits: int = 3
    scale: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a paper.

    Attributes
    ----------
    number
        Its number in the paper, or a word where it has none.
    title
        What it shows.
    corpus
        The data it was made from here, and what they stand in for.
    entries
        Its numbers.
    claims
        What the paper says of them.
    """

    number: str
    title: str
    corpus: str
    entries: tuple[Entry, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells it needs."""
        told = [name for claim in self.claims for name in claim.cells]
        return tuple(dict.fromkeys([*(entry.cell for entry in self.entries), *told]))


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a paper; its fields are those of a table, with a drawing for the entries.

    Attributes
    ----------
    draw
        A function of the results that draws it.
    drawn
        The names of the cells that are drawn.
    """

    number: str
    title: str
    corpus: str
    draw: Callable[[Results], Drawing]
    drawn: tuple[str, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of the cells it needs."""
        told = [name for claim in self.claims for name in claim.cells]
        return tuple(dict.fromkeys([*self.drawn, *told]))


@dataclass(frozen=True, kw_only=True)
class Paper:
    """All experiments of a paper.

    Attributes
    ----------
    key
        Its short name, such as ``"CH04"``.
    title
        Authors, title and year.
    cells
        The work.
    tables, figures
        What it is shown in.
    """

    key: str
    title: str
    cells: tuple[Cell, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()

    def __post_init__(self) -> None:
        known = [cell.name for cell in self.cells]
        parts: list[Table | Figure] = [*self.tables, *self.figures]
        wanted = [name for part in parts for name in part.cells]
        missing = sorted(set(wanted) - set(known))
        if missing or len(set(known)) < len(known):
            raise ValueError(f"{self.key}: cells come twice, or are not declared: {missing}.")


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
