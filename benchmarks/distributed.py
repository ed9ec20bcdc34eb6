"""Overhead of distribution: a path model on two processes, and rounds of the joint SVM on shards.

Command: python -m benchmarks distributed
(a) ``PathSVC`` with 2 threads against ``DaskPathSVC`` with 2 worker processes of 1 thread, on
synthetic texts with 1,000 leaves; fits take turns, seconds are wall time, without compilation.
(b) ``HierarchicalSVC`` to a gap of 1 % against shards in this process, one after another: rounds,
bytes, and processor seconds as a ratio to the local fit. (c) What follows for 100 million documents
on 50 workers, on paper: the rounds of the largest K, bytes from features x nodes, and time from the
processor seconds of a local pass.
"""

from __future__ import annotations

import time
import warnings
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from benchmarks.record import save
from benchmarks.synthetic_text import make

N_PATH, N_JOINT, N_TURNS, N_PARTS = 20_000, 4_000, 3, 8
SHARDS = (1, 2, 4, 8, 16)
DOCUMENTS, WORKERS, VALUES = 100_000_000, 50, 100
FEATURES, NODES = 50_000, 1_500
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


def joint_rounds() -> tuple[list[dict[str, Any]], float]:
    """Return a row for each number of shards, and the seconds of a local pass per value."""
    from taxonomist import HierarchicalSVC
    from taxonomist.distributed.engine import LocalEngine
    from taxonomist.distributed.joint_fit import fit_joint

    X, y, taxonomy = make(N_JOINT)
    first = X[:300], y[:300]
    fit_joint(LocalEngine(), [[part] for part in (*first, None)], HierarchicalSVC(taxonomy))
    HierarchicalSVC(taxonomy, n_jobs=1).fit(*first)
    begin = time.process_time()
    local = HierarchicalSVC(taxonomy, random_state=0, n_jobs=1).fit(X, y)
    local_s = time.process_time() - begin
    rows = []
    for n_shards in SHARDS:
        blocks = [cut(X, n_shards), cut(y, n_shards), [None] * n_shards]
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, rounds = fit_joint(
                LocalEngine(),
                blocks,
                HierarchicalSVC(taxonomy, random_state=0, max_iter=200),
                n_shards,
            )
        seconds = time.process_time() - begin
        row = {
            "shards": n_shards,
            "rounds": len(rounds),
            "gap": model.duality_gap_,
            "bytes out per round": float(np.mean([entry.bytes_out for entry in rounds])),
            "bytes back per round": float(np.mean([entry.bytes_back for entry in rounds])),
            "work": seconds / local_s,
        }
        print(" ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
        rows.append(row)
    return rows, local_s / (local.n_iter_ * X.nnz)


def on_paper(rows: list[dict[str, Any]], pass_s: float) -> dict[str, float]:
    """Return rounds, bytes and hours for many documents on many workers."""
    n_rounds = rows[-1]["rounds"]
    out = FEATURES * NODES * 4
    computing_s = n_rounds * DOCUMENTS * VALUES * pass_s / WORKERS
    # The driver sends the weights to every worker, and gets one sum back.
    sending_s = n_rounds * (WORKERS + 1) * out / BYTES_PER_SECOND
    return {
        "rounds": n_rounds,
        "gigabytes sent": n_rounds * (WORKERS + 1) * out / 1e9,
        "hours of computing": computing_s / 3600,
        "hours of sending": sending_s / 3600,
        "workers at which sending takes as long": (computing_s * WORKERS / sending_s * WORKERS)
        ** 0.5,
    }


def run() -> None:
    path = path_times()
    print(f"path model, 2 processes / 2 threads: {path['ratio']:.2f} (bar 1.5)", flush=True)
    rows, pass_s = joint_rounds()
    paper = on_paper(rows, pass_s)
    for name, value in paper.items():
        print(f"100 million documents, 50 workers: {name} {value:.3g}")
    figures = {"path": path, "joint": rows, "paper": paper}
    print(save("distributed", "python -m benchmarks distributed", figures))
