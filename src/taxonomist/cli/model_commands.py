"""``taxonomist model``: inspect saved models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from taxonomist.cli.options import ModelFolder
from taxonomist.cli.output import AsJson, print_facts, print_json, print_table, print_text, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(help="Inspect saved models.", no_args_is_help=True)

TITLES = {"measures": "On held-out items", "search": "Tried"}
"""Titles of the facts that ``train`` stores as tables."""


@app.callback()
def models() -> None:
    """Inspect saved models."""


@app.command()
def show(file: ModelFolder, as_json: AsJson = False) -> None:
    """Describe a model, its training data and its quality, without loading it."""
    from taxonomist.persistence import describe

    known = describe(file)
    if as_json:
        print_json(known)
        return
    parts, facts = known.pop("parts"), known.pop("facts")
    tables = {name: _table(name, facts) for name in TITLES}
    rest = {name: value for name, value in facts.items() if not tables.get(name)}
    print_facts({**_flat(known), **_flat(rest)})
    for name, rows in tables.items():
        if rows:
            print_text()
            cells = [[rounded(value, 4) for value in row.values()] for row in rows]
            print_table(list(rows[0]), cells, TITLES[name])
    print_text()
    columns = ("name", "bytes", "type", "shape")
    print_table(columns, [[_cell(part.get(column)) for column in columns] for part in parts])


def _table(name: str, facts: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the rows of a fact that is a table; an empty list for other facts."""
    value = facts.get(name)
    if isinstance(value, dict):
        value = [{"measure": key, **each} for key, each in value.items() if isinstance(each, dict)]
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return []
    return value if len({tuple(row) for row in value}) == 1 else []


def _flat(facts: Mapping[str, object]) -> dict[str, object]:
    """Join each dict and list into one line, and drop empty values."""
    found: dict[str, object] = {}
    for name, value in facts.items():
        if isinstance(value, dict):
            entries = (f"{key} {each}" for key, each in value.items() if each is not None)
            found[name] = ", ".join(entries) or None
        elif isinstance(value, list):
            found[name] = ", ".join(map(str, value)) or None
        else:
            found[name] = value
    return {name: value for name, value in found.items() if value is not None}


def _cell(value: object) -> object:
    """Format a shape such as ``3 x 4``; return other values unchanged."""
    return " x ".join(map(str, value)) if isinstance(value, list) else value
