"""Read labelled items from tables into a ``Corpus``.

Files compressed with gzip, and zip archives with one table, are decompressed.
"""

from __future__ import annotations

import logging
from dataclasses import fields
from os import fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.corpus import Corpus
from taxonomist.datasets.files import stem
from taxonomist.datasets.items import read_items
from taxonomist.datasets.label_reader import LabelReader
from taxonomist.datasets.label_taxonomy import label_taxonomy, shown
from taxonomist.datasets.rows import open_table
from taxonomist.datasets.table_file import TableSource
from taxonomist.datasets.table_formats import FORMATS
from taxonomist.errors import FormatError, closest
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.datasets.cells import Label
    from taxonomist.datasets.files import FilePath, TaxonomySource
    from taxonomist.datasets.items import Item

__all__ = ["UNUSED", "read_csv", "read_file", "read_jsonl", "read_parquet", "read_table"]

logger = logging.getLogger(__name__)

UNUSED = "unused"
"""The split of items without a value in the split column."""


def read_file(
    path: FilePath,
    taxonomy: TaxonomySource = None,
    *,
    delimiter: str | None = None,
    sheet: str | None = None,
    **options: Any,
) -> Corpus:
    """Read a table in the format given by its content and its suffix.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from. By default, built from the labels.
    delimiter
        As in ``read_csv``.
    sheet
        Name of the sheet of a workbook; by default, the first one.
    **options
        As in ``read_jsonl``.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If the file cannot be read, or a row cannot be used.
    MissingExtraError
        If the format needs a package that is not installed.
    """
    return _read(TableSource(fspath(path), delimiter=delimiter, sheet=sheet), taxonomy, **options)


def read_jsonl(path: FilePath, taxonomy: TaxonomySource = None, **options: Any) -> Corpus:
    """Read a file with one JSON object on each line, or with a list of objects.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from. By default, built from the labels.
    **options
        The fields of ``Columns``, where ``label`` is short for ``labels``; ``encoding`` (found by
        default); ``skip_bad=True`` to skip rows that cannot be used; and ``strict=True`` if rows
        without a label are bad, instead of being skipped with a warning in the log.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If a line is not a JSON object, or has no text.
    """
    return _read(TableSource(fspath(path), "jsonl"), taxonomy, **options)


def read_csv(
    path: FilePath,
    taxonomy: TaxonomySource = None,
    *,
    delimiter: str | None = None,
    **options: Any,
) -> Corpus:
    """Read a delimited file whose first line names the columns.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from. By default, built from the labels.
    delimiter
        Delimiter of the cells. By default, a tab in .tsv files, and in other files the most
        frequent of ``,`` ``;`` tab and ``|`` in the first line.
    **options
        As in ``read_jsonl``. Several labels in a cell need ``label_sep`` or must be a JSON list.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If a column is missing, or a row has too few or too many cells.
    """
    source = TableSource(fspath(path), delimiter=delimiter)
    is_tsv = source.suffix in FORMATS["tsv"].suffixes
    return _read(source._replace(format="tsv" if is_tsv else "csv"), taxonomy, **options)


def read_parquet(path: FilePath, taxonomy: TaxonomySource = None, **options: Any) -> Corpus:
    """Read a Parquet file; needs the extra ``io``.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from. By default, built from the labels.
    **options
        As in ``read_jsonl``.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If the file is not Parquet, or lacks a column or a text.
    MissingExtraError
        If pyarrow is not installed.
    """
    return _read(TableSource(fspath(path), "parquet"), taxonomy, **options)


def _read(
    source: TableSource,
    taxonomy: TaxonomySource,
    *,
    encoding: str | None = None,
    skip_bad: bool = False,
    strict: bool = False,
    label: str | Sequence[str] | None = None,
    **columns: Any,
) -> Corpus:
    source = source._replace(encoding=encoding)
    if label is not None:
        columns["labels"] = label
    known = [field.name for field in fields(Columns)]
    if unknown := columns.keys() - known:
        hint = closest(min(unknown), known)
        raise TypeError(f"There is no option {min(unknown)!r} for a table.{hint}")
    return read_table(source, taxonomy, Columns(**columns), skip_bad=skip_bad, strict=strict)


def read_table(
    source: TableSource,
    taxonomy: TaxonomySource = None,
    columns: Columns | None = None,
    *,
    skip_bad: bool = False,
    strict: bool = False,
) -> Corpus:
    """Read a table in any of the formats.

    Parameters
    ----------
    source
        The file, its format and its encoding.
    taxonomy
        Taxonomy of the labels, or a file to read it from. If None, it is built from the labels:
        from their paths, levels or prefixes, or with a single level if they have none of these.
    columns
        Roles of the columns.
    skip_bad
        Whether to skip rows that cannot be used, with a warning in the log.
    strict
        Whether rows without a label cannot be used. By default, they are skipped with a warning.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If the file cannot be read, or a row cannot be used.
    """
    columns, bad = columns or Columns(), BadRows()
    with open_table(source) as table:
        columns = columns.found_in(table, "id", "split", "fold")
        items = list(read_items(table, columns, bad, allow_empty=True, strict=strict))
        for note in filter(None, [*table.notes, bad.settle(table.name, skip_bad)]):
            logger.warning(note)
    known, labels = _labels(source, taxonomy, items, columns)
    split = [item.split or UNUSED for item in items]
    return Corpus(
        name=stem(source.path),
        taxonomy=known,
        labels=labels,
        texts=["\n".join(filter(None, item.text.values())) for item in items],
        ids=_complete(source.name, columns.id, [item.id or None for item in items]),
        split=None if set(split) == {UNUSED} else np.array(split, dtype=object),
        folds=_complete(source.name, columns.fold, [item.fold for item in items]),
    )


def _labels(
    source: TableSource, taxonomy: TaxonomySource, items: list[Item], columns: Columns
) -> tuple[Taxonomy, list[tuple[str, ...]]]:
    """Return the taxonomy, and the node ids of each item.

    Unknown labels are kept, so that the error raised by ``Corpus`` can list all of them.
    """
    used: dict[Label, int] = {}
    for item in items:
        for label in item.labels:
            used.setdefault(label, item.line)
    if taxonomy is None:
        known = label_taxonomy(source.name, used, columns).taxonomy
    else:
        known = taxonomy if isinstance(taxonomy, Taxonomy) else Taxonomy.read(taxonomy)
    reader = LabelReader(known)
    nodes = {label: reader.find(label) or shown(label) for label in used}
    return known, [tuple(nodes[label] for label in item.labels) for item in items]


def _complete(name: str, column: str | None, values: list[Any]) -> Any:
    """Return the values of a column; None if no row has one; raise if only some rows do."""
    n_missing = values.count(None)
    if 0 < n_missing < len(values):
        raise FormatError(
            f"{name}: {n_missing} of {len(values)} rows have no {column!r}; fill it in for all "
            "rows or for none."
        )
    return None if n_missing else values
