"""PathSVC against LinearSVC, PECOS and napkinXC: the bars for time, memory and accuracy.

Command: TAXONOMIST_DATA=... TAXONOMIST_PEERS=.venv-peers/bin/python python -m benchmarks path_svc
Some rows only, not recorded: python -m benchmarks.path_svc icd10cm cold-start --rounds 1
Every run is a process of its own, with the threads that its package uses by default, or with
``--threads``: idle threads that wait for work count in processor seconds. The
contestants of a row take turns in random order; ratios are medians of runs of the same round, by
the wall clock and in processor seconds. Prediction is the first call after a fit. Peak memory has
the data and the packages in it, ``start_mib`` the packages only. ``cold-start`` is the first fit in
a process with nothing compiled, less the second one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks import path_runner
from benchmarks.record import save

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CLOCKS = ("wall", "cpu")
PEERS = ("PECOS", "napkinXC")
EVERY = 10**9
COLD_S = 5.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Problem:
    """Training and test items with their labels, and the taxonomy."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    taxonomy: Any


@dataclass(frozen=True)
class Row:
    """A problem, our options, rounds by contestant, and the bars.

    ``ratios`` are the most that our time to fit may be of another contestant's; ``seconds`` is a
    time that will do instead. ``per_s`` is the least number of predictions, and ``beats`` names
    those who must be less accurate. With 0 ``threads`` packages use what they do by default.
    """

    problem: Callable[[], Problem]
    rounds: Mapping[str, int]
    ratios: Mapping[str, float]
    ours: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    per_s: float = 0.0
    beats: tuple[str, ...] = ()
    threads: int = 0


def named(corpus: str, *, is_single: bool) -> Problem:
    """Return all items of a corpus with its own split."""
    from taxonomist.evaluation.splits import take
    from taxonomist.experiments.work.corpora import divided

    data = divided(corpus, is_single=is_single, n_train=EVERY, n_test=EVERY)
    ((train, test),) = data.splits
    X, y = data.X, data.y
    return Problem(X[train], take(y, train), X[test], take(y, test), data.taxonomy)


def newsgroups() -> Problem:
    return named("20newsgroups", is_single=True)


