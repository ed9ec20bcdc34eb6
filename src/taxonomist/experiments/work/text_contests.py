"""Contests from raw texts: one contestant on one split of a corpus, with its time."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.experiments.work.contests import sizes, tested_ids
from taxonomist.experiments.work.corpora import one_split
from taxonomist.experiments.work.set_measures import measured
from taxonomist.experiments.work.text_contestants import SETS, SINGLE
from taxonomist.experiments.work.trials import SplitData

if TYPE_CHECKING:
    from taxonomist._typing import LabelsLike
    from taxonomist.experiments.declarations import Result
    from taxonomist.experiments.work.trials import MakeProblem


@lru_cache(maxsize=1)
def raw_texts(
    name: str, *, is_single: bool, n_train: int, n_test: int, **options: str
) -> SplitData:
    """Return the texts of a corpus with one split, as ``corpora.divided`` makes it.

    Parameters
    ----------
    name
        A named corpus with texts.
    is_single
        Whether to keep only items with exactly one label, instead of all items with labels.
    n_train, n_test
        Maximum number of items of each part; larger parts are sampled.
    **options
        Options of the corpus.

    Returns
    -------
    SplitData
        The texts as an array of objects.
    """
    corpus, split, ids = one_split(name, is_single, (n_train, n_test), options)
    assert corpus.texts is not None
    y: LabelsLike = corpus.y if is_single else [list(row) for row in corpus.labels]
    texts = np.empty(len(corpus), dtype=object)
    texts[:] = [str(text) for text in corpus.texts]
    return SplitData(texts, y, corpus.taxonomy, [split], ids)


def text_contest(problem: MakeProblem, *, contestant: str) -> Result:
    """Let a contestant learn from texts and predict, and measure it.

    Parameters
    ----------
    problem
        Loads the texts, with one split.
    contestant
        Its name in ``SINGLE`` or ``SETS``.

    Returns
    -------
    Result
        The measures of :func:`measured`; ``cpu_seconds`` and ``wall_seconds`` of learning and
        predicting together, features included; and the sizes of the training items.
    """
    data = problem()
    ((train, test),) = data.splits
    is_sets = isinstance(data.y, list)
    make = (SETS if is_sets else SINGLE)[contestant]
    y = [data.y[i] for i in train.tolist()]
    texts, new = data.X[train].tolist(), data.X[test].tolist()
    start = _clocks()
    predicted = make(data.taxonomy).fit(texts, y).predict(new)
    cpu, wall = (end - begin for begin, end in zip(start, _clocks(), strict=True))
    truth = [data.y[i] for i in test.tolist()]
    found = measured(truth, predicted, data.taxonomy, tested_ids(data))
    spent = {"cpu_seconds": [cpu], "wall_seconds": [wall]}
    return replace(found, values=sizes(data) | dict(found.values) | spent)


def _clocks() -> tuple[float, float]:
    """Return the processor's seconds, of child processes too, and those of the wall clock."""
    spent = os.times()
    children = spent.children_user + spent.children_system
    return time.process_time() + children, time.perf_counter()
