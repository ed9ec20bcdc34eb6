"""``taxonomist reproduce``: rerun the papers' experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taxonomist.cli.output import AsJson, print_json, print_note, print_table, progress


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            help="CH04, HCC03, TCPH01, RSSS06, CH07, BEYOND, NAMES or CONTEST; by default, all."
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Only this table, such as 2.")] = None,
    figure: Annotated[str | None, typer.Option(help="Only this figure, such as 3.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run smaller experiments.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("reproduction"),
    finished: Annotated[
        bool, typer.Option("--finished", help="Run nothing, and write what has finished.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Run the papers' experiments and write tables, figures and verdicts on the claims.

    Finished parts are kept: run the same command again to continue an interrupted run.
    """
    from taxonomist.experiments import PAPERS, load_paper
    from taxonomist.experiments import reproduce as run

    if table is not None and figure is not None:
        raise typer.BadParameter("pass --table or --figure, not both.")
    wanted = f"table-{table}" if table is not None else figure and f"figure-{figure}"
    papers = PAPERS if paper is None else [paper]
    with progress("cells") as report:
        written = run(
            papers,
            out,
            wanted=wanted,
            is_quick=quick,
            n_jobs=jobs,
            only_finished=finished,
            progress=lambda _, done, total: report("Running", done, total),
        )
    rows = [
        (
            *(part.paper, part.name, text, judgement.verdict),
            judgement.corrected or "",
            judgement.because,
        )
        for part in written
        for text, judgement in part.claims
    ]
    columns = ("paper", "part", "claim", "verdict", "corrected", "because")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows, "Do the papers' claims hold here?")
    for part in written:
        if part.missing:
            print_note(
                f"{part.paper} {part.name} was not written: it needs {', '.join(part.missing)}."
            )
    for note in (note for key in papers for note in load_paper(key, is_quick=quick).notes):
        print_note(note)
    print_note(f"Tables and figures are in {out}; start with {out / 'index.md'}.")
