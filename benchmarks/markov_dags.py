"""Markov networks on DAGs beside those on a spanning tree: fit time, certificate, label sets.

Command: TAXONOMIST_DATA=... python -m benchmarks markov_dags
Every run is a process of its own. ``dag`` has an edge from each node to all its parents,
``spanning_tree`` only to the deepest one; ``_all`` and ``_consistent`` are what the truth is
compared with in training. Labellings are the best ones with a label (``decision="argmax"``), to a
relative duality gap of 2 %. Label sets are measured on the DAG: those of a spanning tree are closed
under all ancestors first. Items are random samples with a fixed seed, of GO within its own split;
taxonomies are the ancestors of the training labels. ``over_spanning_tree`` is the difference of the
items' mean F1 over nodes from that of ``spanning_tree_consistent``, with a 95 % interval.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks.contest import take_turns
from benchmarks.label_sets import make_problem as make_given
from benchmarks.label_sets import of_sets
from benchmarks.record import peak_memory_mib, save_part

if TYPE_CHECKING:
    from collections.abc import Sequence

# Corpus -> numbers of training and test items.
SIZES = {
    "arxiv": (1500, 1000),
    "cystic-fibrosis-mesh": (600, 400),
    "biotools-edam": (1000, 1000),
    "cellcycle_GO": (600, 600),
    "biotools-edam-200": (200, 1000),
}
PARTS = tuple(SIZES)
CONTESTANTS = ("spanning_tree_all", "spanning_tree_consistent", "dag_consistent")
NARROW = ("arxiv",)
"""Corpora whose junction tree of all labellings is small enough for training."""
RELAXED = ("biotools-edam-200",)
"""Problems on which the relaxation for all labellings is tried too, in ``MOST_RELAXED`` passes:
these take ever longer, and the gap need not close."""
TOL, MAX_ITER, MOST_RELAXED = 0.02, 200, 12


def make_problem(name: str) -> dict[str, Any]:
    """Return training and test items with their label sets, and the taxonomy in use."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from taxonomist import datasets

    sizes, rng = SIZES[name], np.random.default_rng(0)
    if name == "cellcycle_GO":
        problem = make_given(name)
        for size, X, y in zip(sizes, ("X", "X_test"), ("y", "y_test"), strict=True):
            part = np.sort(rng.permutation(len(problem[y]))[:size])
            problem |= {X: problem[X][part], y: [problem[y][i] for i in part]}
    else:
        corpus = datasets.load(name.removesuffix("-200"))
        order = rng.permutation(len(corpus.texts))
        train, test = (
            corpus.select(np.sort(part))
            for part in (order[: sizes[0]], order[sizes[0] : sum(sizes)])
        )
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=3)
        problem = {
            "X": vectorizer.fit_transform(train.texts),
            "y": list(train.labels),
            "X_test": vectorizer.transform(test.texts),
            "y_test": list(test.labels),
            "taxonomy": corpus.taxonomy,
        }
    problem["taxonomy"] = problem["taxonomy"].prune({x for labels in problem["y"] for x in labels})
    return problem | {"name": name, "y_test": _known(problem)}


def _known(problem: dict[str, Any]) -> list[list[str]]:
    """Return the test labels in the taxonomy in use; others become their ancestors there."""
    taxonomy = problem["taxonomy"]
    return [[x for x in labels if x in taxonomy] for labels in problem["y_test"]]


def make_model(contestant: str, problem: dict[str, Any]) -> Any:
    """Return an unfitted contestant."""
    from taxonomist import MaxMarginMarkovClassifier

    shape, _, train_on = contestant.rpartition("_")
    taxonomy = problem["taxonomy"]
    is_relaxed = contestant == "dag_all" and problem["name"] in RELAXED
    return MaxMarginMarkovClassifier(
        taxonomy if shape == "dag" else taxonomy.spanning_tree(),
        train_on=train_on,
        decision="argmax",
        cv=0,
        random_state=0,
        n_jobs=1,
        tol=TOL,
        max_iter=MOST_RELAXED if is_relaxed else MAX_ITER,
    )


