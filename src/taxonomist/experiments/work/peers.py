"""Contestants that need an environment of their own, and are talked to through files.

PECOS needs an older numpy than this package. The variable ``TAXONOMIST_PEERS`` names the Python of
an environment with ``libpecos`` and ``napkinxc``; without it these contestants take no part.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.errors import ParameterError
from taxonomist.experiments.work import peer_worker
from taxonomist.experiments.work.contestants import HELD_OUT, best_threshold
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist._typing import Codes, Floats, LabelsLike, MatrixLike, Objects
    from taxonomist.experiments.work.peer_worker import Arrays

VARIABLE = "TAXONOMIST_PEERS"
PEERS = {"PECOS": "pecos", "napkinXC": "napkinxc"}
"""Modules of the contestants, by name."""


@dataclass(frozen=True)
class PeerRun:
    """What a contestant answered, and what that cost.

    Attributes
    ----------
    predicted
        The label of each test item, or its label set.
    seconds
        Lists ``fit_wall``, ``fit_cpu``, ``predict_wall`` and ``predict_cpu``, a value per repeat.
    peak_mib, start_mib
        The most memory that its process held, in all and before it had read the data.
    """

    predicted: LabelsLike
    seconds: Mapping[str, list[float]]
    peak_mib: float
    start_mib: float


def installed() -> dict[str, str]:
    """Return the versions of the contestants that can be run, by name.

    Returns
    -------
    dict
        Empty unless ``TAXONOMIST_PEERS`` is set.

    Raises
    ------
    ParameterError
        If ``TAXONOMIST_PEERS`` does not name a Python.
    """
    python = os.environ.get(VARIABLE)
    found = _versions(python) if python else {}
    return {name: found[module] for name, module in PEERS.items() if module in found}


@lru_cache
def _versions(python: str) -> dict[str, str]:
    try:
        done = _run_worker(python)
    except OSError as error:
        raise ParameterError(
            f"{VARIABLE} must be the path of a Python with libpecos and napkinxc. Got {python!r}: "
            f"{error.strerror}."
        ) from error
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run_worker(python: str, *files: Path) -> subprocess.CompletedProcess[str]:
    """Run the worker, isolated from the packages that this process was told to find."""
    command = [python, "-I", peer_worker.__file__, *map(str, files)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(peer_worker.__file__).name} failed:\n{done.stderr}")
    return done


def run_peer(
    name: str,
    X: MatrixLike,
    y: LabelsLike,
    X_test: MatrixLike,
    *,
    repeats: int = 1,
    enough_s: float = np.inf,
    n_threads: int = 1,
) -> PeerRun:
    """Let a contestant learn and predict in a process of its own environment.

    With label sets, it predicts labels with a score above a threshold. As for other packages that
    return scores only, the threshold is chosen for micro F1 on a fifth of the training items, and
    the time to fit includes that.

    Parameters
    ----------
    name
        Its name in ``PEERS``; :func:`installed` must have it.
    X, y
        Training items, with one label each or with label sets.
    X_test
        Items to predict.
    repeats, enough_s
        Maximum number of repeats; none starts once the previous ones took so many seconds.
    n_threads
        Number of threads; 0 uses all cores.

    Returns
    -------
    PeerRun
        Predictions, seconds and memory.
    """
    rows = [sorted(set(row)) for row in labels.as_sets(y)]
    names, place = np.unique([label for row in rows for label in row], return_inverse=True)
    columns = names.astype(object)
    ends = np.cumsum([0, *map(len, rows)])
    Y = csr_array((np.ones(place.size), place, ends), shape=(len(rows), columns.size))
    is_sets = labels.is_label_sets(y)
    held_out = _held_out(len(rows)) if is_sets else np.empty(0, dtype=np.intp)
    job = {
        "module": PEERS[name],
        "held_out": held_out,
        "n_best": max(map(len, rows)),
        "threads": n_threads,
        "repeats": repeats,
        "enough": enough_s,
    }
    matrices = {"X": X, "Y": Y, "X_test": X_test}
    answers = _answers(job | {k: v for n, A in matrices.items() for k, v in _parts(n, A).items()})
    found = answers["labels"]
    if is_sets:
        wanted = [set(rows[item]) for item in held_out]
        threshold = _threshold(answers["held_labels"], answers["held_scores"], wanted, columns)
        pairs = zip(found, answers["scores"] >= threshold, strict=True)
        predicted: LabelsLike = [columns[row[taken]].tolist() for row, taken in pairs]
    else:
        # An item without an answer gets the most frequent label.
        most = np.bincount(place).argmax()
        predicted = columns[np.where(found[:, 0] == peer_worker.NOTHING, most, found[:, 0])]
    clocks = ("fit_wall", "fit_cpu", "predict_wall", "predict_cpu")
    seconds = {clock: answers[clock].tolist() for clock in clocks}
    return PeerRun(predicted, seconds, float(answers["peak_mib"]), float(answers["start_mib"]))


def _held_out(n_items: int) -> Codes:
    """Return the training items on which a threshold is chosen, the same as for Omikuji."""
    order = np.random.default_rng(0).permutation(n_items)
    return np.asarray(order[: max(1, round(HELD_OUT * n_items))])


def _parts(name: str, A: MatrixLike) -> Arrays:
    """Return the parts of a matrix under the names that the worker expects.

    Both packages compute in single precision, and take 32-bit indices.
    """
    A = csr_array(A)
    return {
        f"{name}_data": A.data.astype(np.float32),
        f"{name}_indices": A.indices.astype(np.int32),
        f"{name}_indptr": A.indptr.astype(np.int32),
        f"{name}_shape": np.array(A.shape),
    }


def _answers(job: Arrays) -> Arrays:
    """Write a job, run the worker, and read its answers."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = (Path(folder) / f"{name}.npz" for name in ("job", "answers"))
        np.savez(given, **job)
        _run_worker(os.environ[VARIABLE], given, made)
        with np.load(made) as answers:
            return dict(answers)


def _threshold(found: Codes, scores: Floats, wanted: Sequence[set[str]], columns: Objects) -> float:
    """Return the threshold with the best micro F1 on held-out items."""
    is_there = found != peer_worker.NOTHING
    are_right = np.zeros(found.shape, dtype=bool)
    for place, row in enumerate(wanted):
        are_right[place] = [columns[label] in row for label in found[place]]
    n_true = sum(map(len, wanted))
    return best_threshold(scores[is_there].tolist(), are_right[is_there].tolist(), n_true)
