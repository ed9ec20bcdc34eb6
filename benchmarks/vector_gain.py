"""What sentence vectors bring: words alone against words and vectors.

Command: TAXONOMIST_DATA=... python -m benchmarks vector_gain
Needs the extra ``vectors``, which ``.venv-vectors`` of ``make test-vectors`` has.
``TextClassifier`` with its defaults learns from some documents and is measured on others; the
weight of the vectors is chosen on held-out training documents, 0 among the choices. Gains are
differences of the exactly right documents, and of their hierarchical F1, with 95 % intervals over
test documents. Seconds are the processor's; those of encoding are what a sample takes, times the
number of training documents. The parts are corpora.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.record import peak_memory_mib, save_part
from taxonomist.features.onnx_encoder import is_installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.taxonomy import Taxonomy

N_TEST = 700
N_TIMED = 64


class Task(NamedTuple):
    """A corpus with options of its loader, and the number of training documents."""

    corpus: str
    options: dict[str, str]
    n_train: int
    per_category: bool = False


TASKS = {
    "newsgroups-7": Task("20newsgroups", {"tree": "15"}, 7, True),
    "newsgroups-20": Task("20newsgroups", {"tree": "15"}, 20, True),
    "newsgroups-67": Task("20newsgroups", {"tree": "15"}, 67, True),
    "trec-question": Task("trec-question", {}, 1300),
    "naics2012": Task("naics2012", {}, 1300),
    "onet-soc": Task("onet-soc", {}, 1300),
    "icd10cm": Task("icd10cm", {}, 1300),
    "wos-1000": Task("wos-1000", {}, 700),
    "arxiv-primary": Task("arxiv-sample", {"labels": "primary"}, 1300),
    "arxiv-sets": Task("arxiv-sample", {}, 1300),
    "reuters21578": Task("reuters21578", {}, 1300),
    "us-patents-ipc": Task("us-patents-ipc", {}, 1300),
    "debian-debtags": Task("debian-debtags", {}, 1300),
}
PARTS = tuple(TASKS)


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
    from taxonomist.text.held_out_trials import difference

    warnings.simplefilter("ignore")
    corpus = datasets.load(task.corpus, **task.options)
    texts = list(corpus.texts)
    labels = list(corpus.labels) if corpus.is_multilabel else list(corpus.y)
    train, test = parts(task, labels)
    found: dict[str, Any] = {"train": len(train), "test": len(test)}
    given, tested = [texts[i] for i in train], [texts[i] for i in test]
    found["encoding_s"] = encoding_seconds(given)
    truth = [labels[i] for i in test]
    values = {}
    for title, vectors in (("words", "off"), ("vectors", "on")):
        start = time.process_time()
        model = TextClassifier(corpus.taxonomy, vectors=vectors, n_jobs=1)
        model.fit(given, [labels[i] for i in train])
        seconds = time.process_time() - start
        values[title] = right_and_f1(truth, model.predict_labels(tested), corpus.taxonomy)
        right, f1 = values[title].mean(axis=1).tolist()
        row = {"right": right, "hierarchical_f1": f1, "weight": model.vector_weight_}
        found[title] = {**row, "names": model.name_weight_, "seconds": seconds}
        found[title]["peak_mib"] = peak_memory_mib()
    for number, key in enumerate(("right", "hierarchical_f1")):
        found[f"gain of {key}"] = difference(values["vectors"][number], values["words"][number])
    return found


def right_and_f1(
    truth: Sequence[Any], predicted: Sequence[Sequence[str]], taxonomy: Taxonomy
) -> Any:
    """Return whether each document is exactly right, and the F1 of its nodes, (2, n_items)."""
    rows = []
    for true, found in zip(truth, predicted, strict=True):
        wanted = {true} if isinstance(true, str) else set(true)
        got = {found} if isinstance(found, str) else set(found)
        a, b = closed(wanted, taxonomy), closed(got, taxonomy)
        rows.append((float(a == b), 2 * len(a & b) / max(1, len(a) + len(b)) if a or b else 1.0))
    return np.array(rows).T


def closed(labels: set[str], taxonomy: Taxonomy) -> set[str]:
    """Return labels and their ancestors, without the root."""
    nodes = {node for label in labels for node in (label, *taxonomy.ancestors(label))}
    return nodes - {taxonomy.root}


def encoding_seconds(texts: list[str]) -> float:
    """Return the processor's seconds for the encoding of texts, as far as a sample tells."""
    from taxonomist.features import SentenceVectors

    vectors = SentenceVectors(cache=None, n_jobs=1)
    vectors.encode(texts[:1])
    some = texts[:N_TIMED]
    start = time.process_time()
    vectors.encode(some)
    return (time.process_time() - start) * len(texts) / len(some)


def run(chosen: list[str] | None = None) -> None:
    """Measure the corpora, and record the figures."""
    if not is_installed():
        print("The extra 'vectors' is not installed.")
        return
    for part in chosen or PARTS:
        found = measure(TASKS[part])
        for kind in ("words", "vectors"):
            shown = {name: round(value, 3) for name, value in found[kind].items()}
            print(f"{part:16} {kind:8} {shown}", flush=True)
        print({key: value for key, value in found.items() if key.startswith("gain")})
        print(save_part("vector_gain", part, found))
