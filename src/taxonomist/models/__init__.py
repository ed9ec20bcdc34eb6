"""Models: scikit-learn classifiers over a taxonomy."""

from __future__ import annotations

from taxonomist.models.hierarchical_svc import HierarchicalSVC

__all__ = ["HierarchicalSVC"]
