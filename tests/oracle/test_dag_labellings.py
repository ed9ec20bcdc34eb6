"""Consistent labellings of a DAG against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taxonomist.compiled import dag_labellings as loops
from taxonomist.compiled.closures import best_closure, closure_scratch, make_dag
from taxonomist.inference import dag_labellings
from taxonomist.inference.dag_labellings import DagLabellings, closed_tree
from taxonomist.inference.junction_tree import eliminate
from taxonomist.inference.labellings import Labellings
from taxonomist.inference.node_odds import NodeOdds
from tests.reference.labellings import random_parents

# The loops of DAGs take a minute to compile.
pytestmark = pytest.mark.slow


def random_dag(rng, n_nodes, most=3):
    """Return the parents of every node as CSR arrays."""
    runs = [
        np.sort(rng.choice(j, size=min(j, int(rng.integers(1, most + 1))), replace=False))
        for j in range(1, n_nodes)
    ]
    indptr = np.cumsum([0, 0, *map(len, runs)])
    return indptr.astype(np.intp), np.concatenate([*runs, []]).astype(np.intp)


class Case:
    """A random DAG with categories and gains, and all its consistent labellings."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.n_nodes = int(rng.integers(1, 10))
        self.indptr, self.indices = random_dag(rng, self.n_nodes)
        self.dag = make_dag(self.indptr, self.indices)
        self.is_category = rng.random(self.n_nodes) < rng.choice([0.3, 0.7, 1.0])
        self.gains = rng.normal(rng.choice([-1.0, 0.0, 0.5]), 1.0, (4, self.n_nodes))
        self.gains[0] = np.round(2 * self.gains[0])
        rows = np.array(list(product((False, True), repeat=self.n_nodes)))
        edges = list(zip(self.dag.upper, self.dag.lower, strict=True))
        for p, j in edges:
            rows = rows[rows[:, p] | ~rows[:, j]]
        is_inner = np.zeros(rows.shape, dtype=bool)
        for p, j in edges:
            is_inner[:, p] |= rows[:, j]
        self.rows, self.scores = rows, self.gains @ rows.T
        self.n_labels = (rows & ~is_inner & self.is_category).sum(axis=1)

    def labellings(self, least=0):
        return DagLabellings(self.indptr, self.indices, self.is_category, least)


CASES = [Case(seed) for seed in range(60)]


@pytest.mark.parametrize("least", [0, 1])
def test_best_labelling(least):
    for case in CASES:
        found = case.labellings(least).best(case.gains)
        enough = case.n_labels >= min(least, case.n_labels.max())
        best = case.scores[:, enough].max(axis=1)
        np.testing.assert_allclose((found * case.gains).sum(axis=1), best, atol=1e-12)
        for row in found:
            assert (case.rows[enough] == row).all(axis=1).any()


def test_of_equally_good_labellings_the_smallest_is_taken():
    for case in CASES:
        found = np.zeros(case.n_nodes, dtype=bool)
        best_closure(case.dag, case.gains[0], closure_scratch(case.dag), found)
        top = case.scores[0] == case.scores[0].max()
        assert found.sum() == case.rows[top].sum(axis=1).min()


def test_more_labels_are_added_one_after_another():
    for case in CASES:
        found = case.labellings(2).best(case.gains)
        one = case.labellings(1).best(case.gains)
        for row, before in zip(found, one, strict=True):
            at = (case.rows == row).all(axis=1)
            assert case.n_labels[at] >= min(2, case.n_labels[(case.rows == before).all(axis=1)][0])


@pytest.mark.parametrize("way", ["junction tree", "cuts"])
def test_max_marginals(way, monkeypatch):
    if way == "cuts":
        monkeypatch.setattr(DagLabellings, "junction_tree", None)
    for case in CASES:
        found = case.labellings().max_marginals(case.gains)
        on = case.rows.T
        for j in range(case.n_nodes):
            expected = case.scores[:, on[j]].max(axis=1) - case.scores[:, ~on[j]].max(axis=1)
            np.testing.assert_allclose(found[:, j], expected, atol=1e-12)


@pytest.mark.parametrize("temperature", [0.02, 0.7, 5.0])
@pytest.mark.parametrize("least", [0, 1])
def test_marginals_and_partition(least, temperature):
    for case in CASES:
        allowed = (
            case.rows[:, case.is_category].any(axis=1) if least else np.full(len(case.rows), 1)
        )
        if not allowed.any():
            continue
        logs = np.where(allowed, case.scores / temperature, -np.inf)
        total = np.logaddexp.reduce(logs, axis=1)
        labellings = case.labellings(least)
        found = labellings.log_partitions(case.gains, 1 / temperature)
        np.testing.assert_allclose(found, total, rtol=1e-9, atol=1e-12)
        expected = np.exp(logs - total[:, None]) @ case.rows
        found = labellings.marginals(case.gains, temperature)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        for p, j in zip(case.dag.upper, case.dag.lower, strict=True):
            assert (found[:, j] <= found[:, p]).all()


def test_shared_sums_are_upper_bounds_and_keep_nodes_below_their_parents(monkeypatch):
    monkeypatch.setattr(DagLabellings, "junction_tree", None)
    for case in CASES:
        labellings = case.labellings()
        exact = np.logaddexp.reduce(case.scores, axis=1)
        assert (labellings.log_partitions(case.gains, 1.0) >= exact - 1e-12).all()
        found = labellings.marginals(case.gains)
        for p, j in zip(case.dag.upper, case.dag.lower, strict=True):
            assert (found[:, j] <= found[:, p]).all()


