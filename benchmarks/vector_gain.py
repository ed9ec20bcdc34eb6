"""What sentence vectors bring: words alone against words and vectors, on English corpora.

Command: TAXONOMIST_DATA=... python -m benchmarks vector_gain
Needs the extra ``vectors``, which ``.venv-vectors`` of ``make test-vectors`` has.
``TextClassifier`` with its defaults learns from some documents and is measured on others; the
weight of the vectors is chosen on held-out training documents, 0 among the choices. Seconds are the
processor's, with the encoding of the training documents apart. With names of corpora behind the
command, only these are measured, and nothing is recorded.
"""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.record import peak_memory_mib, save
from taxonomist.features.onnx_encoder import is_installed

N_TEST = 700


class Task(NamedTuple):
    """A corpus with options of its loader, and the number of training documents."""

    corpus: str
    options: dict[str, str]
    n_train: int
    per_category: bool = False


TASKS = {
    "15 newsgroups, 7 a class": Task("20newsgroups", {"tree": "15"}, 7, True),
    "15 newsgroups, 20 a class": Task("20newsgroups", {"tree": "15"}, 20, True),
    "15 newsgroups, 67 a class": Task("20newsgroups", {"tree": "15"}, 67, True),
    "trec-question": Task("trec-question", {}, 1300),
    "arxiv-sample, primary": Task("arxiv-sample", {"labels": "primary"}, 1300),
    "arxiv-sample, label sets": Task("arxiv-sample", {}, 1300),
    "naics2012": Task("naics2012", {}, 1300),
    "onet-soc": Task("onet-soc", {}, 1300),
    "reuters21578": Task("reuters21578", {}, 1300),
}


def parts(task: Task, labels: list[Any]) -> tuple[list[int], list[int]]:
    """Return training and test documents."""
    order = np.random.default_rng(0).permutation(len(labels)).tolist()
    if not task.per_category:
        return order[: task.n_train], order[task.n_train : task.n_train + N_TEST]
    train: list[int] = []
    for label in sorted(set(labels)):
        train += [i for i in order if labels[i] == label][: task.n_train]
    chosen = set(train)
    return train, [i for i in order if i not in chosen][:N_TEST]


def measure(task: Task) -> dict[str, Any]:
    """Return the figures of one corpus."""
    from taxonomist import TextClassifier, datasets
    from taxonomist.features import SentenceVectors

    corpus = datasets.load(task.corpus, **task.options)
    texts, labels = list(corpus.texts), list(corpus.labels)
    if not corpus.is_multilabel:
        labels = list(corpus.y)
    train, test = parts(task, labels)
    found: dict[str, Any] = {"train": len(train), "test": len(test)}
    with tempfile.TemporaryDirectory() as folder:
        vectors = SentenceVectors(cache=folder)
        start = time.process_time()
        vectors.encode([texts[i] for i in train])
        found["encoding_s"] = time.process_time() - start
        for title, given in (("words", "off"), ("vectors", vectors)):
            start = time.process_time()
            model = TextClassifier(corpus.taxonomy, vectors=given, n_jobs=1)
            model.fit([texts[i] for i in train], [labels[i] for i in train])
            seconds = time.process_time() - start
            tested = model.evaluate([texts[i] for i in test], [labels[i] for i in test])
            values = {name: value.estimate for name, value in tested.measures.items()}
            found[title] = {"seconds": seconds, "weight": model.vector_weight_, **values}
    return found


def run(names: list[str] | None = None) -> None:
    """Measure all corpora, and record the figures."""
    if not is_installed():
        print("The extra 'vectors' is not installed.")
        return
    table: dict[str, Any] = {}
    for title, task in TASKS.items():
        if names and title not in names:
            continue
        found = table[title] = measure(task)
        for kind in ("words", "vectors"):
            row = found[kind]
            shown = {name: round(value, 3) for name, value in row.items()}
            print(f"{title:28} {kind:8} {shown} encoding {found['encoding_s']:.0f} s", flush=True)
    if not names:
        figures = {"tasks": table, "peak_mib": peak_memory_mib()}
        print(save("vector_gain", "python -m benchmarks vector_gain", figures))


if __name__ == "__main__":
    run(sys.argv[1:])
