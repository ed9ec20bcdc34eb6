"""Few documents per class: the learning curve of TCPH01, Table 3, on the 15 newsgroups.

Command: TAXONOMIST_DATA=... python -m benchmarks few_documents
Subject and body, lower-cased, not stemmed; words that occur at least 3 times in all documents
(as in the paper), without stop words. All contestants have the same documents and words; tf-idf
weights are fitted to the training part, and ``complement_nb_train`` has only the words of that
part. ``_paper`` takes counts as they are, and neither trust nor discount. ``text_classifier`` is
``TextClassifier`` as a user gets it, from the whole texts, without sentence vectors. Some sizes,
splits and contestants only, not recorded: python -m benchmarks.few_documents 7,20 3 hm hs nb
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from benchmarks.record import save

SIZES = (7, 14, 20, 34, 48, 67, 133, 667)
SPLITS = 10
N_TEST = 3000
PAPER = {"trust": 1.0, "discount": 0.0, "damping": None, "length": 0.0}
# TCPH01, Table 3.
PUBLISHED = {
    "nb": (0.467, 0.566, 0.607, 0.688, 0.739, 0.749, 0.807, 0.884),
    "hs": (0.533, 0.618, 0.654, 0.727, 0.754, 0.763, 0.814, 0.888),
    "hm": (0.585, 0.631, 0.665, 0.728, 0.771, 0.773, 0.814, 0.888),
}


def load() -> tuple[Any, Any, Any, Any]:
    """Return counts, texts, labels and the taxonomy of the 15 newsgroups."""
    from sklearn.feature_extraction.text import CountVectorizer

    from taxonomist import datasets
    from taxonomist.features import TextFeatures

    corpus = datasets.load("20newsgroups", tree="15")
    counts = CountVectorizer(stop_words="english").fit_transform(corpus.texts)
    often = np.asarray(counts.sum(axis=0)).ravel() >= 3
    texts = TextFeatures().count(corpus.texts)
    return counts[:, often].astype(float), texts, np.asarray(corpus.y), corpus.taxonomy


def make_models(taxonomy: Any) -> dict[str, tuple[str, Any]]:
    """Return the kind of features and the unfitted model of each contestant."""
    from sklearn.naive_bayes import ComplementNB
    from sklearn.svm import LinearSVC

    from taxonomist import (
        HierarchicalMixture,
        HierarchicalShrinkage,
        HierarchicalSVC,
        LidstoneNB,
        TextClassifier,
    )

    return {
        "hm": ("counts", HierarchicalMixture(taxonomy)),
        "hm_one_step": ("counts", HierarchicalMixture(taxonomy, max_iter=1)),
        "hs": ("counts", HierarchicalShrinkage(taxonomy)),
        "hs_take_out": ("counts", HierarchicalShrinkage(taxonomy, take_out=True)),
        "hm_flat": ("counts", HierarchicalMixture()),
        "nb": ("counts", LidstoneNB(taxonomy)),
        "nb_damped": ("counts", LidstoneNB(taxonomy, damping="log", length=0.5)),
        "hm_paper": ("counts", HierarchicalMixture(taxonomy, **PAPER)),
        "hs_paper": ("counts", HierarchicalShrinkage(taxonomy, **PAPER)),
        "hm_paper_class": (
            "counts",
            HierarchicalMixture(taxonomy, path_weights="class", **PAPER),
        ),
        "hs_paper_class": (
            "counts",
            HierarchicalShrinkage(taxonomy, path_weights="class", **PAPER),
        ),
        "complement_nb": ("tfidf", ComplementNB()),
        "complement_nb_train": ("tfidf_train", ComplementNB()),
        "linear_svc": ("tfidf", LinearSVC()),
        "hierarchical_svc": ("tfidf", HierarchicalSVC(taxonomy, random_state=0, n_jobs=1)),
        "text_classifier": ("texts", TextClassifier(taxonomy, vectors="off", n_jobs=1)),
    }


def split(y: Any, size: int, seed: int) -> tuple[Any, Any]:
    """Return training items, so many of each class, and test items out of the others."""
    random = np.random.default_rng(seed)
    train = np.concatenate(
        [random.permutation(np.flatnonzero(y == label))[:size] for label in np.unique(y)]
    )
    rest = np.setdiff1d(np.arange(len(y)), train)
    return train, random.permutation(rest)[:N_TEST]


def features(kind: str, X: Any, train: Any, test: Any) -> tuple[Any, Any]:
    """Return the features of training and test items."""
    from sklearn.feature_extraction.text import TfidfTransformer

    if kind in ("counts", "texts"):
        return X[train], X[test]
    if kind == "tfidf_train":
        X = X[:, np.asarray(X[train].sum(axis=0)).ravel() > 0]
    weights = TfidfTransformer(sublinear_tf=True).fit(X[train])
    return weights.transform(X[train]), weights.transform(X[test])


def measure(sizes: Any, n_splits: int, names: Any = ()) -> dict[str, Any]:
    """Return accuracy and tree loss of all contestants by size: means and standard deviations."""
    from taxonomist import metrics

    warnings.simplefilter("ignore")
    counts, texts, y, taxonomy = load()
    models = make_models(taxonomy)
    table: dict[str, Any] = {}
    for size in sizes:
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(n_splits):
            train, test = split(y, size, seed)
            for name, (kind, model) in models.items():
                if names and name not in names:
                    continue
                A, B = features(kind, texts if kind == "texts" else counts, train, test)
                predicted = model.fit(A, y[train]).predict(B)
                loss = metrics.taxonomy_loss(y[test], predicted, taxonomy)
                found.setdefault(name, []).append((float(np.mean(predicted == y[test])), loss))
        table[str(size)] = {
            name: {
                "accuracy": float(np.mean([a for a, _ in pairs])),
                "deviation": float(np.std([a for a, _ in pairs])),
                "tree_loss": float(np.mean([b for _, b in pairs])),
            }
            for name, pairs in found.items()
        }
        for name, row in table[str(size)].items():
            print(f"{size:4} {name:20} {row['accuracy']:.3f} {row['tree_loss']:.3f}", flush=True)
    return table


def run() -> None:
    """Run all sizes and record the figures."""
    figures = {
        "sizes": SIZES,
        "splits": SPLITS,
        "published": PUBLISHED,
        "measured": measure(SIZES, SPLITS),
    }
    print(save("few_documents", "python -m benchmarks few_documents", figures))


if __name__ == "__main__":
    measure(list(map(int, sys.argv[1].split(","))), int(sys.argv[2]), sys.argv[3:])