def patents() -> Problem:
    """Return the main groups with at least three patents; the first fold is predicted."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from taxonomist import datasets

    corpus = datasets.load("us-patents-ipc")
    labels, counts = np.unique(corpus.y, return_counts=True)
    corpus = corpus.select(np.isin(corpus.y, labels[counts >= 3]))
    train, test = corpus.select(corpus.folds != 0), corpus.select(corpus.folds == 0)
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    return Problem(X, train.y, X_test, test.y, corpus.taxonomy.prune(set(corpus.y)))


def synthetic() -> Problem:
    from benchmarks import synthetic_text

    X, y, taxonomy = synthetic_text.make(20_000)
    return Problem(X, y, *synthetic_text.make(20_000, seed=1)[:2], taxonomy)


def icd10cm() -> Problem:
    return named("icd10cm", is_single=True)


def reuters() -> Problem:
    return named("reuters21578", is_single=False)


ROWS = {
    "20newsgroups": Row(
        newsgroups,
        {"PathSVC": 5, "LinearSVC": 5, "PECOS": 1, "napkinXC": 1},
        {"LinearSVC": 0.5},
        ours={"negatives": "both"},
    ),
    "us-patents": Row(
        patents,
        {"PathSVC": 5, "LinearSVC": 3, "PECOS": 1, "napkinXC": 1},
        {"LinearSVC": 0.1},
        ours={"negatives": "siblings"},
    ),
    "synthetic": Row(
        synthetic,
        {"PathSVC": 5, "PECOS": 5, "napkinXC": 1},
        {"PECOS": 1.0},
        ours={"negatives": "siblings"},
        seconds=1.6,
        per_s=100_000,
    ),
    "icd10cm": Row(
        icd10cm,
        {"PathSVC": 5, "PECOS": 5, "napkinXC": 5},
        {"PECOS": 1.0, "napkinXC": 1.0},
        beats=PEERS,
    ),
    "reuters21578": Row(
        reuters,
        {"PathSVC": 5, "LinearSVC": 5, "PECOS": 1, "napkinXC": 1},
        {"LinearSVC": 1.0},
    ),
}
COLD = ("20newsgroups", "reuters21578")
NAMES = (*ROWS, "cold-start")
ROUNDS = 5


def run_apart(folder: Path, contestant: str, row: Row, saves: bool, **variables: str) -> Any:
    """Measure one of ours or scikit-learn's in a process of its own."""
    threads = {"n_jobs": row.threads} if row.threads else {}
    options = json.dumps({**row.ours, **threads})
    if row.threads:
        variables |= dict.fromkeys(THREADS, str(row.threads))
    command = [sys.executable, "-m", "benchmarks.path_runner", str(folder), contestant, options]
    # Without compiled byte code a process would hold the compiler's memory, too.
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | variables
    done = subprocess.run(
        [*command, str(int(saves))], env=given, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def turn(folder: Path, contestant: str, row: Row, problem: Problem, saves: bool) -> dict[str, Any]:
    """Let a contestant learn and predict once; in the first round, say how good it is."""
    if contestant in PEERS:
        from taxonomist.experiments.work.peers import run_peer

        run = run_peer(contestant, problem.X, problem.y, problem.X_test, n_threads=row.threads)
        found = {name: values[0] for name, values in run.seconds.items()}
        found |= {"start_mib": run.start_mib, "peak_mib": run.peak_mib}
        predicted = run.predicted
    else:
        found = run_apart(folder, contestant, row, saves)
        predicted = joblib.load(folder / path_runner.PREDICTED) if saves else None
    if saves:
        from taxonomist.experiments.work.set_measures import measured

        quality = measured(problem.y_test, predicted, problem.taxonomy).values
        found |= {name: values[0] for name, values in quality.items()}
    return found


def write_problem(problem: Problem, folder: Path) -> None:
    """Write the items and, apart, the taxonomy, which not every contestant reads."""
    joblib.dump((problem.X, problem.y, problem.X_test), folder / path_runner.ITEMS)
    joblib.dump(problem.taxonomy, folder / path_runner.TAXONOMY)


def run_row(name: str, most: int, threads: int) -> dict[str, Any]:
    """Let the contestants of a row take turns, and sum up."""
    from taxonomist.experiments.work.peers import installed

    row = replace(ROWS[name], threads=threads)
    problem = row.problem()
    present = [who for who in row.rounds if who not in PEERS or who in installed()]
    rounds = {who: min(most, row.rounds[who]) for who in present}
    rng = np.random.default_rng(0)
    runs: dict[str, list[dict[str, Any]]] = {who: [] for who in rounds}
    with tempfile.TemporaryDirectory() as folder:
        write_problem(problem, Path(folder))
        run_apart(Path(folder), "compile", row, saves=False)
        for number in range(max(rounds.values())):
            players = [who for who, n in rounds.items() if number < n]
            for who in rng.permutation(players).tolist():
                found = turn(Path(folder), who, row, problem, saves=number == 0)
                runs[who].append(found)
                spent = f"{found['fit_wall']:8.2f} s, {found['fit_cpu']:8.2f} CPU s"
                print(f"{name:14} {who:10} {spent}, {found['peak_mib']:5.0f} MiB", flush=True)
    summary = {
        "items": problem.X.shape[0],
        "features": problem.X.shape[1],
        "nodes": problem.taxonomy.n_nodes,
        "ours": dict(row.ours),
    }
    summary |= {who: sum_up(found, problem.X_test.shape[0]) for who, found in runs.items()}
    summary["bars"] = [*fit_bars(row, runs), *other_bars(row, summary, list(runs))]
    return summary


def sum_up(runs: list[dict[str, Any]], n_predicted: int) -> dict[str, Any]:
    """Return medians of the runs of a contestant, its best times, and how good it is."""
    medians = {key: statistics.median(run[key] for run in runs if key in run) for key in runs[0]}
    best = {f"best_fit_{clock}": min(run[f"fit_{clock}"] for run in runs) for clock in CLOCKS}
    speed = {
        f"predicted_per_s_{clock}": n_predicted / medians[f"predict_{clock}"] for clock in CLOCKS
    }
    return medians | best | speed | {"rounds": len(runs)}


def fit_bars(row: Row, runs: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the bars of the time to fit, by both clocks."""
    bars = []
    for other, limit in row.ratios.items():
        bar: dict[str, Any] = {"bar": f"fit at most {limit:g} x {other}", "limit": limit}
        if row.seconds:
            bar["bar"] += f", or {row.seconds:g} s"
        for clock in CLOCKS if other in runs else ():
            key = f"fit_{clock}"
            pairs = zip(runs["PathSVC"], runs[other], strict=False)
            bar[clock] = statistics.median(a[key] / b[key] for a, b in pairs)
            least = statistics.median(run[key] for run in runs["PathSVC"])
            bar[f"holds_{clock}"] = bar[clock] <= limit or least <= row.seconds
        bars.append(bar)
    return bars


def other_bars(row: Row, summary: Mapping[str, Any], who: list[str]) -> list[dict[str, Any]]:
    """Return the bars of prediction, accuracy and memory."""
    ours = summary["PathSVC"]
    bars: list[dict[str, Any]] = []
    if row.per_s:
        speed = {clock: ours[f"predicted_per_s_{clock}"] for clock in CLOCKS}
        holds = {f"holds_{clock}": speed[clock] >= row.per_s for clock in CLOCKS}
        words = f"at least {row.per_s:,.0f} documents/s from the first call"
        bars.append({"bar": words, "limit": row.per_s} | speed | holds)
    for other in (other for other in row.beats if other in who):
        values = {"ours": ours["exact"], "theirs": summary[other]["exact"]}
        holds = {"holds": values["ours"] > values["theirs"]}
        bars.append({"bar": f"more accurate than {other}"} | values | holds)
    for other in (other for other in who if other != "PathSVC"):
        values = {"ours": ours["peak_mib"], "theirs": summary[other]["peak_mib"]}
        holds = {"holds": values["ours"] < values["theirs"]}
        bars.append({"bar": f"less memory than {other}, MiB"} | values | holds)
    return bars


def run_cold(rounds: int) -> dict[str, Any]:
    """Return what compiling adds to the first fit, with one label each and with label sets."""
    summary: dict[str, Any] = {"bars": []}
    for name in COLD:
        with tempfile.TemporaryDirectory() as folder:
            write_problem(ROWS[name].problem(), Path(folder))
            runs = [cold_run(Path(folder), ROWS[name]) for _ in range(rounds)]
        summary[name] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        bar: dict[str, Any] = {"bar": f"{name}: first fit at most {COLD_S:g} s more"}
        for clock in CLOCKS:
            more = statistics.median(run[f"first_{clock}"] - run[f"second_{clock}"] for run in runs)
            bar |= {clock: more, f"holds_{clock}": more <= COLD_S}
        summary["bars"].append(bar | {"limit": COLD_S})
    return summary


def cold_run(folder: Path, row: Row) -> Any:
    """Learn twice in a process with an empty cache of compiled code."""
    with tempfile.TemporaryDirectory() as empty:
        found = run_apart(folder, "cold", row, saves=False, NUMBA_CACHE_DIR=empty)
    print(f"cold-start {found['first_wall']:.2f} s, then {found['second_wall']:.2f} s", flush=True)
    return found


def run_rows(names: Sequence[str] = NAMES, most: int = ROUNDS, threads: int = 0) -> dict[str, Any]:
    """Run some rows, with at most so many rounds each, and print their bars."""
    from taxonomist.experiments.work.peers import VARIABLE, installed

    for peer in PEERS:
        if peer not in installed():
            print(f"{peer} is not installed and takes no part: run make peers, and set {VARIABLE}.")
    figures: dict[str, Any] = {"peers": installed()}
    for name in names:
        figures[name] = run_cold(most) if name == "cold-start" else run_row(name, most, threads)
        for bar in figures[name]["bars"]:
            print(f"{name}: {bar}", flush=True)
    return figures


def run() -> None:
    """Run all rows and record the figures."""
    figures = run_rows()
    print(save("path_svc", "python -m benchmarks path_svc", figures))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.path_svc")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(NAMES))
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at most so many of each")
    parser.add_argument("--threads", type=int, default=0, help="the packages' defaults if 0")
    given = parser.parse_args()
    for row in set(given.rows) - set(NAMES):
        parser.error(f"there is no row {row!r}; there are {', '.join(NAMES)}")
    print(json.dumps(run_rows(given.rows or NAMES, given.rounds, given.threads), indent=2))
