"""``taxonomist taxonomy``: show, check, convert and compare taxonomy files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.checks import OptionError
from taxonomist.cli.output import (
    FOUND,
    AsJson,
    print_facts,
    print_json,
    print_note,
    print_table,
)

if TYPE_CHECKING:
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
        help="Format of the file: csv, levels, json, turtle, xml, json-ld or obo. "
        "By default, determined by the suffix.",
    ),
]

WORDS = {
    "several_parents": "nodes with several parents",
    "chains": "inner nodes with a single child",
    "alone": "top nodes without children",
    "shared_names": "names shared by several nodes",
    "twins": "ids that differ only in how their characters are written (Unicode)",
}
SHOWN = 10
"""Number of findings of each kind to list; JSON output has all of them."""


def read(path: Path, format: str | None = None, **columns: str | None) -> Taxonomy:
    """Read a taxonomy from a file, as an edge list if column names are given."""
    from taxonomist.taxonomy import Taxonomy

    given: dict[str, Any] = {column: name for column, name in columns.items() if name is not None}
    if given and format not in (None, "csv"):
        options = ", ".join(f"--{column}" for column in given)
        raise OptionError(f"{options}: the format {format!r} has no such columns; only csv does.")
    return Taxonomy.read(path, "csv" if given else format, **given)


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
    as_json: AsJson = False,
) -> None:
    """Draw a taxonomy as a tree."""
    taxonomy = read(file, format)
    if below is not None:
        taxonomy = taxonomy.subtree(taxonomy.resolve(below))
    if as_json:
        from taxonomist.cli.taxonomy_facts import shown_nodes

        print_json(shown_nodes(taxonomy, depth, children))
    else:
        typer.echo(taxonomy.to_text(depth, children))


@app.command()
def check(
    file: File,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with code 1 for warnings too, not only for errors."),
    ] = False,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Check a taxonomy file for errors (cycles, bad lines) and likely mistakes.

    Exits with code 1 if the file has an error.
    """
    from taxonomist.cli.taxonomy_facts import counts, findings
    from taxonomist.errors import FormatError, TaxonomyError
    from taxonomist.taxonomy.formats import read_as_spelled

    result: dict[str, Any] = {"file": str(file), "ok": False, "error": None}
    found: dict[str, Any] = {}
    try:
        taxonomy = read_as_spelled(file, format)
    except (FormatError, TaxonomyError) as error:
        result["error"] = str(error)
    else:
        found = findings(taxonomy)
        result |= {"ok": True, **counts(taxonomy), **found}
    if as_json:
        print_json(result)
    else:
        _print_check(result, found)
    if not result["ok"] or (strict and any(found.values())):
        raise typer.Exit(FOUND)


def _print_check(result: dict[str, Any], found: dict[str, Any]) -> None:
    """Print the counts, then a line for each kind of finding, or the error."""
    if not result["ok"]:
        typer.echo(f"error: {result['error']}")
        return
    print_facts({key: value for key, value in result.items() if key not in found | {"error": 0}})
    for kind, nodes in found.items():
        if nodes:
            shown = list(nodes)[:SHOWN]
            if kind == "twins":
                # Twins look the same, so their characters are spelled out.
                shown = [f"{node} ({', '.join(map(ascii, nodes[node]))})" for node in shown]
            listed = "; ".join(shown)
            more = f"; and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else ""
            typer.echo(f"{len(nodes)} {WORDS[kind]}: {listed}{more}")


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
    as_json: AsJson = False,
) -> None:
    """Convert a taxonomy to another format.

    The target is replaced only after a complete write. Nothing is written if the format cannot
    represent the taxonomy.
    """
    from taxonomist.cli.taxonomy_facts import counts

    taxonomy = read(source, format, parent=parent, child=child, name=name)
    taxonomy.write(target, to)
    if as_json:
        print_json({"file": str(target), **counts(taxonomy)})
    else:
        print_note(f"Wrote {taxonomy.n_nodes:,} nodes to {target}.")


@app.command()
def diff(
    old: File,
    new: File,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with code 1 if the taxonomies differ.")
    ] = False,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """List the changes between two taxonomies: + added, - removed, > moved, ~ renamed."""
    from taxonomist.cli.taxonomy_facts import differences

    found = read(old, format).diff(read(new, format))
    if as_json:
        print_json(differences(found))
    else:
        typer.echo(str(found))
    if exit_code and found:
        raise typer.Exit(FOUND)


@app.command()
def stats(file: File, format: Format = None, as_json: AsJson = False) -> None:
    """Count nodes, leaves, levels and children."""
    from taxonomist.cli.taxonomy_facts import statistics

    facts = statistics(read(file, format))
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
    typer.echo()
    print_table(("depth", "nodes", "leaves"), [tuple(level.values()) for level in levels])
