"""Loops of Markov networks on DAGs: compiled against uncompiled."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.compiled import cliques, dag_labellings, graph_search, markov
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.closures import closure_scratch, make_dag
from taxonomist.inference.dag_labellings import closed_tree
from taxonomist.solvers import markov as solver
from taxonomist.solvers import markov_graph
from taxonomist.solvers.labelling_store import LabellingStore
from taxonomist.solvers.solution import Options
from tests.oracle.test_dag_labellings import random_dag
from tests.reference.joint_toys import assert_twins
from tests.reference.markov_graph import graph_toy

# The loops of DAGs take a minute to compile.
pytestmark = pytest.mark.slow

CASES = {
    "closed": graph_toy("ladder", "costs", train_on="consistent"),
    "all": graph_toy("ladder", "costs", n_local=2),
    "signed": graph_toy("ladder", "costs", slack="example_signed"),
    "signed and closed": graph_toy("ladder", slack="example_signed", train_on="consistent"),
    "paths": graph_toy("diamond", "costs", features="path", n_local=2),
    "relaxed": graph_toy("ladder", "costs"),
}


class State:
    """A solver's arrays after two sweeps."""

    def __init__(self, name):
        case = CASES[name]
        problem = case.problem()
        rough = solver.solve(problem, Options(tol=0, stop="gap", max_iter=2, dtype="float64"))
        arrays = problem.arrays()
        self.group = np.arange(len(case.X))
        self.problem = arrays._replace(rows=problem.items.rows(self.group, arrays.row_of))
        self.graph, self.W = arrays.graph, rough.W.copy()
        store = LabellingStore(rough.labellings[0], 4 * problem.n_codes)
        self.labellings, self.end = store.labellings, store.end
        self.scratch = problem.scratch(self.W.dtype)
        self.findings = Findings(*np.full((4, len(case.X)), 7.0))
        self.rest, self.calm = self.group % 2, self.group % 3


@pytest.fixture(params=CASES)
def name(request, monkeypatch):
    if request.param == "relaxed":
        monkeypatch.setattr(markov_graph, "MAX_STATES", 1)
    return request.param


def test_a_sweep_and_its_twin(name):
    def make():
        state = State(name)
        names = "group problem W labellings end scratch findings rest calm"
        group, problem, W, labellings, end, scratch, findings, rest, calm = (
            getattr(state, each) for each in names.split()
        )
        return group, 0, problem, W, labellings, end, scratch, findings, 1e-6, rest, calm

    assert_twins(markov.sweep, make)


def test_the_best_labellings_and_their_twin(name):
    def make():
        state = State(name)
        scores = np.random.default_rng(0).normal(size=(3, len(state.scratch.score)))
        out = np.zeros((3, state.graph.n_nodes), dtype=bool)
        return state.graph, scores, state.scratch, state.scratch.search, out

    assert_twins(graph_search.best_by_graph_codes, make)


def test_loops_over_closed_labellings_and_their_twins():
    rng = np.random.default_rng(0)
    indptr, indices = random_dag(rng, 12)
    dag, tree = make_dag(indptr, indices), closed_tree(indptr, indices).cliques
    gains, is_category = rng.normal(-0.5, 1.0, size=(4, 12)), rng.random(12) < 0.7

    def table(dtype=float):
        return np.zeros((4, 12), dtype=dtype)

    assert_twins(
        dag_labellings.best_dag_labellings,
        lambda: (dag, is_category, 2, gains, closure_scratch(dag), table(bool)),
    )
    assert_twins(
        dag_labellings.dag_max_marginals, lambda: (dag, gains, closure_scratch(dag), table())
    )
    assert_twins(dag_labellings.shared_values, lambda: (dag, gains, table()))
    assert_twins(dag_labellings.shared_marginals, lambda: (dag, True, gains, 2.0, table()))
    assert_twins(
        dag_labellings.shared_log_partitions, lambda: (dag, False, gains, 2.0, np.zeros(4))
    )
    assert_twins(dag_labellings.limit_to_parents, lambda: (dag, np.abs(gains)))
    assert_twins(
        cliques.clique_max_marginals,
        lambda: (tree, gains, cliques.clique_scratch(tree), table()),
    )
    sums = (tree, is_category, True, gains, 2.0)
    assert_twins(cliques.clique_marginals, lambda: (*sums, cliques.sum_scratch(tree), table()))
    assert_twins(
        cliques.clique_log_partitions, lambda: (*sums, cliques.sum_scratch(tree), np.zeros(4))
    )
