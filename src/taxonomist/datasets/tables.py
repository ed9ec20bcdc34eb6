"""Readers of tables of labelled items: JSON lines, CSV and TSV, Parquet.

Each returns a ``Corpus``. Files that end in ``.gz`` are decompressed on the way; text is UTF-8.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from taxonomist.datasets.corpus import Corpus
from taxonomist.datasets.files import as_taxonomy, lines, open_text, stem
from taxonomist.errors import FormatError, closest, import_extra, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taxonomist.datasets.files import Source, TaxonomySource

    Row: TypeAlias = tuple[str, Mapping[str, Any]]
    """Where a row stands, for messages, and its values by column."""

__all__ = ["UNUSED", "Columns", "read_csv", "read_jsonl", "read_parquet"]

UNUSED = "unused"
"""Part of the split that items without one belong to."""


@dataclass(frozen=True)
class Columns:
    """Which columns of a file hold what.

    Parameters
    ----------
    text
        Column of the text, or several, joined by line breaks in the given order.
    labels
        Column of the labels: a list, or a string. ``None`` reads items without labels.
    label_sep
        What parts the labels in a string; by default a string is one label.
    id
        Column of the item's id. Like the next two, it may be missing unless another name than
        the default is given.
    split
        Column of the part (``"train"``, ``"test"``, ...); empty means ``"unused"``.
    fold
        Column of the number of the fold.
    """

    text: str | Sequence[str] = "text"
    labels: str | None = "labels"
    label_sep: str | None = None
    id: str = "id"
    split: str = "split"
    fold: str = "fold"

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of the text."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def required(self) -> list[str]:
        """The columns that have to be there."""
        # Each of these fields is named like its default column.
        chosen = [getattr(self, field) for field in ("id", "split", "fold")]
        optional = [column for column in chosen if column not in ("id", "split", "fold")]
        return [*self.texts, *([] if self.labels is None else [self.labels]), *optional]


def read_jsonl(path: Source, taxonomy: TaxonomySource = None, **columns: Any) -> Corpus:
    """Read a file with one JSON object a line.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from; by default the flat one of all labels.
    **columns
        The fields of ``Columns``. Labels are lists or strings.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If a line is no JSON object, or lacks text or labels.
    """
    return _corpus(path, _json_rows(path), Columns(**columns), taxonomy)


def read_csv(
    path: Source,
    taxonomy: TaxonomySource = None,
    *,
    delimiter: str | None = None,
    **columns: Any,
) -> Corpus:
    """Read a delimited file whose first line names the columns.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from; by default the flat one of all labels.
    delimiter
        What parts the cells; by default a tab in .tsv files and a comma in others.
    **columns
        The fields of ``Columns``. A cell with several labels needs ``label_sep``.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If a column is missing, a row is too short or too long, or a cell lacks its labels.
    """
    if delimiter is None:
        delimiter = "\t" if ".tsv" in Path(str(path).lower()).suffixes else ","
    return _corpus(path, _csv_rows(path, delimiter), Columns(**columns), taxonomy)


def read_parquet(path: Source, taxonomy: TaxonomySource = None, **columns: Any) -> Corpus:
    """Read a Parquet file; needs the extra ``io``.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from; by default the flat one of all labels.
    **columns
        The fields of ``Columns``. Labels are lists or strings.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If the file is not Parquet, or lacks a column, a text or labels.
    MissingExtraError
        If pyarrow is not installed.
    """
    return _corpus(path, _parquet_rows(path), Columns(**columns), taxonomy)


def _json_rows(path: Source) -> Iterator[Row]:
    """Yield the objects of a JSON lines file."""
    for place, line in lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise FormatError(f"{place}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise FormatError(f"{place}: a JSON object is needed, got {type(row).__name__}.")
        yield place, row


def _csv_rows(path: Source, delimiter: str) -> Iterator[Row]:
    """Yield the rows of a delimited file."""
    # Documents may be longer than the 128 KiB that the csv module takes for one cell by default.
    limit = csv.field_size_limit(2**31 - 1)
    try:
        with open_text(path) as stream:
            rows = csv.reader(stream, delimiter=delimiter)
            header = next(rows, None)
            if not header:
                raise FormatError(f"{path} is empty; its first line has to name the columns.")
            if len(set(header)) < len(header):
                raise FormatError(f"{path} names a column twice in its first line: {some(header)}.")
            for row in rows:
                place = f"{path}, line {rows.line_num}"
                if row and len(row) != len(header):
                    cells = f"{len(row)} cells where the header has {len(header)}"
                    raise FormatError(f"{place}: {cells} (delimiter {delimiter!r}).")
                if row:
                    yield place, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise FormatError(f"{path} cannot be parsed: {error}.") from error
    finally:
        csv.field_size_limit(limit)


def _parquet_rows(path: Source) -> Iterator[Row]:
    """Yield the rows of a Parquet file."""
    parquet = import_extra("pyarrow.parquet", "io")
    pyarrow = import_extra("pyarrow", "io")
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowInvalid as error:
        raise FormatError(f"{path} is not a Parquet file: {error}.") from error
    for number, row in enumerate(table.to_pylist(), 1):
        yield f"{path}, row {number}", row


def _corpus(
    path: Source, rows: Iterable[Row], columns: Columns, taxonomy: TaxonomySource
) -> Corpus:
    """Collect rows into a corpus."""
    texts, labels, ids, split, folds = [], [], [], [], []
    for place, row in rows:
        missing = [column for column in columns.required if column not in row]
        if missing:
            hint = closest(missing[0], row)
            raise FormatError(f"{place}: no column {missing[0]!r}, only {some(list(row))}.{hint}")
        texts.append("\n".join(filter(None, (_text(row, c, place) for c in columns.texts))))
        labels.append(() if columns.labels is None else _labels(row, columns, place))
        ids.append(_word(row, columns.id))
        split.append(_word(row, columns.split) or UNUSED)
        folds.append(_fold(row, columns.fold, place))
    if not texts:
        raise FormatError(f"{path} holds no items.")
    return Corpus(
        name=stem(path),
        taxonomy=as_taxonomy(path, taxonomy, labels),
        labels=labels,
        texts=texts,
        ids=_complete(path, columns.id, ids),
        split=None if set(split) == {UNUSED} else np.array(split, dtype=object),
        folds=_complete(path, columns.fold, folds),
    )


def _complete(path: Source, column: str, values: list[Any]) -> Any:
    """Return the values of a column, or None where no row has one."""
    n_missing = values.count(None)
    if 0 < n_missing < len(values):
        raise FormatError(
            f"{path}: {n_missing} of {len(values)} rows have no {column!r}; give it to all or none."
        )
    return None if n_missing else values


def _text(row: Mapping[str, Any], column: str, place: str) -> str:
    """Return a text; numbers are accepted, nothing else is."""
    value = row[column]
    if not _is_scalar(value):
        raise FormatError(f"{place}: column {column!r} has to hold text, got {str(value)[:40]!r}.")
    return str(value)


def _labels(row: Mapping[str, Any], columns: Columns, place: str) -> tuple[str, ...]:
    """Return the labels of a row; only a list can say that there are none."""
    value = row[columns.labels or ""]
    if isinstance(value, str) and columns.label_sep:
        value = [part for part in value.split(columns.label_sep) if part.strip()] or None
    listed = value if isinstance(value, (list, tuple)) else [value]
    found = [str(label).strip() if _is_scalar(label) else "" for label in listed]
    if "" in found:
        raise FormatError(
            f"{place}: a label is missing in column {columns.labels!r} or is not a string; "
            f"got {str(value)[:40]!r}."
        )
    return tuple(found)


def _is_scalar(value: Any) -> bool:
    """Return whether a value is a string or a number, and not null or NaN."""
    return isinstance(value, (str, int, float)) and value == value


def _word(row: Mapping[str, Any], column: str) -> str | None:
    """Return an id or the name of a part, or None where it is missing or empty."""
    value = row.get(column)
    return str(value) or None if _is_scalar(value) else None


def _fold(row: Mapping[str, Any], column: str, place: str) -> int | None:
    """Return the number of a fold, or None where it is missing."""
    value = row.get(column)
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not number.is_integer():
        raise FormatError(f"{place}: a fold is a whole number, got {value!r}.")
    return int(number)
