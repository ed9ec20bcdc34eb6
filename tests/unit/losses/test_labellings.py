"""Losses between labellings against their definitions, label by label."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxonomist import losses
from taxonomist.errors import LabelError, UnknownNodeError
from taxonomist.taxonomy import Taxonomy
from tests.strategies import taxonomies

TREE = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("a", "y"), ("b", "z")])
DAG = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("x", "y")])
HIERARCHICAL = ("hierarchical_uniform", "hierarchical_sibling", "hierarchical_subtree")


def naive_costs(taxonomy, word):
    """RSSS06's c_j by node id, on trees."""
    costs = {}
    for node in taxonomy.nodes:
        if word == "hierarchical_sibling" and node != taxonomy.root:
            (parent,) = taxonomy.parents(node)
            costs[node] = costs[parent] / len(taxonomy.children(parent))
        elif word == "hierarchical_subtree":
            costs[node] = (1 + len(taxonomy.descendants(node))) / taxonomy.n_nodes
        else:
            costs[node] = 1.0
    return costs


def naive(taxonomy, y, u, costs, excuses):
    """Sum the costs of wrong labels of which no node among the excuses has a wrong label."""
    wrong = {node for node, a, b in zip(taxonomy.nodes, y, u, strict=True) if a != b}
    return sum(costs[node] for node in wrong if not wrong & set(excuses(node)))


def every_pair(taxonomy):
    """All pairs of ±1 labellings."""
    labellings = np.array(list(itertools.product((-1, 1), repeat=taxonomy.n_nodes)))
    n = len(labellings)
    first, second = np.divmod(np.arange(n * n), n)
    return labellings[first], labellings[second]


def random_pair(draw, taxonomy):
    labels = st.lists(st.booleans(), min_size=taxonomy.n_nodes, max_size=taxonomy.n_nodes)
    pair = st.tuples(labels, labels)
    Y, U = np.moveaxis(np.array(draw(st.lists(pair, min_size=1, max_size=4))), 1, 0)
    return Y, U


def excuses_of(taxonomy, charge):
    nothing = {"node": lambda node: (), "parent": taxonomy.parents, "path": taxonomy.ancestors}
    return nothing[charge]


@pytest.mark.equation("RSSS06:2.1")
@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
def test_plain_losses_by_enumeration(taxonomy):
    Y, U = every_pair(taxonomy)
    difference = (Y != U).sum(axis=1)
    np.testing.assert_array_equal(losses.labelling_loss("zero_one", taxonomy)(Y, U), difference > 0)
    loss = losses.labelling_loss("symmetric_difference", taxonomy)
    np.testing.assert_array_equal(loss(Y, U), difference)


@pytest.mark.equation("RSSS06:2.1")
@pytest.mark.parametrize("charge", ["parent", "path"])
@pytest.mark.parametrize("word", HIERARCHICAL)
def test_hierarchical_losses_by_enumeration(word, charge):
    Y, U = every_pair(TREE)
    costs, excuses = naive_costs(TREE, word), excuses_of(TREE, charge)
    expected = [naive(TREE, y, u, costs, excuses) for y, u in zip(Y, U, strict=True)]
    found = losses.labelling_loss(word, TREE, charge=charge)(Y, U)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(st.data(), taxonomies(), st.sampled_from(("node", "parent", "path")))
def test_given_costs_on_dags(data, taxonomy, charge):
    Y, U = random_pair(data.draw, taxonomy)
    costs = {node: 0.25 + 3 * code for code, node in enumerate(taxonomy.nodes)}
    excuses = excuses_of(taxonomy, charge)
    expected = [naive(taxonomy, y, u, costs, excuses) for y, u in zip(Y, U, strict=True)]
    for given_costs in (costs, np.array(list(costs.values()))):
        loss = losses.labelling_loss(given_costs, taxonomy, charge=charge)
        np.testing.assert_allclose(loss(Y, U), expected)
        assert (loss.name, loss.charge) == ("user", charge)


@given(st.data(), taxonomies(), st.sampled_from(losses.LABELLING_LOSSES))
def test_axioms(data, taxonomy, word):
    Y, U = random_pair(data.draw, taxonomy)
    for charge in ("parent", "path"):
        loss = losses.labelling_loss(word, taxonomy, charge=charge)
        found = loss(Y, U)
        assert (found >= 0).all()
        np.testing.assert_array_equal(found == 0, (Y == U).all(axis=1))
        np.testing.assert_array_equal(found, loss(U, Y))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize("word", losses.LABELLING_LOSSES)
