"""One contestant of ``path_svc`` in this process: learn, predict, and say what that cost.

Command: python -m benchmarks.path_runner FOLDER CONTESTANT OPTIONS SAVES, started by ``path_svc``.
It imports nothing that the contestant does not need, so that the peak memory is the contestant's.
pandas counts as absent, as it is for the peers: neither package requires it, but scikit-learn would
import it from an environment for development, which takes 60 MiB.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ITEMS, TAXONOMY, PREDICTED = "items.joblib", "taxonomy.joblib", "predicted.joblib"


class NoPandas:
    """Finds no pandas; see above."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(name, name=name)


sys.meta_path.insert(0, NoPandas())


def peak_mib() -> float:
    """Return the peak memory of this process, without importing what measures that elsewhere."""
    (package,) = find_spec("taxonomist").submodule_search_locations
    worker = runpy.run_path(str(Path(package) / "experiments" / "work" / "peer_worker.py"))
    return worker["peak_mib"]()


class Flat:
    """scikit-learn's linear SVM, one against the rest, for one label each or for label sets."""

    def __init__(self) -> None:
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.preprocessing import MultiLabelBinarizer
        from sklearn.svm import LinearSVC

        self.kinds = LinearSVC, OneVsRestClassifier
        self.columns = MultiLabelBinarizer(sparse_output=True)

    def targets(self, y: Any) -> Any:
        self.is_sets = isinstance(y[0], list)
        self.model = self.kinds[1](self.kinds[0]()) if self.is_sets else self.kinds[0]()
        return self.columns.fit_transform(y) if self.is_sets else y.astype(str)

    def labels(self, predicted: Any) -> Any:
        return self.columns.inverse_transform(predicted) if self.is_sets else predicted


class Ours:
    """PathSVC with options; it has the defaults for everything else."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        import joblib

        from taxonomist import PathSVC

        self.model = PathSVC(joblib.load(folder / TAXONOMY), random_state=0, **options)

    def targets(self, y: Any) -> Any:
        return y

    def labels(self, predicted: Any) -> Any:
        if predicted.ndim == 1:
            return predicted
        classes = self.model.classes_
        return [classes[row.nonzero()[0]].tolist() for row in predicted]


class Other:
    """HiClass or Omikuji, with their defaults and as many threads as there are cores."""

    def __init__(self, folder: Path, contestant: str) -> None:
        import os

        import joblib

        from taxonomist.experiments.work import contestants

        self.contestant, cores = contestant, os.cpu_count() or 1
        if contestant == "HiClass":
            self.model = contestants.PerParentNode(joblib.load(folder / TAXONOMY), cores)
        else:
            self.model = contestants.Omikuji(None, cores)

    def targets(self, y: Any) -> Any:
        self.is_sets = isinstance(y[0], list)
        if self.contestant == "Omikuji" and not self.is_sets:
            self.model.fit = self.model.learn_best
            return [[label] for label in y.tolist()]
        return y

    def labels(self, predicted: Any) -> Any:
        import numpy as np

        if self.contestant == "Omikuji" and not self.is_sets:
            return np.array([label for (label,) in predicted], dtype=object)
        return predicted


def player_of(folder: Path, contestant: str, options: dict[str, Any]) -> Any:
    """Return a contestant."""
    if contestant == "PathSVC":
        return Ours(folder, options)
    return Flat() if contestant == "LinearSVC" else Other(folder, contestant)


def measure(folder: Path, contestant: str, options: dict[str, Any], saves: bool) -> dict[str, Any]:
    """Learn from few items, which loads compiled code, then from all of them, and predict."""
    import joblib

    warnings.simplefilter("ignore")
    player = player_of(folder, contestant, options)
    found = {"start_mib": peak_mib()}
    X, y, X_test = joblib.load(folder / ITEMS)
    y = player.targets(y)
    if not isinstance(player, Other):  # these compile nothing
        learn_from_few(player.model, X, y)
    clocks = [now()]
    player.model.fit(X, y)
    clocks.append(now())
    predicted = player.model.predict(X_test)
    clocks.append(now())
    for step, before, after in zip(("fit", "predict"), clocks, clocks[1:], strict=False):
        found[f"{step}_wall"], found[f"{step}_cpu"] = after[0] - before[0], after[1] - before[1]
    found["peak_mib"] = peak_mib()
    if saves:
        joblib.dump(player.labels(predicted), folder / PREDICTED)
    return found


def learn_from_few(model: Any, X: Any, y: Any) -> None:
    """Learn from few items, with all loops that are called for many."""
    from taxonomist.compiled.jit import sparing_nothing

    with sparing_nothing():
        model.fit(*few_of(X, y))


def few_of(X: Any, y: Any) -> tuple[Any, Any]:
    """Return a few items."""
    few = slice(0, X.shape[0], max(1, X.shape[0] // 200))
    return X[few], y[few]


def compile_all(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Fill the cache of compiled code, so that no first call has to compile."""
    import joblib

    from taxonomist.compiled.jit import sparing_nothing

    warnings.simplefilter("ignore")
    X, y = few_of(*joblib.load(folder / ITEMS)[:2])
    # As ``taxonomist warm`` does, compile also what a little work would not need.
    with sparing_nothing():
        model = Ours(folder, options).model.fit(X, y)
        model.predict(X)
        if model.targets_.is_single and model.taxonomy_.is_tree:
            model.search(X)
    return {}


def measure_cold(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Learn twice from all items, with nothing compiled yet."""
    import joblib

    warnings.simplefilter("ignore")
    X, y, _ = joblib.load(folder / ITEMS)
    players = [Ours(folder, options) for _ in range(2)]
    clocks = [now()]
    for player in players:
        player.model.fit(X, y)
        clocks.append(now())
    steps = zip(("first", "second"), clocks, clocks[1:], strict=False)
    return {
        f"{step}_{clock}": after[place] - before[place]
        for step, before, after in steps
        for place, clock in enumerate(("wall", "cpu"))
    }


def now() -> tuple[float, float]:
    """Return the times of the wall clock and of the processor."""
    return time.perf_counter(), time.process_time()


if __name__ == "__main__":
    place, who, given, last = sys.argv[1:]
    if who in ("cold", "compile"):
        work = measure_cold if who == "cold" else compile_all
        print(json.dumps(work(Path(place), json.loads(given))))
    else:
        print(json.dumps(measure(Path(place), who, json.loads(given), bool(int(last)))))
