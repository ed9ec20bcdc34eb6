"""Find rows of the training table whose labels are probably wrong.

Each row is scored by a model that was trained without it: the table is divided into folds, and the
same kind of model as the live one is trained on all but one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.server.disputes import doubted
from taxonomist.server.live_model import N_OFFERED, LiveModel
from taxonomist.server.store.doubts import RowDoubt, replace_doubts
from taxonomist.server.training_process import JobProgress, folder_of, labelled_rows
from taxonomist.text.digests import digest
from taxonomist.workflow.choices import most_probable
from taxonomist.workflow.labelled import targets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.server.store import EventStore
    from taxonomist.server.training_process import TrainingTask

__all__ = ["check_table"]

N_FOLDS = 3
MOST_DOUBTS = 500
"""Maximum number of rows to keep, those with the greatest doubt."""


def check_table(task: TrainingTask, store: EventStore) -> tuple[str, dict[str, object]]:
    """Store the rows that are doubted most, and return the state and the result of the job."""
    progress = JobProgress(store, task.job)
    try:
        progress.step("Reading the training table", 0)
        old = LiveModel(folder_of(task, store), is_served=False)
        texts, labels = labelled_rows(task, old)
        marks = [digest(text) for text in texts]
        found: list[RowDoubt] = []
        for fold in range(N_FOLDS):
            progress.step(f"Checking part {fold + 1} of {N_FOLDS}", fold + 1)
            # Equal texts are in one fold, so that none is learned with another row's label.
            is_out = [int.from_bytes(mark[:4]) % N_FOLDS == fold for mark in marks]
            found += _doubts_of_fold(old, texts, labels, is_out)
    finally:
        progress.end()
    # Rows with equal texts are one document.
    unique = list({each.key: each for each in found}.values())
    unique.sort(key=lambda each: each.given_probability - each.offered_probability)
    with store.writing() as connection:
        replace_doubts(connection, task.project, unique[:MOST_DOUBTS])
    return "checked", {"n_rows": len(texts), "n_doubts": len(unique)}


def _doubts_of_fold(
    old: LiveModel,
    texts: Sequence[dict[str, str]],
    labels: Sequence[Sequence[str]],
    is_out: Sequence[bool],
) -> list[RowDoubt]:
    """Return the doubts about the rows of a fold, by a model that was trained on the others."""
    fitted = [row for row, out in enumerate(is_out) if not out]
    held_out = [row for row, out in enumerate(is_out) if out]
    if not fitted or not held_out:
        return []
    model = old.classifier.refit(
        [texts[row] for row in fitted],
        targets_of([labels[row] for row in fitted], is_multilabel=old.is_multilabel),
    )
    answers = model.answer([texts[row] for row in held_out])
    offered = [old.most_specific([str(label) for label in each]) for each in answers.labels()]
    tops = most_probable(model, answers, N_OFFERED)
    found = []
    for row, choice, top in zip(held_out, offered, tops, strict=True):
        given = old.most_specific(labels[row])
        chances = doubted(old.taxonomy, given, choice, top)
        if chances is not None:
            key = f"row-{digest(texts[row]).hex()}"
            found.append(RowDoubt(key, texts[row], given, choice, *chances))
    return found
