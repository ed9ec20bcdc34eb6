"""Branches of a taxonomy whose items changed, and the classifiers of ``PathSVC`` that did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from taxonomist.errors import LabelError, ParameterError
from taxonomist.models.path_columns import ALL
from taxonomist.solvers.node_svms import KeptBlocks, blocks_of

if TYPE_CHECKING:
    from taxonomist._typing import Bools
    from taxonomist.inference.block_weights import BlockWeights
    from taxonomist.models.learning import Training
    from taxonomist.models.path_columns import PathColumns
    from taxonomist.models.path_learning import PathStart
    from taxonomist.taxonomy import Taxonomy


class Branches(NamedTuple):
    """Branches whose items changed since the last fit.

    Attributes
    ----------
    nodes
        Their ids.
    has_new_items
        Whether there are items that the last fit did not have, all of them in these branches.
    weights
        The weights of the last fit.
    """

    nodes: tuple[str, ...]
    has_new_items: bool
    weights: BlockWeights

    def kept(
        self, columns: PathColumns, taxonomy: Taxonomy, start: PathStart, names: tuple[str, ...]
    ) -> KeptBlocks:
        """Return the blocks of classifiers whose items did not change."""
        old, blocks = start.places(names, columns.kinds), blocks_of(columns.groups.columns)
        first, n_old = self.weights.table.first, len(start.nodes)
        is_changed = self._changed(columns, taxonomy) | (old == n_old)
        old_block = np.searchsorted(first, np.append(old, n_old), side="right") - 1
        new_of = np.full(len(first) - 1, -1, np.intp)
        for block, (begin, end) in enumerate(zip(blocks.begin, blocks.end, strict=True)):
            before = int(old_block[begin])
            same = np.arange(old[begin], old[begin] + end - begin)
            if not is_changed[begin:end].any() and np.array_equal(old[begin:end], same):
                is_whole = first[before] == old[begin] and first[before + 1] == same[-1] + 1
                new_of[before] = block if is_whole else -1
        features, before_blocks, values = self.weights.segments(new_of >= 0)
        is_kept = np.isin(np.arange(len(blocks.begin)), new_of)
        has = np.repeat(is_kept, blocks.end - blocks.begin)
        bias = np.where(has, np.append(self.weights.table.bias, np.float32(0))[old], np.float32(0))
        primal, dual = (np.where(has, np.append(part, 0.0)[old], 0.0) for part in start[4:])
        alpha = start.columns(names, columns.kinds) @ diags_array(has.astype(np.float32))
        segments = features, new_of[before_blocks], values
        return KeptBlocks(is_kept, *segments, bias, primal, dual, csr_array(alpha))

    def _changed(self, columns: PathColumns, taxonomy: Taxonomy) -> Bools:
        """Return which classifiers have other items or labels than before."""
        table, given = taxonomy.ancestor_matrix(), taxonomy.codes(self.nodes)
        is_at_or_below = np.asarray(table[:, given].sum(axis=1)) > 0
        is_touched = is_at_or_below.copy()
        if self.has_new_items:
            is_touched |= np.asarray(table[given].sum(axis=0)) > 0
            is_touched[0] = True
        parents = csr_array(
            (
                np.ones(len(taxonomy.parent_indices), bool),
                taxonomy.parent_indices,
                taxonomy.parent_indptr,
            ),
            shape=(taxonomy.n_nodes, taxonomy.n_nodes),
        )
        has_touched_parent = (parents @ is_touched.astype(float)) > 0
        is_all = columns.kinds == ALL
        found: Bools = has_touched_parent[columns.nodes] | (is_all & self.has_new_items)
        return found


def check_branches(training: Training, nodes: tuple[str, ...], n_old: int) -> None:
    """Raise if some nodes are unknown, or if a new item belongs to none of them."""
    n_items, taxonomy = len(training.weights), training.targets.categories.taxonomy
    codes = taxonomy.codes(nodes)
    if n_items < n_old:
        raise ParameterError(
            f"refit needs all {n_old} items of the last fit, and maybe more. Got {n_items}."
        )
    closed = training.targets.close(training.targets.labels)
    outside = np.asarray(closed[n_old:, codes].sum(axis=1)) == 0
    if outside.any():
        item = n_old + int(outside.argmax())
        raise LabelError(
            f"Item {item} is new and belongs to none of the nodes {', '.join(nodes)}; name a node "
            "above its label as well."
        )
