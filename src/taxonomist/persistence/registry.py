"""The classes that model files may hold, and the names that they have there.

A class that is not in this table, nor among the ``kinds`` that a caller adds, is neither written
nor made: reading a file imports nothing that the file could choose. A class that moves keeps its
name, so that old files can be read.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOMES = {
    "taxonomist.models": (
        "CoupledBinarySVC",
        "HierarchicalMixture",
        "HierarchicalPerceptron",
        "HierarchicalRLS",
        "HierarchicalRankingSVC",
        "HierarchicalSVC",
        "HierarchicalShrinkage",
        "LidstoneNB",
        "MaxMarginMarkovClassifier",
        "NodeSVC",
        "PLSAClassifier",
        "ThresholdedKNN",
        "TopDownSVC",
    ),
    "taxonomist.models.calibrated": ("CalibratedClassifier",),
    "taxonomist.models.hierarchical_rls": ("_System",),
    "taxonomist.models.markov_parts": ("Start",),
    "taxonomist.models.set_targets": ("SetTargets",),
    "taxonomist.solvers.minover": ("MinOverSolution", "Progress"),
    "taxonomist.solvers.path_weights": ("PathWeights",),
    "taxonomist.solvers.solution": ("Pass",),
    "taxonomist.solvers.word_counts": ("Pooled", "Sources"),
    "taxonomist.inference.calibration": ("Calibration",),
    "taxonomist.inference.label_sets": (
        "CategoryThresholds",
        "Limits",
        "SizePredictor",
        "Threshold",
        "TopK",
    ),
    "taxonomist.inference.nested_softmax": ("NestedSoftmax",),
    "taxonomist.inference.node_odds": ("NodeOdds",),
    "taxonomist.inference.probabilities": ("Curve", "SetProbabilities", "SingleProbabilities"),
    "taxonomist.inference.rules": ("FittedThresholds",),
    "taxonomist.inference.size_predictor": ("FittedSizePredictor",),
    "taxonomist.inference.word_scores": ("WordScores",),
    "taxonomist.features": (
        "ContextFeatures",
        "InformationGainSelector",
        "SequenceCodes",
        "SpectrumFeatures",
        "TfidfFeatures",
        "TfidfWeights",
    ),
    "taxonomist.features.substrings": ("Keys", "Substrings"),
    "taxonomist.features.text_features": ("TextFeatures",),
    "taxonomist.kernels": ("GappedKernel", "PairwiseKernel"),
    "taxonomist.losses.ancestors": ("AncestorLoss", "WeightedTree"),
    "taxonomist.losses.categories": ("ZeroOneLoss",),
    "taxonomist.losses.given": ("MatrixLoss",),
    "taxonomist.losses.labellings": ("LabellingLoss",),
    "taxonomist.taxonomy": ("Categories", "Taxonomy"),
    "taxonomist.compiled.arrays": ("Duals",),
    "taxonomist.compiled.markov_arrays": ("Tree",),
    "sklearn.feature_extraction.text": (
        "CountVectorizer",
        "HashingVectorizer",
        "TfidfTransformer",
        "TfidfVectorizer",
    ),
    "sklearn.linear_model": ("LogisticRegression",),
    "sklearn.model_selection": ("KFold", "ShuffleSplit", "StratifiedKFold"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": ("MaxAbsScaler", "Normalizer", "StandardScaler"),
    "sklearn.svm": ("LinearSVC",),
}

_TABLE = {name: (home, name) for home, names in _HOMES.items() for name in names} | {
    "Columns": ("taxonomist.compiled.markov_arrays", "ActiveLabellings"),
    "MixtureStep": ("taxonomist.solvers.mixture", "MixtureStep"),
    "PLSAStep": ("taxonomist.solvers.plsa", "PLSAStep"),
}

MADE_ANEW = {"Keys": ("keys",)}
"""Classes whose objects are made by a call with these attributes, from which the others follow."""


class Registry:
    """The known classes, with those that a caller adds.

    Parameters
    ----------
    kinds
        Further classes by name, for layers above this one.
    """

    def __init__(self, kinds: Mapping[str, type] | None = None) -> None:
        self._kinds = dict(kinds or {})

    def name_of(self, kind: type) -> str | None:
        """Return the name that a class has in files, None if it is not known."""
        for name, given in self._kinds.items():
            if given is kind:
                return name
        for name, (home, attribute) in _TABLE.items():
            is_near = kind.__module__.partition(".")[0] == home.partition(".")[0]
            if is_near and attribute == kind.__name__ and self.get(name) is kind:
                return name
        return None

    def names(self) -> list[str]:
        """Return all names."""
        return [*self._kinds, *_TABLE]

    def get(self, name: Any) -> type | None:
        """Return the class of a name, None if there is none."""
        if name in self._kinds:
            return self._kinds[name]
        if name not in _TABLE:
            return None
        home, attribute = _TABLE[name]
        found: type = getattr(importlib.import_module(home), attribute)
        return found
