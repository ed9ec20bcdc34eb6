"""Probabilities of nodes: against enumeration, and coherent whatever is given."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.inference.node_probabilities import (
    any_of_categories,
    given_any,
    sum_of_categories,
)
from tests.strategies import taxonomies

DAG = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "ab"), ("b", "ab"), ("b", "b1"), ("ab", "x")]
)


@st.composite
def problems(draw, max_nodes=12, max_categories=12):
    """Draw a taxonomy, some of its nodes as categories, and a table of numbers in [0, 1]."""
    taxonomy = draw(taxonomies(max_nodes=max_nodes))
    nodes = st.integers(0, taxonomy.n_nodes - 1)
    chosen = draw(st.sets(nodes, min_size=1, max_size=max_categories))
    numbers = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 1 - 1e-16, 0.1]))
    row = st.lists(numbers, min_size=len(chosen), max_size=len(chosen))
    table = np.array(draw(st.lists(row, min_size=1, max_size=4)))
    return taxonomy, np.array(sorted(chosen)), table


def below(taxonomy, node, codes):
    """Return the positions of the categories at or below a node."""
    reached = {node, *taxonomy.descendants(node)}
    return [k for k, code in enumerate(codes) if taxonomy.nodes[code] in reached]


def assert_coherent(taxonomy, found):
    assert (found >= 0).all()
    assert (found <= 1).all()
    for parent, child in taxonomy.edges:
        assert (found[:, parent] >= found[:, child]).all()


@given(problems())
def test_one_category_each_is_the_sum_over_what_is_below(problem):
    taxonomy, codes, table = problem
    table = (table + 1e-3) / (table + 1e-3).sum(axis=1, keepdims=True)
    found = sum_of_categories(taxonomy, codes, table)
    assert_coherent(taxonomy, found)
    assert (found[:, 0] == 1).all()
    for code, node in enumerate(taxonomy.nodes):
        expected = table[:, below(taxonomy, node, codes)].sum(axis=1)
        np.testing.assert_allclose(found[:, code], expected, atol=1e-12)


@given(problems(), st.booleans())
def test_label_sets_are_coherent(problem, has_label):
    taxonomy, codes, table = problem
    found = any_of_categories(taxonomy, codes, table, has_label=has_label)
    assert_coherent(taxonomy, found)
    if has_label:
        assert (found[:, 0] == 1).all()
    if not has_label:
        for k, code in enumerate(codes):
            assert (found[:, code] >= table[:, k] * (1 - 1e-15)).all()


@given(problems(max_categories=5), st.booleans())
def test_label_sets_by_enumeration(problem, has_label):
    taxonomy, codes, table = problem
    table = np.clip(table, 0.01, 0.99)
    found = any_of_categories(taxonomy, codes, table, has_label=has_label)
    for row, of_nodes in zip(table, found, strict=True):
        subsets = list(product([False, True], repeat=len(codes)))
        chance = [np.prod(np.where(chosen, row, 1 - row)) for chosen in subsets]
        if has_label:
            chance = [p * any(chosen) for p, chosen in zip(chance, subsets, strict=True)]
        for code, node in enumerate(taxonomy.nodes):
            inside = below(taxonomy, node, codes)
            hit = [any(chosen[k] for k in inside) for chosen in subsets]
            expected = np.dot(hit, chance) / sum(chance)
            assert of_nodes[code] == pytest.approx(expected, abs=1e-12)
    if has_label:
        np.testing.assert_allclose(
            given_any(table),
            table / (1 - np.prod(1 - table, axis=1, keepdims=True)),
        )


def test_a_category_with_two_parents_is_counted_once():
    codes = DAG.codes(["a1", "x", "b1"])
    found = sum_of_categories(DAG, codes, np.array([[0.2, 0.5, 0.3]]))
    got = dict(zip(DAG.nodes, found[0].round(12).tolist(), strict=True))
    assert got == {"r": 1.0, "a": 0.7, "b": 0.8, "a1": 0.2, "ab": 0.5, "b1": 0.3, "x": 0.5}


def test_certain_and_impossible_categories():
    codes = DAG.codes(["a1", "x", "b1"])
    found = any_of_categories(DAG, codes, np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(found[:, DAG.codes(["r", "a", "b"])], [[1, 1, 0], [0, 0, 0]])
    found = any_of_categories(DAG, codes, np.zeros((1, 3)), has_label=True)
    np.testing.assert_array_equal(found[0], [1, *[0] * 6])
    np.testing.assert_array_equal(given_any(np.zeros((1, 3))), np.zeros((1, 3)))


def test_columns_must_fit():
    with pytest.raises(LabelError, match="3 categories"):
        sum_of_categories(DAG, DAG.codes(["a1", "x", "b1"]), np.ones((2, 2)))


def test_rounding_puts_no_parent_below_a_child():
    paths = [f"{k % 3} > {k % 7} in {k % 3} > {k}" for k in range(300)]
    taxonomy = Taxonomy.from_paths(paths)
    codes = taxonomy.codes([str(k) for k in range(300) if str(k) in taxonomy and k > 2])
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.full(len(codes), 0.02), size=300)
    assert_coherent(taxonomy, sum_of_categories(taxonomy, codes, table))
    for has_label in (False, True):
        assert_coherent(taxonomy, any_of_categories(taxonomy, codes, table, has_label=has_label))
