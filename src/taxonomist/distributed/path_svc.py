"""``DaskPathSVC``: ``PathSVC`` on a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.distributed.classifier import DaskClassifier
from taxonomist.distributed.path_fit import fit_paths
from taxonomist.models.path_svc import PathSVC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.distributed.blocks import Block
    from taxonomist.distributed.engine import Engine, Handle


class DaskPathSVC(DaskClassifier):
    """``PathSVC`` for items that are spread over a Dask cluster.

    The classifiers of sibling categories are trained on the worker where their items come together.
    The result is the same as that of ``PathSVC`` with all items in one place, whatever the number
    of workers and partitions. Where the items of siblings exceed a worker's share of memory, they
    stay in shards, and the classifiers are the same up to ``tol``.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels.
    client
        The Dask client. None uses the default client when it is needed. It is never pickled.
    **parameters
        The other parameters of ``PathSVC``. ``n_jobs`` is the number of threads of one task, by
        default 1. ``warm_start`` and ``complement`` must be False.

    Attributes
    ----------
    local_
        The fitted ``PathSVC``. Its attributes, such as ``classes_``, are attributes of this model
        too.

    Notes
    -----
    The driver holds about 20 bytes of each item: its weight, its number, and its fold. If all rows
    do not fit on all workers, ``fit`` raises ``ClusterError`` before it trains. The fitted model
    has no dual variables, so that ``refit`` needs a local fit.
    """

    local_class = PathSVC

    def _fit_local(
        self, engine: Engine, blocks: Sequence[Sequence[Handle]], local: Block
    ) -> PathSVC:
        """Fit the local twin to blocks of items, labels and weights, and return it."""
        return fit_paths(engine, blocks, local)
