"""HierarchicalSVC against LinearSVC and HiClass: fit and predict time at a 1 % gap, peak memory.

Command: TAXONOMIST_DATA=... python -m benchmarks svm_speed, or svm_speed:20newsgroups for one part
Every run is a process of its own. The contestants of a problem take turns in random order; ratios
are of runs of the same round. ``cold_first_fit_s`` is a fit of 50 items with nothing compiled yet.
``first_predicted_per_s``: the first call after a fit; ``predicted_per_s``: the median of five more.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks.record import peak_memory_mib, save_part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GAP = 0.01
# Problem -> contestant -> rounds. Slow contestants run fewer times.
PLAN = {
    "20newsgroups": {"ours": 5, "linear_svc": 5, "crammer_singer": 1, "hiclass": 1},
    "us-patents-ipc": {"ours": 5, "linear_svc": 5},
    "synthetic": {"ours": 3, "hiclass": 3, "linear_svc": 1},
    "section-d-scale": {"ours": 5, "ours_violation": 5, "linear_svc": 5},
}
PARTS = tuple(PLAN)
SHARES = (0.125, 0.25, 0.5, 1.0)


def make_problem(name: str) -> tuple[Any, Any, Any, Any]:
    """Return training rows, labels, taxonomy and rows to predict."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from benchmarks import synthetic_text
    from taxonomist import datasets

    if name == "synthetic":
        X, y, taxonomy = synthetic_text.make(20_000)
        return X, y, taxonomy, synthetic_text.make(5_000, seed=1)[0]
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    if name == "20newsgroups":
        corpus = datasets.load("20newsgroups")
        train, test = corpus.train(), corpus.test()
        X = vectorizer.fit_transform(train.texts)
        taxonomy = corpus.taxonomy.collapse_chains()
        return X, train.y, taxonomy, vectorizer.transform(test.texts)
    corpus = datasets.load("us-patents-ipc")
    labels, counts = np.unique(corpus.y, return_counts=True)
    if name == "us-patents-ipc":
        train = corpus.select(np.isin(corpus.y, labels[counts >= 3]) & (corpus.folds != 0))
    else:
        largest = labels[np.argsort(-counts, kind="stable")[:160]]
        # Document by document through all categories, so that none of the 160 is lost.
        turns = [np.flatnonzero(corpus.y == label) for label in largest]
        turn = np.concatenate([np.arange(len(items)) for items in turns])
        chosen = np.concatenate(turns)[np.argsort(turn, kind="stable")[:1_710]]
        train = corpus.select(np.sort(chosen))
    # The first line of a text is the title; it counts twice.
    texts = [text.partition("\n")[0] + "\n" + text for text in train.texts]
    X = vectorizer.fit_transform(texts)
    return X, train.y, corpus.taxonomy.prune(set(train.y)), X


def make_model(contestant: str, taxonomy: Any) -> Any:
    """Return an unfitted contestant."""
    from sklearn.svm import LinearSVC

    from taxonomist import HierarchicalSVC

    if contestant == "ours":
        return HierarchicalSVC(taxonomy, stop="gap", tol=GAP, random_state=0)
    if contestant == "ours_violation":
        return HierarchicalSVC(taxonomy, stop="violation", random_state=0)
    if contestant == "hiclass":
        from hiclass import LocalClassifierPerParentNode

        return LocalClassifierPerParentNode(LinearSVC(), n_jobs=2)
    return LinearSVC(multi_class="crammer_singer" if contestant == "crammer_singer" else "ovr")