def measure(file: str, contestant: str, with_quality: bool) -> dict[str, Any]:
    """Fit in this process, after a first fit of a few items, and say how good it is if asked."""
    from taxonomist.taxonomy import labels as codes

    warnings.simplefilter("ignore")
    problem = joblib.load(file)
    X, y, taxonomy = problem["X"], problem["y"], problem["taxonomy"]
    few = slice(0, len(y), max(1, len(y) // 20))
    make_model(contestant, problem).set_params(max_iter=1).fit(X[few], y[few])
    model = make_model(contestant, problem)
    start = perf_counter()
    model.fit(X, y)
    found = {"fit_s": perf_counter() - start, "peak_memory_mib": peak_memory_mib()}
    found |= {"gap": model.duality_gap_, "n_iter": model.n_iter_, "converged": model.converged_}
    if with_quality:
        start = perf_counter()
        sets = model.predict_labels(problem["X_test"])
        found["predict_s"] = perf_counter() - start
        given = codes.encode_sets(taxonomy, sets)
        closed = codes.close(taxonomy, given)[:, 1:]
        truth = codes.close(taxonomy, codes.encode_sets(taxonomy, problem["y_test"]))[:, 1:]
        found["added_by_closure"] = float(closed.nnz / max(1, given[:, 1:].nnz) - 1)
        both = closed.multiply(truth).sum(axis=1)
        sizes = closed.sum(axis=1) + truth.sum(axis=1)
        found["item_f1"] = (2 * both / np.maximum(sizes, 1)).tolist()
        found |= of_sets(problem, sets)
    return found


def compare(figures: dict[str, Any]) -> None:
    """Replace the F1 of items by their mean, and its difference from the spanning tree's."""
    base = np.array(figures["spanning_tree_consistent"]["item_f1"])
    for found in figures.values():
        if isinstance(found, dict) and "item_f1" in found:
            f1 = np.array(found.pop("item_f1"))
            error = 1.96 * float(np.std(f1 - base)) / len(f1) ** 0.5
            mean = float(np.mean(f1 - base))
            found |= {"mean_item_f1": float(f1.mean())}
            found |= {"over_spanning_tree": [mean, mean - error, mean + error]}


def width(problem: dict[str, Any]) -> dict[str, Any]:
    """Return the width of the taxonomy, and the states of its junction trees; None: too many."""
    from taxonomist.inference.dag_labellings import closed_tree
    from taxonomist.inference.junction_tree import eliminate
    from taxonomist.losses import labelling_loss
    from taxonomist.solvers.markov_graph import labelled_dag, labelling_tree

    taxonomy = problem["taxonomy"]
    loss = labelling_loss("symmetric_difference", taxonomy)
    order = eliminate(taxonomy.parent_indptr, taxonomy.parent_indices, taxonomy.n_nodes)
    assert order is not None
    closed = closed_tree(taxonomy.parent_indptr, taxonomy.parent_indices)
    every = labelling_tree(labelled_dag(loss, "edge", "all"))
    return {
        "edges": len(taxonomy.parent_indices),
        "several_parents": int((np.diff(taxonomy.parent_indptr) > 1).sum()),
        "width": order.width,
        "closed_states": None if closed is None else closed.n_states,
        "all_states": None if every is None else every.n_states,
    }


def run(parts: Sequence[str] = PARTS) -> None:
    """Run some corpora, all by default, and record the figures of each when it is done."""
    with tempfile.TemporaryDirectory() as folder:
        for name in parts:
            problem = make_problem(name)
            plan = dict.fromkeys(CONTESTANTS, 1)
            if name in NARROW + RELAXED:
                plan["dag_all"] = 1
            figures = width(problem) | take_turns("markov_dags", problem, plan, Path(folder))
            compare(figures)
            print(json.dumps(figures, indent=2), flush=True)
            print(save_part("markov_dags", name, figures), flush=True)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], bool(int(sys.argv[3])))))
