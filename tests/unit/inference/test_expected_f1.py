"""The expected F1 of predictions, and the tree loss that does not lower it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from taxonomist import Taxonomy, metrics
from taxonomist.inference.expected_f1 import TreeWithinF1, expected_f1
from taxonomist.inference.stopping import least_cost_nodes
from tests.unit.inference.test_stopping import brute_force, problems, sums, tree_loss

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "a > a3", "a > a4", "b > b1 > b2"])


def f1_by_brute_force(taxonomy, codes, table):
    """Return the expected F1 of predicting each node, from the measure itself."""
    pairs = [(taxonomy.nodes[c], node) for c in codes for node in taxonomy.nodes]
    values = [metrics.hierarchical_f1([true], [found], taxonomy) for true, found in pairs]
    return table @ np.reshape(values, (len(codes), taxonomy.n_nodes))


@given(problems())
def test_expected_f1_by_brute_force(problem):
    taxonomy, codes, table = problem
    wanted = f1_by_brute_force(taxonomy, codes, table)
    np.testing.assert_allclose(expected_f1(taxonomy, codes, table), wanted, atol=1e-9)


@given(problems())
def test_the_least_loss_among_nodes_whose_f1_is_high_enough(problem):
    taxonomy, codes, table = problem
    found = least_cost_nodes(TreeWithinF1(), taxonomy, codes, table, sums(taxonomy, codes, table))
    f1 = f1_by_brute_force(taxonomy, codes, table)
    costs = brute_force(tree_loss(taxonomy), taxonomy, codes, table, range(taxonomy.n_nodes))
    for row, values, loss, node in zip(table, f1, costs, found.tolist(), strict=True):
        plain = values[codes[row.argmax()]]
        allowed = values >= plain - 1e-8
        assert allowed[node]
        assert loss[node] == pytest.approx(loss[allowed].min(), abs=1e-8)


def test_it_stops_only_where_f1_gains():
    codes = TREE.codes(["a1", "a2", "a3", "a4", "b2"])
    # Below a, no child is likely; "a" has the smaller loss in both rows.
    table = np.array([[0.28, 0.24, 0.24, 0.24, 0.0], [0.46, 0.18, 0.18, 0.18, 0.0]])
    of_nodes = sums(TREE, codes, table)
    pure = least_cost_nodes("tree", TREE, codes, table, of_nodes)
    kept = least_cost_nodes(TreeWithinF1(), TREE, codes, table, of_nodes)
    assert [TREE.nodes[code] for code in pure] == ["a", "a"]
    assert [TREE.nodes[code] for code in kept] == ["a", "a1"]
