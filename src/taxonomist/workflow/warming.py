"""Compile the loops of all models ahead of use."""

from __future__ import annotations

from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack

from taxonomist.compiled.compiling import working_clock
from taxonomist.compiled.jit import sparing_nothing
from taxonomist.models.path_svc import PathSVC
from taxonomist.solvers.newton_svm import MOST_FEATURES
from taxonomist.taxonomy import Taxonomy
from taxonomist.text import MODELS, TextClassifier
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from taxonomist.workflow.steps import OnStep

__all__ = ["warm"]

_TAXONOMY = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2"])
_LABELS = ["a1", "a2", "b1", "b2"] * 6
_SETS = [[label, other] for label, other in zip(_LABELS, [*_LABELS[1:], "a1"], strict=True)]
_TEXTS = [f"{label} {label[0]} common word{i % 5}" for i, label in enumerate(_LABELS)]


def warm(on_step: OnStep = silent) -> float:
    """Train and ask every model on a few example texts, so that all its loops are compiled.

    Compiled loops are cached on disk. Returns the seconds that compiling took.
    """
    start, work = perf_counter(), working_clock()
    kinds: tuple[list[Any], ...] = (_LABELS, _SETS)
    tasks = list(product(MODELS, kinds))
    with sparing_nothing():
        for done, (name, labels) in enumerate(tasks):
            on_step("Compiling", done, len(tasks))
            model = TextClassifier(_TAXONOMY, model=name, min_df=1, vectors="off")
            model.fit(_TEXTS, labels)
            answers = model.answer(_TEXTS[:2])
            answers.labels()
            answers.topk(2)
        # Other loops solve problems of many features, score few and many items, and search.
        X = csr_array(np.eye(len(_LABELS), 2 * MOST_FEATURES))
        paths = PathSVC(_TAXONOMY, negatives="siblings").fit(X, _LABELS)
        paths.search(X)
        for rows in (X[:1], vstack([X] * 50, format="csr")):
            paths.decision_function(rows)
    on_step("Compiling", len(tasks), len(tasks))
    return (perf_counter() - start) - (working_clock() - work)
