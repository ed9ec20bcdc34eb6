"""The classes that model files may contain, and their names in files.

Classes that are neither in this table nor among the ``kinds`` of the caller are neither saved nor
loaded, so a file cannot choose what is imported. A class that moves to another module keeps its
name, so old files can still be read. Models, and the parts listed in their traits, come from the
table in ``taxonomist.models``.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOMES = {
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
    "taxonomist.inference.linear_scorer": ("LinearScorer",),
    "taxonomist.inference.nested_softmax": ("NestedSoftmax",),
    "taxonomist.inference.node_odds": ("NodeOdds",),
    "taxonomist.inference.probabilities": ("Curve", "SetProbabilities", "SingleProbabilities"),
    "taxonomist.inference.row_maps": ("FeatureMap", "GramMap", "KernelMap"),
    "taxonomist.inference.rules": ("FittedThresholds",),
    "taxonomist.inference.size_predictor": ("FittedSizePredictor",),
    "taxonomist.inference.word_scorer": ("WordScorer",),
    "taxonomist.inference.word_scores": ("WordScores",),
    "taxonomist.features": (
        "ContextFeatures",
        "InformationGainSelector",
        "SentenceVectors",
        "SequenceCodes",
        "SpectrumFeatures",
        "TfidfFeatures",
        "TfidfWeights",
    ),
    "taxonomist.features.substrings": ("Keys", "Substrings"),
    "taxonomist.features.term_table": ("TermTable",),
    "taxonomist.features.text_features": ("TextFeatures",),
    "taxonomist.kernels": ("GappedKernel", "PairwiseKernel"),
    "taxonomist.losses.ancestors": ("AncestorLoss", "WeightedTree"),
    "taxonomist.losses.categories": ("ZeroOneLoss",),
    "taxonomist.losses.given": ("MatrixLoss",),
    "taxonomist.losses.labellings": ("LabellingLoss",),
    "taxonomist.models.numbered_classifier": ("NumberedClassifier",),
    "taxonomist.taxonomy": ("Categories", "Taxonomy"),
    "taxonomist.taxonomy.node_texts": ("NodeTexts",),
    "taxonomist.compiled.arrays": ("Duals",),
    "taxonomist.compiled.graph_arrays": ("LabelledDag",),
    "taxonomist.compiled.marginal_arrays": ("EdgeMarginals",),
    "taxonomist.compiled.markov_arrays": ("Tree",),
    "taxonomist.solvers.mixture": ("MixtureStep",),
    "taxonomist.solvers.plsa": ("PLSAStep",),
    # Higher layers: known by name only, imported when a file contains one.
    "taxonomist.text": ("TextClassifier",),
    "taxonomist.text.names": ("NameSimilarity",),
    "taxonomist.text.search": ("Trial",),
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
    # Old names of classes that were renamed since, or that only old files have.
    "BlockTable": ("taxonomist.persistence.old_versions", "FeatureTable"),
    "Columns": ("taxonomist.compiled.markov_arrays", "ActiveLabellings"),
    "SetTargets": ("taxonomist.models.targets", "Targets"),
    "_System": ("taxonomist.solvers.least_squares", "RidgeSystem"),
}

CONSTRUCTOR_ARGUMENTS = {"Keys": ("keys",)}
"""Classes that are restored by calling their constructor, and the attributes to call it with."""


@cache
def model_classes() -> dict[str, type]:
    """Return all models and their parts by name."""
    from taxonomist.models import all_models

    found = all_models()
    for kind in list(found.values()):
        found |= {part.__name__: part for part in kind.traits.parts}  # type: ignore[attr-defined]
    listed = {name for home, name in _TABLE.values() if home.startswith("taxonomist.")}
    return {name: kind for name, kind in found.items() if kind.__name__ not in listed}


def model_class(name: str) -> type | None:
    """Return a model or a part of one by name; import only the model if possible."""
    from taxonomist import models

    if name in models.HOMES:
        found: type = getattr(models, name)
        return found
    # Files name a model before its parts.
    for kind in models.imported_models().values():
        parts: tuple[type, ...] = kind.traits.parts  # type: ignore[attr-defined]
        for part in parts:
            if part.__name__ == name:
                return part
    return model_classes().get(name)


def _import(name: str) -> type:
    home, attribute = _TABLE[name]
    found: type = getattr(importlib.import_module(home), attribute)
    return found


class Registry:
    """The known classes, plus those of the caller.

    Parameters
    ----------
    kinds
        Additional classes by name.
    """

    def __init__(self, kinds: Mapping[str, type] | None = None) -> None:
        self._kinds = dict(kinds or {})

    def name_of(self, kind: type) -> str | None:
        """Return the name of a class in files, or None if it is unknown."""
        for known in (self._kinds, model_classes()):
            for name, given in known.items():
                if given is kind:
                    return name
        for name, (home, attribute) in _TABLE.items():
            is_near = kind.__module__.partition(".")[0] == home.partition(".")[0]
            if is_near and attribute == kind.__name__ and self.get(name) is kind:
                return name
        return None

    def names(self) -> list[str]:
        """Return the names of all known classes."""
        return [*self._kinds, *model_classes(), *_TABLE]

    def get(self, name: Any) -> type | None:
        """Return the class with a name, or None if it is unknown."""
        if not isinstance(name, str):
            return None
        if name in self._kinds:
            return self._kinds[name]
        return _import(name) if name in _TABLE else model_class(name)
