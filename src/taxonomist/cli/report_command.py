"""``taxonomist report``: write an HTML page about a model on labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taxonomist.cli.next_steps import after_report
from taxonomist.cli.options import (
    Data,
    EmptyIsNone,
    Encoding,
    Every,
    Format,
    ModelFolder,
    PathSeparator,
    Separator,
    Sheet,
    SkipBad,
    Strict,
    TrainedLabel,
    TrainedText,
)
from taxonomist.cli.output import print_note, progress
from taxonomist.cli.places import check_file

Out = Annotated[
    Path,
    typer.Option("--out", "-o", help="HTML file to write; replaced only after a complete write."),
]


def report(
    model: ModelFolder,
    data: Data,
    out: Out = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    text: TrainedText = None,
    label: TrainedLabel = None,
    separator: Separator = None,
    path_separator: PathSeparator = None,
    empty_is_none: EmptyIsNone = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Train nothing: leave out the learning curve and the comparison with the flat "
            "twin.",
        ),
    ] = False,
    every: Every = False,
    skip_bad: SkipBad = False,
    strict: Strict = False,
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
) -> None:
    """Write a self-contained HTML page about a model: measures, tree, confusions and words.

    Given the training rows, the command measures the model on the held-out ones, and adds a
    learning curve and a comparison with the flat twin, the same model without the taxonomy.
    """
    from taxonomist.cli.reading import given_columns, read_to_measure
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier
    from taxonomist.workflow import report_content

    check_file(out, [data, model])
    classifier = TextClassifier.load(model)
    columns = given_columns(text, label, separator, path_separator, empty_is_none)
    source = TableSource(data, format, encoding, sheet=sheet)
    rows = read_to_measure(
        classifier, source, columns, skip_bad=skip_bad, strict=strict, every=every
    )
    with progress("fits") as on_step:
        content = report_content(classifier, rows, include_seen=every, quick=quick, on_step=on_step)
    if content.note:
        print_note(content.note)
    content.write(out, title or f"{Path(model).name} on {Path(source.name).name}")
    print_note(f"The report is in {out}.")
    after_report(out)
