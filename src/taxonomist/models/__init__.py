"""Models: scikit-learn classifiers over a taxonomy."""

from __future__ import annotations

from taxonomist.models.calibrated import CalibratedClassifier
from taxonomist.models.coupled_binary_svc import CoupledBinarySVC
from taxonomist.models.hierarchical_mixture import HierarchicalMixture
from taxonomist.models.hierarchical_perceptron import HierarchicalPerceptron
from taxonomist.models.hierarchical_ranking_svc import HierarchicalRankingSVC
from taxonomist.models.hierarchical_rls import HierarchicalRLS
from taxonomist.models.hierarchical_shrinkage import HierarchicalShrinkage
from taxonomist.models.hierarchical_svc import HierarchicalSVC
from taxonomist.models.lidstone_nb import LidstoneNB
from taxonomist.models.max_margin_markov_classifier import MaxMarginMarkovClassifier
from taxonomist.models.node_svc import NodeSVC
from taxonomist.models.plsa_classifier import PLSAClassifier
from taxonomist.models.thresholded_knn import ThresholdedKNN
from taxonomist.models.top_down_svc import TopDownSVC

__all__ = [
    "CalibratedClassifier",
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
]
