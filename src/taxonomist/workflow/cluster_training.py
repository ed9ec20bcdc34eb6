"""Train a text classifier on a cluster, from many files that its workers can read."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.datasets.bad_rows import BadRows
from taxonomist.errors import LabelError
from taxonomist.text.digests import digests
from taxonomist.workflow.labelled import read_labelled
from taxonomist.workflow.steps import silent
from taxonomist.workflow.training import TrainingResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client

    from taxonomist._typing import Bools
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.labelled import Labelled
    from taxonomist.workflow.steps import OnStep

__all__ = ["ClusterResult", "train_on_cluster"]

MOST_HELD_OUT = 20_000
"""Maximum number of held-out items: these are measured on one machine."""


class ClusterResult(NamedTuple):
    """A fitted classifier, and how the rows of all files were used.

    Attributes
    ----------
    training
        The classifier and its assessment.
    bad
        Numbers of rows read, of bad ones and of those without a label.
    notes
        Messages about the files.
    """

    training: TrainingResult
    bad: BadRows
    notes: list[str]


def train_on_cluster(
    classifier: TextClassifier,
    files: Sequence[TableSource],
    columns: Columns,
    client: Client,
    *,
    test_size: float = 0.2,
    skip_bad: bool = False,
    strict: bool = False,
    on_step: OnStep = silent,
) -> ClusterResult:
    """Train a classifier on the rows of many files, and measure it on some of them.

    A file is a part of the data: a worker reads it and keeps its rows. Which rows are held out
    depends on their texts only, so that equal texts are on the same side.

    Parameters
    ----------
    classifier
        The unfitted classifier, with a taxonomy.
    files
        The files; all workers must be able to read them.
    columns
        Roles of the columns; stored with the model.
    client
        The Dask client.
    test_size
        Fraction of the items to hold out, of which there are at most ``MOST_HELD_OUT``.
    skip_bad, strict
        As in ``read_labelled``.
    on_step
        Called with the number of files read so far, and with each step of the training.
    """
    from taxonomist.distributed import DaskTextClassifier
    from taxonomist.distributed.dask_engine import DaskEngine

    with DaskEngine(client) as engine:
        shared = columns, engine.scatter(classifier.taxonomy), skip_bad, strict
        parts = engine.map(read_part, files, shared=shared)
        counted = engine.map(part_facts, parts)
        bad, notes, n_items = BadRows(), [], 0
        for n_read, facts in enumerate(counted):
            on_step("Reading", n_read, len(files))
            n_part, found, note = engine.gather([facts])[0]
            n_items += n_part
            notes += [note] if note else []
            bad.n_rows += found.n_rows
            bad.count += found.count
            bad.n_unlabelled += found.n_unlabelled
        if not n_items:
            raise LabelError("No file has rows with labels: no items to learn from.")
        share = min(test_size, MOST_HELD_OUT / n_items)
        on_step("Training", 0, None)
        texts = engine.map(training_texts, parts, shared=(share,))
        labels = engine.map(training_labels, parts, shared=(share,))
        model = DaskTextClassifier(client=client, **classifier.get_params(deep=False))
        model.fit(texts, labels)
        on_step("Measuring", 0, None)
        tested = engine.gather(engine.map(held_out_items, parts, shared=(share,)))
    fitted: TextClassifier = model.to_local()
    pairs = [pair for part in tested for pair in part]
    assessment = fitted.evaluate(*map(list, zip(*pairs, strict=True))) if pairs else None
    result = TrainingResult(fitted, assessment, n_items - len(pairs), len(pairs))
    fitted.record(
        columns=asdict(columns), test_items=len(pairs), measures=result.measures, final=False
    )
    return ClusterResult(result, bad, notes)


def read_part(
    source: TableSource, columns: Columns, taxonomy: Taxonomy, skip_bad: bool, strict: bool
) -> Labelled:
    """Return the labelled rows of a file."""
    return read_labelled(source, columns, taxonomy, skip_bad=skip_bad, strict=strict)


def part_facts(part: Labelled) -> tuple[int, BadRows, str]:
    """Return the number of items of a file, how its rows were used, and a note about them."""
    return len(part.texts), part.bad, part.note


def training_texts(part: Labelled, share: float) -> list[dict[str, str]]:
    """Return the texts of a file that are not held out."""
    return list(part.take(np.flatnonzero(~is_held_out(part, share))).texts)


def training_labels(part: Labelled, share: float) -> list[list[str]]:
    """Return the labels of a file that are not held out."""
    return part.take(np.flatnonzero(~is_held_out(part, share))).labels


def held_out_items(part: Labelled, share: float) -> list[tuple[dict[str, str], list[str]]]:
    """Return the texts and labels of a file that are held out."""
    found = part.take(np.flatnonzero(is_held_out(part, share)))
    return list(zip(found.texts, found.labels, strict=True))


def is_held_out(part: Labelled, share: float) -> Bools:
    """Return whether each item is held out, which depends on the hash of its text."""
    found: Bools = digests(part.texts) < np.uint64(share * 2.0**64)
    return found
