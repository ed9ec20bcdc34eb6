"""Overhead of distribution: a path model on two processes, and rounds of the joint SVM on shards.

Command: TAXONOMIST_DATA=... python -m benchmarks distributed
(a) ``PathSVC`` with 2 threads against ``DaskPathSVC`` with 2 worker processes of 1 thread, on
synthetic texts with 1,000 leaves; fits take turns, seconds are wall time, without compilation.
(b) ``HierarchicalSVC`` to a gap of 1 % against shards in this process, one after another: rounds,
bytes, and visits of documents and processor seconds as ratios to the local fit. The bar is on
visits, which grow with the documents; processor seconds also include copies of weights and some
milliseconds for each round of a shard, so there are problems of several sizes. (c) What follows
for 100 million documents on 50 workers, on paper: rounds and visits of the largest K, bytes from
features x nodes, and time from the processor seconds of a visit on one machine.
"""

from __future__ import annotations

import time
import warnings
from itertools import pairwise
from math import ceil, log, log2
from statistics import median
from typing import Any

import numpy as np

from benchmarks.record import save
from benchmarks.svm_speed import make_problem
from benchmarks.synthetic_text import make

N_PATH, N_TURNS, N_PARTS = 20_000, 3, 8
SHARDS = {
    "20newsgroups": (2, 4, 8, 16),
    "section-d-scale": (2, 4, 8, 16),
    "synthetic-16000": (8,),
    "synthetic-4000": (1, 2, 4, 8, 16),
}
"""The numbers of shards for each problem; the model on paper takes the last row of all."""
MOST_WORK, MOST_ROUNDS = 3, 1_000
DOCUMENTS, WORKERS, VALUES = 100_000_000, 50, 100
FEATURES, NODES = 50_000, 1_500
FAN_IN = 8
BYTES_PER_SECOND = 1e9
"""A network of 10 Gbit/s."""


def cut(given: Any, n_parts: int) -> list[Any]:
    ends = np.linspace(0, given.shape[0], n_parts + 1).astype(int)
    return [given[a:b] for a, b in pairwise(ends)]


def path_times() -> dict[str, Any]:
    """Return the times of both fits, and whether their weights are equal."""
    import dask
    from distributed import Client, LocalCluster

    from taxonomist import PathSVC
    from taxonomist.distributed import DaskPathSVC

    X, y, taxonomy = make(N_PATH)
    times: dict[str, list[float]] = {"local": [], "dask": []}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        parts = [client.scatter(part) for part in cut(X, N_PARTS)]
        labels = [dask.delayed(part) for part in cut(y, N_PARTS)]
        for turn in range(1 + N_TURNS):
            begin = time.perf_counter()
            local = PathSVC(taxonomy, random_state=0, n_jobs=2).fit(X, y)
            middle = time.perf_counter()
            model = DaskPathSVC(taxonomy, random_state=0).fit(parts, labels)
            end = time.perf_counter()
            if turn:
                times["local"].append(middle - begin)
                times["dask"].append(end - middle)
    ratios = [b / a for a, b in zip(times["local"], times["dask"], strict=True)]
    weights = [one.scorer_.weights.blocks() for one in (local, model.to_local())]
    is_equal = all(
        np.array_equal(a[1], b[1]) and np.array_equal(a[2], b[2])
        for a, b in zip(*weights, strict=True)
    )
    return {**times, "ratio": median(ratios), "weights equal": is_equal}


class Work:
    """Counts the visits of documents, inspected or solved, and the processor seconds."""

    def __enter__(self) -> Work:
        from taxonomist.compiled import inspection, joint

        self._loops = [(inspection, "inspect"), (joint, "visit"), (joint, "sweep")]
        self._originals = [getattr(*loop) for loop in self._loops]
        self.n_visits = 0
        for (module, name), original in zip(self._loops, self._originals, strict=True):
            setattr(module, name, self._counting(name, original))
        self.seconds = -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time()
        for (module, name), original in zip(self._loops, self._originals, strict=True):
            setattr(module, name, original)

    def _counting(self, name: str, loop: Any) -> Any:
        def counted(items: Any, *arguments: Any) -> Any:
            found = loop(items, *arguments)
            self.n_visits += found[2] if name == "visit" else len(items)
            return found

        return counted