def measure(file: str, contestant: str, share: float, of: str) -> dict[str, Any]:
    """Fit and predict in this process, after a first fit of a few items.

    Only a share of the items is used, or all items with a share of their non-zeros.
    """
    import warnings

    warnings.simplefilter("ignore")
    X, y, taxonomy, X_new = joblib.load(file)
    n = X.shape[0]
    if of == "items":
        n = int(share * n)
    else:
        X.data[np.random.default_rng(0).random(X.nnz) >= share] = 0
        X.eliminate_zeros()
    X, y = X[:n], as_targets(contestant, y[:n], taxonomy)
    few = slice(0, n, max(1, n // 50))
    first_fit = timed(lambda: make_model(contestant, taxonomy).fit(X[few], y[few]).predict(X[few]))
    model = make_model(contestant, taxonomy)
    fit = timed(lambda: model.fit(X, y))
    predict = [timed(lambda: model.predict(X_new)) for _ in range(6)]
    return {
        "fit_s": fit,
        "first_fit_s": first_fit,
        "first_predicted_per_s": X_new.shape[0] / predict[0],
        "predicted_per_s": X_new.shape[0] / statistics.median(predict[1:]),
        "peak_memory_mib": peak_memory_mib(),
        "gap": getattr(model, "duality_gap_", None),
        "violation": getattr(model, "max_violation_", None),
    }


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that some work takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def as_targets(contestant: str, y: Any, taxonomy: Any) -> Any:
    """Return labels in the contestant's form: HiClass wants a column per level."""
    if contestant != "hiclass":
        return y
    paths = {label: taxonomy.paths(label, limit=1)[0] for label in set(y)}
    height = max(map(len, paths.values()))
    return np.array([(*paths[c], *[""] * (height - len(paths[c]))) for c in y], dtype=object)


def run_apart(
    file: str, contestant: str, share: float = 1.0, of: str = "items", cold: bool = False
) -> dict[str, Any]:
    """Measure in a process of its own; ``cold`` gives it an empty cache of compiled code."""
    command = [sys.executable, "-m", "benchmarks.svm_speed", file, contestant, str(share), of]
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, **({"NUMBA_CACHE_DIR": empty} if cold else {})}
        done = subprocess.run(
            command, env=environment, capture_output=True, encoding="utf-8", check=False
        )
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_problem(name: str, folder: Path) -> dict[str, Any]:
    """Let the contestants of a problem take turns, and sum up."""
    file = str(folder / f"{name}.joblib")
    problem = make_problem(name)
    joblib.dump(problem, file)
    plan = PLAN[name]
    rng = np.random.default_rng(0)
    results: dict[str, list[dict[str, Any]]] = {contestant: [] for contestant in plan}
    for number in range(max(plan.values())):
        turn = [contestant for contestant, rounds in plan.items() if number < rounds]
        for contestant in rng.permutation(turn).tolist():
            found = run_apart(file, contestant)
            results[contestant].append(found)
            print(f"{name:16} {contestant:15} {found['fit_s']:8.2f} s", flush=True)
    ours = next(contestant for contestant in plan if contestant.startswith("ours"))
    summary: dict[str, Any] = {
        "items": problem[0].shape[0],
        "features": problem[0].shape[1],
        "categories": len(set(problem[1])),
        "nodes": problem[2].n_nodes,
        "cold_first_fit_s": run_apart(file, ours, cold=True)["first_fit_s"],
    }
    for contestant, runs in results.items():
        summary[contestant] = {
            key: statistics.median(run[key] for run in runs)
            for key in runs[0]
            if runs[0][key] is not None
        }
        ratios = [a["fit_s"] / b["fit_s"] for a, b in zip(results[ours], runs, strict=False)]
        summary[contestant]["ours_over_this"] = statistics.median(ratios)
        summary[contestant]["rounds"] = len(runs)
    if name == "synthetic":
        for of in ("items", "nonzeros"):
            summary[f"fit_s_by_share_of_{of}"] = {
                str(share): run_apart(file, ours, share, of)["fit_s"] for share in SHARES
            }
    return summary


def run(parts: Sequence[str] = PARTS) -> None:
    """Run some problems, all by default, and record the figures of each when it is done."""
    with tempfile.TemporaryDirectory() as folder:
        for name in parts:
            figures = run_problem(name, Path(folder))
            print(json.dumps(figures, indent=2))
            print(save_part("svm_speed", name, figures), flush=True)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4])))
