"""Markov trees beside a classifier per node: fit time, peak memory, and how good label sets are.

Command: TAXONOMIST_DATA=... python -m benchmarks markov_tree
Every run is a process of its own. ``fit_s`` is learning the weights, to a relative duality gap of
1 % (2 % on enzymes) where there is one. Bars: Reuters-21578 in at most 1.5 x one LinearSVC per
node, CCAT in 5 s, enzymes in 3 minutes and 4 GB.
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
from benchmarks.label_sets import make_problem as make_texts
from benchmarks.label_sets import of_sets
from benchmarks.record import peak_memory_mib, save

# Problem -> contestant -> rounds of timing.
PLAN = {
    "reuters21578": {
        "one_vs_rest": 7,
        "markov": 7,
        "markov_consistent": 1,
        "markov_path": 1,
        "markov_edge_slack": 1,
        "markov_uniform": 1,
        "node_svc": 1,
        "top_down_svc": 1,
        "rls": 1,
    },
    "ccat": {
        "one_vs_rest": 7,
        "markov": 7,
        "markov_uniform": 1,
        "node_svc": 1,
        "top_down_svc": 1,
        "rls": 1,
    },
    "enzyme": {"markov": 1, "node_svc": 1},
}
LIMITS = 1, 10, 50
"""Steps per item, of the paper's algorithm with either oracle [RSSS06, Fig. 3]."""
CLIMBED, GAP, MOST_SECONDS = 300, 0.05, 40.0
"""Documents of CCAT that it is run on, to which gap, and for how long at the most."""


def make_problem(name: str) -> dict[str, Any]:
    """Return training and test items with their label sets, and the taxonomy."""
    from sklearn.preprocessing import normalize

    from taxonomist import datasets
    from taxonomist.features import SpectrumFeatures

    if name == "reuters21578":
        return make_texts(name)
    if name == "ccat":
        corpus = datasets.load("rcv1-subset", subset="ccat")
        train, test = corpus.train(), corpus.test()
        X, X_test = normalize(train.X), normalize(test.X)
    else:
        corpus = datasets.load("enzyme-ec")
        train, test = corpus.train(), corpus.test()
        spectrum = SpectrumFeatures((4, 4))
        X, X_test = spectrum.fit_transform(train.texts), spectrum.transform(test.texts)
    return {
        "X": X,
        "y": list(train.labels),
        "X_test": X_test,
        "y_test": list(test.labels),
        "taxonomy": corpus.taxonomy,
    }