def test_forms_of_labellings_agree(word, form):
    Y, U = every_pair(TREE)
    loss = losses.labelling_loss(word, TREE)
    expected = loss(Y, U)
    for convert in (lambda M: M > 0, lambda M: (M > 0).astype(float), form):
        np.testing.assert_array_equal(loss(convert(Y), convert(U)), expected)
    np.testing.assert_array_equal(loss(form(Y > 0), form(U > 0)), expected)


@pytest.mark.equation("RSSS06:2.1")
@pytest.mark.parametrize("word", ["symmetric_difference", *HIERARCHICAL])
@pytest.mark.parametrize("shape", [TREE, Taxonomy.from_edges([("r", "a"), ("a", "b")])])
def test_edges_and_root_sum_to_the_loss(word, shape):
    Y, U = every_pair(shape)
    loss = losses.labelling_loss(word, shape)
    root, edges = loss.decompose(Y, U)
    assert edges.shape == (len(Y), len(shape.edges))
    np.testing.assert_allclose(root + edges.sum(axis=1), loss(Y, U), rtol=1e-12)


def test_an_edge_sees_its_two_labels_only():
    Y, U = every_pair(TREE)
    for word in ("symmetric_difference", "hierarchical_sibling"):
        loss = losses.labelling_loss(word, TREE)
        root, edges = loss.decompose(Y, U)
        np.testing.assert_array_equal(root, loss.costs[0] * (Y[:, 0] != U[:, 0]))
        for (parent, child), charge in zip(TREE.edges, edges.toarray().T, strict=True):
            wrong = Y[:, child] != U[:, child]
            if loss.charge == "parent":
                wrong &= Y[:, parent] == U[:, parent]
            np.testing.assert_array_equal(charge, loss.costs[child] * wrong)


def test_what_does_not_decompose():
    labels = np.ones((1, TREE.n_nodes))
    for loss in (
        losses.labelling_loss("zero_one", TREE),
        losses.labelling_loss("hierarchical_uniform", TREE, charge="path"),
    ):
        with pytest.raises(LabelError, match="more labels than the two at an edge"):
            loss.decompose(labels, labels)
    labels = np.ones((1, DAG.n_nodes))
    with pytest.raises(LabelError, match="several parents"):
        losses.labelling_loss("symmetric_difference", DAG).decompose(labels, labels)


def test_no_items():
    none = np.zeros((0, TREE.n_nodes))
    assert losses.labelling_loss("zero_one", TREE)(none, none).shape == (0,)
    root, edges = losses.labelling_loss("symmetric_difference", TREE).decompose(none, none)
    assert root.shape == (0,)
    assert edges.shape == (0, 5)


def test_labellings_that_do_not_fit():
    loss = losses.labelling_loss("zero_one", TREE)
    good = np.zeros((2, 6))
    with pytest.raises(LabelError, match=r"shape \(2, 5\); pass one column for each of the 6"):
        loss(good, good[:, :5])
    with pytest.raises(LabelError, match=r"shape \(6,\)"):
        loss(good[0], good)
    with pytest.raises(LabelError, match="2 true and 1 predicted"):
        loss(good, good[:1])
    for value in (0.5, np.nan, 2):
        with pytest.raises(LabelError, match=f"found {value}"):
            loss(good, np.full((2, 6), value))
        with pytest.raises(LabelError, match=f"found {value}"):
            loss(sparse.csr_array(np.full((2, 6), value)), good)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_costs_must_be_positive(value):
    with pytest.raises(LabelError, match="cost of node 'x' is"):
        losses.labelling_loss({**dict.fromkeys(TREE.nodes, 1.0), "x": value}, TREE)


def test_unknown_words_and_ids():
    with pytest.raises(LabelError, match="Did you mean 'symmetric_difference'"):
        losses.labelling_loss("symetric_difference", TREE)
    with pytest.raises(LabelError, match="hierarchical_subtree"):
        losses.labelling_loss("uniform", TREE)
    with pytest.raises(LabelError, match="'node', 'parent', 'path'; got 'edge'"):
        losses.labelling_loss("hierarchical_uniform", TREE, charge="edge")
    with pytest.raises(LabelError, match="shape"):
        losses.labelling_loss(np.ones(2), TREE)
    with pytest.raises(UnknownNodeError, match="nowhere"):
        losses.labelling_loss({**dict.fromkeys(TREE.nodes, 1.0), "nowhere": 1.0}, TREE)


def test_loss_that_fits_is_returned_as_it_is():
    loss = losses.labelling_loss("hierarchical_sibling", TREE)
    assert losses.labelling_loss(loss, TREE) is loss
    assert pickle.loads(pickle.dumps(loss)).costs.tolist() == loss.costs.tolist()
    with pytest.raises(LabelError, match="another taxonomy"):
        losses.labelling_loss(loss, DAG)
