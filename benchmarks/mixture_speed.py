"""HierarchicalMixture against MultinomialNB: fit and predict time, and memory by non-zeros.

Command: TAXONOMIST_DATA=... python -m benchmarks mixture_speed
Every run is a process of its own, on one thread. The contestants take turns in random order;
ratios are of runs of the same round. ``fit_memory_mib`` and ``predict_memory_mib`` are the most
that numpy holds at a time beyond the data, on the patents for growing shares of the items;
``dense_mib`` is what a table of categories times words would take.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks.record import save

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
CONTESTANTS = ("mixture", "shrinkage", "lidstone", "multinomial_nb")
SHARES = (0.25, 0.5, 1.0)


def make_problem(name: str) -> tuple[Any, Any, Any, Any]:
    """Return training counts, labels, taxonomy and counts to predict."""
    from sklearn.feature_extraction.text import CountVectorizer

    from taxonomist import datasets

    if name == "newsgroups15":
        from benchmarks.few_documents import load

        X, y, taxonomy = load()
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[:10_000], order[10_000:]
        return X[train], y[train], taxonomy, X[test]
    corpus = datasets.load("us-patents-ipc")
    X = CountVectorizer(stop_words="english", min_df=2).fit_transform(corpus.texts)
    is_test = np.asarray(corpus.folds) == 0
    y = np.asarray(corpus.y)
    return X[~is_test].astype(float), y[~is_test], corpus.taxonomy, X[is_test].astype(float)


def make_model(contestant: str, taxonomy: Any) -> Any:
    """Return an unfitted contestant."""
    from sklearn.naive_bayes import MultinomialNB

    from taxonomist import HierarchicalMixture, HierarchicalShrinkage, LidstoneNB

    kinds = {
        "mixture": HierarchicalMixture,
        "shrinkage": HierarchicalShrinkage,
        "lidstone": LidstoneNB,
    }
    return kinds[contestant](taxonomy) if contestant in kinds else MultinomialNB()


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that some work takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def traced_mib(work: Callable[[], Any]) -> float:
    """Return the most memory that some work holds at a time."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def measure(file: str, contestant: str, share: float) -> dict[str, float]:
    """Fit and predict in this process, after a first fit of a few items."""
    X, y, taxonomy, X_new = joblib.load(file)
    few = slice(0, len(y), max(1, len(y) // 50))
    make_model(contestant, taxonomy).fit(X[few], y[few]).predict(X[few])
    n = int(share * len(y))
    X, y = X[:n], y[:n]
    model = make_model(contestant, taxonomy)
    fit = timed(lambda: model.fit(X, y))
    predict = [timed(lambda: model.predict(X_new)) for _ in range(6)]
    return {
        "fit_s": fit,
        "first_predict_s": predict[0],
        "predict_s": statistics.median(predict[1:]),
        "fit_memory_mib": traced_mib(lambda: model.fit(X, y)),
        "predict_memory_mib": traced_mib(lambda: model.predict(X_new)),
    }


def run_apart(file: str, contestant: str, share: float = 1.0) -> dict[str, float]:
    """Measure in a process of its own, on one thread."""
    command = [sys.executable, "-m", "benchmarks.mixture_speed", file, contestant, str(share)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_newsgroups(folder: Path) -> dict[str, Any]:
    """Let the contestants take turns, and sum up."""
    file = str(folder / "newsgroups15.joblib")
    X, y, taxonomy, X_new = make_problem("newsgroups15")
    joblib.dump((X, y, taxonomy, X_new), file)
    rng = np.random.default_rng(0)
    runs: dict[str, list[dict[str, float]]] = {contestant: [] for contestant in CONTESTANTS}
    for _ in range(ROUNDS):
        for contestant in rng.permutation(CONTESTANTS).tolist():
            runs[contestant].append(run_apart(file, contestant))
    summary: dict[str, Any] = {
        "items": X.shape[0],
        "predicted_items": X_new.shape[0],
        "words": X.shape[1],
        "nonzeros": int(X.nnz),
    }
    for contestant, found in runs.items():
        summary[contestant] = {
            key: statistics.median(one[key] for one in found) for key in found[0]
        }
        for key in ("fit_s", "first_predict_s", "predict_s"):
            pairs = zip(found, runs["multinomial_nb"], strict=True)
            ratios = [one[key] / other[key] for one, other in pairs]
            summary[contestant][f"{key[:-2]}_over_multinomial_nb"] = statistics.median(ratios)
        print(contestant, json.dumps(summary[contestant]), flush=True)
    return summary


def run_patents(folder: Path) -> dict[str, Any]:
    """Measure memory for shares of the patents, by main group."""
    file = str(folder / "patents.joblib")
    X, y, taxonomy, X_new = make_problem("us-patents-ipc")
    joblib.dump((X, y, taxonomy, X_new), file)
    n_categories = len(taxonomy.leaves)
    summary: dict[str, Any] = {
        "items": X.shape[0],
        "words": X.shape[1],
        "categories": n_categories,
        "nodes": taxonomy.n_nodes,
        "dense_mib": 8 * n_categories * X.shape[1] / 2**20,
    }
    for contestant in ("mixture", "multinomial_nb"):
        for share in SHARES:
            found = run_apart(file, contestant, share)
            found["nonzeros"] = int(X[: int(share * len(y))].nnz)
            summary[f"{contestant}_{share}"] = found
            print(contestant, share, json.dumps(found), flush=True)
    return summary


def run() -> None:
    """Run both problems and record the figures."""
    with tempfile.TemporaryDirectory() as folder:
        figures = {
            "newsgroups15": run_newsgroups(Path(folder)),
            "us-patents-ipc": run_patents(Path(folder)),
        }
    print(save("mixture_speed", "python -m benchmarks mixture_speed", figures))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
