import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from taxonomist import Taxonomy
from taxonomist.errors import LabelError, UnknownNodeError
from taxonomist.taxonomy import differences
from tests.strategies import taxonomies


def above(taxonomy, node):
    return {node, *taxonomy.ancestors(node)}


@pytest.mark.equation("CH04:23")
@given(taxonomies(), st.integers(0, 2**32 - 1))
def test_pair_weights_are_the_sums_over_both_differences(taxonomy, seed):
    rng = np.random.default_rng(seed)
    n = taxonomy.n_nodes
    miss, alarm = rng.random((2, n)) * 10.0 ** rng.integers(-15, 15, (2, n))
    a, b = (grid.ravel() for grid in np.mgrid[:n, :n])
    found = differences.pair_weights(taxonomy, a, b, miss, alarm)
    for i, j, weight in zip(a, b, found, strict=True):
        first, second = above(taxonomy, taxonomy.nodes[i]), above(taxonomy, taxonomy.nodes[j])
        expected = miss[taxonomy.codes(first - second)].sum()
        expected += alarm[taxonomy.codes(second - first)].sum()
        assert weight == pytest.approx(expected, rel=1e-12, abs=0)
        assert i != j or weight == 0


@pytest.mark.parametrize("charge", differences.CHARGES)
@given(taxonomy=taxonomies(), seed=st.integers(0, 2**32 - 1))
def test_charged_nodes_agree_with_the_definition(charge, taxonomy, seed):
    Y, U = np.random.default_rng(seed).random((2, 5, taxonomy.n_nodes)) < 0.5
    found = differences.charged(taxonomy, csr_array(Y), csr_array(U), charge).toarray()
    excusing = {"node": lambda _: (), "parent": taxonomy.parents, "path": taxonomy.ancestors}
    for j, node in enumerate(taxonomy):
        others = taxonomy.codes(excusing[charge](node))
        wrong = Y != U
        assert (found[:, j] == (wrong[:, j] & ~wrong[:, others].any(axis=1))).all()


@given(taxonomies(trees_only=True))
def test_scalings_follow_the_paper(taxonomy):
    sibling = differences.node_scaling(taxonomy, "sibling")
    subtree = differences.node_scaling(taxonomy, "subtree")
    assert sibling[0] == subtree[0] == 1
    for code, node in enumerate(taxonomy):
        assert subtree[code] == (1 + len(taxonomy.descendants(node))) / taxonomy.n_nodes
        for parent in taxonomy.parents(node):
            shared = sibling[taxonomy.code(parent)] / (1 + len(taxonomy.siblings(node)))
            assert sibling[code] == pytest.approx(shared)
    assert (differences.node_scaling(taxonomy, "uniform") == 1).all()


def test_a_node_with_several_parents_gets_the_mean_of_its_shares():
    taxonomy = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    shares = dict(zip(taxonomy, differences.node_scaling(taxonomy, "sibling"), strict=True))
    assert shares == {"r": 1, "a": 1 / 2, "b": 1 / 2, "x": (1 / 2 + 1 / 4) / 2, "y": 1 / 4}


def test_user_scaling():
    taxonomy = Taxonomy.from_edges([("r", "a"), ("r", "b")])
    assert differences.node_scaling(taxonomy, {"r": 1, "a": 0.5, "b": 2}).tolist() == [1, 0.5, 2]
    assert differences.node_scaling(taxonomy, [3, 2, 1]).tolist() == [3, 2, 1]
    with pytest.raises(LabelError, match="no value for 1 nodes, e.g. 'b'"):
        differences.node_scaling(taxonomy, {"r": 1, "a": 1})
    with pytest.raises(UnknownNodeError, match="'c'"):
        differences.node_scaling(taxonomy, {"r": 1, "a": 1, "b": 1, "c": 1})
    with pytest.raises(LabelError, match="one value for each of the 3 nodes"):
        differences.node_scaling(taxonomy, [1, 2])
    with pytest.raises(LabelError, match="uniform, sibling, subtree. Got 'other'"):
        differences.node_scaling(taxonomy, "other")
    with pytest.raises(LabelError, match="charge must be one of"):
        differences.charged(taxonomy, csr_array((1, 3)), csr_array((1, 3)), "all")
