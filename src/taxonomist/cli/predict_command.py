"""``taxonomist predict``: label the rows of a file, or one text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.checks import (
    OptionError,
    can_explain,
    check_probabilities,
    check_text,
    explained,
)
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
    from collections.abc import Callable

    from taxonomist.datasets.items import Item
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.predictions import Prediction, Predictor, TablePredictions, Wanted

    Write = Callable[[Item, Prediction], object]

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
    as_json: AsJson = False,
) -> None:
    """Predict the labels of the rows of a file, or of one text.

    Rows are read and written in blocks, in order. With --out, nothing is written if a row is bad.
    """
    import_scikit_learn()
    from taxonomist import workflow
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.model_columns import model_columns

    if confident is not None and not 0 < confident < 1:
        raise OptionError(f"--confident must be above 0 and below 1. Got {confident:g}.")
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
    target = _Target(out, "jsonl" if as_json else to, wanted, separator, raw_cells)
    with (
        progress() as on_step,
        workflow.predict_table(
            predictor, source, columns, skip_bad=skip_bad, on_step=on_step
        ) as predictions,
    ):
        target.fill(predictions)
    _say_next(classifier, model)


def _say_next(classifier: TextClassifier, model: Path, text: str | None = None) -> None:
    if can_explain(classifier):
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


class _Target:
    """Output for predictions: a file or standard output, and a format."""

    def __init__(
        self, out: Path | None, to: str | None, wanted: Wanted, separator: str, raw_cells: bool
    ) -> None:
        from taxonomist.cli.writers import format_of

        self._out = out
        self._wanted = wanted
        self._separator = separator
        self._raw_cells = raw_cells
        self._format = format_of(out, to)

    def fill(self, predictions: TablePredictions) -> None:
        """Write the predictions for all rows."""
        from taxonomist.cli.writers import open_output
        from taxonomist.datasets.bad_rows import BadRowsError

        write: Write | None = None
        n_written = 0
        with open_output(self._out) as stream:
            try:
                for row in predictions:
                    write = write or self._writer(stream, predictions.has_ids)
                    write(*row)
                    n_written += 1
            except BadRowsError as error:
                raise explained(error, self._written(n_written)) from None
        if predictions.note:
            print_note(predictions.note)
        if self._out is not None:
            print_note(f"Wrote {n_written:,} rows to {self._out}.")

    def _written(self, n_rows: int) -> str:
        """Return a sentence that says how many rows the output keeps after an error."""
        if self._out is not None or not n_rows:
            return "Nothing was written."
        return f"The predictions for the first {n_rows:,} rows were written."

    def _writer(self, stream: Any, has_ids: bool) -> Write:
        """Return a function that writes the prediction for an item."""
        from taxonomist.cli.writers import json_lines, table_rows
        from taxonomist.workflow.prediction_rows import as_cells, as_record, headings

        key, wanted, separator = "id" if has_ids else "line", self._wanted, self._separator
        if self._format == "jsonl":
            write_json = json_lines(stream)
            return lambda item, found: write_json(
                as_record({key: getattr(item, key)}, found, wanted)
            )
        write_row = table_rows(stream, self._format, raw_cells=self._raw_cells)
        write_row(headings(key, wanted))
        return lambda item, found: write_row(as_cells(getattr(item, key), found, wanted, separator))
