"""``taxonomist data``: list, describe and download corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.output import (
    AsJson,
    print_facts,
    print_json,
    print_note,
    print_table,
    print_text,
    progress,
)

if TYPE_CHECKING:
    from taxonomist.datasets.catalogue import CatalogueEntry

app = typer.Typer(help="List and download public corpora.", no_args_is_help=True)

Name = Annotated[
    str, typer.Argument(help="Name of a corpus; 'taxonomist data list' shows all names.")
]


@app.command("list")
def list_corpora(
    found: Annotated[
        bool, typer.Option("--found", help="List only corpora that are on this machine.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the corpora that Taxonomist knows by name."""
    from taxonomist import datasets

    rows = [_facts(datasets.info(name)) for name in datasets.names()]
    rows = [row for row in rows if row["path"] or not found]
    if as_json:
        print_json(rows)
        return
    columns = ("name", "items", "nodes", "licence", "fetch", "path")
    shown = [{**row, "fetch": bool(row["fetch"])} for row in rows]
    print_table(columns, [[row[column] for column in columns] for row in shown])
    if not all(row["path"] for row in rows):
        print_note("For a corpus without a path, 'taxonomist data show NAME' says how to get it.")


@app.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Describe a corpus: its source, terms of use, files and options."""
    from taxonomist import datasets

    entry = datasets.info(name)
    facts = _facts(entry)
    details: dict[str, dict[str, Any]] = {
        "files": dict(entry.files),
        "options": {k: list(v) for k, v in entry.options.items()},
    }
    if as_json:
        print_json({**facts, **details})
        return
    facts["path"] = facts["path"] or f"not found; expected in {datasets.data_home() / name}"
    facts["fetch"] = facts["fetch"] or "no; prepare the files below yourself"
    print_facts(facts)
    for title, lines in details.items():
        if lines:
            print_text(f"\n{title}")
        for key, value in lines.items():
            print_text(f"  {key}: {value if isinstance(value, str) else ', '.join(value)}")


def _facts(entry: CatalogueEntry) -> dict[str, object]:
    """Describe a corpus; ``path`` is None if it is not found, ``fetch`` if it has no download."""
    from taxonomist import datasets
    from taxonomist.datasets.fetching import RECIPES
    from taxonomist.errors import CorpusNotFoundError

    try:
        path = str(datasets.find(entry.name))
    except CorpusNotFoundError:
        path = None
    n_items, n_nodes = entry.size
    return {
        "name": entry.name,
        "description": entry.description,
        "items": n_items,
        "nodes": n_nodes,
        "licence": entry.licence,
        "source": entry.source,
        "path": path,
        "fetch": RECIPES[entry.name].note if entry.name in RECIPES else None,
    }


@app.command()
def fetch(
    name: Name,
    url: Annotated[
        str | None,
        typer.Option(
            help="Another address, or a local file. A folder of files must end in a slash."
        ),
    ] = None,
    sha256: Annotated[
        str | None,
        typer.Option(help="SHA-256 of the file at --url, if it is not the official one."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the contents of the corpus's folder.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Download a public corpus, verify it, and convert it for `datasets.load`.

    Run the same command again to resume an interrupted download.
    """
    from taxonomist import datasets

    print_note(f"Terms of {name}: {datasets.info(name).licence}.")
    with progress("bytes") as report:
        path = datasets.fetch(name, url=url, sha256=sha256, force=force, report=report)
    if as_json:
        print_json({"name": name, "path": str(path)})
    else:
        print_note(f"{name} is in {path}.")
