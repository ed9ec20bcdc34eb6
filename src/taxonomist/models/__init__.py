"""Models: scikit-learn classifiers over a taxonomy."""

from __future__ import annotations

from taxonomist.models.coupled_binary_svc import CoupledBinarySVC
from taxonomist.models.hierarchical_perceptron import HierarchicalPerceptron
from taxonomist.models.hierarchical_ranking_svc import HierarchicalRankingSVC
from taxonomist.models.hierarchical_svc import HierarchicalSVC

__all__ = [
    "CoupledBinarySVC",
    "HierarchicalPerceptron",
    "HierarchicalRankingSVC",
    "HierarchicalSVC",
]