def shared(case, gains, part):
    """Return each node's gain plus what its children pass on, the same share to each parent.

    ``part`` is what a child passes on, from its own sum.
    """
    above = [case.indices[slice(*case.indptr[j : j + 2])].tolist() for j in range(case.n_nodes)]

    def total(j):
        below = [c for c in range(case.n_nodes) if j in above[c]]
        return gains[:, j] + sum(part(total(c)) / len(above[c]) for c in below)

    return np.column_stack([total(j) for j in range(case.n_nodes)])


def log_with_nothing(sums):
    """Return log(1 + exp(sums)): the sum over labellings with a node, and the one without it."""
    return np.logaddexp(0.0, sums)


@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_shared_values_and_sums_by_their_definition(temperature, monkeypatch):
    monkeypatch.setattr(DagLabellings, "junction_tree", None)
    for case in CASES:
        values = shared(case, case.gains, lambda one: np.maximum(one, 0.0))
        np.testing.assert_allclose(case.labellings().values(case.gains), values, atol=1e-12)
        sums = shared(case, case.gains / temperature, log_with_nothing)
        for least in (0, 1):
            total = sums[:, 0] if least else log_with_nothing(sums[:, 0])
            labellings = case.labellings(least)
            found = labellings.log_partitions(case.gains, 1 / temperature)
            np.testing.assert_allclose(found, total, rtol=1e-12, atol=1e-12)
            odds = 1 / (1 + np.exp(-sums))
            odds[:, 0] = 1.0 if least else odds[:, 0]
            # Given the parents, of which the least probable one counts.
            for j in range(1, case.n_nodes):
                parents = case.indices[slice(*case.indptr[j : j + 2])]
                odds[:, j] *= odds[:, parents].min(axis=1)
            marginals = labellings.marginals(case.gains, temperature)
            np.testing.assert_allclose(marginals, odds, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("is_exact", [True, False])
def test_on_trees_all_answers_are_those_of_the_tree(is_exact, monkeypatch):
    if not is_exact:
        monkeypatch.setattr(DagLabellings, "junction_tree", None)
    rng = np.random.default_rng(0)
    for _ in range(20):
        parent = random_parents(rng, int(rng.integers(2, 12)))
        indptr = np.concatenate([[0], np.arange(len(parent))]).astype(np.intp)
        everywhere = np.ones(len(parent), dtype=bool)
        gains = rng.normal(size=(5, len(parent)))
        for least in (0, 1):
            tree = Labellings(parent, everywhere, least)
            dag = DagLabellings(indptr, parent[1:].astype(np.intp), everywhere, least)
            np.testing.assert_array_equal(dag.best(gains), tree.best(gains))
            for name in ("max_marginals", "values", "marginals"):
                one, other = (getattr(each, name)(gains) for each in (dag, tree))
                np.testing.assert_allclose(one, other, atol=1e-12)
        truth = dag.best(gains + 0.5)
        weights = np.ones(len(gains))
        np.testing.assert_array_equal(dag.is_open(truth), tree.is_open(truth))
        np.testing.assert_array_equal(dag.depths(), tree.depths())
        fits = [each.fit_temperature(gains, truth, weights) for each in (dag, tree)]
        assert fits[0] == pytest.approx(fits[1], rel=1e-6)
        odds = [NodeOdds.fit(each, gains, truth, weights, "node") for each in (dag, tree)]
        one, other = (o.gains(each, gains) for o, each in zip(odds, (dag, tree), strict=True))
        np.testing.assert_allclose(one, other)


def test_the_width_of_small_graphs():
    assert eliminate(*random_dag(np.random.default_rng(0), 10, most=1)).width == 1
    diamond = np.array([0, 0, 1, 2, 4]), np.array([0, 0, 1, 2])
    assert eliminate(*diamond).width == 2
    assert eliminate(*diamond, max_width=1) is None
    # Closed states of the cliques: of 3 nodes 5 and 5, of the others 2 and 3.
    assert closed_tree(*diamond).n_states < 2**3 + 2**3 + 2**2 + 2
    assert closed_tree(*diamond, max_states=5) is None


def test_a_temperature_is_fitted_to_as_many_items_as_there_is_time_for(monkeypatch):
    case = next(case for case in CASES if case.n_nodes > 5)
    rng = np.random.default_rng(0)
    gains = rng.normal(size=(400, case.n_nodes))
    labellings = case.labellings()
    truth = labellings.best(gains + rng.normal(size=gains.shape))
    few = labellings.fit_temperature(gains[::2], truth[::2], np.ones(200))
    n_states = labellings.junction_tree.n_states
    monkeypatch.setattr(dag_labellings, "MAX_SUMMED_STATES", 200 * n_states)
    assert labellings.fit_temperature(gains, truth, np.ones(400)) == few


def test_labels_are_counted_like_those_of_a_prediction():
    for case in CASES[:20]:
        for row, n in zip(case.rows, case.n_labels, strict=True):
            assert loops.count_labels(case.dag, case.is_category, row) == n
