"""``taxonomist predict``: label the rows of a file, or one text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taxonomist.cli.checks import (
    OptionError,
    check_probabilities,
    check_text,
)
from taxonomist.cli.cluster import Cluster, Dask, RowRules, Workers, predict_files
from taxonomist.cli.late_import import import_scikit_learn
from taxonomist.cli.next_steps import after_predicting
from taxonomist.cli.options import (
    FILE,
    Encoding,
    Format,
    Id,
    ModelFolder,
    RawCells,
    Sheet,
    SkipBad,
)
from taxonomist.cli.output import AsJson, print_json, print_note, print_table, progress
from taxonomist.cli.places import check_file

if TYPE_CHECKING:
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.predictions import Predictor, Wanted

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="File to write: .csv, .tsv or .jsonl.")
]
N_WORDS = 5
"""Number of words that ``--explain`` adds to each row."""


def predict(
    model: ModelFolder,
    data: Annotated[str | None, typer.Argument(help=FILE)] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            help="Without a file, the text to classify. With a file, the columns with the text; by "
            "default, those used in training.",
        ),
    ] = None,
    out: Out = None,
    to: Annotated[str | None, typer.Option(help="Output format: csv, tsv or jsonl.")] = None,
    top: Annotated[
        int, typer.Option(min=0, help="Add this many of the most probable categories.")
    ] = 0,
    proba: Annotated[
        bool | None,
        typer.Option(
            "--proba/--no-proba",
            help="Whether to add the probability of each label; by default, if the model has "
            "probabilities.",
        ),
    ] = None,
    confident: Annotated[
        float | None,
        typer.Option(
            help="Predict the deepest node that is correct with at least this probability, such "
            "as 0.9."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the deciding words; takes longer.")
    ] = False,
    separator: Annotated[
        str, typer.Option(help="Separator between several labels in an output cell.")
    ] = ";",
    raw_cells: RawCells = False,
    id_column: Id = None,
    skip_bad: SkipBad = False,
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    dask: Dask = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of the rows of a file, or of one text.

    Rows are read and written in blocks, in order. With --out, nothing is written if a row is bad.
    """
    import_scikit_learn()
    from taxonomist import workflow
    from taxonomist.cli.prediction_output import PredictionOutput
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.model_columns import model_columns

    if confident is not None and not 0 < confident < 1:
        raise OptionError(f"--confident must be above 0 and below 1. Got {confident:g}.")
    cluster = Cluster(dask, workers)
    if not cluster:
        check_file(out, [data, model])
    classifier = TextClassifier.load(model)
    if proba is None:
        proba = classifier.calibration is not None
    wanted = workflow.Wanted(top, proba, confident, N_WORDS if explain else 0)
    if wanted.needs_probabilities:
        check_probabilities(classifier)
    predictor = workflow.Predictor(classifier, wanted)
    if data is None:
        if text is None:
            raise OptionError("Pass a file with rows, or a text with --text '...'.")
        _predict_text(classifier, predictor, wanted, text, as_json)
        _say_next(classifier, model, text)
        return
    columns = Columns(text or model_columns(classifier).text, None, id=id_column)
    source = TableSource(data, format, encoding, sheet=sheet)
    if cluster:
        rows = RowRules(skip_bad, separator=separator, raw_cells=raw_cells)
        to = "jsonl" if as_json else to
        predict_files(cluster, classifier, source, columns, out, wanted, to, rows)
        return
    _check_data(data)
    output = PredictionOutput(out, "jsonl" if as_json else to, wanted, separator, raw_cells)
    with (
        progress() as on_step,
        workflow.predict_table(
            predictor, source, columns, skip_bad=skip_bad, on_step=on_step
        ) as predictions,
    ):
        n_written = output.fill(predictions)
    if predictions.note:
        print_note(predictions.note)
    if out is not None:
        print_note(f"Wrote {n_written:,} rows to {out}.")
    _say_next(classifier, model)


def _check_data(data: str) -> None:
    """Raise if the file does not exist; the argument may be a text."""
    if data != "-" and "://" not in data and not Path(data).exists():
        raise OptionError(f"{data}: there is no such file. Pass a text to classify with --text.")


def _say_next(classifier: TextClassifier, model: Path, text: str | None = None) -> None:
    if classifier.can_explain:
        after_predicting(model, text)


def _predict_text(
    classifier: TextClassifier, predictor: Predictor, wanted: Wanted, text: str, as_json: bool
) -> None:
    """Print the prediction for one text."""
    from taxonomist.datasets.items import Item
    from taxonomist.workflow.model_columns import as_item
    from taxonomist.workflow.prediction_rows import as_cells, as_record, headings

    check_text(text)
    item = Item(1, None, as_item(classifier, text))
    (found,) = predictor.predict([item])
    if as_json:
        print_json(as_record({}, found, wanted))
    else:
        print_table(headings("", wanted)[1:], [as_cells("", found, wanted)[1:]])
