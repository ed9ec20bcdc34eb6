"""Models: scikit-learn classifiers over a taxonomy.

This is the table of models, with one line per model, and one for type checkers. Everything else
that lists models (the names of the package, the command line, ``TextClassifier``, model files, the
contract tests) reads this table. The traits of a model are an attribute of its class. A model is
imported when it is first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from taxonomist._lazy import lazy_names

if TYPE_CHECKING:
    from taxonomist.models.blended_classifier import BlendedClassifier as BlendedClassifier
    from taxonomist.models.calibrated import CalibratedClassifier as CalibratedClassifier
    from taxonomist.models.coupled_binary_svc import CoupledBinarySVC as CoupledBinarySVC
    from taxonomist.models.hierarchical_mixture import HierarchicalMixture as HierarchicalMixture
    from taxonomist.models.hierarchical_perceptron import (
        HierarchicalPerceptron as HierarchicalPerceptron,
    )
    from taxonomist.models.hierarchical_ranking_svc import (
        HierarchicalRankingSVC as HierarchicalRankingSVC,
    )
    from taxonomist.models.hierarchical_rls import HierarchicalRLS as HierarchicalRLS
    from taxonomist.models.hierarchical_shrinkage import (
        HierarchicalShrinkage as HierarchicalShrinkage,
    )
    from taxonomist.models.hierarchical_svc import HierarchicalSVC as HierarchicalSVC
    from taxonomist.models.lidstone_nb import LidstoneNB as LidstoneNB
    from taxonomist.models.max_margin_markov_classifier import (
        MaxMarginMarkovClassifier as MaxMarginMarkovClassifier,
    )
    from taxonomist.models.node_svc import NodeSVC as NodeSVC
    from taxonomist.models.path_svc import PathSVC as PathSVC
    from taxonomist.models.plsa_classifier import PLSAClassifier as PLSAClassifier
    from taxonomist.models.thresholded_knn import ThresholdedKNN as ThresholdedKNN
    from taxonomist.models.top_down_svc import TopDownSVC as TopDownSVC

HOMES = {
    "BlendedClassifier": "blended_classifier",
    "CalibratedClassifier": "calibrated",
    "CoupledBinarySVC": "coupled_binary_svc",
    "HierarchicalMixture": "hierarchical_mixture",
    "HierarchicalPerceptron": "hierarchical_perceptron",
    "HierarchicalRankingSVC": "hierarchical_ranking_svc",
    "HierarchicalRLS": "hierarchical_rls",
    "HierarchicalShrinkage": "hierarchical_shrinkage",
    "HierarchicalSVC": "hierarchical_svc",
    "LidstoneNB": "lidstone_nb",
    "MaxMarginMarkovClassifier": "max_margin_markov_classifier",
    "NodeSVC": "node_svc",
    "PathSVC": "path_svc",
    "PLSAClassifier": "plsa_classifier",
    "ThresholdedKNN": "thresholded_knn",
    "TopDownSVC": "top_down_svc",
}
"""The module of each model."""

__getattr__ = lazy_names(__name__, HOMES)


def all_models() -> dict[str, type]:
    """Return all model classes by name."""
    return {name: __getattr__(name) for name in HOMES}


def imported_models() -> dict[str, type]:
    """Return the model classes that are imported already."""
    modules = {name: sys.modules.get(f"{__name__}.{home}") for name, home in HOMES.items()}
    return {
        name: getattr(module, name) for name, module in modules.items() if hasattr(module, name)
    }
