"""Where to stop: loss on held-out folds of training items, and time, by tolerance.

Command: TAXONOMIST_DATA=... python -m benchmarks tolerances
Only training items are used: of each corpus so many are drawn, and models learn two thirds of them
and predict the third. Loss is the taxonomy loss; for ``HierarchicalRankingSVC`` and
``CoupledBinarySVC``, which score labels, 1 - average precision. ``loss`` is the mean over items,
``change`` its difference from that of the strictest tolerance with twice the standard error of the
mean difference of items. Seconds are the processor's, of three fits, which take turns; ``time`` is
the ratio to the tolerance that was the default when this was written, a violation of 0.01 (a gap of
1 % for the Markov tree). Each model is a part of its own, see ``benchmarks.__main__``.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.record import save_part

if TYPE_CHECKING:
    from collections.abc import Sequence

N_ITEMS = {True: 2000, False: 1200}
FOLDS = 3
SINGLE = {
    "20newsgroups": {},
    "trec-question": {},
    "wos-1000": {},
    "wipo-alpha-d-lsa": {},
    "us-patents-ipc": {"level": "subclass"},
    "naics2012": {},
    "onet-soc": {},
    "makupalat-ykl": {},
}
SETS = {"reuters21578": {}, "enron-ucb": {}, "rcv1-subset": {}, "arxiv-acm": {}}
SCORED = ("HierarchicalRankingSVC", "CoupledBinarySVC")
SCORED_RULES = [
    ("gap", 0.0001),
    ("violation", 0.01),
    ("violation", 0.1),
    ("gap", 0.001),
    ("gap", 0.01),
    ("gap", 0.02),
    ("gap", 0.05),
]
# Model -> corpora and rules, the strictest first.
RULES: dict[str, tuple[dict[str, Any], list[tuple[str, float]]]] = {
    "HierarchicalSVC": (
        SINGLE,
        [
            ("gap", 0.0001),
            ("violation", 0.01),
            ("violation", 0.1),
            ("gap", 0.001),
            ("gap", 0.005),
            ("gap", 0.01),
            ("gap", 0.02),
            ("gap", 0.05),
        ],
    ),
    "HierarchicalRankingSVC": (SETS, SCORED_RULES),
    "CoupledBinarySVC": (SETS, SCORED_RULES),
    "MaxMarginMarkovClassifier": (
        SETS,
        [("gap", 0.001), ("gap", 0.005), ("gap", 0.01), ("gap", 0.02), ("gap", 0.05)],
    ),
}
PARTS = tuple(RULES)
DEFAULT = {"MaxMarginMarkovClassifier": ("gap", 0.01)}


def make_model(name: str, taxonomy: Any, stop: str, tol: float) -> Any:
    """Return an unfitted model that stops there."""
    import taxonomist
    from taxonomist.inference.label_sets import TopK

    rule: dict[str, Any] = {}
    if name in SCORED:
        rule = {"decision": TopK(1)}
    elif name == "MaxMarginMarkovClassifier":
        rule = {"decision": "argmax", "cv": 0, "min_labels": 1}
    model = getattr(taxonomist, name)
    return model(taxonomy, stop=stop, tol=tol, random_state=0, n_jobs=1, max_iter=10_000, **rule)


def losses(name: str, model: Any, X: Any, y: Any, taxonomy: Any) -> Any:
    """Return the loss of each item; scores are those of labels that the training items have."""
    from taxonomist import metrics
    from taxonomist.experiments.work.set_measures import measured

    if name not in SCORED:
        predicted = model.predict(X) if name == "HierarchicalSVC" else model.predict_labels(X)
        return np.array(measured(y, predicted, taxonomy).items["taxonomy_loss"])
    classes = list(model.classes_)
    known = [[label for label in labels if label in set(classes)] for labels in y]
    scores = model.decision_function(X)
    return np.array(
        [
            1 - metrics.average_precision([row], scores[[i]], classes=classes)
            for i, row in enumerate(known)
            if row
        ]
    )


def measure(name: str, corpus: str, rules: list[tuple[str, float]], **options: str) -> Any:
    """Return loss and time of a model on a corpus for each rule."""
    from taxonomist.evaluation.splits import take
    from taxonomist.experiments.work.corpora import divided

    is_single = name == "HierarchicalSVC"
    sizes = {"n_train": N_ITEMS[is_single], "n_test": 0}
    data = divided(corpus, is_single=is_single, **sizes, **options)
    (items, _), taxonomy = data.splits[0], data.taxonomy
    folds = np.random.default_rng(0).permutation(len(items)) % FOLDS
    make_model(name, taxonomy, *rules[0]).set_params(max_iter=1).fit(
        data.X[items[:50]], take(data.y, items[:50])
    )
    found: dict[Any, list[Any]] = {rule: [] for rule in rules}
    seconds = dict.fromkeys(rules, 0.0)
    for fold in range(FOLDS):
        train, test = items[folds != fold], items[folds == fold]
        for rule in rules:
            start = time.process_time()
            model = make_model(name, taxonomy, *rule).fit(data.X[train], take(data.y, train))
            seconds[rule] += time.process_time() - start
            found[rule].append(losses(name, model, data.X[test], take(data.y, test), taxonomy))
    by_rule = {rule: np.concatenate(parts) for rule, parts in found.items()}
    usual = seconds[DEFAULT.get(name, ("violation", 0.01))]
    return {
        f"{stop} {tol}": summary(by_rule[stop, tol], by_rule[rules[0]])
        | {"seconds": seconds[stop, tol], "time": seconds[stop, tol] / usual}
        for stop, tol in rules
    }


def summary(loss: Any, strictest: Any) -> dict[str, float]:
    """Return the mean loss, its change, and twice the standard error of the change."""
    change = loss - strictest
    return {
        "loss": float(loss.mean()),
        "change": float(change.mean()),
        "two_errors": float(2 * change.std() / np.sqrt(len(change))),
    }


def over_corpora(table: dict[str, Any]) -> dict[str, Any]:
    """Return for each rule the relative change of the loss and the ratio of times, as means."""
    rules = next(iter(table.values()))
    return {
        rule: {
            "relative_change": float(
                np.mean([rows[rule]["change"] / rows[rule]["loss"] for rows in table.values()])
            ),
            "significant": sum(
                abs(rows[rule]["change"]) > rows[rule]["two_errors"] for rows in table.values()
            ),
            "time": float(np.exp(np.mean([np.log(rows[rule]["time"]) for rows in table.values()]))),
        }
        for rule in rules
    }


def run(parts: Sequence[str] = PARTS) -> None:
    """Measure some models, all by default, and record each when it is done."""
    warnings.simplefilter("ignore")
    for name in parts:
        corpora, rules = RULES[name]
        table = {}
        for corpus, options in corpora.items():
            table[corpus] = measure(name, corpus, rules, **options)
            print(name, corpus, flush=True)
            for rule, row in table[corpus].items():
                print(
                    f"  {rule:16} loss {row['loss']:.4f} change {row['change']:+.4f} "
                    f"± {row['two_errors']:.4f}, {row['seconds']:7.2f} s, time {row['time']:.2f}",
                    flush=True,
                )
        print(save_part("tolerances", name, {"corpora": table, "all": over_corpora(table)}))
