"""Whether what is chosen on a sample is also the best after training on all items.

Command: TAXONOMIST_DATA=... python -m benchmarks search_agreement[:CORPUS,CORPUS]
``TextClassifier(model="auto")`` chooses features on at most 2,400 held-out training items and a
model on at most 5,000. Here each of these sets of features, with the default model, and each of
these models, with the chosen features and C = 1, learns from all training items of a corpus of
CONTEST and is measured on its test items. ``loss`` is by how much the best one is better there than
the chosen one, with a 95 % interval over test items; they agree if the interval contains 0. There
are no names and no sentence vectors.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.record import save_part
from taxonomist.experiments.contest import CORPORA, GUIDING, MOST
from taxonomist.experiments.work.set_measures import measured
from taxonomist.experiments.work.text_contests import raw_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PARTS = tuple(GUIDING)
FIXED: dict[str, Any] = {"names": "off", "vectors": "off", "budget": None}


def agreement(chosen: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether what was chosen is as good as the best.

    Parameters
    ----------
    chosen
        What was chosen.
    values
        The measure of each test item for everything that could be chosen.
    """
    best = max(values, key=lambda name: float(np.mean(values[name])))
    lost = np.asarray(values[best]) - np.asarray(values[chosen])
    half = 1.96 * float(lost.std(ddof=1) / np.sqrt(len(lost)))
    loss = float(lost.mean())
    return {
        "chosen": chosen,
        "best": best,
        "f1": {name: float(np.mean(found)) for name, found in values.items()},
        "loss": [loss, loss - half, loss + half],
        "agrees": bool(loss - half <= 0),
    }


def measure(name: str) -> dict[str, Any]:
    """Return what is chosen on the sample, and how everything does after training on all items."""
    from taxonomist import TextClassifier

    warnings.simplefilter("ignore")
    data = CORPORA[name]
    sizes = {"is_single": data.is_single, "n_train": MOST[0], "n_test": MOST[1]}
    found = raw_texts(data.corpus, **sizes, **data.options)
    ((train, test),) = found.splits
    y, truth = ([found.y[i] for i in part.tolist()] for part in (train, test))
    texts, new = (found.X[part].tolist() for part in (train, test))

    def f1(**options: Any) -> Any:
        model = TextClassifier(found.taxonomy, **{**FIXED, **options}).fit(texts, y)
        predicted = model.predict(new) if data.is_single else model.predict_labels(new)
        return measured(truth, predicted, found.taxonomy).items["hierarchical_f1"]

    searched = TextClassifier(found.taxonomy, model="auto", **FIXED).fit(texts, y)
    chosen: Any = searched.training_["features"]
    sets = {trial["features"]: f1(features=trial["features"]) for trial in chosen["trials"]}
    models = {
        trial.model: f1(model=trial.model, features=chosen["set"], C=1.0)
        for trial in searched.search_
        if trial.score is not None and trial.C == 1
    }
    model = next(trial.model for trial in searched.search_ if trial.model in models)
    return {
        "train": len(y),
        "test": len(truth),
        "features": agreement(chosen["set"], sets),
        "models": agreement(model, models),
    }


def summary(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the share of corpora on which the sample's choices are as good as the best."""
    return {"corpora": len(parts)} | {
        key: float(np.mean([row[key]["agrees"] for row in parts.values()]))
        for key in ("features", "models")
    }


def run(parts: Sequence[str] = PARTS) -> None:
    """Measure some corpora, and record each."""
    for name in parts:
        figures = measure(name)
        print(save_part("search_agreement", name, figures, summary), name, figures, flush=True)
