"""Run a package that needs an environment of its own: a job in a file in, its answers out.

This file runs as a script in that environment and does not import taxonomist. Without arguments it
prints the packages that can be imported, with their versions. With two it reads a job from the
first file and writes the answers to the second; see :func:`work` for what they contain.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import re
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    # scipy has no types here, and a job has arrays of all kinds.
    Matrix: TypeAlias = Any
    Arrays: TypeAlias = dict[str, Matrix]
    Rows: TypeAlias = Iterable[list[tuple[int, float]]]

PACKAGES = {"pecos": "libpecos", "napkinxc": "napkinxc"}
"""Names of the distributions, by module."""
NEEDED = {"pecos": "pecos.xmc.xlinear.model", "napkinxc": "napkinxc.models"}
"""What to import before the clock starts."""
NOTHING = -1
"""Fills the places of items with fewer predicted labels than others."""


class Pecos:
    """PECOS's linear model on its own tree of labels, with its command's defaults.

    Parameters
    ----------
    threads
        Number of threads; 0 uses all cores.
    """

    def __init__(self, threads: int, _: bool) -> None:
        self.threads = threads or -1

    def fit(self, X: Matrix, Y: Matrix) -> None:
        """Cluster the labels, and learn."""
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        Y = Y.tocsc()
        embedded = LabelEmbeddingFactory.create(Y, X, method="pifa", threads=self.threads)
        clusters = Indexer.gen(embedded, threads=self.threads)
        self.model = XLinearModel.train(X, Y, C=clusters, threads=self.threads)

    def predict(self, X: Matrix, n_best: int) -> Rows:
        """Return the best labels of each item with their scores."""
        found = self.model.predict(X, only_topk=n_best, threads=self.threads)
        pairs = list(zip(found.indices.tolist(), found.data.tolist(), strict=True))
        return [pairs[start:end] for start, end in pairwise(found.indptr.tolist())]


class NapkinXC:
    """napkinXC's hierarchical softmax, or probabilistic label tree for label sets.

    Parameters
    ----------
    threads
        Number of threads; 0 uses all cores.
    is_single
        Whether items have one label each.
    """

    def __init__(self, threads: int, is_single: bool) -> None:
        from napkinxc import models

        self.folder = tempfile.TemporaryDirectory()
        kind = models.HSM if is_single else models.PLT
        self.model = kind(self.folder.name, seed=0, threads=threads)

    def fit(self, X: Matrix, Y: Matrix) -> None:
        """Learn; the model goes to files, from which the first prediction reads it."""
        labels = Y.indices.tolist()
        self.model.fit(X, [labels[start:end] for start, end in pairwise(Y.indptr.tolist())])

    def predict(self, X: Matrix, n_best: int) -> Rows:
        """Return the best labels of each item with their scores."""
        found: Rows = self.model.predict_proba(X, top_k=n_best)
        return found


KINDS: dict[str, Callable[[int, bool], Pecos | NapkinXC]] = {"pecos": Pecos, "napkinxc": NapkinXC}


def work(job: Arrays) -> Arrays:
    """Learn and predict, several times if that is fast.

    Parameters
    ----------
    job
        The ``module`` of a package; the training items ``X`` and their labels ``Y`` as matrices, as
        :func:`matrix` reads them; the items ``X_test``; the number ``n_best`` of labels that are
        predicted for each; training items ``held_out`` on whose predictions a threshold is to be
        chosen, which takes another fit; the number of ``threads``; ``repeats``, and ``enough``
        seconds after which there are no more of them.

    Returns
    -------
    dict
        ``labels`` and ``scores`` of the test items, ``held_labels`` and ``held_scores`` of the held
        out ones; for each repeat the seconds ``fit_wall``, ``fit_cpu``, ``predict_wall`` and
        ``predict_cpu``; ``peak_mib`` of this process, and ``start_mib`` before there were data.
    """
    importlib.import_module(NEEDED[str(job["module"])])
    start_mib = peak_mib()
    items = {name: matrix(job, name) for name in ("X", "Y", "X_test")}
    spent: dict[str, list[float]] = {}
    while (n_done := len(spent.get("fit_cpu", []))) < int(job["repeats"]):
        if n_done and sum(spent["fit_cpu"]) >= float(job["enough"]):
            break
        found, held = learn_and_predict(job, items, spent)
    labels, scores = table(found, int(job["n_best"]))
    held_labels, held_scores = table(held, int(job["n_best"]))
    answers = {"labels": labels, "scores": scores} | spent
    memory = {"start_mib": start_mib, "peak_mib": peak_mib()}
    return answers | {"held_labels": held_labels, "held_scores": held_scores} | memory


def learn_and_predict(
    job: Arrays, items: Arrays, spent: dict[str, list[float]]
) -> tuple[Rows, Rows]:
    """Return the best labels of test items and of held-out ones, and add the seconds."""
    X, Y, held_out, n_best = items["X"], items["Y"], job["held_out"], int(job["n_best"])
    make = KINDS[str(job["module"])]
    options = int(job["threads"]), bool((Y.indptr[1:] - Y.indptr[:-1] == 1).all())
    held: Rows = []
    clocks = [now()]
    if held_out.size:
        is_rest = in_rest(held_out, X.shape[0])
        first = make(*options)
        first.fit(X[is_rest], Y[is_rest])
        held = first.predict(X[held_out], n_best)
    model = make(*options)
    model.fit(X, Y)
    clocks.append(now())
    found = model.predict(items["X_test"], n_best)
    clocks.append(now())
    for step, (before, after) in zip(("fit", "predict"), pairwise(clocks), strict=True):
        for clock, start, end in zip(("wall", "cpu"), before, after, strict=True):
            spent.setdefault(f"{step}_{clock}", []).append(end - start)
    return found, held


def matrix(job: Arrays, name: str) -> Matrix:
    """Return a matrix of a job: its parts ``data``, ``indices``, ``indptr`` and ``shape``."""
    from scipy.sparse import csr_matrix

    parts = (job[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    found = csr_matrix(tuple(parts), shape=tuple(job[f"{name}_shape"].tolist()))
    # napkinXC crashes on rows that are not sorted.
    found.sum_duplicates()
    return found


def in_rest(held_out: Matrix, n_items: int) -> Matrix:
    """Return for each item whether it is not held out."""
    import numpy as np

    is_rest = np.ones(n_items, dtype=bool)
    is_rest[held_out] = False
    return is_rest


def table(rows: Rows, n_best: int) -> tuple[Matrix, Matrix]:
    """Return labels and scores as arrays with the best label of an item first."""
    import numpy as np

    ranked = [sorted(row, key=lambda pair: -pair[1]) for row in rows]
    labels = np.full((len(ranked), n_best), NOTHING)
    scores = np.full((len(ranked), n_best), -np.inf)
    for place, row in enumerate(ranked):
        labels[place, : len(row)] = [label for label, _ in row]
        scores[place, : len(row)] = [score for _, score in row]
    return labels, scores


def now() -> tuple[float, float]:
    """Return the times of the wall clock and of the processor."""
    return time.perf_counter(), time.process_time()


def peak_mib() -> float:
    """Return the most memory that this process has held, or NaN if the system does not tell it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return float("nan")
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else float("nan")


def versions() -> dict[str, str]:
    """Return the versions of the packages that can be imported, by module."""
    found = {}
    for module, distribution in PACKAGES.items():
        try:
            importlib.import_module(module)
        except ImportError:
            continue
        found[module] = importlib.metadata.version(distribution)
    return found


def main(files: list[str]) -> None:
    """Print versions, or do a job."""
    if not files:
        sys.stdout.write(json.dumps(versions()) + "\n")
        return
    import numpy as np

    given, made = files
    with np.load(given) as job:
        answers = work(dict(job))
    np.savez(made, **answers)


if __name__ == "__main__":
    main(sys.argv[1:])
