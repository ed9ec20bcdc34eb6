"""Write predictions to a file or to standard output."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from taxonomist.cli.checks import explained

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taxonomist.datasets.items import Item
    from taxonomist.workflow.predictions import Prediction, TablePredictions, Wanted

    Write = Callable[[Item, Prediction], object]

__all__ = ["PredictionOutput"]


class PredictionOutput:
    """Writes predictions to a file or to standard output, in one format."""

    def __init__(
        self, out: Path | None, to: str | None, wanted: Wanted, separator: str, raw_cells: bool
    ) -> None:
        from taxonomist.cli.writers import format_of

        self._out = out
        self._wanted = wanted
        self._separator = separator
        self._raw_cells = raw_cells
        self._format = format_of(out, to)

    def fill(self, predictions: TablePredictions) -> int:
        """Write the predictions for all rows; return their number."""
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
        return n_written

    def _written(self, n_rows: int) -> str:
        """Return a sentence that says how many rows the output keeps after an error."""
        if self._out is not None or not n_rows:
            return "Nothing was written."
        return f"The predictions for the first {n_rows:,} rows were written."

    def _writer(self, stream: IO[str], has_ids: bool) -> Write:
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
