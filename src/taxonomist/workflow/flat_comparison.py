"""Compare a classifier with its flat twin, on all training items and as learning curves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.evaluation import MEASURES, Plan, compare, learning_curve
from taxonomist.taxonomy import labels as label_formats
from taxonomist.text import TextClassifier
from taxonomist.text.feature_sets import chosen_features
from taxonomist.workflow.comparison import COMPARED, FLAT, told
from taxonomist.workflow.steps import silent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist._typing import Bools, Codes, LabelList
    from taxonomist.evaluation import Comparison, LearningCurve
    from taxonomist.features.counted_texts import CountedTexts
    from taxonomist.workflow.steps import OnStep

__all__ = ["TwinItems", "compare_twins", "twin_curves", "twins"]

TAXONOMIC = "svm"
"""Model to compare with the flat one if the classifier itself is flat."""
SIZES = (1, 2, 5, 10, 20, 50, 100)
"""Training items per category at the points of the learning curve."""
MOST_SIZES = 5
MOST_TRAINED = 5_000
"""Maximum number of training items for a point of the learning curve."""
MOST_TESTED = 2_000
N_REPEATS = 3


def twins(classifier: TextClassifier) -> dict[str, TextClassifier]:
    """Return the classifier and its flat twin, both unfitted, by title."""
    model, C = classifier.chosen
    shared = {"C": C, "calibration": None, "vectors": "off", **chosen_features(classifier)}
    if model == FLAT:
        model = TAXONOMIC
    given = {**classifier.get_params(deep=False), "taxonomy": classifier.taxonomy_}
    chosen = TextClassifier(**given).set_params(model=model, **shared)
    title = model if isinstance(model, str) else type(model).__name__
    return {title: chosen, FLAT: classifier.flat_twin().set_params(**shared)}


class TwinItems(NamedTuple):
    """Items to train and measure a classifier and its flat twin on.

    Attributes
    ----------
    texts, targets
        Texts and labels, as the classifier takes them.
    is_seen
        Which items the classifier was trained on.
    """

    texts: CountedTexts
    targets: LabelList
    is_seen: Bools

    def take(self, items: Codes) -> tuple[CountedTexts, list[object]]:
        """Return the texts and the labels of some items."""
        return self.texts[items], [self.targets[i] for i in items.tolist()]


def compare_twins(
    classifier: TextClassifier, items: TwinItems, on_step: OnStep = silent
) -> Comparison:
    """Train both models on the classifier's training items and compare them on the other items.

    Parameters
    ----------
    classifier
        The fitted classifier.
    items
        The items.
    on_step
        Called with the number of models fitted so far.
    """
    measures = COMPARED[classifier.is_multilabel_]
    step = "Comparing with the flat twin"
    plan = Plan(
        measures=[name for name in measures if MEASURES[name].mean_over_items],
        taxonomy=classifier.taxonomy_,
        cv=[(np.flatnonzero(items.is_seen), np.flatnonzero(~items.is_seen))],
        per_item=True,
        random_state=classifier.random_state,
        callback=told(on_step, step),
    )
    models = twins(classifier)
    on_step(step, 0, len(models))
    return compare(models, items.texts, items.targets, plan, baseline=FLAT)


def twin_curves(
    classifier: TextClassifier, items: TwinItems, on_step: OnStep = silent
) -> dict[str, LearningCurve]:
    """Return the learning curves of both models over the number of items per category.

    The parameters are the same as for ``compare_twins``.
    """
    seen, new = np.flatnonzero(items.is_seen), np.flatnonzero(~items.is_seen)
    texts, targets = items.take(seen)
    sizes = _sizes(targets)
    if not sizes:
        return {}
    seed = classifier.random_state
    drawn = np.random.default_rng(seed).permutation(len(new))[:MOST_TESTED]
    test = items.take(new[drawn])
    curves: dict[str, LearningCurve] = {}
    for name, model in twins(classifier).items():
        step = f"Learning curve of {name}"
        plan = Plan(
            measures=["hierarchical_f1", COMPARED[classifier.is_multilabel_][1]],
            taxonomy=classifier.taxonomy_,
            random_state=seed,
            callback=told(on_step, step),
        )
        on_step(step, 0, len(sizes) * N_REPEATS)
        curves[name] = learning_curve(
            model, texts, targets, plan, sizes=sizes, n_repeats=N_REPEATS, test=test
        )
    return curves


def _sizes(targets: Iterable[object]) -> list[int]:
    """Return the numbers of items per category at the points of the curve."""
    counts = Counter(label for labels in label_formats.as_sets(targets) for label in labels)
    sizes = [
        size
        for size in SIZES
        if size <= max(counts.values())
        and sum(min(size, count) for count in counts.values()) <= MOST_TRAINED
    ]
    return sizes[-MOST_SIZES:]
