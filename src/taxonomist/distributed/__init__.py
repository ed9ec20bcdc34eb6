"""The same estimators on a Dask cluster, for documents that do not fit on one machine.

This needs the extra ``taxonomist[dask]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._lazy import lazy_names

if TYPE_CHECKING:
    from taxonomist.distributed.hierarchical_svc import DaskHierarchicalSVC as DaskHierarchicalSVC
    from taxonomist.distributed.path_svc import DaskPathSVC as DaskPathSVC
    from taxonomist.distributed.text_classifier import DaskTextClassifier as DaskTextClassifier

__all__ = ["DaskHierarchicalSVC", "DaskPathSVC", "DaskTextClassifier"]

__getattr__ = lazy_names(
    __name__,
    {
        "DaskHierarchicalSVC": "hierarchical_svc",
        "DaskPathSVC": "path_svc",
        "DaskTextClassifier": "text_classifier",
    },
)
