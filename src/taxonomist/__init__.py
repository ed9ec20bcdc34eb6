"""Taxonomist: classify documents and other items into taxonomies."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taxonomist import datasets, evaluation, features, kernels, losses, metrics, plots
    from taxonomist.models import (
        CoupledBinarySVC,
        HierarchicalPerceptron,
        HierarchicalRankingSVC,
        HierarchicalRLS,
        HierarchicalSVC,
        NodeSVC,
        TopDownSVC,
    )
    from taxonomist.taxonomy import Taxonomy

__version__ = "0.1.0"

# Where each public name lives; a module is imported when a name of it is first used.
_HOMES = {
    "CalibratedClassifier": "taxonomist.models",
    "CoupledBinarySVC": "taxonomist.models",
    "HierarchicalMixture": "taxonomist.models",
    "HierarchicalPerceptron": "taxonomist.models",
    "HierarchicalRLS": "taxonomist.models",
    "HierarchicalRankingSVC": "taxonomist.models",
    "HierarchicalSVC": "taxonomist.models",
    "HierarchicalShrinkage": "taxonomist.models",
    "LidstoneNB": "taxonomist.models",
    "MaxMarginMarkovClassifier": "taxonomist.models",
    "NodeSVC": "taxonomist.models",
    "PLSAClassifier": "taxonomist.models",
    "Taxonomy": "taxonomist.taxonomy",
    "TextClassifier": "taxonomist.text",
    "ThresholdedKNN": "taxonomist.models",
    "TopDownSVC": "taxonomist.models",
    "datasets": "taxonomist.datasets",
    "evaluation": "taxonomist.evaluation",
    "features": "taxonomist.features",
    "kernels": "taxonomist.kernels",
    "losses": "taxonomist.losses",
    "metrics": "taxonomist.metrics",
    "persistence": "taxonomist.persistence",
    "plots": "taxonomist.plots",
    "report": "taxonomist.report",
}

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
    "Taxonomy",
    "TextClassifier",
    "ThresholdedKNN",
    "TopDownSVC",
    "__version__",
    "datasets",
    "evaluation",
    "features",
    "kernels",
    "losses",
    "metrics",
    "persistence",
    "plots",
    "report",
]


def __getattr__(name: str) -> Any:
    """Import the home of a public name."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'taxonomist' has no attribute {name!r}")
    module = importlib.import_module(home)
    return module if home == f"taxonomist.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
