"""The commands and their options; each imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from taxonomist import __version__

app = typer.Typer(
    help="Classify documents and other items into taxonomies.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"taxonomist {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Classify documents and other items into taxonomies."""


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Seed of the example documents.")] = 0,
) -> None:
    """Train on the bundled corpus and show what comes out."""
    from taxonomist.cli.demo import run

    run(seed)
