"""A file with what the last training has learned from, so that the next one takes seconds.

It is only there to save time: without it, or with one that is damaged, a training reads all texts.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist._files import move_into_place
from taxonomist.models.path_learning import PathStart
from taxonomist.text.updating import LearnedTexts

if TYPE_CHECKING:
    from pathlib import Path

    from taxonomist._typing import CSR

__all__ = ["read_rows", "write_rows"]


def write_rows(file: Path, learned: LearnedTexts) -> None:
    """Write what was learned from; a reader sees the old file or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    start = learned.start
    arrays: dict[str, np.ndarray] = {
        "features": np.frombuffer(learned.features, np.uint8),
        "texts": learned.texts,
        "labels": learned.labels,
        "nodes": np.array(start.nodes),
        "kinds": start.kinds,
        "negatives": np.array(start.negatives),
        "primal": start.primal,
        "dual": start.dual,
    }
    for name, matrix in (("counts", learned.counts), ("alpha", start.alpha)):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"{name}_{part}"] = np.asarray(getattr(matrix, part))
    new = file.with_suffix(".new")
    with new.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)
    move_into_place(new, file)


def read_rows(file: Path) -> LearnedTexts | None:
    """Return what was learned from; None if there is no file of use."""
    try:
        with np.load(file, allow_pickle=False) as found:
            arrays = dict(found)
        nodes = tuple(arrays["nodes"].tolist())
        facts = (arrays[name] for name in ("kinds", "negatives", "primal", "dual"))
        kinds, negatives, primal, dual = facts
        start = PathStart(_matrix(arrays, "alpha"), nodes, kinds, str(negatives), primal, dual)
        counts = _matrix(arrays, "counts")
        marks = arrays["texts"], arrays["labels"]
        return LearnedTexts(arrays["features"].tobytes(), *marks, counts, start)
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def _matrix(arrays: dict[str, np.ndarray], name: str) -> CSR:
    data, indices, indptr, shape = (
        arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    return csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
