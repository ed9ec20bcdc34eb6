"""The pieces of the paper's own solver: options, working sets, passes, the linear program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taxonomist.solvers import subspace
from taxonomist.solvers.marginal_polytope import MarginalPolytope
from taxonomist.solvers.subspace import SubspaceOptions, choose_by_state, draw_by_gap
from tests.reference.markov_toys import toy

OPTIONS = SubspaceOptions(tol=1e-2, dtype="float64")


# Options.


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"oracle": "guess"}, "oracle must be one of dynamic, linear_program. Got 'guess'."),
        ({"working_set": "all"}, "working_set must be one of kkt, gap. Got 'all'."),
        ({"chunk_size": 0}, "chunk_size must be at least 1. Got 0."),
        ({"steps_per_example": -1}, "steps_per_example must be at least 1. Got -1."),
    ],
)
@pytest.mark.parametrize("slack", ["example", "edge"])
def test_options_that_there_are_not(slack, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        subspace.solve(toy(slack=slack).problem(), replace(OPTIONS, **changes))


def test_signed_slacks_need_dynamic_programming():
    options = replace(OPTIONS, oracle="linear_program")
    with pytest.raises(ValueError, match="take oracle='dynamic'"):
        subspace.solve(toy(slack="example_signed").problem(), options)


# Working sets.


@pytest.mark.parametrize("seed", range(3))
def test_draws_follow_the_gaps(seed):
    gaps = np.array([1.0, 3.0, 0.5, 1.5, 0.5])
    times = draw_by_gap(gaps, 90_000, np.random.default_rng(seed))
    assert times.sum() == 90_000
    np.testing.assert_allclose(times / 90_000, (gaps - 0.5) / 4, atol=0.01)
    assert times[2] == times[4] == 0


@pytest.mark.parametrize("n", [1, 4])
def test_equal_gaps_are_drawn_alike(n):
    times = draw_by_gap(np.full(n, 0.3), 1000, np.random.default_rng(0))
    assert times.sum() == 1000
    assert times.min() > 500 / n


def test_items_are_chosen_by_their_states():
    costs = np.ones(6)
    used = np.array([0.0, 0.0, 0.4, 1.0, 1.0, 0.4])
    slack = np.array([0.0, 0.5, 0.5, 0.5, 0.0, 0.0])  # inactive, 2 with priority, 3 others
    rng = np.random.default_rng(0)
    chosen = [choose_by_state(costs, used, slack, 0.1, 3, rng) for _ in range(50)]
    assert all(times[1] == times[2] == 1 and times.sum() == 3 for times in chosen)
    assert (np.sum(chosen, axis=0)[3:] > 5).all()
    assert choose_by_state(costs, used, slack, 0.1, 9, rng).tolist() == [0, 1, 1, 1, 1, 1]
    assert {choose_by_state(costs, used, slack, 0.1, 1, rng).argmax() for _ in range(30)} == {1, 2}
    small = [choose_by_state(costs, used, slack, 0.4, 1, rng).argmax() for _ in range(30)]
    assert set(small) == {1}


# Passes.


@pytest.mark.parametrize("working_set", ["kkt", "gap"])
def test_a_pass_visits_the_working_set_as_often_as_drawn(working_set):
    options = replace(OPTIONS, chunk_size=7, steps_per_example=3, working_set=working_set)
    state = subspace._State(toy().problem(), options)
    times, limits = state.choose(), {}
    assert times.sum() == 7
    assert working_set == "gap" or times.max() == 1
    state.marginals.ascend = lambda _, i, limit: limits.setdefault(int(i), int(limit)) * 0.0
    before = state.W.copy()
    state.visit(times)
    assert limits == {i: 3 * times[i] for i in np.flatnonzero(times)}
    assert not state.scratch.truth.any()
    np.testing.assert_array_equal(state.W, before)


def test_history_begins_at_zero_weights():
    case = toy()
    seen = []
    solution = subspace.solve(case.problem(), OPTIONS, lambda entry: seen.append(entry))
    assert seen == solution.history
    first = seen[0]
    largest = [case.loss(np.tile(y, (2, 1)), np.array([1 - y, 1 - y]))[0] for y in case.Y]
    assert first.primal == pytest.approx(case.C @ largest)
    assert (first.dual, first.n_active) == (0.0, 0)
    assert first.violation == pytest.approx(np.max(largest))
    seconds = [entry.seconds for entry in seen]
    assert seconds == sorted(seconds)
    assert solution.converged
    assert solution.labellings[0].size.tolist() == [0] * len(case.X)
    assert len(solution.of_items(np.arange(3))[0].alpha) == 0


@pytest.mark.parametrize("slack", ["example", "example_signed", "edge"])
def test_no_passes(slack):
    solution = subspace.solve(toy(slack=slack).problem(), replace(OPTIONS, max_iter=0))
    assert len(solution.history) == 1
    assert not solution.converged
    assert solution.W.any() == (slack == "example_signed")


def test_a_callback_stops():
    solution = subspace.solve(toy().problem(), OPTIONS, lambda entry: entry.dual > 0)
    assert len(solution.history) == 2
    assert not solution.converged


def test_most_passes():
    solution = subspace.solve(toy().problem(), replace(OPTIONS, max_iter=3))
    assert len(solution.history) == 4
    assert solution.certificate[:2] == solution.history[-1][1:3]


def test_stopping_on_the_violation():
    options = replace(OPTIONS, stop="violation", tol=0.05, max_iter=5000)
    solution = subspace.solve(toy("chain", C=0.1).problem(), options)
    assert solution.converged
    assert solution.certificate.violation <= 0.05


@pytest.mark.parametrize("slack", ["example", "example_signed", "edge"])
def test_the_seed_decides(slack):
    problem = toy(slack=slack).problem()
    first, again, other = (
        subspace.solve(problem, replace(OPTIONS, max_iter=3, chunk_size=5, random_state=seed))
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.W, again.W)
    assert not np.array_equal(first.W, other.W)


# The linear program.


def test_constraints_of_the_polytope():
    """Tree r (a, b (c)): three edges; the one of c is tied to b's, those below the root to a's."""
    case = toy("tree")
    tree = case.problem().tree._replace(
        parent=np.array([0, 0, 0, 2]), loss=case.problem().tree.loss[:, :4]
    )
    polytope = MarginalPolytope(tree)
    assert polytope.sums.toarray().tolist() == np.repeat(np.eye(3), 4, axis=1).tolist()
    none = np.zeros((2, 4))
    upper, lower = np.array([[1, 1, 0, 0], [0, 0, 1, 1]]), np.array([[1, 0, 1, 0], [0, 1, 0, 1]])
    rows = [[none, none, none], [-upper, upper, none], [none, -lower, upper]]
    np.testing.assert_array_equal(polytope.ties.toarray(), np.block(rows))
    assert polytope.most.tolist() == [1] * 12


def test_forbidden_labellings_have_no_marginals():
    case = toy("chain", train_on="consistent")
    polytope = MarginalPolytope(case.problem().tree)
    assert polytope.most.tolist() == [1, 0, 1, 1] * 3
    gradient = np.where(polytope.most > 0, 0.5, -np.inf)
    best = polytope.best(gradient)
    assert best[polytope.most == 0].tolist() == [0, 0, 0]
    assert best[polytope.most > 0] @ gradient[polytope.most > 0] == pytest.approx(1.5)


def test_nothing_to_gain():
    polytope = MarginalPolytope(toy("star").problem().tree)
    assert polytope.best(np.full(16, -2.0)).tolist() == [0] * 16
    assert polytope.best(np.zeros(16)).shape == (16,)
