"""Read labelled rows with progress and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.cli.checks import OptionError, bad_rows_explained
from taxonomist.cli.output import print_note, progress
from taxonomist.cli.words import in_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text import TextClassifier
    from taxonomist.workflow import Labelled, MeasuredItems

__all__ = ["given_columns", "read_labelled", "read_to_measure"]


def read_labelled(
    source: TableSource,
    columns: Columns,
    taxonomy: Taxonomy | None,
    *,
    skip_bad: bool,
    strict: bool,
) -> Labelled:
    """Read labelled rows, and print a note about skipped ones."""
    from taxonomist import workflow

    if taxonomy is not None and columns.code_prefixes:
        raise OptionError(
            "--code-prefixes builds a taxonomy, but --taxonomy gives one. Leave one of them out."
        )

    with progress("rows") as on_step, bad_rows_explained():
        found = workflow.read_labelled(
            source, columns, taxonomy, skip_bad=skip_bad, strict=strict, on_step=on_step
        )
    if found.note:
        print_note(in_options(found.note))
    return found


def given_columns(
    text: str | None,
    label: str | None,
    separator: str | None,
    path_separator: str | None,
    empty_is_none: bool,
) -> dict[str, object]:
    """Return the fields of ``Columns`` that options give; None means as in training."""
    return {
        "text": text,
        "labels": label,
        "label_sep": separator,
        "path_sep": path_separator,
        "empty_is_none": empty_is_none or None,
    }


def read_to_measure(
    classifier: TextClassifier,
    source: TableSource,
    columns: Mapping[str, object],
    *,
    skip_bad: bool,
    strict: bool,
    every: bool,
) -> MeasuredItems:
    """Read rows to measure a classifier on, and print a note about those it was trained on.

    Parameters
    ----------
    classifier
        The classifier.
    source
        The file.
    columns
        Roles of the columns. None means the column used in training.
    skip_bad
        Whether to skip bad rows.
    strict
        Whether rows without a label are bad.
    every
        Whether to measure on all rows, including those the classifier was trained on.
    """
    from taxonomist import workflow

    with progress("rows") as on_step, bad_rows_explained():
        found = workflow.read_to_measure(
            classifier, source, columns, skip_bad=skip_bad, strict=strict, on_step=on_step
        )
    if found.items.note:
        print_note(found.items.note)
    n_seen = found.n_seen
    if every:
        if n_seen:
            print_note(
                f"The model was trained on {n_seen:,} of these items: the measures are too good."
            )
    elif n_seen == len(found.is_seen):
        raise OptionError(
            f"The model was trained on all {n_seen:,} items, so they cannot tell how it does on "
            "new ones. Pass other rows, or use --all to measure on these anyway."
        )
    elif n_seen:
        print_note(f"Skipped {n_seen:,} items that the model was trained on; --all includes them.")
    return found
