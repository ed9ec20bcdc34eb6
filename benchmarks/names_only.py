"""A taxonomy with names and no documents at all: how many documents go to the right leaf?

Command: TAXONOMIST_DATA=... python -m benchmarks names_only
Needs the extra ``vectors``, which ``.venv-vectors`` of ``make test-vectors`` has. Documents whose
category is not a leaf of the taxonomy count as wrong. The weight of the vectors and the form of the
name documents were chosen on the first 600 documents of each corpus in random order; these are the
next 600. Confidence is the mean probability of the
predicted category.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.record import save
from taxonomist.features.onnx_encoder import is_installed

CORPORA: dict[str, dict[str, str]] = {
    "20newsgroups": {"tree": "15"},
    "trec-question": {},
    "naics2012": {},
    "arxiv-sample": {"labels": "primary"},
}
N_DOCUMENTS = 600
N_SPENT = 600


def measure(name: str, options: dict[str, str]) -> dict[str, Any]:
    """Return the figures of one corpus."""
    from taxonomist import TextClassifier, datasets, metrics

    corpus = datasets.load(name, **options)
    chosen = corpus.select(
        np.random.default_rng(1).permutation(len(corpus))[N_SPENT:][:N_DOCUMENTS]
    )
    model = TextClassifier(corpus.taxonomy, vectors="on").fit([], [])
    answers = model.answer(list(chosen.texts))
    predicted = answers.decisions()
    return {
        "documents": len(chosen),
        "leaves": len(model.classes_),
        "accuracy": float(np.mean(predicted == chosen.y)),
        "taxonomy_loss": float(metrics.taxonomy_loss(chosen.y, predicted, corpus.taxonomy)),
        "confidence": float(answers.proba().max(axis=1).mean()),
    }


def run() -> None:
    """Measure all corpora, and record the figures."""
    if not is_installed():
        print("The extra 'vectors' is not installed.")
        return
    table = {}
    for name, options in CORPORA.items():
        table[name] = measure(name, options)
        shown = {key: round(value, 3) for key, value in table[name].items()}
        print(f"{name:16} {shown}", flush=True)
    print(save("names_only", "python -m benchmarks names_only", table))
