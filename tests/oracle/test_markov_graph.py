"""The Markov network on a DAG against enumeration and a general QP solver."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import nnls

from taxonomist.compiled import graph_arrays, graph_search
from taxonomist.solvers import markov, markov_graph, subspace
from taxonomist.solvers.solution import Options
from taxonomist.solvers.subspace import SubspaceOptions
from taxonomist.taxonomy import Taxonomy
from tests.combinations import every_pair
from tests.reference import markov_graph as reference
from tests.reference.markov_graph import PARENTS, graph_toy

# The loops of DAGs take a minute to compile.
pytestmark = pytest.mark.slow

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


@every_pair(shape=SHAPES, loss=LOSSES, slack=("example", "example_signed"))
def test_a_relaxation_bounds_the_gap(shape, loss, slack, monkeypatch):
    """Its primal value is a bound from above, its dual variables are those of labellings."""
    monkeypatch.setattr(markov_graph, "MAX_STATES", 1)
    arguments = shape, loss, 1.0, slack
    case, best = cached_toy(*arguments), optimum(*arguments)
    problem = case.problem()
    assert problem.graph.way == graph_arrays.RELAXED
    solution = markov.solve(problem, replace(EXACT, max_iter=200))
    dual, W = reference.dual_value(case, problem, solution)
    claimed, size = solution.certificate, abs(best)
    assert claimed.dual == pytest.approx(dual, abs=1e-8 * size)
    assert claimed.primal >= reference.objective(case, W) - 1e-8 * size
    assert claimed.dual - 1e-8 * size <= best <= claimed.primal + 1e-8 * size
    assert claimed.dual >= 0.99 * optimum(*arguments, "edge", "consistent")
    assert solution.converged == (claimed.gap <= EXACT.tol)


@pytest.mark.parametrize(
    ("features", "train_on"),
    [
        ("edge", "all"),
        ("edge", "consistent"),
        ("edge", "relaxed"),
        ("path", "all"),
        ("path", "consistent"),
    ],
)
def test_the_worst_labelling_by_enumeration(features, train_on, monkeypatch):
    """Random DAGs, scores and losses; a relaxation's bound is at least the largest G."""
    if train_on == "relaxed":
        monkeypatch.setattr(markov_graph, "MAX_STATES", 1)
    rng = np.random.default_rng(0)
    n_tight = 0
    for seed in range(40):
        taxonomy = random_dag(rng, int(rng.integers(2, 8)))
        loss, slack = rng.choice(LOSSES), rng.choice(["example", "example_signed"])
        closed = "consistent" if train_on == "consistent" else "all"
        case = graph_toy(taxonomy, loss, 1.0, slack, features, closed, seed=seed)
        problem = case.problem()
        scratch = problem.scratch(np.float64)
        for i in range(3):
            scratch.truth[:] = case.Y[i]
            scratch.score[:] = rng.normal(size=problem.n_codes) * rng.choice([0.1, 1.0, 3.0])
            u = case.labellings
            if slack == "example_signed":
                u = u[(u != case.Y[i]).any(axis=1)]
            on = reference.blocks(case, u) - reference.blocks(case, case.Y[i])
            G = reference.losses(case, case.Y[i], u) + on @ scratch.score
            is_signed = slack == "example_signed"
            found = graph_search.worst_on_graph(problem.graph, is_signed, scratch, scratch.search)
            chosen = np.minimum(scratch.state, 1)
            same = (u == chosen).all(axis=1)
            assert G[same] == pytest.approx([found], abs=1e-9)
            excess = scratch.search.excess[0]
            if train_on != "relaxed":
                assert excess == 0
                assert found == pytest.approx(G.max(), abs=1e-9)
            assert found - 1e-9 <= G.max() <= found + excess + 1e-9
            n_tight += bool(np.isclose(found + excess, G.max()))
    assert n_tight > (60 if train_on == "relaxed" else 119)


CLIMB = SubspaceOptions(tol=0.01, dtype="float64", max_iter=5000, chunk_size=8)


@every_pair(
    shape=SHAPES,
    slack=("example", "example_signed", "edge"),
    features=("edge", "path"),
    train_on=TRAIN_ON,
    working_set=("gap", "kkt"),
)
def test_conditional_gradients_climb_unmodified(shape, slack, features, train_on, working_set):
    """Its directions are labellings, so that no constraints of cliques are needed."""
    features = "edge" if slack == "edge" else features
    arguments = shape, "costs", 0.3, slack, features, train_on
    case, best = cached_toy(*arguments), optimum(*arguments)
    solution = subspace.solve(case.problem(), replace(CLIMB, working_set=working_set))
    assert solution.converged
    claimed, size = solution.certificate, abs(best)
    assert claimed.primal == pytest.approx(reference.objective(case, solution.W), abs=1e-8 * size)
    assert claimed.gap <= CLIMB.tol
    assert claimed.dual - 1e-7 * size <= best <= claimed.primal + 1e-7 * size


@pytest.mark.parametrize("slack", ["example", "example_signed"])
@pytest.mark.parametrize(("features", "train_on"), [("edge", "all"), ("path", "consistent")])
def test_marginals_on_a_graph_are_sums_over_labellings(features, train_on, slack):
    """Edges that agree at their nodes are not enough there [RSSS06, Sec. 2.5]."""
    case = cached_toy("ladder", "costs", 0.3, slack, features, train_on)
    state = subspace._State(case.problem(), CLIMB)
    for _ in range(10):
        state.visit(state.choose())
        state.look()
    mass, labellings = state.marginals.used, case.labellings
    assert (mass <= case.C * (1 + 1e-9)).all()
    for i, mu in enumerate(state.mu):
        on = reference.blocks(case, labellings)
        _, residual = nnls(np.column_stack([on, np.ones(len(on))]).T, [*mu, mass[i]])
        assert residual <= 1e-9


def test_a_relaxation_bounds_the_gap_of_conditional_gradients(monkeypatch):
    monkeypatch.setattr(markov_graph, "MAX_STATES", 1)
    arguments = "ladder", "costs", 0.3, "example"
    case, best = cached_toy(*arguments), optimum(*arguments)
    solution = subspace.solve(case.problem(), replace(CLIMB, max_iter=100))
    claimed, size = solution.certificate, abs(best)
    assert claimed.primal >= reference.objective(case, solution.W) - 1e-8 * size
    assert claimed.dual - 1e-8 * size <= best <= claimed.primal + 1e-8 * size


def random_dag(rng, n_nodes):
    """Return a DAG in which most nodes have several parents."""
    parents = {"0": []}
    for j in range(1, n_nodes):
        above = rng.choice(j, size=min(j, int(rng.integers(1, 4))), replace=False)
        parents[str(j)] = [str(p) for p in sorted(above)]
    return Taxonomy.from_parents(parents)
