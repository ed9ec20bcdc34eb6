"""Every public estimator, found by walking the package, and the checks that it cannot pass."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import NamedTuple

from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import taxonomist
from taxonomist import (
    BlendedClassifier,
    CalibratedClassifier,
    CoupledBinarySVC,
    HierarchicalMixture,
    HierarchicalPerceptron,
    HierarchicalRankingSVC,
    HierarchicalRLS,
    HierarchicalShrinkage,
    HierarchicalSVC,
    LidstoneNB,
    MaxMarginMarkovClassifier,
    NodeSVC,
    NumberedClassifier,
    PLSAClassifier,
    ThresholdedKNN,
    TopDownSVC,
    features,
    models,
)
from taxonomist.features import InformationGainSelector, TfidfWeights
from taxonomist.inference.label_sets import CategoryThresholds, Threshold


def _public(module):
    """Yield the classes among the public names of a module."""
    found = (getattr(module, name) for name in module.__all__)
    return [value for value in found if isinstance(value, type)]


def _defined_in(package):
    """Yield the classes that the modules of a package define."""
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and value.__module__ == module.name:
                yield value


CLASSIFIERS = [
    kind
    for kind in _public(taxonomist)
    if issubclass(kind, ClassifierMixin) and kind is not taxonomist.TextClassifier  # takes texts
]
TRANSFORMERS = [
    kind
    for kind in _public(features)
    if issubclass(kind, TransformerMixin) and not issubclass(kind, features.TextFeatures)
    if kind().__sklearn_tags__().input_tags.two_d_array  # the others take texts
]
HIDDEN = {
    kind.__name__
    for kind in _defined_in(models)
    if issubclass(kind, ClassifierMixin) and not kind.__subclasses__() and kind not in CLASSIFIERS
}
"""Classifiers that no other is made from and that are not exported: they would not be tested."""

PARAMETERS = {
    kind: {"model": HierarchicalSVC()} for kind in (CalibratedClassifier, NumberedClassifier)
}
"""Required parameters. Everything else is left at its default."""

LONG_CHECKS = ("check_fit_check_is_fitted", "check_fit_idempotent", "check_n_features_in")
"""Checks on random features that no number of passes separates."""

SHORTER = {
    BlendedClassifier: {
        "models": [NodeSVC(random_state=0), HierarchicalRankingSVC(max_iter=20, random_state=0)]
    },
    CalibratedClassifier: {"model__max_iter": 20},
    CoupledBinarySVC: {"max_iter": 20},
    HierarchicalRankingSVC: {"max_iter": 20},
    HierarchicalSVC: {"max_iter": 20},
    MaxMarginMarkovClassifier: {"max_iter": 20, "cv": 2},
    NumberedClassifier: {"model__max_iter": 20},
}
"""Estimators whose ``LONG_CHECKS`` take up to minutes with the defaults.

