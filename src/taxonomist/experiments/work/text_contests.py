"""Contests from raw texts: one contestant on one split of a corpus, with its time.

A contestant runs in a process of its own, with a limit on the processor's time that is the same for
all.
"""

from __future__ import annotations

import importlib
import os
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_all_start_methods, get_context
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.experiments.work.contests import sizes, tested_ids
from taxonomist.experiments.work.corpora import one_split
from taxonomist.experiments.work.set_measures import measured
from taxonomist.experiments.work.text_contestants import SETS, SINGLE
from taxonomist.experiments.work.trials import SplitData

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

    from taxonomist._typing import LabelsLike
    from taxonomist.experiments.declarations import Result
    from taxonomist.experiments.work.trials import MakeProblem
    from taxonomist.taxonomy import Taxonomy

LIMIT_S = 900
"""Seconds of the processor after which a contestant is ended."""


class Match(NamedTuple):
    """What a contestant gets: training texts and labels, the taxonomy, and texts to label."""

    contestant: str
    taxonomy: Taxonomy
    texts: list[str]
    y: list[object]
    new: list[str]

    @property
    def is_sets(self) -> bool:
        """Whether items have label sets."""
        return isinstance(self.y[0], list)


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


def text_contest(problem: MakeProblem, *, contestant: str, limit_s: int = LIMIT_S) -> Result:
    """Let a contestant learn from texts and predict, and measure it.

    Parameters
    ----------
    problem
        Loads the texts, with one split.
    contestant
        Its name in ``SINGLE`` or ``SETS``.
    limit_s
        Seconds of the processor that it may take. Without an answer by then, it is wrong
        everywhere: its predictions are the root.

    Returns
    -------
    Result
        The measures of :func:`measured`; ``cpu_seconds`` and ``wall_seconds`` of learning and
        predicting together, features included, or the limit where there is no answer; and the sizes
        of the training items.
    """
    data = problem()
    ((train, test),) = data.splits
    y = [data.y[i] for i in train.tolist()]
    texts, new = data.X[train].tolist(), data.X[test].tolist()
    match = Match(contestant, data.taxonomy, texts, y, new)
    try:
        with ProcessPoolExecutor(1, _context(), _limit, (limit_s,)) as pool:
            predicted, cpu, wall = pool.submit(_compete, match).result()
    except BrokenProcessPool:
        root = data.taxonomy.root
        predicted, cpu, wall = [[root] if match.is_sets else root] * len(new), limit_s, limit_s
    truth = [data.y[i] for i in test.tolist()]
    found = measured(truth, predicted, data.taxonomy, tested_ids(data))
    spent = {"cpu_seconds": [cpu], "wall_seconds": [wall]}
    return replace(found, values=sizes(data) | dict(found.values) | spent)


def _compete(match: Match) -> tuple[LabelsLike, float, float]:
    """Return predictions, and the seconds of the processor and of the wall clock."""
    make = (SETS if match.is_sets else SINGLE)[match.contestant]
    start = _clocks()
    predicted = make(match.taxonomy).fit(match.texts, match.y).predict(match.new)
    cpu, wall = (end - begin for begin, end in zip(start, _clocks(), strict=True))
    return predicted, cpu, wall


def _limit(seconds: int) -> None:
    """Limit the processor's time of this process and of those that it starts."""
    try:
        # Windows has no such limits; contestants take as long as they take there.
        resource = importlib.import_module("resource")
    except ImportError:
        return
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds))


def _context() -> BaseContext:
    """Return how processes start: from a server that has imported what contestants need."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _clocks() -> tuple[float, float]:
    """Return the processor's seconds, of child processes too, and those of the wall clock."""
    spent = os.times()
    children = spent.children_user + spent.children_system
    return time.process_time() + children, time.perf_counter()
