"""``taxonomist taxonomy``: show, check, convert and compare taxonomy files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.checks import OptionError
from taxonomist.cli.options import RawCells
from taxonomist.cli.output import (
    FOUND,
    AsJson,
    print_facts,
    print_json,
    print_note,
    print_table,
    print_text,
)
from taxonomist.cli.places import check_file
from taxonomist.cli.taxonomy_file import Cycles, Outside, left_out, read_taxonomy
from taxonomist.cli.words import in_options
from taxonomist.errors import TaxonomistError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist.taxonomy import Taxonomy

app = typer.Typer(help="Show, check, convert and compare taxonomies.", no_args_is_help=True)

File = Annotated[
    Path, typer.Argument(help="Taxonomy file in CSV, TSV, JSON, SKOS or OBO, optionally gzipped.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "--from",
        help="Format of the file: csv, levels, json, turtle, xml, json-ld, nt, n3 or obo. "
        "By default, determined by the suffix.",
    ),
]

WORDS = {
    "left_out": "edges left out",
    "several_parents": "nodes with several parents",
    "chains": "inner nodes with a single child",
    "alone": "top nodes without children",
    "shared_names": "names shared by several nodes",
    "twins": "ids that differ only in how their characters are written (Unicode)",
}
SHOWN = 10
"""Number of findings of each kind to list; JSON output has all of them."""


def read(
    path: Path, format: str | None, cycles: str, outside: str, **columns: str | None
) -> Taxonomy:
    """Read a taxonomy from a file, as an edge list if column names are given."""
    given: dict[str, object] = {
        column: name for column, name in columns.items() if name is not None
    }
    if given and format not in (None, "csv"):
        options = ", ".join(f"--{column}" for column in given)
        raise OptionError(f"{options}: the format {format!r} has no such columns; only csv does.")
    return read_taxonomy(path, "csv" if given else format, cycles, outside, **given)


@app.command()
def show(
    file: File,
    depth: Annotated[
        int | None, typer.Option(min=0, help="Number of levels to show below the top.")
    ] = None,
    children: Annotated[
        int | None,
        typer.Option(min=0, help="Number of children to show per node; the others are counted."),
    ] = None,
    below: Annotated[
        str | None, typer.Option(help="Show only this node and its descendants.")
    ] = None,
    format: Format = None,
    cycles: Cycles = "error",
    outside: Outside = "drop",
    as_json: AsJson = False,
) -> None:
    """Draw a taxonomy as a tree."""
    taxonomy = read(file, format, cycles, outside)
    if below is not None:
        taxonomy = taxonomy.subtree(taxonomy.resolve(below))
    if as_json:
        from taxonomist.workflow.taxonomy_facts import shown_nodes

        print_json(shown_nodes(taxonomy, depth, children))
    else:
        print_text(taxonomy.to_text(depth, children))


@app.command()
def check(
    file: File,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with code 1 for warnings too, not only for errors."),
    ] = False,
    format: Format = None,
    cycles: Cycles = "error",
    outside: Outside = "drop",
    as_json: AsJson = False,
) -> None:
    """Check a taxonomy file for errors (cycles, bad lines) and likely mistakes.

    Exits with code 1 if the file has an error. With --cycles break, a cycle is no error, and the
    edges that would be left out are listed.
    """
    from taxonomist.errors import FormatError, TaxonomyError
    from taxonomist.workflow.taxonomy_facts import counts, findings

    result: dict[str, object] = {"file": str(file), "ok": False, "error": None}
    found: dict[str, Any] = {}
    try:
        taxonomy, notes = left_out(file, format, cycles, outside, as_spelled=True)
    except (FormatError, TaxonomyError) as error:
        result["error"] = in_options(str(error))
    else:
        for note in notes:
            if not note.edges:
                print_note(str(note))
        edges = [edge for note in notes for edge in note.edges]
        found = {"left_out": edges, **findings(taxonomy)}
        result |= {"ok": True, **counts(taxonomy), **found}
    if as_json:
        print_json(result)
    else:
        _print_check(result, found)
    if not result["ok"] or (strict and any(found.values())):
        raise typer.Exit(FOUND)


def _print_check(result: Mapping[str, object], found: dict[str, Any]) -> None:
    """Print the counts, then a line for each kind of finding, or the error."""
    if not result["ok"]:
        print_text(f"error: {result['error']}")
        return
    print_facts({key: value for key, value in result.items() if key not in found | {"error": 0}})
    for kind, nodes in found.items():
        if nodes:
            shown = list(map(_shown, list(nodes)[:SHOWN]))
            if kind == "twins":
                # Twins look the same, so their characters are spelled out.
                shown = [
                    f"{_shown(node)} ({', '.join(map(ascii, nodes[node]))})"
                    for node in list(nodes)[:SHOWN]
                ]
            listed = "; ".join(shown)
            more = f"; and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else ""
            print_text(f"{len(nodes)} {WORDS[kind]}: {listed}{more}")


def _shown(finding: str | tuple[str, str]) -> str:
    """Return a node, a name or an edge as text."""
    return finding if isinstance(finding, str) else " -> ".join(finding)


@app.command()
def convert(
    source: File,
    target: Annotated[Path, typer.Argument(help="File to write.")],
    format: Format = None,
    to: Annotated[
        str | None,
        typer.Option(help="Format of the target; by default, determined by its suffix."),
    ] = None,
    parent: Annotated[str | None, typer.Option(help="Column with parents in a CSV file.")] = None,
    child: Annotated[str | None, typer.Option(help="Column with ids in a CSV file.")] = None,
    name: Annotated[str | None, typer.Option(help="Column with names in a CSV file.")] = None,
    cycles: Cycles = "error",
    outside: Outside = "drop",
    raw_cells: RawCells = False,
    as_json: AsJson = False,
) -> None:
    """Convert a taxonomy to another format.

    The target is replaced only after a complete write. Nothing is written if the format cannot
    represent the taxonomy.
    """
    from taxonomist.workflow.taxonomy_facts import counts

    check_file(target, [source], "the target")
    taxonomy = read(source, format, cycles, outside, parent=parent, child=child, name=name)
    try:
        taxonomy.write(target, to, **_cell_options(target, to, raw_cells))
    except TaxonomistError as error:
        raise type(error)(in_options(str(error), "--to")) from error
    if as_json:
        print_json({"file": str(target), **counts(taxonomy)})
    else:
        print_note(f"Wrote {taxonomy.n_nodes:,} nodes to {target}.")


def _cell_options(target: Path, to: str | None, raw_cells: bool) -> dict[str, bool]:
    """Return the options for the cells of the target; raise if it has no cells."""
    suffix = Path(target.name.lower().removesuffix(".gz")).suffix
    has_cells = to in ("csv", "levels") or (to is None and suffix in (".csv", ".tsv", ".txt"))
    if raw_cells and not has_cells:
        raise OptionError("--raw-cells: only CSV and levels have cells; leave it out.")
    return {"raw_cells": True} if raw_cells else {}


@app.command()
def diff(
    old: File,
    new: File,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with code 1 if the taxonomies differ.")
    ] = False,
    format: Format = None,
    cycles: Cycles = "error",
    outside: Outside = "drop",
    as_json: AsJson = False,
) -> None:
    """List the changes between two taxonomies: + added, - removed, > moved, ~ renamed."""
    from taxonomist.workflow.taxonomy_facts import differences

    options = (format, cycles, outside)
    found = read(old, *options).diff(read(new, *options))
    if as_json:
        print_json(differences(found))
    else:
        print_text(str(found))
    if exit_code and found:
        raise typer.Exit(FOUND)


@app.command()
def stats(
    file: File,
    format: Format = None,
    cycles: Cycles = "error",
    outside: Outside = "drop",
    as_json: AsJson = False,
) -> None:
    """Count nodes, leaves, levels and children."""
    from taxonomist.workflow.taxonomy_facts import statistics

    facts = statistics(read(file, format, cycles, outside))
    if as_json:
        print_json({"file": str(file), **facts})
        return
    levels, branching = facts.pop("depths"), facts.pop("branching")
    print_facts(
        {
            "file": str(file),
            **facts,
            "children of inner nodes": f"mean {branching['mean']:.3g}, "
            f"median {branching['median']:.3g}, max {branching['max']:,} ({branching['widest']})",
        }
    )
    print_text()
    print_table(("depth", "nodes", "leaves"), [tuple(level.values()) for level in levels])
