"""The Markov network on a DAG against enumeration and a general QP solver."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from taxonomist.compiled import graph_arrays
from taxonomist.solvers import markov
from taxonomist.solvers.solution import Options
from tests.combinations import every_pair
from tests.reference import markov_graph as reference
from tests.reference.markov_graph import PARENTS, graph_toy

EXACT = Options(tol=1e-5, stop="gap", dtype="float64", max_iter=20_000)
SHAPES = tuple(PARENTS)
SLACKS = ("example", "example_signed", "edge")
LOSSES = ("symmetric_difference", "hierarchical_uniform", "hierarchical_sibling", "costs")
TRAIN_ON = ("all", "consistent")

cached_toy = cache(graph_toy)


@cache
def optimum(*arguments):
    return reference.primal_optimum(cached_toy(*arguments))


def check(case, best, items=None, options=EXACT):
    """Check that a solution is feasible, certified and optimal."""
    problem = case.problem(items)
    solution = markov.solve(problem, options)
    assert solution.converged
    dual, W = reference.dual_value(case, problem, solution)
    found = case.X.T @ solution.W if problem.items.dual_form else solution.W
    np.testing.assert_allclose(found, W, atol=1e-8 * (1 + np.abs(W).max()))
    claimed, size = solution.certificate, abs(best)
    assert claimed.dual == pytest.approx(dual, abs=1e-8 * size)
    assert claimed.primal == pytest.approx(reference.objective(case, W), abs=1e-8 * size)
    assert claimed.dual <= best + 1e-4 * size
    assert claimed.primal == pytest.approx(best, rel=1e-4)


@pytest.mark.equation("RSSS06:1")
@every_pair(shape=SHAPES, loss=LOSSES, slack=("example", "example_signed"), train_on=TRAIN_ON)
def test_edges_to_all_parents_are_optimal(shape, loss, slack, train_on):
    arguments = shape, loss, 1.0, slack, "edge", train_on
    check(cached_toy(*arguments), optimum(*arguments))


@every_pair(shape=SHAPES, loss=LOSSES, slack=("example", "example_signed"), train_on=TRAIN_ON)
def test_paths_are_optimal(shape, loss, slack, train_on):
    arguments = shape, loss, 1.0, slack, "path", train_on
    check(cached_toy(*arguments), optimum(*arguments))


@every_pair(shape=SHAPES, loss=LOSSES, train_on=TRAIN_ON, edge_loss=("upper", "shared"))
def test_a_slack_for_each_edge(shape, loss, train_on, edge_loss):
    arguments = shape, loss, 1.0, "edge", "edge", train_on, 0, edge_loss
    check(cached_toy(*arguments), optimum(*arguments))


@every_pair(slack=SLACKS, train_on=TRAIN_ON, C=(0.05, 10.0))
def test_local_features_and_costs_of_every_size(slack, train_on, C):
    arguments = "ladder", "costs", C, slack, "edge", train_on, 2
    check(cached_toy(*arguments), optimum(*arguments), options=replace(EXACT, tol=5e-5))


@pytest.mark.parametrize("train_on", TRAIN_ON)
def test_the_linear_kernel_by_its_gram_matrix(train_on):
    arguments = "ladder", "costs", 1.0, "example", "edge", train_on
    case = cached_toy(*arguments)
    check(case, optimum(*arguments), case.items("gram"))


def test_what_finds_the_worst_labelling():
    for train_on, way in (("all", graph_arrays.CLIQUES), ("consistent", graph_arrays.CLOSED)):
        assert cached_toy("ladder", "costs", train_on=train_on).problem().graph.way == way