``make test`` runs these checks with these parameters, and all others with the defaults.
``make test-slow`` runs these checks with the defaults.
"""

# Why a check cannot be passed ------------------------------------------------------------------

WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
APPROXIMATE = dict.fromkeys(
    WEIGHTS, "compares scores to 1e-7, where the default tolerance is larger; exact ones pass"
)
ORDER = dict.fromkeys(
    WEIGHTS, "shuffles items, of which the perceptron takes the first of equally bad ones"
)
FOLDS = dict.fromkeys(
    WEIGHTS, "repeats items in place of weights, which then are dealt to other folds"
)
DRAWN = dict.fromkeys(
    WEIGHTS, "the share of held-out items is drawn, and not the same for repeated items"
)
TUNED = {
    "check_classifier_multioutput": "expects labels where scores are above 0 or probabilities "
    "above 1/2; decision rules tune thresholds"
}
NEGATIVE = {
    "check_decision_proba_consistency": "gives negative features, though the tags say that they "
    "must be counts"
}
MIXTURE = {
    "check_classifiers_train": "clusters in the plane are no counts: the shares of two words tell "
    "little"
}
NO_COUNTS = {
    "check_classifiers_train": "clusters in the plane are no counts: every item has every "
    "feature, so idf is 0"
}
OTHER = {
    "check_classifiers_train": "expects the most probable category, where the model's own has the "
    "best score"
}

EXPECTED = {
    BlendedClassifier: APPROXIMATE | TUNED,
    CalibratedClassifier: FOLDS,
    CoupledBinarySVC: APPROXIMATE | TUNED,
    HierarchicalMixture: TUNED | NEGATIVE,
    HierarchicalPerceptron: ORDER | TUNED,
    HierarchicalRankingSVC: APPROXIMATE | TUNED,
    HierarchicalSVC: APPROXIMATE,
    HierarchicalShrinkage: TUNED | NEGATIVE,
    LidstoneNB: TUNED | NEGATIVE,
    MaxMarginMarkovClassifier: APPROXIMATE | TUNED,
    NodeSVC: APPROXIMATE,
    NumberedClassifier: APPROXIMATE,
    PLSAClassifier: TUNED | MIXTURE | NEGATIVE,
    ThresholdedKNN: NO_COUNTS,
    TopDownSVC: APPROXIMATE,
}
"""The checks that an estimator with these parameters fails, each with the reason."""


class Case(NamedTuple):
    """An estimator, and the checks that it is expected to fail."""

    estimator: BaseEstimator
    failures: dict[str, str]


DEFAULTS = [
    Case(kind(**PARAMETERS.get(kind, {})), EXPECTED.get(kind, {}))
    for kind in CLASSIFIERS + TRANSFORMERS
]
SHORTER_ONES = [
    Case(clone(kind(**PARAMETERS.get(kind, {}))).set_params(**parameters), EXPECTED.get(kind, {}))
    for kind, parameters in SHORTER.items()
]

# Other parameters ------------------------------------------------------------------------------

# Solved as exactly as the checks compare.
EXACT = {"tol": 1e-10, "dtype": "float64"}
# Chosen where the score is above 0, as some checks expect.
PLAIN = {"decision": Threshold(value=0.0, calibrated=False), "min_labels": 0}
MARKOV = {"tol": 1e-9, "dtype": "float64", "decision": "argmax", "min_labels": 0, "cv": 0}
RBF = {"kernel": "rbf", "gamma": 1.0}

EXACT_ONES = [
    Case(HierarchicalSVC(**EXACT, constant=1.0, loss="zero_one"), {}),
    Case(HierarchicalRankingSVC(**EXACT, slack="pair", decision="top_k", max_iter=100), TUNED),
    Case(CoupledBinarySVC(**EXACT, **PLAIN, constant=1.0, max_iter=100), {}),
    Case(MaxMarginMarkovClassifier(**MARKOV, max_iter=300), TUNED),
    Case(NodeSVC(estimator=LinearSVC(tol=1e-12, dual=False, max_iter=100_000)), {}),
    Case(ThresholdedKNN(tfidf=False, decision=PLAIN["decision"]), {}),
]
"""Estimators that pass what ``DEFAULTS`` are excused from."""

VARIANTS = [
    *EXACT_ONES,
    Case(HierarchicalSVC(**EXACT, solver="greedy"), {}),
    Case(HierarchicalSVC(**EXACT, fit_intercept=True, loss="zero_one", max_iter=100), {}),
    Case(CoupledBinarySVC(**EXACT, **PLAIN, constant=1.0, with_root=True, max_iter=100), {}),
    Case(HierarchicalSVC(**EXACT, **RBF, max_iter=50), {}),
    Case(HierarchicalRankingSVC(**RBF, decision="threshold", max_iter=20), APPROXIMATE | TUNED),
    Case(CoupledBinarySVC(**RBF, decision="category_thresholds", max_iter=20), APPROXIMATE | TUNED),
    Case(HierarchicalPerceptron(**RBF, ridge=1.0, max_iter=200, average=True), ORDER | TUNED),
    Case(
        MaxMarginMarkovClassifier(**RBF, features="path", train_on="consistent", max_iter=20, cv=2),
        APPROXIMATE | TUNED,
    ),
    Case(
        MaxMarginMarkovClassifier(slack="edge", decision="level", max_iter=20, cv=2),
        APPROXIMATE | TUNED,
    ),
    Case(
        HierarchicalMixture(
            trust=1.0, discount=0.0, damping=None, length=0.0, path_weights="class"
        ),
        TUNED | NEGATIVE,
    ),
    Case(
        HierarchicalMixture(inverse_temperature=[0.5, 0.8], path_weights="shrunk", held_out=0.3),
        TUNED | NEGATIVE | DRAWN,
    ),
    Case(
        HierarchicalMixture(
            path_weights="class",
            weight_updates="step",
            background="pooled",
            decision=CategoryThresholds(counted=True),
            min_labels=0,
        ),
        TUNED | NEGATIVE,
    ),
    Case(
        HierarchicalMixture(inverse_temperature="held_out", weight_updates="full"),
        TUNED | NEGATIVE | DRAWN,
    ),
    Case(HierarchicalShrinkage(take_out=True, **PLAIN), TUNED | NEGATIVE),
    Case(HierarchicalShrinkage(take_out="class", held_out="word", **PLAIN), TUNED | NEGATIVE),
    Case(LidstoneNB(alpha=1.0, decision="size"), TUNED | NEGATIVE),
    Case(
        PLSAClassifier(smoothing=0.1, spread=0.0, max_iter=20, fold_max_iter=50, decision="top_k"),
        TUNED | MIXTURE | NEGATIVE,
    ),
    Case(ThresholdedKNN(tfidf=False, n_neighbors=3), {}),
    Case(TopDownSVC(estimator=GaussianNB()), {}),
    Case(NodeSVC(loss="hinge", bias="free"), APPROXIMATE),
    Case(HierarchicalRLS(cache_size=0), {}),
    Case(
        CalibratedClassifier(NodeSVC(random_state=0), method="isotonic", cv=2),
        FOLDS | TUNED | OTHER,
    ),
    Case(CalibratedClassifier(LidstoneNB(), cv=2), FOLDS | TUNED | NEGATIVE),
    Case(
        CalibratedClassifier(HierarchicalSVC(random_state=0), method="platt", cv=3), FOLDS | OTHER
    ),
    Case(
        CalibratedClassifier(CoupledBinarySVC(max_iter=20, cv=2, random_state=0), cv=2),
        FOLDS | TUNED,
    ),
    Case(CalibratedClassifier(LogisticRegression(), cv=2), FOLDS),
    Case(InformationGainSelector(2), {}),
    Case(TfidfWeights(sublinear_tf=True), {}),
    Case(TfidfWeights(normalize=False), {}),
]
