"""Label sets: fit time at a 1 % gap, peak memory, and every measure beside flat training.

Command: TAXONOMIST_DATA=... python -m benchmarks label_sets
Every run is a process of its own. ``fit_s`` is learning the weights and nothing else (a fixed
decision rule), ``tuned_fit_s`` is fitting with the rule tuned on held-out scores.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import joblib
import numpy as np

from benchmarks.record import peak_memory_mib, save

# Problem -> contestant -> rounds.
PLAN = {
    "reuters21578": {
        "one_vs_rest": 5,
        "ranking": 5,
        "ranking_pair": 5,
        "ranking_flat": 3,
        "ranking_pair_flat": 3,
        "coupled": 5,
        "coupled_balanced": 3,
        "coupled_flat": 3,
        "perceptron": 1,
        "perceptron_flat": 1,
    },
    "us-patents-ipc": {"one_vs_rest": 1, "ranking": 1, "ranking_flat": 1, "coupled": 1},
    "cellcycle_GO": {"ranking": 1, "coupled": 1, "coupled_flat": 1},
    "Enron_corr": {"one_vs_rest": 1, "ranking": 1, "coupled": 1, "coupled_flat": 1},
}
RULES = {
    "micro_f1": {"ranking": "SizePredictor('micro_f1')", "coupled": "Threshold('micro_f1')"},
    "macro_f1": {"ranking": "SizePredictor()", "coupled": "CategoryThresholds()"},
    "subset": {
        "ranking": "SizePredictor('subset_accuracy')",
        "coupled": "Threshold('subset_accuracy')",
    },
}
"""The rule that is tuned for each measure."""


def make_problem(name: str) -> dict[str, Any]:
    """Return training and test items with their label sets, and the taxonomy."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import StandardScaler

    from taxonomist import datasets

    if name in ("cellcycle_GO", "Enron_corr"):
        corpus = datasets.load("hmc-funcat-go", set=name)
        is_test = np.asarray(corpus.split) == "test"
        scaler = StandardScaler().fit(np.nan_to_num(corpus.X[~is_test]))
        X = scaler.transform(np.nan_to_num(corpus.X)) / np.sqrt(corpus.X.shape[1])
        train, test = corpus.select(~is_test), corpus.select(is_test)
        return {
            "X": X[~is_test],
            "y": list(train.labels),
            "X_test": X[is_test],
            "y_test": list(test.labels),
            "taxonomy": corpus.taxonomy,
        }
    if name == "us-patents-ipc":
        corpus = datasets.load(name, level="subclass", labels="all")
        train = corpus.select(corpus.folds != 0)
        test = corpus.select(corpus.folds == 0)
        taxonomy = corpus.taxonomy
    else:
        corpus = datasets.load(name)
        train, test, taxonomy = corpus.train(), corpus.test(), corpus.taxonomy
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return {
        "X": vectorizer.fit_transform(train.texts),
        "y": list(train.labels),
        "X_test": vectorizer.transform(test.texts),
        "y_test": list(test.labels),
        "taxonomy": taxonomy,
    }
