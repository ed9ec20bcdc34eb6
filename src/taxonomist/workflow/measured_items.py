"""Measure a classifier on labelled items that it was not trained on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.workflow.labelled import read_labelled
from taxonomist.workflow.model_columns import as_model_texts, model_columns
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taxonomist._typing import Bools, Codes
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.evaluation import Assessment
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.labelled import Labelled
    from taxonomist.workflow.steps import OnStep

__all__ = ["MeasuredItems", "evaluate", "read_to_measure"]


class MeasuredItems(NamedTuple):
    """Labelled items, and which of them a classifier was trained on."""

    items: Labelled
    is_seen: Bools

    @property
    def n_seen(self) -> int:
        """The number of items that the classifier was trained on."""
        return int(self.is_seen.sum())

    def measured(self, include_seen: bool = False) -> Codes:
        """Return the positions of the items to measure on.

        Parameters
        ----------
        include_seen
            Whether to include items that the classifier was trained on. They make the measures
            too good.

        Raises
        ------
        LabelError
            If the classifier was trained on all items and ``include_seen`` is False.
        """
        if include_seen:
            return np.arange(len(self.is_seen))
        if self.is_seen.all():
            raise LabelError(
                f"The model was trained on all {self.n_seen:,} items, so they cannot tell how it "
                "does on new ones. Pass other items, or include_seen=True."
            )
        return np.flatnonzero(~self.is_seen)


def evaluate(
    classifier: TextClassifier, measured: MeasuredItems, *, include_seen: bool = False
) -> Assessment:
    """Measure a classifier on labelled items.

    Parameters
    ----------
    classifier
        The classifier.
    measured
        The items.
    include_seen
        Whether to include items that the classifier was trained on.

    Raises
    ------
    LabelError
        If the classifier was trained on all items and ``include_seen`` is False.
    """
    chosen = measured.items.take(measured.measured(include_seen))
    return classifier.evaluate(chosen.texts, chosen.labels)


def read_to_measure(
    classifier: TextClassifier,
    source: TableSource,
    columns: Mapping[str, Any],
    *,
    skip_bad: bool = False,
    strict: bool = False,
    on_step: OnStep = silent,
) -> MeasuredItems:
    """Read labelled items and find those that the classifier was trained on.

    Parameters
    ----------
    classifier
        The classifier.
    source
        The file.
    columns
        Fields of ``Columns``. Missing fields and None mean the value used in training.
    skip_bad
        Whether to skip bad rows.
    strict
        Whether rows without a label are bad. By default, they are skipped and counted.
    on_step
        Called with the number of rows read so far.

    Raises
    ------
    FormatError
        If the file cannot be read, or has bad rows and ``skip_bad`` is False.
    """
    given = {name: value for name, value in columns.items() if value is not None}
    labelled = read_labelled(
        source,
        replace(model_columns(classifier), **given),
        classifier.taxonomy_,
        skip_bad=skip_bad,
        strict=strict,
        single=not classifier.is_multilabel_,
        on_step=on_step,
    )
    labelled = labelled._replace(texts=as_model_texts(classifier, labelled.texts))
    return MeasuredItems(labelled, classifier.has_seen(labelled.texts))
