"""Figures of models and evaluations; each function returns a matplotlib figure."""

from __future__ import annotations

from taxonomist.plots.convergence import convergence
from taxonomist.plots.icicle import tree
from taxonomist.plots.learning import c_sweep, learning_curves
from taxonomist.plots.mistakes import confusion_by_distance, per_level

__all__ = [
    "c_sweep",
    "confusion_by_distance",
    "convergence",
    "learning_curves",
    "per_level",
    "tree",
]
