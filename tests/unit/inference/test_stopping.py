"""The right to stop: against brute force over nodes and label sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.inference import stopping as module
from taxonomist.inference.node_probabilities import any_of_categories, sum_of_categories
from taxonomist.inference.stopping import (
    confident_nodes,
    confident_sets,
    least_cost_nodes,
    least_cost_sets,
)
from taxonomist.losses import category_loss, weighted_tree
from taxonomist.taxonomy import labels
from tests.strategies import taxonomies

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1"])
TREE_CODES = TREE.codes(["a1", "a2", "b1"])


@st.composite
def problems(draw, trees_only=False, max_nodes=9):
    """Draw a taxonomy, the nodes of its categories, and probabilities of categories."""
    taxonomy = draw(taxonomies(max_nodes=max_nodes, trees_only=trees_only))
    inner = draw(st.sets(st.integers(0, taxonomy.n_nodes - 1), max_size=2))
    codes = np.array(sorted(inner | set(np.flatnonzero(taxonomy.is_leaf).tolist())))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    table = rng.dirichlet(np.full(len(codes), 0.5), size=5)
    return taxonomy, codes, table


def sums(taxonomy, codes, table):
    return sum_of_categories(taxonomy, codes, table)


@given(problems(), st.sampled_from([0.0, 0.05, 0.3, 0.6, 0.95]))
def test_confident_nodes_by_looking_at_all(problem, risk):
    taxonomy, codes, table = problem
    of_nodes = sums(taxonomy, codes, table)
    for row, found in zip(of_nodes, confident_nodes(taxonomy, of_nodes, risk), strict=True):
        sure = [code for code in range(taxonomy.n_nodes) if row[code] >= 1 - risk - 1e-9]
        best = max(sure, key=lambda code: (taxonomy.depths[code], row[code], -code), default=0)
        assert found == best


def test_confident_nodes_by_hand():
    table = np.array([[0.95, 0.03, 0.02], [0.5, 0.45, 0.05], [0.3, 0.3, 0.4]])
    found = confident_nodes(TREE, sums(TREE, TREE_CODES, table), 0.1)
    assert labels.decode(TREE, found).tolist() == ["a1", "a", "ROOT"]
    # Of two that are sure enough and equally deep, the more probable; of equal ones the first.
    found = confident_nodes(TREE, sums(TREE, TREE_CODES, table[1:]), 0.7)
    assert labels.decode(TREE, found).tolist() == ["a1", "b1"]


def test_the_root_is_the_answer_also_where_it_is_not_sure():
    found = confident_nodes(TREE, [[0.2, 0.3, 0.0, 0.3, 0.1, 0.1]], 0.1)
    assert found.tolist() == [0]


def test_sums_that_miss_1_by_rounding_are_certain():
    # b1 has nothing, and the two others add up to a little less than 1.
    found = confident_nodes(TREE, [[1.0, 1 - 1e-15, 0.5, 0.5, 0.0, 0.0]], 0.0)
    assert labels.decode(TREE, found).tolist() == ["a"]


@given(st.data(), st.sampled_from([0.0, 0.1, 0.4, 0.9]))
def test_confident_sets_are_the_sure_part_of_predicted_ones(data, risk):
    taxonomy, codes, table = data.draw(problems())
    of_nodes = any_of_categories(taxonomy, codes, table)
    rng = np.random.default_rng(0)
    sets = labels.close(taxonomy, csr_array(rng.random(of_nodes.shape) < 0.3))
    found = confident_sets(sets, of_nodes, risk)
    expected = sets.toarray() & (of_nodes >= 1 - risk - 1e-9)
    np.testing.assert_array_equal(found.toarray(), expected)
    np.testing.assert_array_equal(labels.close(taxonomy, found).toarray(), expected)


@pytest.mark.parametrize("risk", [-0.1, 1.0, np.nan])
def test_a_risk_is_a_probability_below_1(risk):
    with pytest.raises(ValueError, match="risk must be at least 0 and below 1"):
        confident_nodes(TREE, np.ones((1, 6)), risk)
    with pytest.raises(ValueError, match="risk must be"):
        confident_sets(csr_array(np.ones((1, 6), bool)), np.ones((1, 6)), risk)


def brute_force(loss, taxonomy, codes, table, candidates):
    """Return the least expected loss over candidates, and that of each."""
    costs = np.array(
        [[loss(taxonomy.nodes[c], taxonomy.nodes[z]) for z in candidates] for c in codes]
    )
    return table @ costs


def assert_cheapest(found, taxonomy, costs, candidates):
    """Check that nodes cost the least, and that no earlier one costs the same."""
    place = {int(z): k for k, z in enumerate(candidates)}
    for row, node in zip(costs, found.tolist(), strict=True):
        assert row[place[node]] == pytest.approx(row.min(), abs=1e-9)
        assert not (row[: place[node]] < row.min() + 1e-12).any()


def tree_loss(taxonomy):
    return lambda a, b: taxonomy.distance(a, b) / 2


@given(problems())
def test_least_tree_loss_by_brute_force(problem):
    taxonomy, codes, table = problem
    found = least_cost_nodes("tree", taxonomy, codes, table, sums(taxonomy, codes, table))
    everyone = np.arange(taxonomy.n_nodes)
    costs = brute_force(tree_loss(taxonomy), taxonomy, codes, table, everyone)
    assert_cheapest(found, taxonomy, costs, everyone)


@given(problems(), st.integers(0, 1000))
def test_least_weighted_loss_by_brute_force(problem, seed):
    taxonomy, codes, table = problem
    rng = np.random.default_rng(seed)
    load, miss, alarm = (
        dict(zip(taxonomy.nodes, rng.uniform(0.1, 2, taxonomy.n_nodes), strict=True))
        for _ in range(3)
    )

    def loss(a, b):
        above_a, above_b = ({node, *taxonomy.ancestors(node)} for node in (a, b))
        missed = sum(load[v] * miss[v] for v in above_a - above_b)
        return missed + sum(load[v] * alarm[v] for v in above_b - above_a)

    everyone, of_nodes = np.arange(taxonomy.n_nodes), sums(taxonomy, codes, table)
    costs = brute_force(loss, taxonomy, codes, table, everyone)
    made = weighted_tree(load, miss, alarm)
    as_object = category_loss(made, taxonomy, codes)
    for given_loss in (made, as_object, loss):
        found = least_cost_nodes(given_loss, taxonomy, codes, table, of_nodes)
        assert_cheapest(found, taxonomy, costs, everyone)


@given(problems(), st.integers(0, 1000), st.integers(1, 60))
def test_least_loss_of_a_matrix_by_brute_force(problem, seed, cells):
    taxonomy, codes, table = problem
    matrix = np.random.default_rng(seed).uniform(0.1, 3, size=(len(codes), len(codes)))
    np.fill_diagonal(matrix, 0)
    ids = [taxonomy.nodes[code] for code in codes]
    frame = pd.DataFrame(matrix, index=ids, columns=ids)
    old, module.COSTS_AT_A_TIME = module.COSTS_AT_A_TIME, cells
    try:
        for loss in (matrix, frame, category_loss(matrix, taxonomy, codes)):
            found = least_cost_nodes(loss, taxonomy, codes, table, sums(taxonomy, codes, table))
            assert_cheapest(found, taxonomy, table @ matrix, codes)
        found = least_cost_nodes("tree", taxonomy, codes, table, sums(taxonomy, codes, table))
    finally:
        module.COSTS_AT_A_TIME = old
    whole = least_cost_nodes("tree", taxonomy, codes, table, sums(taxonomy, codes, table))
    np.testing.assert_array_equal(found, whole)


def test_no_1_loss_takes_the_most_probable_category():
    table = np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    for loss in ("zero_one", category_loss("zero_one", TREE, TREE_CODES)):
        found = least_cost_nodes(loss, TREE, TREE_CODES, table, sums(TREE, TREE_CODES, table))
        assert labels.decode(TREE, found).tolist() == ["a2", "a1"]


def test_a_tie_goes_to_the_node_further_up():
    table = np.array([[0.5, 0.5, 0.0]])
    found = least_cost_nodes("tree", TREE, TREE_CODES, table, sums(TREE, TREE_CODES, table))
    assert labels.decode(TREE, found).tolist() == ["a"]


def test_a_loss_for_some_nodes_compares_these():
    table = np.array([[0.5, 0.5, 0.0]])
    nodes = TREE.codes(["a1", "a2", "b1", "b"])

    def loss(true, predicted):
        return float(true != predicted) + (predicted == "b") * 5

    bound = category_loss(loss, TREE, nodes)
    found = least_cost_nodes(bound, TREE, TREE_CODES, table, sums(TREE, TREE_CODES, table))
    assert labels.decode(TREE, found).tolist() == ["a1"]
    few = category_loss(lambda a, b: float(a != b), TREE, ["a1", "a2", "a"])
    other = category_loss("tree", Taxonomy.flat("xy"))
    for wrong, message in ((few, "does not cover 'b1'"), (other, "another taxonomy")):
        with pytest.raises(LabelError, match=message):
            least_cost_nodes(wrong, TREE, TREE_CODES, table, sums(TREE, TREE_CODES, table))


def closed_sets(taxonomy):
    """Yield all label sets that are closed under ancestors."""
    for chosen in product([False, True], repeat=taxonomy.n_nodes):
        if all(chosen[parent] or not chosen[child] for parent, child in taxonomy.edges.tolist()):
            yield np.array(chosen)


@given(problems(max_nodes=8), st.booleans(), st.integers(0, 1000))
def test_least_cost_sets_by_brute_force(problem, is_plain, seed):
    taxonomy, codes, table = problem
    of_nodes = any_of_categories(taxonomy, codes, table)
    rng = np.random.default_rng(seed)
    loss, miss, alarm = "tree", np.full(taxonomy.n_nodes, 0.5), np.full(taxonomy.n_nodes, 0.5)
    if not is_plain:
        miss, alarm = rng.uniform(0.1, 2, size=(2, taxonomy.n_nodes))
        if not taxonomy.is_tree:
            alarm = 0.4 * miss
        loss = weighted_tree(
            1.0,
            dict(zip(taxonomy.nodes, miss, strict=True)),
            dict(zip(taxonomy.nodes, alarm, strict=True)),
        )
    found = least_cost_sets(loss, taxonomy, of_nodes).toarray()
    for row, chosen in zip(of_nodes, found, strict=True):
        cost = {
            tuple(other): float(row[~other] @ miss[~other] + (1 - row[other]) @ alarm[other])
            for other in closed_sets(taxonomy)
        }
        assert cost[tuple(chosen)] == pytest.approx(min(cost.values()), abs=1e-9)


def test_losses_that_sets_cannot_have():
    dag = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    with pytest.raises(LabelError, match="costs at nodes"):
        least_cost_sets("zero_one", dag, np.ones((1, 4)))
    with pytest.raises(LabelError, match="must be the same at all nodes"):
        least_cost_sets(weighted_tree(miss={"a": 3.0}), dag, np.ones((1, 4)))


def test_columns_must_be_nodes():
    with pytest.raises(LabelError, match="6 categories"):
        confident_nodes(TREE, np.ones((1, 5)))
