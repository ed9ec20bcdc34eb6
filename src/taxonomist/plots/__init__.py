"""Figures of what models and evaluations found; each function returns the matplotlib figure."""

from __future__ import annotations

from taxonomist.plots.convergence import convergence

__all__ = ["convergence"]
