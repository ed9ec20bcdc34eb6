"""Output shared by all commands: tables, JSON, notes, progress and errors.

Data go to standard output: a table on a terminal, tab-separated lines elsewhere, or only JSON
with ``--json``. Notes, progress and errors go to standard error. Files and pipes get UTF-8; see
``cli.encodings``. Exit codes: 0 success, 1 a bug or a check that found an error, 2 bad input, 130
interrupted.

Control characters in names, ids and texts are shown as escapes on terminals, and wherever text is
laid out for people (trees, facts, notes, errors). Tab-separated lines, CSV and JSON lines that go
to a pipe or a file keep the data as they are.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
import warnings
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Annotated, Any, TextIO

import typer

from taxonomist._terminals import visible, visible_line
from taxonomist.cli.encodings import keep_characters
from taxonomist.cli.progress_lines import progress_lines
from taxonomist.cli.words import in_options
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
    "print_text",
    "progress",
    "rounded",
    "show_controls",
    "show_log",
]

FOUND, BAD_INPUT, INTERRUPTED = 1, 2, 130

AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON to standard output.")]


@contextmanager
def plain_errors() -> Iterator[None]:
    """Exit with a one-sentence message and an exit code if the body raises.

    ``TaxonomistError`` and ``OSError`` mean bad input. Any other exception is a bug and keeps its
    traceback, so that users can report it.
    """
    for stream in (sys.stdout, sys.stderr):
        keep_characters(stream)
    try:
        yield
    except KeyboardInterrupt:
        print_note("taxonomist: interrupted.")
        sys.exit(INTERRUPTED)
    except SystemExit as ended:
        # typer turns an interrupt into this exit without a word.
        if ended.code == INTERRUPTED:
            print_note("taxonomist: interrupted.")
        raise
    except (TaxonomistError, OSError) as error:
        print_note(f"taxonomist: {_sentence(error)}")
        sys.exit(BAD_INPUT)
    except Exception:
        print_note("taxonomist: this is a bug; please report it with these lines:")
        raise


def _sentence(error: Exception) -> str:
    """Return the message of an error, without the error number of system errors."""
    if isinstance(error, OSError) and not isinstance(error, TaxonomistError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return in_options(str(error)) or type(error).__name__


def is_terminal(stream: IO[str]) -> bool:
    """Return whether a stream is a terminal."""
    return stream.isatty()


def print_json(value: object) -> None:
    """Print a value as JSON, in ASCII unless standard output is UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    print_text(json.dumps(value, ensure_ascii=encoding != "utf8", indent=2))


def print_text(text: str = "") -> None:
    """Print a text for people, or JSON, with escapes for control characters."""
    typer.echo(visible(text))


def print_note(text: str) -> None:
    """Print a sentence to standard error, above the bars if some are drawn."""
    # typer.echo would write past the stream that moves the bars down.
    sys.stderr.write(f"{visible(text)}\n")
    sys.stderr.flush()


def show_controls() -> None:
    """Have Python show control characters in tracebacks, warnings and logs as escapes."""

    def show_error(*error: Any) -> None:
        sys.stderr.write(visible("".join(traceback.format_exception(*error))))

    def show_warning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        (file or sys.stderr).write(visible(text))

    sys.excepthook = show_error
    warnings.showwarning = show_warning
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_LogFormatter())


class _LogFormatter(logging.Formatter):
    """Formats log records with escapes for control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        return visible(super().format(record))


class _Notes(logging.Handler):
    """Prints log records as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        print_note(record.getMessage())


def show_log(name: str) -> None:
    """Print what a part of the library logs, from INFO on, as notes."""
    logger = logging.getLogger(name)
    if not any(isinstance(handler, _Notes) for handler in logger.handlers):
        logger.setLevel(logging.INFO)
        logger.addHandler(_Notes())
        logger.propagate = False


def print_facts(facts: Mapping[str, object]) -> None:
    """Print the name and the value of each fact on a line."""
    width = max(map(len, facts))
    for name, value in facts.items():
        typer.echo(f"{visible_line(name):<{width}}  {visible_line(_shown(value))}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table, drawn on a terminal and as tab-separated lines with a header elsewhere.

    Parameters
    ----------
    columns
        Names of the columns.
    rows
        Cells of each row. Numbers are right-aligned; None is an empty cell.
    title
        Title above a drawn table.
    """
    cells = [list(row) for row in rows]
    if is_terminal(sys.stdout):
        _draw_table(columns, cells, title)
        return
    for row in [list[object](columns), *cells]:
        # With color, nothing is stripped that looks like a terminal escape.
        typer.echo("\t".join(" ".join(_plain(cell).split()) for cell in row), color=True)


def rounded(value: object, digits: int) -> object:
    """Return a number with so many decimals, None for NaN, and other values unchanged."""
    if not isinstance(value, float):
        return value
    return None if value != value else round(value, digits)


def _draw_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title) if title else None, title_justify="left")
    for position, column in enumerate(columns):
        is_number = any(isinstance(row[position], int | float) for row in rows)
        head = Text(visible_line(column))
        table.add_column(head, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible_line(_shown(cell))) for cell in row))
    Console().print(table)


def _plain(value: object) -> str:
    """Format a value for programs; zero has no sign."""
    if isinstance(value, float):
        value += 0.0
    return "" if value is None else str(value)


def _shown(value: object) -> str:
    """Format a value for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:z,.3g}"
    return _plain(value)


@contextmanager
def progress(unit: str = "items") -> Iterator[OnStep]:
    """Yield a callback that draws a progress bar per step, or prints a line every ten seconds.

    Bars are drawn if standard error is a terminal.

    Parameters
    ----------
    unit
        Unit of the progress; ``"bytes"`` are shown as the size of a download.
    """
    if not is_terminal(sys.stderr):
        with progress_lines(unit, print_note) as report_lines:
            yield report_lines
        return
    from taxonomist.cli.progress_bars import progress_bars

    with progress_bars(unit) as report_bars:
        yield report_bars
