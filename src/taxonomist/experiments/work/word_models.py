"""The models of TCPH01: as in the paper, and with the library's defaults."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sklearn.pipeline import make_pipeline

from taxonomist.experiments.declarations import Result
from taxonomist.features import InformationGainSelector, TfidfWeights
from taxonomist.inference.label_sets import CategoryThresholds, Threshold
from taxonomist.models import (
    CoupledBinarySVC,
    HierarchicalMixture,
    HierarchicalShrinkage,
    LidstoneNB,
    PLSAClassifier,
    ThresholdedKNN,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taxonomist._typing import Classifier
    from taxonomist.experiments.work.trials import MakeModel, MakeProblem
    from taxonomist.taxonomy import Taxonomy

AS_PAPER: Mapping[str, object] = {
    "path_weights": "class",
    "trust": 1.0,
    "discount": 0.0,
    "damping": None,
    "length": 0.0,
}
"""Counts as they are, and path weights of each category as estimated [TCPH01, Eq. 7]."""
SETS_AS_PAPER: Mapping[str, object] = {
    "background": "pooled",
    "decision": CategoryThresholds(counted=True, least_score=0.0),
    "min_labels": 0,
}
"""P(d) of pooled unigrams, thresholds with the best held-out F1, no label by force [Sec. 2.2].

Our addition: thresholds are at least 0. Below, the story is more likely without the category."""
WORDS = (1000, 2000, 10000)
"""Numbers of words [TCPH01, Sec. 3.1.3]."""
KNN_WORDS = 2000
"""The number of words that the paper reports for k-NN."""


KINDS: Mapping[str, Callable[..., Classifier]] = {
    "HM": HierarchicalMixture,
    "HS": HierarchicalShrinkage,
    "NB": LidstoneNB,
}
"""Models by their names in the paper."""


def smoothed(
    taxonomy: Taxonomy, kind: Callable[..., Classifier], **parameters: object
) -> Classifier:
    """Return HM or HS with the paper's settings."""
    return kind(taxonomy, **{**AS_PAPER, **parameters})


def weighed(
    taxonomy: Taxonomy, kind: Callable[..., Classifier], shares: tuple[float, ...]
) -> Classifier:
    """Return HM or HS with given path weights: of the uniform node, the root, and each depth."""
    weights = np.zeros((len(taxonomy.leaves), taxonomy.n_nodes + 1))
    for row, leaf in zip(weights, taxonomy.leaves, strict=True):
        row[-1] = shares[0]
        codes = taxonomy.codes([*taxonomy.ancestors(leaf), leaf])
        row[codes] = np.asarray(shares[1:])[taxonomy.depths[codes]]
    return smoothed(taxonomy, kind, path_weights=weights)


def set_model(kind: str, n_words: int | None = None, **parameters: object) -> MakeModel:
    """Return a function that makes HM, HS or naive Bayes for label sets as in the paper."""
    own = {} if kind == "NB" else AS_PAPER
    # Parameters are part of what a cell is known by.
    chosen = {**own, **SETS_AS_PAPER, **parameters}
    return partial(_of_best_words, kind=KINDS[kind], n_words=n_words, parameters=chosen)


def _of_best_words(
    taxonomy: Taxonomy,
    *,
    kind: Callable[..., Classifier],
    n_words: int | None,
    parameters: Mapping[str, object],
) -> Classifier:
    model = kind(taxonomy, **parameters)
    return model if n_words is None else make_pipeline(InformationGainSelector(n_words), model)


def neighbours(taxonomy: Taxonomy, n_words: int | None = None) -> Classifier:
    """Return nearest neighbours on the words with the highest information gain."""
    model = ThresholdedKNN(taxonomy, n_jobs=1)
    return model if n_words is None else make_pipeline(InformationGainSelector(n_words), model)


def weighted_svm(taxonomy: Taxonomy, n_words: int) -> Classifier:
    """Return an SVM per category in which a miss costs ten times as much [Sec. 3.2.5]."""
    model = CoupledBinarySVC(
        taxonomy,
        attributes="flat",
        positive_weight=10,
        constant=1.0,
        stop="violation",
        decision=Threshold(value=0.0, calibrated=False),
        min_labels=0,
        n_jobs=1,
    )
    selected = InformationGainSelector(n_words), TfidfWeights(sublinear_tf=True)
    pipeline: Classifier = make_pipeline(*selected, model)
    return pipeline


SINGLE: Mapping[str, MakeModel] = {
    "NB": LidstoneNB,
    "PLSA": PLSAClassifier,
    "HS as in the paper": partial(smoothed, kind=HierarchicalShrinkage),
    "kNN": neighbours,
    "HM as in the paper": partial(smoothed, kind=HierarchicalMixture),
    "HS, our defaults": HierarchicalShrinkage,
    "HM, our defaults": HierarchicalMixture,
}
"""Models of one label: there naive Bayes, PLSA and k-NN are the paper's."""
SETS: Mapping[str, MakeModel] = {
    "HM as in the paper": set_model("HM"),
    **{f"SVM, {n:,} words": partial(weighted_svm, n_words=n) for n in WORDS},
    **{f"kNN, {n:,} words": partial(neighbours, n_words=n) for n in WORDS},
    "kNN, all words": neighbours,
    "HS as in the paper": set_model("HS"),
    "NB as in the paper": set_model("NB"),
    **{f"{name}, our defaults": kind for name, kind in KINDS.items()},
}
"""Models of label sets."""


def fit_times(problem: MakeProblem, *, models: Mapping[str, MakeModel], repeats: int) -> Result:
    """Measure the processor's seconds that models take to fit, one after the other.

    Parameters
    ----------
    problem
        Loads the data; the training items of the first split are used.
    models
        The models by name.
    repeats
        Number of repeats, after one that is not counted.

    Returns
    -------
    Result
        The seconds of each model, by repeat; work of other programs does not count.
    """
    data = problem()
    train = data.splits[0][0]
    X, y = data.X[train], [data.y[item] for item in train]
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for repeat in range(repeats + 1):
        for name, make in models.items():
            began = time.process_time()
            make(data.taxonomy).fit(X, y)
            if repeat:
                seconds[name].append(time.process_time() - began)
    return Result(seconds)