def make_model(contestant: str, problem: dict[str, Any], **options: Any) -> Any:
    """Return an unfitted contestant, without anything tuned unless options say so."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    from taxonomist import HierarchicalRLS, MaxMarginMarkovClassifier, NodeSVC, TopDownSVC

    taxonomy = problem["taxonomy"]
    if contestant == "one_vs_rest":
        return OneVsRestClassifier(LinearSVC())
    others = {"node_svc": NodeSVC, "top_down_svc": TopDownSVC, "rls": HierarchicalRLS}
    if contestant in others:
        return others[contestant](taxonomy, **options)
    forms = {
        "markov_consistent": {"train_on": "consistent"},
        "markov_path": {"features": "path", "train_on": "consistent"},
        "markov_edge_slack": {"slack": "edge"},
        "markov_uniform": {"loss": "hierarchical_uniform"},
    }
    tol = 0.02 if problem["name"] == "enzyme" else 0.01
    plain = {"decision": "argmax", "cv": 0, "min_labels": 0, "tol": tol, "random_state": 0}
    return MaxMarginMarkovClassifier(
        taxonomy, n_jobs=2, **{**plain, **forms.get(contestant, {}), **options}
    )


def measure(file: str, contestant: str, with_quality: bool) -> dict[str, Any]:
    """Fit in this process, after a first fit of a few items, and say how good it is if asked."""
    warnings.simplefilter("ignore")
    problem = joblib.load(file)
    X, y = problem["X"], problem["y"]
    targets: Any = over_nodes(y, problem["taxonomy"]) if contestant == "one_vs_rest" else y
    few = slice(0, len(y), max(1, len(y) // 50))
    make_model(contestant, problem).fit(X[few], targets[few])
    model = make_model(contestant, problem)
    start = perf_counter()
    model.fit(X, targets)
    found = {"fit_s": perf_counter() - start, "peak_memory_mib": peak_memory_mib()}
    if contestant.startswith("markov"):
        found |= {"gap": model.duality_gap_, "n_iter": model.n_iter_}
    if with_quality and contestant != "one_vs_rest":
        found |= quality(problem, contestant, model)
    return found


def quality(problem: dict[str, Any], contestant: str, model: Any) -> dict[str, Any]:
    """Return measures of label sets: as they come, with a label at least, and with a decision."""
    X, y, X_test = problem["X"], problem["y"], problem["X_test"]
    found = {"as_it_comes": of_sets(problem, model.predict_labels(X_test))}
    variants = {"a_label_at_least": {"min_labels": 1}}
    if contestant == "markov" and problem["name"] != "enzyme":
        variants |= {"level_odds": {"decision": "level"}, "node_odds": {"decision": "node"}}
    for name, options in variants.items():
        if name.endswith("odds"):
            options = options | {"min_labels": None, "cv": 5}
        start = perf_counter()
        tuned = make_model(contestant, problem, **options).fit(X, y)
        seconds = perf_counter() - start
        found[name] = {"fit_s": seconds} | of_sets(problem, tuned.predict_labels(X_test))
    return found


def climb(problem: dict[str, Any], oracle: str, limit: int) -> dict[str, Any]:
    """Run the paper's algorithm until the gap is small enough, or time is up."""
    from scipy.sparse import csr_array

    from taxonomist.losses import labelling_loss
    from taxonomist.solvers import subspace
    from taxonomist.solvers.markov_problem import MarkovProblem, labelled_tree
    from taxonomist.solvers.problem import FeatureRows
    from taxonomist.taxonomy import labels

    taxonomy, y = problem["taxonomy"], problem["y"][:CLIMBED]
    tree = MarkovProblem(
        items=FeatureRows(csr_array(problem["X"][:CLIMBED]), np.float64),
        labels=labels.close(taxonomy, labels.encode_sets(taxonomy, y)),
        costs=np.ones(len(y)),
        tree=labelled_tree(labelling_loss("symmetric_difference", taxonomy), "edge", "all"),
    )
    options = subspace.SubspaceOptions(
        tol=GAP, dtype="float64", oracle=oracle, steps_per_example=limit, chunk_size=CLIMBED
    )
    quick = subspace.SubspaceOptions(tol=0.9, dtype="float64", oracle="dynamic")
    subspace.solve(tree, quick)
    found = subspace.solve(tree, options, lambda entry: entry.seconds > MOST_SECONDS)
    last = found.history[-1]
    return {"seconds": last.seconds, "gap": found.certificate.gap, "passes": len(found.history)}


def oracles() -> dict[str, Any]:
    """Return how long either oracle takes, for each limit of steps, and the ratio."""
    problem = make_problem("ccat")
    table: dict[str, Any] = {"items": CLIMBED, "gap": GAP}
    for limit in LIMITS:
        dynamic, linear = (
            climb(problem, oracle, limit) for oracle in ("dynamic", "linear_program")
        )
        ratio = linear["seconds"] / dynamic["seconds"]
        table[str(limit)] = {"dynamic": dynamic, "linear_program": linear, "ratio": ratio}
        print(f"limit {limit}: {table[str(limit)]}", flush=True)
    return table


def over_nodes(y: Any, taxonomy: Any) -> Any:
    """Return label sets as a matrix over all nodes but the root."""
    from taxonomist.taxonomy import labels

    sets = labels.close(taxonomy, labels.encode_sets(taxonomy, y))
    return sets[:, 1:].toarray().astype(np.int64)


def run() -> None:
    """Run all problems and record the figures."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in PLAN:
            problem = make_problem(name) | {"name": name}
            figures[name] = take_turns("markov_tree", problem, PLAN[name], Path(folder))
            print(json.dumps(figures[name], indent=2))
    figures["oracles"] = oracles()
    print(save("markov_tree", "python -m benchmarks markov_tree", figures))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], bool(int(sys.argv[3])))))
