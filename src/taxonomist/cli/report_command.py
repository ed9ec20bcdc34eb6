"""``taxonomist report``: one page about a model on labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taxonomist.cli.options import (
    UTF_8,
    Data,
    Encoding,
    Every,
    Format,
    ModelFolder,
    PathSeparator,
    Separator,
    SkipBad,
    TrainedLabel,
    TrainedText,
)
from taxonomist.cli.output import print_note

Out = Annotated[Path, typer.Option("--out", "-o", help="The page; replaced when all is written.")]


def report(
    model: ModelFolder,
    data: Data,
    out: Out = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    text: TrainedText = None,
    label: TrainedLabel = None,
    separator: Separator = None,
    path_separator: PathSeparator = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Train nothing: no learning curve, no flat twin."),
    ] = False,
    every: Every = False,
    skip_bad: SkipBad = False,
    format: Format = None,
    encoding: Encoding = UTF_8,
) -> None:
    """Write one self-contained page about a model: measures, tree, confusions, words.

    If the rows are those that the model was trained with, it is measured on the held-out ones, and
    the page also has a learning curve and what the taxonomy bought against the flat twin.
    """
    from taxonomist.cli.measuring import read_to_measure
    from taxonomist.cli.report_parts import background, telling_words
    from taxonomist.cli.rows import Source
    from taxonomist.report import write_report
    from taxonomist.text import TextClassifier

    classifier = TextClassifier.load(model)
    columns = {
        "text": text,
        "label": label,
        "separator": separator,
        "path_separator": path_separator,
    }
    source = Source(data, format, encoding)
    parts = read_to_measure(classifier, source, columns, skip_bad=skip_bad, every=every)
    found = classifier.evaluate(parts.items.texts, parts.items.labels)
    known = background(classifier, parts, quick=quick or every)
    write_report(
        out,
        found,
        title=title or f"{Path(model).name} on {Path(source.name).name}",
        taxonomy=classifier.taxonomy_,
        model_facts=known.facts,
        learning_curve=known.curves or None,
        flat=known.flat,
        words=telling_words(classifier),
    )
    print_note(f"The report is in {out}.")
