"""A training in a process of its own: ``python -m taxonomist.server.training_process``.

The task comes as JSON on standard input. Progress and result go to the store. The steps:

1. Read the training table of the live model and the decisions that stand. A decision replaces a
   row with the same text.
2. Hold out the documents that were marked at random, and the rows that the live model was not
   trained on. Neither model has seen them.
3. Train the same kind of model on all others, and compare both on the held-out ones. If few texts
   are new, its features stay, and it starts from the last training: see ``text.updating``.
4. Save the new model. It goes live if it is not worse, or if it is forced to.

A task of the kind ``check`` looks for wrong labels in the table instead: see ``table_check``.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy.exc import DBAPIError

from taxonomist.datasets.table_file import TableSource
from taxonomist.errors import TaxonomistError
from taxonomist.server.live_model import LiveModel, model_version
from taxonomist.server.settings import ServiceSettings
from taxonomist.server.store import EventStore
from taxonomist.server.store.jobs import end_job, tell_job
from taxonomist.server.store.outcomes import standing_decisions
from taxonomist.server.store.versions import add_version, list_versions, release
from taxonomist.server.training_memory import is_out_of_memory, limit_memory
from taxonomist.server.training_rows import read_rows, write_rows
from taxonomist.text.digests import digest
from taxonomist.text.updating import can_update, update
from taxonomist.workflow.labelled import read_labelled, targets_of
from taxonomist.workflow.model_columns import as_model_texts, model_columns
from taxonomist.workflow.model_comparison import compare_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.text import TextClassifier
    from taxonomist.text.updating import LearnedTexts

__all__ = ["TrainingTask", "train_again"]

N_STEPS = 4
TELL_SECONDS = 10.0
"""How often a training says that it is alive."""
NICENESS = 10
"""Requests come before trainings."""


class TrainingTask(NamedTuple):
    """What to train; see ``Trainings.start``."""

    settings: ServiceSettings
    project: str
    version: str
    job: str
    user: str
    force: bool
    kind: str = "train"
    full: bool = False

    @classmethod
    def read(cls, text: str) -> TrainingTask:
        """Read a task from JSON."""
        known = json.loads(text)
        return cls(**{**known, "settings": ServiceSettings.from_json(known["settings"])})


class LabelledText(NamedTuple):
    """A text with its labels and its weight."""

    texts: dict[str, str]
    labels: list[str]
    weight: float
    is_held_out: bool


class JobProgress:
    """Tells the store at which step a job is, again and again."""

    def __init__(self, store: EventStore, job: str) -> None:
        self._store = store
        self._job = job
        self._step: tuple[str, int, int] = ("Starting", 0, N_STEPS)
        self._ended = Event()
        self._thread = Thread(target=self._repeat, daemon=True)
        self._thread.start()

    def step(self, step: str, done: int) -> None:
        """Begin a step."""
        self._step = (step, done, N_STEPS)
        self._tell()

    def _tell(self) -> None:
        with self._store.writing() as connection:
            tell_job(connection, self._job, *self._step)

    def _repeat(self) -> None:
        while not self._ended.wait(TELL_SECONDS):
            # If the database is busy, the next sign of life comes soon enough.
            with suppress(DBAPIError):
                self._tell()

    def end(self) -> None:
        """Stop telling."""
        self._ended.set()
        self._thread.join()


def train_again(task: TrainingTask, store: EventStore) -> tuple[str, dict[str, object]]:
    """Train a model, save it, and return the state and the result of the job."""
    progress = JobProgress(store, task.job)
    try:
        progress.step("Reading", 0)
        old = LiveModel(folder_of(task, store), is_served=False)
        items = _items(task, store, old)
        fitted = [item for item in items if not item.is_held_out]
        held_out = [item for item in items if item.is_held_out]
        progress.step(f"Training on {len(fitted):,} documents", 1)
        new, learned = _fitted(task, old, fitted)
        progress.step(f"Measuring on {len(held_out):,} documents", 2)
        texts, labels = [item.texts for item in held_out], [item.labels for item in held_out]
        found = compare_models(old.classifier, new, texts, labels)
        progress.step("Saving", 3)
        columns = asdict(model_columns(old.classifier))
        new.record(columns=columns, test_items=len(held_out), measures=found.measures, final=False)
        folder = Path(task.settings.folder) / "models" / task.project / task.job
        new.save(folder)
        if learned is not None:
            write_rows(rows_folder(task), learned)
    finally:
        progress.end()
    how = {"documents": len(fitted), "kept_features": learned is not None}
    return _released(task, store, folder, {**found.summary(), **how})


def _fitted(
    task: TrainingTask, old: LiveModel, items: Sequence[LabelledText]
) -> tuple[TextClassifier, LearnedTexts | None]:
    """Return a model like the old one, and what makes the next training fast."""
    texts = [item.texts for item in items]
    labels = targets_of([item.labels for item in items], is_multilabel=old.is_multilabel)
    weights = None if task.settings.weight == 1 else [item.weight for item in items]
    if task.full or not can_update(old.classifier, texts):
        return old.classifier.refit(texts, labels, weights), None
    return update(old.classifier, texts, labels, weights, read_rows(rows_folder(task)))


def rows_folder(task: TrainingTask) -> Path:
    """Return the folder with what the last training of a project has learned from."""
    return Path(task.settings.folder) / "models" / f"{task.project}.learned"


def _released(
    task: TrainingTask, store: EventStore, folder: Path, result: dict[str, object]
) -> tuple[str, dict[str, object]]:
    """Add the new version, and let it go live if it may."""
    version = model_version(folder)
    goes_live = bool(task.force or result["is_not_worse"])
    with store.writing() as connection:
        place = str(folder.absolute())
        add_version(connection, task.project, version, place, "retrained", {"comparison": result})
        if goes_live:
            reason = "forced" if not result["is_not_worse"] else "retrained, not worse"
            release(connection, task.project, version, task.user, reason)
    return ("live" if goes_live else "trained"), {**result, "version": version}


def folder_of(task: TrainingTask, store: EventStore) -> Path:
    """Return the folder of the live model."""
    with store.reading() as connection:
        known = {each.version: each.folder for each in list_versions(connection, task.project)}
    given = Path(task.settings.models[task.project])
    return given if model_version(given) == task.version else Path(known[task.version])


def labelled_rows(
    task: TrainingTask, old: LiveModel
) -> tuple[list[dict[str, str]], list[list[str]]]:
    """Return texts and labels of the training table."""
    rows = read_labelled(
        TableSource(task.settings.tables[task.project]),
        model_columns(old.classifier),
        old.taxonomy,
        skip_bad=True,
        single=not old.is_multilabel,
    )
    return as_model_texts(old.classifier, rows.texts), list(rows.labels)


def _items(task: TrainingTask, store: EventStore, old: LiveModel) -> list[LabelledText]:
    """Return rows and decisions, each text once; decisions win."""
    texts, all_labels = labelled_rows(task, old)
    is_seen = old.classifier.has_seen(texts).tolist()
    found = {
        digest(text): LabelledText(text, labels, 1.0, not seen)
        for text, labels, seen in zip(texts, all_labels, is_seen, strict=True)
    }
    with store.reading() as connection:
        decided = list(standing_decisions(connection, task.project))
    weight = task.settings.weight
    for each in decided:
        labels = [label for label in each.chosen if label in old.taxonomy]
        if len(labels) == 1 or old.is_multilabel:
            text = old.by_column(each.texts)
            found[digest(text)] = LabelledText(text, labels, weight, each.is_random)
    return list(found.values())


def _told(error: Exception) -> str | None:
    """Return what to tell about an error; None for bugs."""
    if is_out_of_memory(error):
        return "The training needs more memory than it may have; --training-mib gives it more."
    return str(error) if isinstance(error, TaxonomistError | OSError) else None


def main() -> None:
    """Run the task on standard input."""
    task = TrainingTask.read(sys.stdin.read())
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    limit_memory(task.settings.memory_mib)
    store = EventStore(task.settings.db_url)
    try:
        if task.kind == "check":
            from taxonomist.server.table_check import check_table

            state, result = check_table(task, store)
        else:
            state, result = train_again(task, store)
    except Exception as error:
        message = _told(error)
        if message is None:
            raise
        state, result = "failed", {"error": message}
    with store.writing() as connection:
        end_job(connection, task.job, state, result)
    store.close()


if __name__ == "__main__":
    main()
