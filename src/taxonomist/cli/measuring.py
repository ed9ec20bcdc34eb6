"""Labelled items to measure a trained classifier on, those apart that it was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.cli.labelled import read_labelled
from taxonomist.cli.output import print_note
from taxonomist.cli.trained import as_trained, trained_columns, was_seen
from taxonomist.errors import LabelError

if TYPE_CHECKING:
    from taxonomist.cli.labelled import Labelled
    from taxonomist.cli.rows import Source
    from taxonomist.text import TextClassifier

__all__ = ["ToMeasure", "read_to_measure"]


class ToMeasure(NamedTuple):
    """Items to measure a classifier on, and those that it was trained on."""

    items: Labelled
    seen: Labelled


def read_to_measure(
    classifier: TextClassifier,
    source: Source,
    columns: dict[str, str | None],
    *,
    skip_bad: bool,
    every: bool,
) -> ToMeasure:
    """Read labelled items and set those apart that the classifier was trained on.

    Parameters
    ----------
    classifier
        The classifier.
    source
        The file.
    columns
        Which columns hold what; where it says None, as when the classifier was trained.
    skip_bad
        Whether bad rows are left out.
    every
        Whether to measure on all items, those trained on too.

    Raises
    ------
    LabelError
        If no item is new to the classifier.
    """
    given = {name: value for name, value in columns.items() if value is not None}
    labelled = read_labelled(
        source,
        trained_columns(classifier)._replace(id=None)._replace(**given),
        classifier.taxonomy_,
        skip_bad=skip_bad,
        single=not classifier.is_multilabel_,
    )
    labelled = labelled._replace(texts=as_trained(classifier, labelled.texts))
    seen = was_seen(classifier, labelled.texts)
    n_seen = int(seen.sum())
    parts = ToMeasure(labelled.take(np.flatnonzero(~seen)), labelled.take(np.flatnonzero(seen)))
    if every:
        if n_seen:
            print_note(f"{n_seen:,} of these items were trained on: the measures are too good.")
        return parts._replace(items=labelled)
    if n_seen == len(labelled.texts):
        raise LabelError(
            f"The model was trained on all {n_seen:,} items, so they say nothing about new ones. "
            "Give others, or measure on these all the same with --all."
        )
    if n_seen:
        print_note(f"Left out, since the model was trained on them (--all: kept): {n_seen:,}.")
    return parts
