"""Label sets: fit time at a 1 % gap, peak memory, and every measure beside flat training.

Command: TAXONOMIST_DATA=... python -m benchmarks label_sets
Every run is a process of its own. ``fit_s`` is learning the weights and nothing else (a fixed
decision rule), ``tuned_fit_s`` is fitting with the rule tuned on held-out scores.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import joblib
import numpy as np

from benchmarks.contest import take_turns
from benchmarks.record import peak_memory_mib, save

# Problem -> contestant -> rounds of timing.
PLAN = {
    "reuters21578": {
        "one_vs_rest": 5,
        "ranking": 5,
        "ranking_pair": 5,
        "ranking_flat": 1,
        "ranking_pair_flat": 1,
        "coupled": 5,
        "coupled_balanced": 1,
        "coupled_flat": 1,
        "perceptron": 1,
        "perceptron_flat": 1,
    },
    "Enron_corr": {"one_vs_rest": 1, "ranking": 1, "coupled": 1, "coupled_flat": 1},
    "us-patents-ipc": {
        "one_vs_rest": 1,
        "ranking": 1,
        "ranking_flat": 1,
        "coupled": 1,
        "coupled_flat": 1,
    },
    "cellcycle_GO": {"ranking": 1, "coupled": 1},
}

ALL_RULES = ("reuters21578", "Enron_corr")
CV = 3


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


def make_model(contestant: str, taxonomy: Any, decision: Any) -> Any:
    """Return an unfitted contestant."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    from taxonomist import CoupledBinarySVC, HierarchicalPerceptron, HierarchicalRankingSVC

    if contestant == "one_vs_rest":
        return OneVsRestClassifier(LinearSVC())
    flat = {"attributes": "flat"} if contestant.endswith("_flat") else {}
    to_gap = {"stop": "gap", "tol": 0.01, "random_state": 0, "decision": decision}
    if contestant.startswith("coupled"):
        weight = "balanced" if contestant == "coupled_balanced" else None
        return CoupledBinarySVC(taxonomy, positive_weight=weight, **to_gap, **flat)
    loss = "zero_one" if flat else "tree"
    if contestant.startswith("perceptron"):
        return HierarchicalPerceptron(
            taxonomy, loss=loss, ridge=0.1, average=True, decision=decision, **flat
        )
    slack = "pair" if "_pair" in contestant else "example"
    return HierarchicalRankingSVC(taxonomy, loss=loss, slack=slack, **to_gap, **flat)


def measure(file: str, contestant: str, with_quality: bool) -> dict[str, Any]:
    """Fit in this process, after a first fit of a few items, and say how good it is if asked."""
    from taxonomist.inference.label_sets import TopK

    warnings.simplefilter("ignore")
    problem = joblib.load(file)
    X, y, taxonomy = problem["X"], problem["y"], problem["taxonomy"]
    targets = as_indicator(y, taxonomy) if contestant == "one_vs_rest" else y
    few = slice(0, len(y), max(1, len(y) // 50))
    make_model(contestant, taxonomy, TopK(1)).fit(X[few], targets[few])
    model = make_model(contestant, taxonomy, TopK(1))
    start = perf_counter()
    model.fit(X, targets)
    found = {"fit_s": perf_counter() - start, "peak_memory_mib": peak_memory_mib()}
    if contestant != "one_vs_rest":
        found["gap"] = getattr(model, "duality_gap_", None)
        found["n_iter"] = model.n_iter_
    if with_quality:
        found |= quality(problem, contestant, model, targets)
        found["peak_memory_with_rules_mib"] = peak_memory_mib()
    return found


def quality(problem: dict[str, Any], contestant: str, model: Any, targets: Any) -> dict[str, Any]:
    """Return measures of the ranking, and of the sets that each rule makes of it."""
    from taxonomist.inference.label_sets import CategoryThresholds, SizePredictor, Threshold

    X, X_test, taxonomy = problem["X"], problem["X_test"], problem["taxonomy"]
    if contestant == "one_vs_rest":
        labels = [taxonomy.nodes[code] for code in np.flatnonzero(taxonomy.is_leaf)]
        sets = [[labels[c] for c in np.flatnonzero(row)] for row in model.predict(X_test)]
        return {"as_it_comes": of_sets(problem, sets)}
    rules = {
        "size": SizePredictor(),
        "threshold_micro_f1": Threshold("micro_f1"),
        "threshold_subset_accuracy": Threshold("subset_accuracy"),
        "category_thresholds": CategoryThresholds(),
    }
    # Elsewhere one rule must do.
    names = rules if problem["name"] in ALL_RULES and "perceptron" not in contestant else ["size"]
    found: dict[str, Any] = {"ranking": of_ranking(problem, model)}
    for name in names:
        tuned = make_model(contestant, taxonomy, rules[name]).set_params(cv=CV)
        start = perf_counter()
        tuned.fit(X, targets)
        seconds = perf_counter() - start
        found[name] = {"fit_s": seconds} | of_sets(problem, tuned.predict_labels(X_test))
    return found


def of_sets(problem: dict[str, Any], predicted: Any) -> dict[str, float]:
    """Return measures of predicted label sets."""
    from taxonomist import metrics

    truth, taxonomy = problem["y_test"], problem["taxonomy"]
    f1 = metrics.precision_recall_f1
    return {
        "micro_f1": f1(truth, predicted, taxonomy, nodes="categories").f1,
        "macro_f1": f1(truth, predicted, taxonomy, nodes="categories", average="macro").f1,
        "zero_one_loss": metrics.zero_one_loss(truth, predicted, taxonomy),
        "hierarchical_f1": metrics.hierarchical_f1(truth, predicted, taxonomy),
    }


def of_ranking(problem: dict[str, Any], model: Any) -> dict[str, float]:
    """Return the measures of CH07, and the area under the precision-recall curve of all nodes."""
    from taxonomist import metrics

    taxonomy, classes = problem["taxonomy"], list(model.classes_)
    scores = model.decision_function(problem["X_test"])
    truth = [[label for label in labels if label in set(classes)] for labels in problem["y_test"]]
    options = {"classes": classes}
    return {
        "one_accuracy": metrics.one_accuracy(truth, scores, **options),
        "average_precision": metrics.average_precision(truth, scores, **options),
        "ranking_loss": metrics.ranking_loss(truth, scores, **options),
        "maximal_loss": metrics.maximal_loss(truth, scores, taxonomy, **options),
        "parent_one_accuracy": metrics.parent_one_accuracy(truth, scores, taxonomy, **options),
        "au_prc": metrics.au_prc(problem["y_test"], scores, taxonomy, **options),
    }


def as_indicator(y: Any, taxonomy: Any) -> Any:
    """Return label sets as a matrix over the leaves."""
    column = {taxonomy.nodes[code]: c for c, code in enumerate(np.flatnonzero(taxonomy.is_leaf))}
    table = np.zeros((len(y), len(column)), dtype=np.int64)
    for i, labels in enumerate(y):
        table[i, [column[label] for label in labels if label in column]] = 1
    return table


def run() -> None:
    """Run all problems and record the figures."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in PLAN:
            problem = make_problem(name) | {"name": name}
            figures[name] = take_turns("label_sets", problem, PLAN[name], Path(folder))
            print(json.dumps(figures[name], indent=2))
            print(save("label_sets", "python -m benchmarks label_sets", figures))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], bool(int(sys.argv[3])))))
