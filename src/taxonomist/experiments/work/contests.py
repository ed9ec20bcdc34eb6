"""Contests: one contestant on one split of a corpus, in its own process.

A separate process shows how much memory a contestant needs. It is forked from a server that has
imported the required modules and holds no data.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.evaluation.splits import take
from taxonomist.experiments.work.contestants import SETS, SINGLE
from taxonomist.experiments.work.memory import peak_mib
from taxonomist.experiments.work.peers import PEERS, run_peer
from taxonomist.experiments.work.set_measures import measured
from taxonomist.experiments.work.trials import joined_results
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from taxonomist._typing import CSR, LabelsLike
    from taxonomist.experiments.declarations import Result
    from taxonomist.experiments.work.contestants import Contestant
    from taxonomist.experiments.work.trials import MakeProblem, SplitData

ENOUGH_S = 4.0
"""No further repeat starts once the previous ones took this many seconds."""


@dataclass(frozen=True)
class Run:
    """The outcome of a contestant: its predictions, the seconds of each repeat, and its memory."""

    predicted: LabelsLike
    fit_seconds: list[float]
    predict_seconds: list[float]
    peak_mib: float


def contest(problem: MakeProblem, *, contestant: str, repeats: int) -> Result:
    """Run a contestant in its own process, and measure it.

    Parameters
    ----------
    problem
        Loads the data, with one split.
    contestant
        Its name in ``SINGLE``, ``SETS`` or ``PEERS``.
    repeats
        Maximum number of repeats.

    Returns
    -------
    Result
        The measures of :func:`measured`; processor seconds ``fit_seconds`` and
        ``predict_seconds``, which do not depend on other processes, and ``peak_mib``; and
        ``n_items``, ``n_categories``, ``per_category`` and ``depth`` of the training items.
    """
    import joblib

    data = problem()
    ((train, test),) = data.splits
    items = data.X[train], take(data.y, train), data.X[test]
    if contestant in PEERS:
        run = _elsewhere(contestant, *items, repeats=repeats)
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "problem.joblib"
            joblib.dump((*items, data.taxonomy), file)
            run = _apart(str(file), contestant, repeats)
    found = measured(take(data.y, test), run.predicted, data.taxonomy, tested_ids(data))
    spent = {
        "fit_seconds": run.fit_seconds,
        "predict_seconds": run.predict_seconds,
        "peak_mib": [run.peak_mib],
    }
    return replace(found, values=sizes(data) | dict(found.values) | spent)


def fitted(*problems: MakeProblem, contestant: str) -> Result:
    """Run a contestant in this process, on several samples of the same data.

    Parameters
    ----------
    *problems
        Load the samples, with one split each.
    contestant
        Its name in ``SINGLE`` or ``SETS``.

    Returns
    -------
    Result
        The measures of :func:`measured` and the values of :func:`sizes`, sample by sample.
    """
    found = []
    for data in (problem() for problem in problems):
        ((train, test),) = data.splits
        model = (SINGLE | SETS)[contestant](data.taxonomy)
        model.fit(data.X[train], take(data.y, train))
        predicted = model.predict(data.X[test])
        result = measured(take(data.y, test), predicted, data.taxonomy, tested_ids(data))
        found.append(replace(result, values=sizes(data) | dict(result.values)))
    return joined_results(found)


def tested_ids(data: SplitData) -> list[str] | None:
    """Return the identities of the test items."""
    return None if data.ids is None else [data.ids[item] for item in data.splits[0][1]]


def sizes(data: SplitData) -> dict[str, list[float]]:
    """Return the numbers of training items and categories, and the depth of categories.

    Parameters
    ----------
    data
        Items with one split.

    Returns
    -------
    dict
        ``n_items``, ``n_categories`` and the mean number of items ``per_category`` of the training
        items, and the mean ``depth`` of their labels.
    """
    train = data.splits[0][0]
    rows = labels.as_sets(take(data.y, train))
    counts = Counter(label for row in rows for label in row)
    depths = data.taxonomy.depths[data.taxonomy.codes([label for row in rows for label in row])]
    return {
        "n_items": [float(len(train))],
        "n_categories": [float(len(counts))],
        "per_category": [len(train) / len(counts)],
        "depth": [float(np.mean(depths))],
    }


def compete(file: str, contestant: str, repeats: int) -> Run:
    """Learn and predict, after a warm-up on a few items that loads compiled code.

    Parameters
    ----------
    file
        Training items, their labels, test items and the taxonomy.
    contestant
        Its name in ``SINGLE`` or ``SETS``.
    repeats
        Maximum number of repeats.

    Returns
    -------
    Run
        Predictions, seconds and memory of this process.
    """
    import joblib
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")
    X, y, X_test, taxonomy = joblib.load(file)
    make = (SINGLE | SETS)[contestant]
    few = np.arange(0, X.shape[0], max(1, X.shape[0] // 50))
    seconds: list[list[float]] = []
    with threadpool_limits(1):
        make(taxonomy).fit(X[few], take(y, few)).predict(X[few])
        while len(seconds) < repeats and np.sum(seconds) < ENOUGH_S:
            predicted, spent = _learn_and_predict(make(taxonomy), X, y, X_test)
            seconds.append(spent)
    fit, predict = np.transpose(seconds).tolist()
    return Run(predicted, fit, predict, peak_mib())


def _learn_and_predict(
    model: Contestant, X: CSR, y: LabelsLike, X_test: CSR
) -> tuple[LabelsLike, list[float]]:
    """Return predictions, and the seconds of learning and of predicting."""
    times = [time.process_time()]
    model.fit(X, y)
    times.append(time.process_time())
    predicted = model.predict(X_test)
    times.append(time.process_time())
    return predicted, np.diff(times).tolist()


def _apart(file: str, contestant: str, repeats: int) -> Run:
    """Compete in a separate process."""
    is_possible = "forkserver" in get_all_start_methods()
    context = get_context("forkserver" if is_possible else "spawn")
    if is_possible:
        context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(1, mp_context=context, initializer=_hush) as pool:
        return pool.submit(compete, file, contestant, repeats).result()


def _elsewhere(contestant: str, X: CSR, y: LabelsLike, X_test: CSR, repeats: int) -> Run:
    """Compete in an environment of the contestant's own."""
    run = run_peer(contestant, X, y, X_test, repeats=repeats, enough_s=ENOUGH_S)
    return Run(
        run.predicted, run.seconds["fit_cpu"], run.seconds["predict_cpu"], peak_mib=run.peak_mib
    )


def _hush() -> None:
    """Silence this process: some packages show progress bars that cannot be turned off."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
