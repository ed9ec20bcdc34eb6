"""The same estimators on a Dask cluster, for documents that do not fit on one machine.

``DaskPathSVC`` and ``DaskHierarchicalSVC`` take vectors, and ``DaskTextClassifier`` takes texts.
This needs the extra ``taxonomist[dask]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._lazy import lazy_names

if TYPE_CHECKING:
    from taxonomist.distributed.path_svc import DaskPathSVC as DaskPathSVC

__all__ = ["DaskPathSVC"]

__getattr__ = lazy_names(__name__, {"DaskPathSVC": "path_svc"})
