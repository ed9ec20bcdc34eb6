"""``taxonomist predict``: any number of rows, a block at a time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.options import UTF_8, Encoding, Format, Id, ModelFolder, SkipBad
from taxonomist.cli.output import AsJson, print_json, print_note, print_table, progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from taxonomist.cli.items import Columns, Item
    from taxonomist.cli.predictions import Decider, Prediction, Wanted
    from taxonomist.cli.rows import Source
    from taxonomist.text import TextClassifier

    Write = Callable[[Item, Prediction], object]

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="File to write: .csv, .tsv or .jsonl.")
]
WORDS = 5
"""Words that --explain gives for each row."""


def predict(
    model: ModelFolder,
    data: Annotated[
        str | None,
        typer.Argument(help="Rows in CSV, TSV, JSON lines or Parquet; '-' for standard input."),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            help="Without data, the text itself. With data, the columns of the text; by default "
            "those that the model was trained on.",
        ),
    ] = None,
    out: Out = None,
    to: Annotated[str | None, typer.Option(help="Format to write: csv, tsv or jsonl.")] = None,
    top: Annotated[
        int, typer.Option(min=0, help="Also the most probable categories, so many.")
    ] = 0,
    proba: Annotated[bool, typer.Option("--proba", help="Also the labels' probabilities.")] = False,
    confident: Annotated[
        float | None,
        typer.Option(help="The deepest node that is right with this probability, such as 0.9."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also the words that decide; takes time.")
    ] = False,
    separator: Annotated[str, typer.Option(help="What parts several labels in a cell.")] = ";",
    id_column: Id = None,
    skip_bad: SkipBad = False,
    format: Format = None,
    encoding: Encoding = UTF_8,
    as_json: AsJson = False,
) -> None:
    """Give texts their labels: rows of a file, in their order, or one text.

    Rows are read and written as they come. With --out, nothing is written if a row is bad.
    """
    from taxonomist.cli.items import Columns
    from taxonomist.cli.predictions import Decider, Wanted
    from taxonomist.cli.rows import Source
    from taxonomist.cli.trained import trained_columns
    from taxonomist.text import TextClassifier

    if confident is not None and not 0 < confident < 1:
        raise ValueError(f"--confident must be above 0 and below 1. Got {confident:g}.")
    classifier = TextClassifier.load(model)
    wanted = Wanted(top, proba, confident, WORDS if explain else 0, separator)
    decider = Decider(classifier, wanted)
    if data is None:
        if text is None:
            raise ValueError("Give rows, or a text: --text '...'.")
        _predict_text(classifier, decider, wanted, text, as_json)
        return
    columns = Columns(text or trained_columns(classifier).text, id=id_column)
    target = _Target(out, "jsonl" if as_json else to, wanted, skip_bad)
    target.fill(Source(data, format, encoding), columns, decider)


def _predict_text(
    classifier: TextClassifier, decider: Decider, wanted: Wanted, text: str, as_json: bool
) -> None:
    """Print the prediction for one text."""
    from taxonomist.cli.items import Item
    from taxonomist.cli.predictions import as_cells, as_record, headings
    from taxonomist.cli.trained import as_item

    if not text.strip():
        raise ValueError("--text is empty: give a text.")
    (found,) = decider.decide([Item(1, None, as_item(classifier, text))])
    if as_json:
        print_json(as_record({}, found, wanted))
    else:
        print_table(headings("", wanted)[1:], [as_cells("", found, wanted)[1:]])


class _Target:
    """Where predictions go: a file or standard output, in some format."""

    def __init__(self, out: Path | None, to: str | None, wanted: Wanted, skip_bad: bool) -> None:
        from taxonomist.cli.writers import format_of

        self._out = out
        self._wanted = wanted
        self._skip_bad = skip_bad
        self._format = format_of(out, to)

    def fill(self, source: Source, columns: Columns, decider: Decider) -> None:
        """Write the predictions for all rows."""
        from taxonomist.cli.bad_rows import BadRows
        from taxonomist.cli.items import read_items
        from taxonomist.cli.predictions import blocks
        from taxonomist.cli.rows import open_table
        from taxonomist.cli.writers import open_output

        bad, n_written = BadRows(), 0
        with open_table(source) as table, open_output(self._out) as stream, progress() as report:
            has_ids = columns.id is not None or "id" in table.columns
            write = self._writer(stream, has_ids)
            for block in blocks(read_items(table, columns, bad), decider.block_size):
                if bad.count and not self._skip_bad:
                    break
                for item, found in zip(block, decider.decide(block), strict=True):
                    write(item, found)
                n_written += len(block)
                report("Classifying", n_written, None)
            bad.settle(table.name, self._skip_bad)
        if self._out is not None:
            print_note(f"Wrote {n_written:,} rows to {self._out}.")

    def _writer(self, stream: Any, has_ids: bool) -> Write:
        """Return a function that writes the prediction for an item."""
        from taxonomist.cli.predictions import as_cells, as_record, headings
        from taxonomist.cli.writers import json_lines, table_rows

        key, wanted = "id" if has_ids else "line", self._wanted
        if self._format == "jsonl":
            write_json = json_lines(stream)
            return lambda item, found: write_json(
                as_record({key: getattr(item, key)}, found, wanted)
            )
        write_row = table_rows(stream, self._format)
        write_row(headings(key, wanted))
        return lambda item, found: write_row(as_cells(getattr(item, key), found, wanted))
