"""What all commands share: tables, JSON, notes, progress, and errors that end in one sentence.

Data go to standard output: a table for people on a terminal, tab-separated lines elsewhere, or
JSON on demand and then nothing else. Notes, progress and errors go to standard error. Exit
codes: 0 done, 1 unexpected error, or a check that found one, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.errors import TaxonomistError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taxonomist.workflow.steps import OnStep

__all__ = [
    "AsJson",
    "plain_errors",
    "print_facts",
    "print_json",
    "print_note",
    "print_table",
    "progress",
]

FOUND, BAD_INPUT, INTERRUPTED = 1, 2, 130

AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")
]


@contextmanager
def plain_errors() -> Iterator[None]:
    """End the program with one sentence and an exit code where the body raises.

    ``TaxonomistError`` and ``OSError`` are taken for bad input. What else is raised is a bug: it
    keeps its traceback, which a report of it needs.
    """
    for stream in (sys.stdout, sys.stderr):
        # A tree of a taxonomy has letters that not every terminal can show.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except (TaxonomistError, OSError) as error:
        typer.echo(f"taxonomist: {_sentence(error)}", err=True)
        sys.exit(BAD_INPUT)
    except Exception:
        typer.echo("taxonomist: this is a bug; please report it with these lines:", err=True)
        raise


def _sentence(error: Exception) -> str:
    """Return what is said about an error; the system's own speak of numbers first."""
    if isinstance(error, OSError) and not isinstance(error, TaxonomistError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error) or type(error).__name__


def is_terminal(stream: IO[str]) -> bool:
    """Return whether people look at a stream."""
    return stream.isatty()


def print_json(value: Any) -> None:
    """Print a value as JSON that any encoding of standard output can hold."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    typer.echo(json.dumps(value, ensure_ascii=encoding != "utf8", indent=2))


def print_note(text: str) -> None:
    """Print a sentence for people beside the data."""
    typer.echo(text, err=True)


def print_facts(facts: Mapping[str, object]) -> None:
    """Print a line for each fact: its name and its value."""
    width = max(map(len, facts))
    for name, value in facts.items():
        typer.echo(f"{name:<{width}}  {_shown(value)}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table: drawn on a terminal, else tab-separated lines below the names of columns.

    Parameters
    ----------
    columns
        The columns' names.
    rows
        The cells; numbers are set to the right, None is left empty.
    title
        What stands above a drawn table.
    """
    cells = [list(row) for row in rows]
    if is_terminal(sys.stdout):
        _draw_table(columns, cells, title)
        return
    for row in [list[object](columns), *cells]:
        typer.echo("\t".join(" ".join(_plain(cell).split()) for cell in row))


def _draw_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str) -> None:
    """Draw a table as wide as the terminal allows."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left")
    for position, column in enumerate(columns):
        is_number = any(isinstance(row[position], int | float) for row in rows)
        table.add_column(column, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_shown(cell)) for cell in row))
    Console().print(table)


def _plain(value: object) -> str:
    """Return a cell as programs read it."""
    return "" if value is None else str(value)


def _shown(value: object) -> str:
    """Return a value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3g}"
    return _plain(value)


def _silent(*_: object) -> None:
    """Draw nothing."""


@contextmanager
def progress(unit: str = "items") -> Iterator[OnStep]:
    """Yield a function that draws a bar for each step on standard error, if it is a terminal.

    Parameters
    ----------
    unit
        What is counted: ``"items"`` or ``"bytes"``.
    """
    if not is_terminal(sys.stderr):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    count = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, Any] = {}

        def report(step: str, done: int, total: int | None) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield report
