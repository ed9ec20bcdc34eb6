"""Features that are typical of categories: complement naive Bayes beside the classifiers of nodes.

The weight of feature u in category c is log((T_u + α) / (T_u - S_cu + α)), where S_cu sums the
values of the feature over the items of c, and T_u over all items: how much of the feature is lost
if c is taken away. It needs no margin, so that a few items of a category are enough. Categories
with many features lose more of everything, for which the bias makes up: the logarithm of what
remains of all features, times the mean sum of an item's values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from taxonomist.inference.block_weights import BlockWeights
from taxonomist.solvers.node_svms import blocks_of

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Codes, Floats

SMOOTHING = 0.1
"""α, for items of length 1. Of .1, .3 and 1, .1 was the best or within a point on newsgroups, and
with word pairs and characters of trec-question and naics2012. With their words alone, where this
part gains nothing, 1 did the least harm."""


def typical_features(X: CSR, labels: CSR, item_weights: Floats) -> BlockWeights:
    """Return the weights of features in categories, one column per category.

    Parameters
    ----------
    X
        The items. Features with a value below 0 are left out.
    labels
        The category of each item, (n_items, n_categories).
    item_weights
        The weights of the items.
    """
    n_features, n_categories = X.shape[1], labels.shape[1]
    is_used = np.ones(n_features, dtype=bool)
    is_used[X.indices[X.data < 0]] = False
    weighted = csr_array((item_weights, labels.indices, labels.indptr), shape=labels.shape)
    sums = csr_array(csr_array(X.T) @ weighted)
    sums.sort_indices()
    feature = np.repeat(np.arange(n_features), np.diff(sums.indptr))
    kept = is_used[feature] & (sums.data > 0)
    feature, category, values = feature[kept], sums.indices[kept], sums.data[kept]
    totals = np.bincount(feature, values, n_features)
    rest = np.maximum(totals[feature] - values, 0.0)
    found = np.log((totals[feature] + SMOOTHING) / (rest + SMOOTHING))
    sizes: Floats = np.bincount(category, values, n_categories).astype(np.float64)
    bias = _bias(sizes, int((totals > 0).sum()))
    bias *= totals.sum() / max(item_weights.sum(), 1.0)
    return _in_blocks(feature, category, found, bias, n_features)


def _bias(sizes: Floats, n_used: int) -> Floats:
    """Return the centred logarithms of what remains of all features without each category."""
    logs = np.log(np.maximum(sizes.sum() - sizes, 0.0) + SMOOTHING * max(n_used, 1))
    centred: Floats = logs - logs.mean()
    return centred


def _in_blocks(
    feature: Codes, category: Codes, values: Floats, bias: Floats, n_features: int
) -> BlockWeights:
    """Return weights in blocks of columns; they are sorted by feature and then by category."""
    blocks = blocks_of(np.array([0, len(bias)]))
    block = np.searchsorted(blocks.begin, category, side="right") - 1
    order = np.argsort(block, kind="stable")
    feature, category, values, block = feature[order], category[order], values[order], block[order]
    is_first = np.ones(len(feature), dtype=bool)
    is_first[1:] = (np.diff(feature) != 0) | (np.diff(block) != 0)
    widths = blocks.end - blocks.begin
    steps = widths[block[is_first]]
    start = np.cumsum(steps) - steps
    dense = np.zeros(int(steps.sum()), np.float32)
    dense[start[np.cumsum(is_first) - 1] + category - blocks.begin[block]] = values
    segments = feature[is_first], block[is_first], dense
    return BlockWeights.join(n_features, *segments, widths, bias.astype(np.float32))
