"""``DaskHierarchicalSVC``: ``HierarchicalSVC`` on a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.distributed.classifier import DaskClassifier
from taxonomist.distributed.joint_fit import fit_joint
from taxonomist.models.hierarchical_svc import HierarchicalSVC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.distributed.blocks import Block
    from taxonomist.distributed.engine import Engine, Handle


class DaskHierarchicalSVC(DaskClassifier):
    """``HierarchicalSVC`` for items that are spread over a Dask cluster.

    Items and their dual variables stay where they are, in one shard for each thread. The weights
    go out and their changes come back in every round, so use it when the documents do not fit on
    one machine, not when there are many categories. The duality gap is that of all items, as on
    one machine.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels, a tree or a DAG. None uses a flat taxonomy of the labels.
    client
        The Dask client. None uses the default client when it is needed. It is never pickled.
    **parameters
        The other parameters of ``HierarchicalSVC``. The kernel must be linear, C finite,
        ``fit_intercept`` and ``warm_start`` False, and the solver ``"auto"`` or ``"sequential"``.
        ``max_iter`` is the maximum number of rounds.

    Attributes
    ----------
    local_
        The fitted ``HierarchicalSVC``. Its attributes, such as ``classes_`` and ``duality_gap_``,
        are attributes of this model too.
    rounds_
        For each round: the part of its items that each shard solved (0 for a certificate), bytes
        sent, length of the step, coupling and conflict of the shards.
    """

    local_class = HierarchicalSVC

    def _fit_local(
        self, engine: Engine, blocks: Sequence[Sequence[Handle]], local: Block
    ) -> HierarchicalSVC:
        """Fit the local twin to blocks of items, labels and weights, and return it."""
        model, self.rounds_ = fit_joint(engine, blocks, local)
        return model
