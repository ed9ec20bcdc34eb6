from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Taxonomy, labels
from tests.strategies import taxonomies

LOSSES = (metrics.zero_one_loss, metrics.symmetric_difference_loss, metrics.hierarchical_loss)


@st.composite
def labellings(draw):
    taxonomy = draw(taxonomies())
    if draw(st.booleans()):
        taxonomy = taxonomy.rename({taxonomy.root: "ROOT"})
    label_set = st.lists(st.sampled_from(taxonomy.nodes), unique=True, max_size=3)
    pairs = draw(st.lists(st.tuples(label_set, label_set), min_size=1, max_size=6))
    true, predicted = map(list, zip(*pairs, strict=True))
    return taxonomy, true, predicted


def closed(taxonomy, nodes):
    """The labels and all above; everything belongs to an artificial root."""
    found = set(nodes).union(*(taxonomy.ancestors(n) for n in nodes))
    return found | {taxonomy.root} if taxonomy.root == "ROOT" else found


def naive(problem, cost):
    """The mean over items of ``cost(node, wrong)`` summed over the wrong nodes."""
    taxonomy, true, predicted = problem
    totals = []
    for y, u in zip(true, predicted, strict=True):
        wrong = closed(taxonomy, y) ^ closed(taxonomy, u)
        totals.append(sum(cost(node, wrong) for node in wrong))
    return pytest.approx(np.mean(totals))


@given(labellings())
def test_zero_one_and_symmetric_difference(problem):
    taxonomy, true, predicted = problem
    assert metrics.symmetric_difference_loss(true, predicted, taxonomy) == naive(
        problem, lambda node, wrong: 1
    )
    assert metrics.zero_one_loss(true, predicted, taxonomy) == naive(
        problem, lambda node, wrong: 1 / len(wrong)
    )


def shares(taxonomy, scaling):
    """The coefficients c_j of RSSS06 by id."""
    if scaling == "uniform":
        return dict.fromkeys(taxonomy.nodes, 1.0)
    if scaling == "subtree":
        return {n: (1 + len(taxonomy.descendants(n))) / len(taxonomy) for n in taxonomy.nodes}
    c = {taxonomy.root: 1.0}
    for node in taxonomy.nodes[1:]:
        c[node] = np.mean([c[p] / len(taxonomy.children(p)) for p in taxonomy.parents(node)])
    return c


@pytest.mark.parametrize("scaling", ["uniform", "sibling", "subtree"])
@given(problem=labellings())
def test_hierarchical_loss(scaling, problem):
    taxonomy, true, predicted = problem
    c = shares(taxonomy, scaling)
    excuses = {"path": taxonomy.ancestors, "parent": taxonomy.parents}
    for charge, above in excuses.items():
        expected = naive(
            problem,
            lambda node, wrong, above=above: 0 if wrong & set(above(node)) else c[node],
        )
        for given_scaling in (scaling, c):
            value = metrics.hierarchical_loss(
                true, predicted, taxonomy, scaling=given_scaling, charge=charge
            )
            assert value == expected


@given(labellings())
def test_all_forms_of_input_give_the_same(problem):
    taxonomy, true, predicted = problem
    Y, U = (labels.encode_sets(taxonomy, y) for y in (true, predicted))
    for measure in LOSSES:
        expected = measure(true, predicted, taxonomy)
        assert measure(Y.toarray(), U, taxonomy) == expected
        assert measure(sparse.csr_matrix(Y), sparse.csc_array(U), taxonomy) == expected


def test_an_artificial_root_is_never_charged_and_a_real_one_is():
    edges = [("a", "a1"), ("a", "a2")]
    real = Taxonomy.from_edges(edges)
    joined = Taxonomy.from_edges([*edges, ("ROOT", "a"), ("ROOT", "b")])
    assert metrics.symmetric_difference_loss([["a1"]], [[]], real) == 2
    assert metrics.symmetric_difference_loss([["a1"]], [[]], joined) == 2
    assert metrics.hierarchical_loss([["a1"]], [[]], joined) == 1
    assert metrics.hierarchical_loss([["a", "b"]], [[]], joined) == 2


def test_one_label_per_item_and_weights():
    taxonomy = Taxonomy.from_edges([("ROOT", "a"), ("ROOT", "b"), ("a", "a1"), ("a", "a2")])
    value = metrics.symmetric_difference_loss(
        ["a1", "b"], ["a2", "b"], taxonomy, sample_weight=[1, 3]
    )
    assert value == 0.5


def test_input_that_does_not_fit():
    taxonomy = Taxonomy.flat(["a", "b"])
    for measure in LOSSES:
        with pytest.raises(LabelError, match="y_true has 1 items but y_pred has 2"):
            measure([["a"]], [["a"], []], taxonomy)
        with pytest.raises(LabelError, match="at least one item"):
            measure([], [], taxonomy)
        with pytest.raises(LabelError, match="'c'"):
            measure([["a"]], [["c"]], taxonomy)
    with pytest.raises(LabelError, match="charge"):
        metrics.hierarchical_loss([["a"]], [["a"]], taxonomy, charge="leaf")
