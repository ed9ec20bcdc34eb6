"""Models: scikit-learn classifiers over a taxonomy.

This is the table of models, with one import per model. Everything else that lists models (the names
of the package, the command line, ``TextClassifier``, model files, the contract tests) reads this
table. The traits of a model are an attribute of its class.
"""

from __future__ import annotations

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
from taxonomist.models.hierarchical_shrinkage import HierarchicalShrinkage as HierarchicalShrinkage
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


def all_models() -> dict[str, type]:
    """Return all model classes by name."""
    return {name: kind for name, kind in globals().items() if hasattr(kind, "traits")}
