"""Read the taxonomy file of a command, and say what was left out of it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.checks import OptionError
from taxonomist.cli.output import print_note

if TYPE_CHECKING:
    from pathlib import Path

    from taxonomist.errors import TaxonomyWarning
    from taxonomist.taxonomy import Taxonomy

__all__ = ["Cycles", "Outside", "left_out", "read_taxonomy"]

Cycles = Annotated[
    str,
    typer.Option(
        "--cycles",
        help="What to do with cycles in the taxonomy: 'error', or 'break' to leave out the edges "
        "that close one, and list them.",
    ),
]
Outside = Annotated[
    str,
    typer.Option(
        "--outside",
        help="What to do with broader concepts that a SKOS file does not describe: 'drop' or "
        "'keep'.",
    ),
]


def read_taxonomy(
    path: Path,
    format: str | None = None,
    cycles: str = "error",
    outside: str = "drop",
    **options: Any,
) -> Taxonomy:
    """Read a taxonomy, and print a note about edges that were left out."""
    taxonomy, notes = left_out(path, format, cycles, outside, **options)
    for note in notes:
        print_note(str(note).replace("read with outside='keep'", "pass --outside keep"))
    return taxonomy


def left_out(
    path: Path,
    format: str | None,
    cycles: str,
    outside: str,
    *,
    as_spelled: bool = False,
    **options: Any,
) -> tuple[Taxonomy, list[TaxonomyWarning]]:
    """Read a taxonomy; return it and the warnings about edges that were left out.

    With ``as_spelled``, ids keep the characters that the file writes them with.
    """
    from taxonomist.errors import CycleError, TaxonomyWarning
    from taxonomist.taxonomy import formats

    _check("--cycles", cycles, ("error", "break"))
    _check("--outside", outside, ("drop", "keep"))
    if cycles != "error":
        options["cycles"] = cycles
    if outside != "drop":
        options["outside"] = outside
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TaxonomyWarning)
        try:
            read = formats.read_as_spelled if as_spelled else formats.read
            taxonomy = read(path, format, **options)
        except CycleError as error:
            raise CycleError(f"{error} Or pass --cycles break to leave out edges.") from error
    found = []
    for warning in caught:
        if isinstance(warning.message, TaxonomyWarning):
            found.append(warning.message)
        else:
            where = warning.filename, warning.lineno
            warnings.warn_explicit(warning.message, warning.category, *where)
    return taxonomy, found


def _check(option: str, value: str, known: tuple[str, str]) -> None:
    if value not in known:
        raise OptionError(f"{option} must be {known[0]!r} or {known[1]!r}. Got {value!r}.")