def joint_problem(name: str) -> tuple[Any, Any, Any]:
    """Return rows and labels in random order, and the taxonomy."""
    kind, _, size = name.partition("-")
    X, y, taxonomy = make(int(size)) if kind == "synthetic" else make_problem(name)[:3]
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], np.asarray(y)[order], taxonomy


def joint_rounds(name: str) -> tuple[list[dict[str, Any]], float]:
    """Return a row for each number of shards, and the local seconds per visit and value."""
    from taxonomist import HierarchicalSVC
    from taxonomist.distributed.engine import LocalEngine
    from taxonomist.distributed.joint_fit import fit_joint

    X, y, taxonomy = joint_problem(name)
    n_items, first = X.shape[0], (X[:300], y[:300])
    fit_joint(LocalEngine(), [[part] for part in (*first, None)], HierarchicalSVC(taxonomy))
    HierarchicalSVC(taxonomy, n_jobs=1).fit(*first)
    with Work() as local:
        HierarchicalSVC(taxonomy, random_state=0, n_jobs=1).fit(X, y)
    rows = []
    for n_shards in SHARDS[name]:
        blocks = [cut(X, n_shards), cut(y, n_shards), [None] * n_shards]
        model = HierarchicalSVC(taxonomy, random_state=0, max_iter=MOST_ROUNDS)
        with Work() as work, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, rounds = fit_joint(LocalEngine(), blocks, model, n_shards)
        row = {
            "problem": name,
            "shards": n_shards,
            "rounds": len(rounds),
            "gap": model.duality_gap_,
            "bytes out per round": float(np.mean([entry.bytes_out for entry in rounds])),
            "bytes back per round": float(np.mean([entry.bytes_back for entry in rounds])),
            "visits per document": work.n_visits / n_items,
            "visits": work.n_visits / local.n_visits,
            "processor seconds": work.seconds / local.seconds,
            "local processor seconds": local.seconds,
        }
        print(
            " ".join(
                f"{key} {value:.4g}" if not isinstance(value, str) else value
                for key, value in row.items()
            ),
            f"(bar of visits {MOST_WORK})" if n_shards == 8 else "",
            flush=True,
        )
        rows.append(row)
    return rows, local.seconds / (local.n_visits * X.nnz / n_items)


def on_paper(row: dict[str, Any], visit_s: float) -> dict[str, float]:
    """Return rounds, bytes and hours for many documents on many workers.

    Weights go to a worker and from there to others, in a tree; changes come back in a tree of
    reductions. They are taken to be as large as the weights.
    """
    n_rounds, once = row["rounds"], FEATURES * NODES * 4
    computing_s = DOCUMENTS * row["visits per document"] * VALUES * visit_s

    def sending_s(n_workers: int) -> float:
        n_copies = 1 + ceil(log2(n_workers)) + FAN_IN * ceil(log(n_workers, FAN_IN)) + 1
        return n_rounds * n_copies * once / BYTES_PER_SECOND

    saturated = 2
    while computing_s / saturated > sending_s(saturated):
        saturated += 1
    return {
        "rounds": n_rounds,
        "gigabytes sent": n_rounds * 2 * WORKERS * once / 1e9,
        "hours of computing": computing_s / WORKERS / 3600,
        "hours of sending": sending_s(WORKERS) / 3600,
        "workers at which sending takes as long": saturated,
    }


def run() -> None:
    path = path_times()
    print(f"path model, 2 processes / 2 threads: {path['ratio']:.2f} (bar 1.5)", flush=True)
    rows = []
    for name in SHARDS:
        found, visit_s = joint_rounds(name)
        rows += found
    paper = on_paper(rows[-1], visit_s)
    for name, value in paper.items():
        print(f"100 million documents, 50 workers: {name} {value:.3g}")
    figures = {"path": path, "joint": rows, "paper": paper}
    print(save("distributed", "python -m benchmarks distributed", figures))
