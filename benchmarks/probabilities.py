"""Probabilities of texts' categories: log loss, calibration and confident depth, corpus by corpus.

Command: TAXONOMIST_DATA=... python -m benchmarks probabilities[:CORPUS,CORPUS]
``TextClassifier`` with its defaults but without sentence vectors, beside logistic regression with
the same tf-idf features of the same training items. C of logistic regression is the best of 1, 10
and 100 by the log loss of a held-out fifth; with more than ``MOST_CHOSEN`` categories it is 10. It
is multinomial with up to ``MOST_JOINT`` categories, and one regression per category beyond; with
label sets, one per node. Each corpus has one split with at most ``MOST`` training and test items.

``log_loss`` is that of an item's category, of items whose category has training items; with label
sets, the sum over nodes with training items. ``error`` is the expected calibration error of the
most probable category, with label sets of all nodes; ``levels`` that of each level, and
``level_error`` their mean. ``confident`` is about ``predict(depth="confident", risk=0.1)``: the
share of given nodes that are wrong, with a 95 % interval over items, without items that get no
node; the mean depth of the given nodes over all items, and that of the true ones.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.record import save_part
from taxonomist.experiments.contest import CORPORA
from taxonomist.experiments.work.set_measures import pseudo_values
from taxonomist.experiments.work.text_contests import raw_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = tuple(CORPORA)
MOST = (1000, 1000)
COSTS = (1.0, 10.0, 100.0)
USUAL_COST = 10.0
MOST_JOINT, MOST_CHOSEN = 60, 200
RISK = 0.1
LEAST = 1e-6
"""Bound of probabilities in log losses, so that one item cannot decide."""


def problem(name: str) -> tuple[Any, list[list[str]], list[list[str]], list[str], list[str]]:
    """Return the taxonomy, and label sets and texts of training and test items."""
    data = CORPORA[name]
    sizes = {"is_single": data.is_single, "n_train": MOST[0], "n_test": MOST[1]}
    found = raw_texts(data.corpus, **sizes, **data.options)
    ((train, test),) = found.splits
    rows = [[label] if data.is_single else label for label in found.y]
    labels = ([rows[i] for i in part.tolist()] for part in (train, test))
    texts = (found.X[part].tolist() for part in (train, test))
    return (found.taxonomy, *labels, *texts)


def closed(taxonomy: Any, rows: Sequence[Sequence[str]]) -> Any:
    """Return the nodes of items and those above them, (n_items, n_nodes)."""
    from taxonomist.taxonomy import labels

    return labels.close(taxonomy, labels.encode_sets(taxonomy, rows)).toarray()


def logistic(X: Any, Y: Any, C: float, *, is_single: bool) -> Any:
    """Return a function from items to the probabilities of the columns of Y."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    used = np.flatnonzero(Y.sum(axis=0))
    if is_single and len(used) <= MOST_JOINT:
        model: Any = LogisticRegression(C=C, max_iter=300).fit(X, Y.argmax(axis=1))
    else:
        one = LogisticRegression(C=C, solver="liblinear", tol=0.01)
        given = Y.argmax(axis=1) if is_single else Y[:, used].astype(int)
        model = OneVsRestClassifier(one).fit(X, given)

    def probabilities(new: Any) -> Any:
        found = np.zeros((new.shape[0], Y.shape[1]))
        found[:, used] = model.predict_proba(new)
        return found

    return probabilities


def log_loss(P: Any, Y: Any, seen: Any, *, is_single: bool) -> float:
    """Return the mean log loss of items; P and Y have the columns of categories, or of nodes."""
    P = np.clip(P, LEAST, 1 - LEAST)
    if is_single:
        known = seen[Y.argmax(axis=1)]
        return float(-np.log(P[known][Y[known] > 0]).mean())
    losses = -np.log(np.where(Y > 0, P, 1 - P))[:, seen]
    return float(losses.sum(axis=1).mean())


