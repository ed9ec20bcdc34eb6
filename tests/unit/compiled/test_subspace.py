"""Loops of conditional gradient ascent in marginals: compiled against uncompiled, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.compiled import subspace
from taxonomist.compiled.arrays import Findings
from taxonomist.compiled.markov_arrays import markov_scratch
from tests.reference import markov_tree as reference
from tests.reference.joint_toys import assert_twins
from tests.reference.markov_toys import SHAPES, toy

CASES = [
    (shape, slack, train_on)
    for shape in SHAPES
    for slack in ("example", "example_signed")
    for train_on in ("all", "consistent")
]
every_case = pytest.mark.parametrize(("shape", "slack", "train_on"), CASES)


class State:
    """An item somewhere within its polytope, with its climb begun."""

    def __init__(self, shape, slack, train_on, i=5):
        rng = np.random.default_rng(0)
        self.case = toy(shape, "costs", 0.6, slack, "edge", train_on)
        self.instance = self.case.instance()
        self.problem = self.case.problem()
        self.tree, n_codes = self.problem.tree, self.problem.n_codes
        self.i, self.cost, self.is_signed = i, self.case.C[i], slack == "example_signed"
        self.limit, self.length = 7, 0.3
        others = self.instance.others(i)
        shares = rng.dirichlet(np.ones(len(others))) * self.cost
        self.mu = np.zeros((len(self.case.X), n_codes))
        self.mu[i] = shares @ reference.blocks(self.instance, others)
        if not self.is_signed:
            self.mu[i] *= 0.4
        self.W = rng.normal(scale=0.3, size=(self.case.X.shape[1], n_codes))
        self.others = self.W - self.own_weights()
        self.scratch = markov_scratch(self.tree, n_codes, np.float64)
        self.slope = subspace.make_slope(n_codes)
        self.scratch.truth[:] = self.case.Y[i]
        self.scratch.score[:] = self.case.X[i] @ self.W
        self.scratch.norm[:] = np.sum(self.case.X[i] ** 2)
        subspace.begin(self.tree, self.scratch, self.slope)
        subspace.aim(self.tree, self.cost, self.is_signed, self.scratch, self.slope)
        subspace.measure(self.tree, i, self.mu, self.scratch, self.slope)
        self.g, self.found = self.slope.gradient, Findings(*np.full((4, len(self.mu)), 7.0))
        self.j, self.z, self.label = 1, 0, 1

    def own_weights(self):
        """Return what the item makes of the weights."""
        only = np.zeros_like(self.mu)
        only[self.i] = self.mu[self.i]
        return reference.marginal_weights(self.instance, only)

    def dual(self):
        """Return the part of the dual that the item decides, the other items' weights given."""
        own, mu = self.own_weights(), self.mu[self.i]
        return self.slope.loss[mu > 0] @ mu[mu > 0] - np.sum(own * (self.others + own / 2))


LOOPS = {
    subspace.begin: "tree scratch slope",
    subspace.find_best: "tree scratch g",
    subspace.sum_with_mistake: "scratch g j z label",
    subspace.find_best_mistake: "tree scratch g",
    subspace.find_worst: "tree is_signed scratch g",
    subspace.aim: "tree cost is_signed scratch slope",
    subspace.measure: "tree i mu scratch slope",
    subspace.go: "tree i length mu scratch slope",
    subspace.settle: "tree i mu scratch slope",
    subspace.climb: "tree i mu scratch slope",
    subspace.ascend: "tree i limit cost is_signed mu scratch slope",
    subspace.look: "tree i cost is_signed mu scratch slope found",
}


@pytest.mark.slow
@every_case
def test_loops_and_their_twins(shape, slack, train_on):
    def at(*names):
        state = State(shape, slack, train_on)
        return tuple(getattr(state, name) for name in names)

    for loop, names in LOOPS.items():
        assert_twins(loop, lambda names=names: at(*names.split()))


