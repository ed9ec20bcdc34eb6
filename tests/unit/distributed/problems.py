"""Small problems for the distributed models, and comparisons to the last bit."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse import random as random_matrix

from taxonomist import Taxonomy
from taxonomist.distributed.engine import LocalEngine

TREE = Taxonomy.from_paths(
    [f"a > b > c{k}" for k in range(20)] + [f"a > d > e{k}" for k in range(3)] + ["f > g", "f > h"]
)
DAG = Taxonomy.from_edges(
    [("a", "x"), ("b", "x"), ("a", "y"), ("b", "z"), ("x", "u"), ("x", "v"), ("y", "w"), ("b", "w")]
)


def problem(taxonomy=TREE, n_items=300, n_features=200, is_sets=False, seed=0):
    """Return rows, labels (also of inner nodes) and weights, some of which are 0."""
    rng = np.random.default_rng(seed)
    ids = [taxonomy.nodes[code] for code in np.flatnonzero(taxonomy.is_leaf)]
    ids += [taxonomy.nodes[2], taxonomy.nodes[1]]
    X = csr_array(random_matrix(n_items, n_features, 0.06, format="csr", random_state=seed))
    if is_sets:
        y = [rng.choice(ids, rng.integers(0, 4), replace=False).tolist() for _ in range(n_items)]
    else:
        y = rng.choice(ids, n_items).tolist()
    return X, y, rng.choice([0.0, 1.0, 2.0], n_items)


def cut(given, ends=(0, 50, 50, 130, 300)):
    """Return parts of items; one of them is empty."""
    if given is None:
        return [None] * (len(ends) - 1)
    return [given[a:b] for a, b in pairwise(ends)]


class SendingEngine(LocalEngine):
    """Sends all arguments, so that functions get arrays that cannot be written to."""

    def map(self, function, *columns, shared=()):
        def sent(*arguments):
            return function(*map(_sent, arguments))

        return super().map(sent, *columns, shared=shared)


def _sent(value):
    buffers = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])


def assert_same_weights(one, other):
    """Compare all weights of two fitted ``PathSVC``, to the last bit."""
    pairs = zip(one.scorer_.weights.blocks(), other.scorer_.weights.blocks(), strict=True)
    for (begin, features, values), (begin_2, features_2, values_2) in pairs:
        assert begin == begin_2
        np.testing.assert_array_equal(features, features_2)
        np.testing.assert_array_equal(values, values_2)
    np.testing.assert_array_equal(one.scorer_.weights.table.bias, other.scorer_.weights.table.bias)


def assert_same(one, other):
    """Compare two fitted ``PathSVC``, to the last bit."""
    assert_same_weights(one, other)
    for name in ("objective_", "dual_objective_", "duality_gap_", "n_iter_", "converged_"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("blend_", "label_limits_"):
        assert getattr(one, name, None) == getattr(other, name, None), name
    assert hasattr(one, "thresholds_") == hasattr(other, "thresholds_")
    if hasattr(one, "thresholds_"):
        np.testing.assert_array_equal(one.thresholds_, other.thresholds_)
    assert one.classes_.dtype == other.classes_.dtype
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.taxonomy_.nodes == other.taxonomy_.nodes