def chosen_cost(X: Any, Y: Any, *, is_single: bool) -> float:
    """Return the C of logistic regression with the best log loss of a held-out fifth."""
    seen = Y.sum(axis=0) > 0
    if seen.sum() > MOST_CHOSEN:
        return USUAL_COST
    order = np.random.default_rng(0).permutation(X.shape[0])
    test, train = np.split(order, [X.shape[0] // 5])
    seen = Y[train].sum(axis=0) > 0

    def loss(C: float) -> float:
        P = logistic(X[train], Y[train], C, is_single=is_single)(X[test])
        return log_loss(P, Y[test], seen, is_single=is_single)

    return min(COSTS, key=loss)


def errors(taxonomy: Any, truth: Any, P: Any, nodes: Any, ids: Sequence[str]) -> dict[str, Any]:
    """Return the calibration errors of the best category and of levels.

    ``P`` has the probabilities of the categories ``ids``, with one category per item; with label
    sets it is None, and all nodes count.
    """
    from taxonomist import Taxonomy, metrics

    is_single = P is not None
    kind = "best" if is_single else "all"
    found = metrics.reliability(truth, np.clip(nodes, 0.0, 1.0), taxonomy, nodes=kind)
    top = found.error
    if is_single:
        flat = Taxonomy.flat(list(ids))
        order = [list(ids).index(node) for node in flat.nodes[1:]]
        with_root = np.hstack([np.ones((len(P), 1)), np.clip(P[:, order], 0.0, 1.0)])
        top = metrics.reliability(truth, with_root, flat).error
    levels = [level.error for level in found.levels]
    return {"error": top, "levels": levels, "level_error": float(np.mean(levels))}


def confident(taxonomy: Any, nodes: Any, truth: Any) -> dict[str, Any]:
    """Return how often given nodes are wrong, and how deep they are; the root does not count."""
    nodes[:, 0] = False
    n_given, n_wrong = nodes.sum(axis=1), (nodes & ~truth).sum(axis=1)
    has = n_given > 0
    values = pseudo_values(n_wrong[has].astype(float), n_given[has].astype(float))
    error = float(values.mean()) if has.any() else 0.0
    half = 1.96 * float(values.std(ddof=1) / np.sqrt(has.sum())) if has.sum() > 1 else 0.0
    depths = taxonomy.depths
    return {
        "error": error,
        "interval": [error - half, error + half],
        "is_within": bool(error - half <= RISK),
        "answered": float(has.mean()),
        "depth": float((nodes * depths).max(axis=1).mean()),
        "true_depth": float((truth * depths).max(axis=1).mean()),
    }


def measure(name: str) -> dict[str, Any]:
    """Return the figures of both models on a corpus."""
    from taxonomist import TextClassifier
    from taxonomist.inference.node_probabilities import sum_of_categories

    warnings.simplefilter("ignore")
    is_single = CORPORA[name].is_single
    taxonomy, y, y_test, texts, new = problem(name)
    given = [row[0] for row in y] if is_single else y
    model = TextClassifier(taxonomy, vectors="off").fit(texts, given)
    ids = [str(one) for one in model.classes_.tolist()]
    X, X_test = (model.features_.transform(part) for part in (texts, new))
    node_truth = closed(taxonomy, y_test)
    if is_single:
        codes = taxonomy.codes(ids)
        place = {one: column for column, one in enumerate(ids)}
        Y, Y_test = (np.zeros((len(part), len(ids)), dtype=bool) for part in (y, y_test))
        for indicator, rows in ((Y, y), (Y_test, y_test)):
            for item, row in enumerate(rows):
                if row[0] in place:
                    indicator[item, place[row[0]]] = True
        to_nodes = partial(sum_of_categories, taxonomy, codes)
    else:
        Y, Y_test = closed(taxonomy, y), node_truth
        Y[:, 0] = False
    seen = Y.any(axis=0)
    C = chosen_cost(X, Y, is_single=is_single)
    theirs = logistic(X, Y, C, is_single=is_single)(X_test)
    answers = model.answer(new)
    own_nodes = answers.node_proba()
    own = answers.proba() if is_single else own_nodes
    rows: dict[str, Any] = {"train": len(y), "test": len(y_test), "categories": len(ids), "C": C}
    for who, P in (("text_classifier", own), ("logistic_regression", theirs)):
        nodes = own_nodes if P is own else (to_nodes(P) if is_single else P)
        truth = [row[0] for row in y_test] if is_single else y_test
        rows[who] = {
            "log_loss": log_loss(P, Y_test, seen, is_single=is_single),
            **errors(taxonomy, truth, P if is_single else None, nodes, ids),
        }
    found = answers.decisions(depth="confident", risk=RISK)
    nodes = closed(taxonomy, found)
    if is_single:
        # The nodes above the given one are right if it is.
        nodes = taxonomy.codes(list(found))[:, None] == np.arange(taxonomy.n_nodes)
    rows["confident"] = confident(taxonomy, nodes, node_truth)
    return rows


def summary(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the share of corpora on which our probabilities are at least as good."""
    found = {"corpora": len(parts)}
    for key in ("log_loss", "error", "level_error"):
        pairs = [
            (row["text_classifier"][key], row["logistic_regression"][key]) for row in parts.values()
        ]
        found[key] = float(np.mean([ours <= theirs for ours, theirs in pairs]))
    found["confident"] = float(np.mean([row["confident"]["is_within"] for row in parts.values()]))
    return found


def run(parts: Sequence[str] = PARTS) -> None:
    """Measure some corpora, and record each."""
    for name in parts:
        figures = measure(name)
        print(save_part("probabilities", name, figures, summary), name, figures, flush=True)
