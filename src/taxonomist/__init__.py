"""Taxonomist: classify documents and other items into taxonomies."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taxonomist import datasets as datasets
    from taxonomist import distributed as distributed
    from taxonomist import evaluation as evaluation
    from taxonomist import features as features
    from taxonomist import kernels as kernels
    from taxonomist import losses as losses
    from taxonomist import metrics as metrics
    from taxonomist import persistence as persistence
    from taxonomist import plots as plots
    from taxonomist import report as report
    from taxonomist.models import *
    from taxonomist.models.numbered_classifier import NumberedClassifier as NumberedClassifier
    from taxonomist.taxonomy import Taxonomy as Taxonomy
    from taxonomist.text import TextClassifier as TextClassifier

__version__ = "0.1.0"

_MODULES = (
    "datasets",
    "distributed",
    "evaluation",
    "features",
    "kernels",
    "losses",
    "metrics",
    "persistence",
    "plots",
    "report",
)
_CLASSES = {
    "NumberedClassifier": "taxonomist.models.numbered_classifier",
    "Taxonomy": "taxonomist.taxonomy",
    "TextClassifier": "taxonomist.text",
}


def __getattr__(name: str) -> Any:
    """Import the home of a public name when it is first used; models are in ``models``."""
    if name in _MODULES:
        return importlib.import_module(f"taxonomist.{name}")
    if name in _CLASSES:
        return getattr(importlib.import_module(_CLASSES[name]), name)
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in _models():
        raise AttributeError(f"module 'taxonomist' has no attribute {name!r}")
    return getattr(importlib.import_module("taxonomist.models"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*_MODULES, *_CLASSES, *_models(), "__version__"])


def _models() -> dict[str, str]:
    """Return the modules of all models."""
    found: dict[str, str] = importlib.import_module("taxonomist.models").HOMES
    return found
