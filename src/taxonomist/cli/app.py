"""The commands and their options. Each command imports what it needs only when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from taxonomist import __version__
from taxonomist.cli.compare_command import compare
from taxonomist.cli.data_commands import app as data_app
from taxonomist.cli.evaluate_command import evaluate
from taxonomist.cli.explain_command import explain
from taxonomist.cli.model_commands import app as model_app
from taxonomist.cli.models_command import models
from taxonomist.cli.predict_command import predict
from taxonomist.cli.report_command import report
from taxonomist.cli.reproduce_command import reproduce
from taxonomist.cli.serve_command import serve
from taxonomist.cli.taxonomy_commands import app as taxonomy_app
from taxonomist.cli.token_commands import app as token_app
from taxonomist.cli.train_command import train
from taxonomist.cli.warm_command import warm

app = typer.Typer(
    help="Classify documents and other items into taxonomies.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (train, predict, evaluate, compare, explain, report, models, warm, reproduce):
    app.command()(command)
app.command()(serve)
app.add_typer(model_app, name="model")
app.add_typer(taxonomy_app, name="taxonomy")
app.add_typer(data_app, name="data")
app.add_typer(token_app, name="token")


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
    seed: Annotated[int, typer.Option(min=0, help="Seed for choosing the example documents.")] = 0,
) -> None:
    """Train and compare models on the bundled corpus."""
    from taxonomist.cli.demo import run

    run(seed)
