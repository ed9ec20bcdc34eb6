"""Read labelled items from JSON lines, CSV, TSV and Parquet into a ``Corpus``.

Files compressed with gzip are decompressed.
"""

from __future__ import annotations

import logging
from os import fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.corpus import Corpus
from taxonomist.datasets.files import as_taxonomy, stem
from taxonomist.datasets.items import read_items
from taxonomist.datasets.label_reader import LabelReader, has_paths, shown, taxonomy_of
from taxonomist.datasets.rows import open_table
from taxonomist.datasets.table_file import TableSource
from taxonomist.datasets.table_formats import FORMATS
from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from taxonomist.datasets.files import FilePath, TaxonomySource
    from taxonomist.datasets.items import Item
    from taxonomist.taxonomy import Taxonomy

__all__ = ["UNUSED", "read_csv", "read_jsonl", "read_parquet", "read_table"]

logger = logging.getLogger(__name__)

UNUSED = "unused"
"""The split of items without a value in the split column."""


def read_jsonl(path: FilePath, taxonomy: TaxonomySource = None, **options: Any) -> Corpus:
    """Read a file with one JSON object on each line.

    Parameters
    ----------
    path
        The file.
    taxonomy
        Taxonomy of the labels, or a file to read it from. By default, built from the labels.
    **options
        The fields of ``Columns``; ``encoding`` (UTF-8 by default); and ``skip_bad=True`` to skip
        rows that cannot be used.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If a line is not a JSON object, or has no text or labels.
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
        If a column is missing, or a row has too few or too many cells, or no labels.
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
        The fields of ``Columns``, and ``skip_bad`` as in ``read_jsonl``.

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
    return _read(TableSource(fspath(path), "parquet"), taxonomy, **options)


def _read(
    source: TableSource,
    taxonomy: TaxonomySource,
    *,
    encoding: str = "utf-8",
    skip_bad: bool = False,
    **columns: Any,
) -> Corpus:
    source = source._replace(encoding=encoding)
    return read_table(source, taxonomy, Columns(**columns), skip_bad=skip_bad)


def read_table(
    source: TableSource,
    taxonomy: TaxonomySource = None,
    columns: Columns | None = None,
    *,
    skip_bad: bool = False,
) -> Corpus:
    """Read a table in any of the formats.

    Parameters
    ----------
    source
        The file, its format and its encoding.
    taxonomy
        Taxonomy of the labels, or a file to read it from. If None, it is built from the labels:
        from their paths, or with a single level if they are not paths.
    columns
        Roles of the columns.
    skip_bad
        Whether to skip rows that cannot be used, with a warning in the log.

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
        items = list(read_items(table, columns, bad, allow_empty=True))
        if note := bad.settle(table.name, skip_bad):
            logger.warning(note)
    known, labels = _labels(source, taxonomy, items)
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
    source: TableSource, taxonomy: TaxonomySource, items: list[Item]
) -> tuple[Taxonomy, list[tuple[str, ...]]]:
    """Return the taxonomy, and the node ids of each item.

    Unknown labels are kept, so that the error raised by ``Corpus`` can list all of them.
    """
    used = dict.fromkeys(label for item in items for label in item.labels)
    if taxonomy is None and has_paths(used):
        known = taxonomy_of(used)
    else:
        known = as_taxonomy(source.name, taxonomy, [tuple(map(shown, used))])
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
