"""Tasks on parts and shards of the items of ``DaskHierarchicalSVC``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from taxonomist._typing import is_sparse
from taxonomist.models.certificates import item_costs
from taxonomist.solvers.duals import no_duals
from taxonomist.solvers.shards import Shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import CSR, Floats, Matrix
    from taxonomist.compiled.arrays import Duals
    from taxonomist.distributed.loading import LoadedPart
    from taxonomist.losses import CategoryLoss
    from taxonomist.models.targets import Targets
    from taxonomist.solvers.changes import Change
    from taxonomist.solvers.solution import Options


class JointPart(NamedTuple):
    """The items of a part that have a weight.

    Attributes
    ----------
    X
        Rows.
    labels
        The categories of each item.
    costs
        The slack penalty of each item.
    """

    X: Matrix
    labels: CSR
    costs: Floats


class JointSetting(NamedTuple):
    """What all shards share.

    Attributes
    ----------
    targets
        The categories, without items.
    attributes, loss
        Λ and Δ of the joint problem.
    C
        The penalty of a unit of slack.
    n_columns
        The number of columns of rows, with the constant feature.
    """

    targets: Targets
    attributes: CSR
    loss: CategoryLoss
    C: float
    n_columns: int


def encode_items(loaded: LoadedPart, setting: JointSetting) -> JointPart:
    """Return the items of a part that have a weight, with encoded labels."""
    targets = setting.targets
    if not len(loaded.weights):
        rows: Matrix = sparse.csr_array((0, setting.n_columns))
        return JointPart(rows, targets.labels, np.empty(0))
    costs = item_costs(setting.C, loaded.weights)
    used = np.flatnonzero(costs > 0)
    marked = targets.again(loaded.y, loaded.X).labels
    return JointPart(loaded.X[used], marked[used], costs[used])


def make_shard(parts: Sequence[JointPart], options: Options, setting: JointSetting) -> Shard:
    """Return the shard of the items of some parts."""
    used = [part for part in parts if len(part.costs)] or list(parts[:1])
    X, labels, costs = zip(*used, strict=True)
    rows = sparse.csr_array(sparse.vstack(X)) if any(map(is_sparse, X)) else np.vstack(X)
    marked = sparse.csr_array(sparse.vstack(labels))
    together = rows, marked, np.concatenate(costs)
    return Shard.of(*together, setting.attributes, setting.loss, options)


def begin_duals(shard: Shard, _: Options) -> Duals:
    """Return the dual variables of a shard to begin with."""
    return no_duals(shard.problem.n_items)


def shard_weights(shard: Shard, duals: Duals, options: Options) -> Change:
    """Return the weights that follow from the dual variables of a shard."""
    return shard.weights(duals, options.dtype)
