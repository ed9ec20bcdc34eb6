"""``taxonomist evaluate``: measure a model on labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taxonomist.cli.next_steps import after_evaluating, source_arguments
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
from taxonomist.cli.output import AsJson, print_json, print_table, print_text, rounded

if TYPE_CHECKING:
    from taxonomist.evaluation import Assessment

Nodes = Annotated[
    bool, typer.Option("--nodes", help="Also print the measures of every node that occurs.")
]


def evaluate(
    model: ModelFolder,
    data: Data,
    text: TrainedText = None,
    label: TrainedLabel = None,
    separator: Separator = None,
    path_separator: PathSeparator = None,
    empty_is_none: EmptyIsNone = False,
    nodes: Nodes = False,
    every: Every = False,
    skip_bad: SkipBad = False,
    strict: Strict = False,
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on labelled rows, except those it was trained on.

    Measures have 95% intervals. JSON output also contains all nodes, confusions and reliability.
    """
    from taxonomist import workflow
    from taxonomist.cli.reading import given_columns, read_to_measure
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier

    classifier = TextClassifier.load(model)
    columns = given_columns(text, label, separator, path_separator, empty_is_none)
    source = TableSource(data, format, encoding, sheet=sheet)
    rows = read_to_measure(
        classifier, source, columns, skip_bad=skip_bad, strict=strict, every=every
    )
    found = workflow.evaluate(classifier, rows, include_seen=every)
    if as_json:
        print_json({**rows.items.bad.to_dict(), **found.to_dict()})
    else:
        print_text(str(found))
        if nodes:
            _print_nodes(found)
    after_evaluating(model, source_arguments(data, format, encoding, sheet))


def _print_nodes(found: Assessment) -> None:
    """Print the measures of every node that occurs."""
    print_text()
    heads = ("node", "support", "predicted", "precision", "recall", "f1")
    used = [each for each in found.nodes if each.support or each.predicted]
    print_table(heads, [[rounded(getattr(each, head), 3) for head in heads] for each in used])