@every_case
def test_begin_writes_losses_and_gradients_of_edges(shape, slack, train_on):
    state = State(shape, slack, train_on)
    instance, y = state.instance, state.case.Y[state.i]
    everything = instance.labellings
    on = reference.blocks(instance, everything)
    G = reference.loss(instance, y, everything)
    np.testing.assert_allclose(on @ np.where(on.any(axis=0), state.slope.loss, 0), G, atol=1e-12)
    G = G - (reference.blocks(instance, y) - on) @ state.scratch.score
    np.testing.assert_allclose(on @ np.where(on.any(axis=0), state.g, 0), G, atol=1e-12)
    assert (reference.blocks(instance, y)[~np.isfinite(state.g)] == 0).all()


@pytest.mark.equation("RSSS06:10")
@every_case
def test_a_step_ends_where_the_dual_is_largest(shape, slack, train_on):
    state = State(shape, slack, train_on)
    before, start = state.dual(), state.mu[state.i].copy()
    gain = subspace.climb(state.tree, state.i, state.mu, state.scratch, state.slope)
    assert gain > 0
    assert state.dual() - before == pytest.approx(gain, abs=1e-12)
    end, reached = state.mu[state.i].copy(), state.dual()
    for length in np.linspace(0, 1, 41):
        state.mu[state.i] = (1 - length) * start + length * state.slope.target
        assert state.dual() <= reached + 1e-12
    passed = (end - start) @ (state.slope.target - start)
    assert 0 < passed <= np.sum((state.slope.target - start) ** 2) * (1 + 1e-12)


@every_case
def test_gradient_and_change_follow_a_step(shape, slack, train_on):
    state = State(shape, slack, train_on)
    before = state.mu.copy()
    subspace.climb(state.tree, state.i, state.mu, state.scratch, state.slope)
    g, change = state.g.copy(), state.scratch.change.copy()
    moved = reference.marginal_weights(state.instance, state.mu - before)
    np.testing.assert_allclose(np.outer(state.case.X[state.i], change), moved, atol=1e-12)
    state.scratch.score[:] = state.case.X[state.i] @ (state.W + moved)
    subspace.begin(state.tree, state.scratch, state.slope)
    np.testing.assert_allclose(g, state.g, atol=1e-12)


def test_no_step_where_the_dual_falls():
    state = State("tree", "example", "all")
    state.slope.target[:] = 0.5 * state.mu[state.i]
    state.g[:] = 1.0
    assert subspace.climb(state.tree, state.i, state.mu, state.scratch, state.slope) == 0
    assert not state.scratch.change.any()


def test_an_item_without_features_goes_all_the_way():
    state = State("tree", "example", "all")
    state.scratch.norm[:] = 0
    gain = subspace.climb(state.tree, state.i, state.mu, state.scratch, state.slope)
    np.testing.assert_array_equal(state.mu[state.i], state.slope.target)
    assert gain > 0


def test_settling_goes_down_too():
    state = State("tree", "example", "all")
    state.slope.target[:] = 0
    state.g[:] = 1.0
    subspace.settle(state.tree, state.i, state.mu, state.scratch, state.slope)
    assert not state.mu.any()
    assert state.scratch.change.any()


@pytest.mark.parametrize("limit", [0, 1, 2, 50])
def test_limits_and_the_optimum_of_an_item(limit):
    state, twin = State("tree", "example", "all"), State("tree", "example", "all")
    before = state.dual()
    rest = state.mu, state.scratch, state.slope
    gain = subspace.ascend(state.tree, state.i, limit, state.cost, False, *rest)
    assert state.dual() - before == pytest.approx(gain, abs=1e-12)
    by_hand = 0.0
    for _ in range(limit):
        subspace.aim(twin.tree, twin.cost, False, twin.scratch, twin.slope)
        by_hand += subspace.climb(twin.tree, twin.i, twin.mu, twin.scratch, twin.slope)
    assert gain == pytest.approx(by_hand, abs=1e-12)
    np.testing.assert_allclose(state.mu, twin.mu, atol=1e-12)


def test_a_look_at_an_item_that_costs_nothing():
    state = State("tree", "example", "all")
    state.mu[:] = 0
    rest = state.mu, state.scratch, state.slope, state.found
    subspace.look(state.tree, state.i, 0.0, False, *rest)
    assert state.found.slack[state.i] > 0
    assert [column[state.i] for column in state.found[1:]] == [0, 0, 0]
