"""Few documents per class with sentence vectors and names: draws from the 15 newsgroups.

Command: TAXONOMIST_DATA=... python -m benchmarks vector_draws
Needs the extra ``vectors``, which ``.venv-vectors`` of ``make test-vectors`` has. The draws are
those of ``few_documents``: training documents of each class, and ``N_TEST`` of the others.
``TextClassifier`` has its defaults; texts are encoded once, into the user's cache. The parts are
numbers of documents a class.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.few_documents import N_TEST, SPLITS, split
from benchmarks.record import peak_memory_mib, save_part
from taxonomist.features.onnx_encoder import is_installed

PARTS = ("7", "20", "67")
BARS = {"7": 0.70, "20": 0.78, "67": 0.84}


def measure(size: int) -> dict[str, Any]:
    """Return accuracy, taxonomy loss and choices of all draws."""
    from taxonomist import TextClassifier, datasets, metrics
    from taxonomist.features import TextFeatures

    warnings.simplefilter("ignore")
    corpus = datasets.load("20newsgroups", tree="15")
    texts, y = TextFeatures().count(corpus.texts), np.asarray(corpus.y)
    draws = []
    for seed in range(SPLITS):
        train, test = split(y, size, seed)
        start = time.process_time()
        model = TextClassifier(corpus.taxonomy, vectors="on", n_jobs=1)
        predicted = model.fit(texts[train], y[train]).predict(texts[test])
        draws.append(
            {
                "accuracy": float(np.mean(predicted == y[test])),
                "taxonomy_loss": float(metrics.taxonomy_loss(y[test], predicted, corpus.taxonomy)),
                "vectors": model.vector_weight_,
                "names": model.name_weight_,
                "seconds": time.process_time() - start,
            }
        )
        print(f"{size:3} a class, draw {seed}: {draws[-1]}", flush=True)
    means = {key: float(np.mean([draw[key] for draw in draws])) for key in draws[0]}
    deviation = float(np.std([draw["accuracy"] for draw in draws]))
    counts = {"draws": len(draws), "test": N_TEST, "peak_mib": peak_memory_mib()}
    return {"bar": BARS[str(size)], "means": means, "deviation": deviation, **counts, "each": draws}


def run(parts: list[str] | None = None) -> None:
    """Measure the sizes, and record the figures."""
    if not is_installed():
        print("The extra 'vectors' is not installed.")
        return
    for part in parts or PARTS:
        found = measure(int(part))
        print(part, found["means"], save_part("vector_draws", part, found))
