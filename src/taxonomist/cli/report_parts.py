"""What a report says beside the measures: telling words, the flat twin, the learning curve."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taxonomist.cli.compare_command import FLAT, MEASURES
from taxonomist.cli.output import print_note, progress
from taxonomist.evaluation import MEASURES as KNOWN
from taxonomist.evaluation import Plan, compare, learning_curve
from taxonomist.text import TextClassifier

if TYPE_CHECKING:
    from taxonomist.cli.labelled import Labelled
    from taxonomist.cli.measuring import ToMeasure
    from taxonomist.cli.output import Report
    from taxonomist.evaluation import Comparison, LearningCurve
    from taxonomist.evaluation.plan import Progress

__all__ = ["Background", "background", "telling_words"]

WORDS = 8
"""Words of a node."""
TAXONOMIC = "svm"
"""The model that stands beside the flat one if the flat one itself was chosen."""
SIZES = (1, 2, 5, 10, 20, 50, 100)
"""Items per category of the learning curve."""
MOST_SIZES = 5
MOST_TRAINED = 5_000
"""Items that a point of the learning curve is trained on, at the most."""
MOST_TESTED = 2_000
REPEATS = 3
FEWEST = 20
"""Items below which nothing is compared."""


class Background(NamedTuple):
    """What is known of a model: facts, curves by model, and a comparison with the flat one."""

    facts: dict[str, Any]
    curves: dict[str, LearningCurve]
    flat: Comparison | None


def background(classifier: TextClassifier, parts: ToMeasure, *, quick: bool) -> Background:
    """Return what a report says about where a model comes from.

    Parameters
    ----------
    classifier
        The classifier.
    parts
        New items, and those that it was trained on.
    quick
        Whether to train nothing.
    """
    told = ("items", "test_items", "features", "model", "seconds", "final")
    facts: dict[str, Any] = {
        name: classifier.training_[name] for name in told if name in classifier.training_
    }
    facts["search"] = [
        {**trial._asdict(), "chosen": place == 0} for place, trial in enumerate(classifier.search_)
    ]
    if quick:
        return Background(facts, {}, None)
    if min(len(parts.seen.texts), len(parts.items.texts)) < FEWEST:
        print_note(
            "Too few of these items were trained on, or held out, for a learning curve and a flat "
            "twin: give the rows that the model was trained with."
        )
        return Background(facts, {}, None)
    models = _twins(classifier)
    is_multilabel = classifier.is_multilabel_
    with progress("fits") as report:
        plan = Plan(
            measures=[name for name in MEASURES[is_multilabel] if KNOWN[name].mean_over_items],
            taxonomy=classifier.taxonomy_,
            per_item=True,
            random_state=classifier.random_state,
            callback=_drawn(report, "Comparing with the flat twin"),
        )
        flat = _against_flat(models, parts, plan, is_multilabel)
    return Background(facts, _curves(models, parts, classifier), flat)


def _drawn(report: Report, step: str) -> Progress:
    """Return what an evaluation calls after each fit."""
    return lambda done, total, _: report(step, done, total)


def _twins(classifier: TextClassifier) -> dict[str, TextClassifier]:
    """Return the model that was chosen, unfitted, and its flat twin."""
    name: Any = classifier.search_[0].model if classifier.search_ else classifier.model
    C = classifier.search_[0].C if classifier.search_ else classifier.C
    if name == FLAT:
        name = TAXONOMIC
    shared = {**classifier.get_params(deep=False), "C": C, "calibration": None}
    shared["taxonomy"] = classifier.taxonomy_
    title = name if isinstance(name, str) else type(name).__name__
    return {
        title: TextClassifier(**{**shared, "model": name}),
        FLAT: TextClassifier(**{**shared, "model": FLAT}),
    }


def _targets(items: Labelled, is_multilabel: bool) -> list[Any]:
    """Return the labels in the form that the model knows."""
    return items.labels if is_multilabel else items.targets


def _against_flat(
    models: dict[str, TextClassifier], parts: ToMeasure, plan: Plan, is_multilabel: bool
) -> Comparison:
    """Train both on the items that the model was trained on; compare them on the new ones."""
    texts = [*parts.seen.texts, *parts.items.texts]
    targets = [*_targets(parts.seen, is_multilabel), *_targets(parts.items, is_multilabel)]
    split = np.split(np.arange(len(texts)), [len(parts.seen.texts)])
    given = Plan(**{**vars(plan), "cv": [tuple(split)]})
    return compare(models, texts, targets, given, baseline=FLAT)


def _curves(
    models: dict[str, TextClassifier], parts: ToMeasure, classifier: TextClassifier
) -> dict[str, LearningCurve]:
    """Return the learning curves of both models over the number of items per category."""
    seen = parts.seen
    counts = Counter(label for labels in seen.labels for label in labels)
    sizes = [
        size
        for size in SIZES
        if size <= max(counts.values())
        and sum(min(size, count) for count in counts.values()) <= MOST_TRAINED
    ][-MOST_SIZES:]
    if not sizes:
        return {}
    seed, is_multilabel = classifier.random_state, classifier.is_multilabel_
    drawn = np.random.default_rng(seed).permutation(len(parts.items.texts))[:MOST_TESTED]
    tested = parts.items.take(drawn)
    curves: dict[str, LearningCurve] = {}
    with progress("fits") as report:
        for name, model in models.items():
            plan = Plan(
                measures=["hierarchical_f1", MEASURES[is_multilabel][1]],
                taxonomy=classifier.taxonomy_,
                random_state=seed,
                callback=_drawn(report, f"Learning curve of {name}"),
            )
            curves[name] = learning_curve(
                model,
                seen.texts,
                _targets(seen, is_multilabel),
                plan,
                sizes=sizes,
                n_repeats=REPEATS,
                test=(tested.texts, _targets(tested, is_multilabel)),
            )
    return curves


def telling_words(classifier: TextClassifier) -> dict[str, list[tuple[str, float]]]:
    """Return the words that speak most for each node, for models with weights of nodes."""
    model = classifier.model_
    model = getattr(model, "model_", model)
    try:
        weights = model.node_coef_
    except AttributeError:
        return {}
    terms = classifier.features_.terms_
    found: dict[str, list[tuple[str, float]]] = {}
    for code, node in enumerate(model.taxonomy_.nodes):
        if node not in classifier.taxonomy_ or code >= weights.shape[0]:
            continue
        row = np.asarray(weights[code].todense() if hasattr(weights, "todense") else weights[code])
        row = row.ravel()[: len(terms)]
        best = np.argsort(-row)[:WORDS]
        words = [(str(terms[k]), float(row[k])) for k in best if row[k] > 0]
        if words:
            found[node] = words
    return found
