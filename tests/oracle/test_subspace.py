"""The paper's own solver of the maximum-margin Markov tree against enumeration and a QP solver."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from taxonomist.compiled import subspace as loops
from taxonomist.compiled.markov_arrays import markov_scratch
from taxonomist.losses import labelling_loss
from taxonomist.solvers import markov, subspace
from taxonomist.solvers import problem as problems
from taxonomist.solvers.marginal_polytope import MarginalPolytope
from taxonomist.solvers.markov_problem import labelled_tree, parents
from taxonomist.solvers.problem import GramRows
from taxonomist.solvers.solution import Options
from taxonomist.solvers.subspace import SubspaceOptions
from tests.combinations import every_pair, every_value
from tests.reference import markov_tree as reference
from tests.reference.markov_toys import (
    LOSSES,
    SHAPES,
    SLACKS,
    check_history,
    toy,
)
from tests.strategies import taxonomies

CLOSE = SubspaceOptions(tol=1e-3, dtype="float64", max_iter=5000, chunk_size=12)
ROUGH = replace(CLOSE, tol=1e-2)

cached_toy = cache(toy)
every_slack = pytest.mark.parametrize("slack", SLACKS)
RULES = ("kkt", "gap")
every_rule = pytest.mark.parametrize("working_set", RULES)


@cache
def optimum(*arguments):
    return reference.primal_optimum(cached_toy(*arguments).instance())[0]


def check(case, solution, best, options=ROUGH):
    """Check what every solution must be: certified and optimal, the dual never falling."""
    check_history(solution, 1e-11)
    assert all(entry.is_exact for entry in solution.history)
    assert solution.converged
    claimed = solution.certificate
    is_kernel = solution.W.shape[0] != case.X.shape[1]
    W = case.X.T @ solution.W if is_kernel else solution.W
    slack = reference.slacks(case.instance(), W)
    primal = np.sum(W * W) / 2 + np.sum(case.C[:, None] * slack)
    assert claimed.primal == pytest.approx(primal, abs=1e-9 * abs(best))
    assert claimed.dual <= best + 1e-7 * abs(best)
    assert claimed.primal >= best - 1e-7 * abs(best)
    assert claimed.gap <= options.tol
    assert claimed.primal == pytest.approx(best, rel=2 * options.tol)


# The optimum.


@pytest.mark.equation("RSSS06:8")
@every_value(loss=LOSSES, slack=SLACKS)
def test_every_loss_is_optimal(loss, slack):
    arguments = "tree", loss, 1.0, slack
    case = cached_toy(*arguments)
    solution = subspace.solve(case.problem(), CLOSE)
    check(case, solution, optimum(*arguments), CLOSE)
    other = markov.solve(case.problem(), Options(tol=1e-4, stop="gap", dtype="float64"))
    assert solution.certificate.dual <= other.certificate.primal
    assert solution.certificate.primal >= other.certificate.dual


@every_pair(shape=SHAPES, slack=SLACKS, working_set=RULES, train_on=["all", "consistent"])
def test_local_features_on_every_shape(shape, slack, working_set, train_on):
    arguments = shape, "costs", 0.2, slack, "edge", train_on, 2
    case = cached_toy(*arguments)
    options = replace(ROUGH, working_set=working_set, chunk_size=5)
    check(case, subspace.solve(case.problem(), options), optimum(*arguments), options)


@pytest.mark.parametrize("steps", [1, 50])
@every_rule
def test_limits_of_steps(steps, working_set):
    arguments = "tree", "symmetric_difference", 0.05
    case = cached_toy(*arguments)
    options = replace(ROUGH, steps_per_example=steps, working_set=working_set)
    check(case, subspace.solve(case.problem(), options), optimum(*arguments), options)


@pytest.mark.parametrize("shape", ["star", "chain"])
@pytest.mark.parametrize("slack", ["example", "edge"])
@pytest.mark.parametrize("train_on", ["all", "consistent"])
def test_the_linear_program_leads_to_the_same(slack, shape, train_on):
    case = cached_toy(shape, "costs", 0.05, slack, "edge", train_on).select([0, 3, 5, 7])
    best = reference.primal_optimum(case.instance())[0]
    options = replace(ROUGH, tol=0.05, oracle="linear_program")
    check(case, subspace.solve(case.problem(), options), best, options)


@pytest.mark.parametrize("slack", ["example", "example_signed"])
@pytest.mark.parametrize("kind", ["dense", "gram"])
def test_items_of_any_kind_climb_alike(kind, slack):
    case = cached_toy("tree", "costs", 0.5, slack)
    usual = subspace.solve(case.problem(), replace(ROUGH, max_iter=20))
    found = subspace.solve(case.problem(case.items(kind)), replace(ROUGH, max_iter=20))
    for one, other in zip(usual.history, found.history, strict=True):
        np.testing.assert_allclose(one[1:4], other[1:4], rtol=1e-9)


@every_slack
def test_gram_matrices_in_blocks(slack, monkeypatch):
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 5)
    arguments = "tree", "costs", 0.5, slack
    case = cached_toy(*arguments)
    check(case, subspace.solve(case.problem(case.items("gram")), ROUGH), optimum(*arguments))


@every_slack
def test_another_kernel(slack):
    case = cached_toy("tree", "costs", 0.5, slack)
    squared = np.sum(case.X**2, axis=1)
    K = np.exp(-(squared[:, None] - 2 * case.X @ case.X.T + squared) / 10)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    mapped = case._replace(X=root, owner=np.full(len(values), -1))
    items = GramRows(lambda members: K[members], K.diagonal().copy(), 1e9)
    solution = subspace.solve(case.problem(items), ROUGH)
    solution = replace(solution, W=root.T @ solution.W)
    check(mapped, solution, reference.primal_optimum(mapped.instance())[0])


@pytest.mark.slow
@every_slack
def test_single_precision(slack):
    case = cached_toy("tree", "costs", 0.5, slack)
    solution = subspace.solve(case.problem(case.items("sparse", "float32")), SubspaceOptions())
    assert solution.W.dtype == np.float32
    assert solution.converged
    best = optimum("tree", "costs", 0.5, slack)
    assert solution.certificate.primal == pytest.approx(best, rel=0.02)


@every_pair(members=[[0], [3], [5], [1, 2]], slack=SLACKS, working_set=RULES)
def test_few_items(members, slack, working_set):
    """An item without features, one without labels, a usual one, and two with equal features."""
    case = cached_toy("tree", "costs", 0.5, slack).select(members)
    best = reference.primal_optimum(case.instance())[0]
    options = replace(ROUGH, working_set=working_set)
    check(case, subspace.solve(case.problem(), options), best)


@every_rule
@every_slack
def test_items_that_cost_nothing(slack, working_set):
    case = cached_toy("tree", "costs", 0.5, slack)
    free = case._replace(C=np.where(np.arange(len(case.C)) < 4, 0.0, case.C))
    options = replace(ROUGH, working_set=working_set)
    rest = reference.primal_optimum(case.select(slice(4, None)).instance())[0]
    check(free, subspace.solve(free.problem(), options), rest)


def test_weight_two_is_two_items():
    once = cached_toy("tree", "costs", 0.2)
    n = len(once.X)
    heavy = once._replace(C=once.C * np.where(np.arange(n) % 3 == 1, 2, 1))
    twice = once.select(np.concatenate([np.arange(n), np.arange(1, n, 3)]))
    one = subspace.solve(heavy.problem(), ROUGH).certificate
    two = subspace.solve(twice.problem(), ROUGH).certificate
    assert one.primal == pytest.approx(two.primal, rel=4e-3)


# Partial paths [RSSS06, Sec. 4].


@every_pair(loss=LOSSES, slack=SLACKS, working_set=RULES, train_on=["all", "consistent"])
def test_partial_paths_are_optimal(loss, slack, working_set, train_on):
    arguments = "tree", loss, 0.3, slack, "path", train_on
    case = cached_toy(*arguments)
    options = replace(ROUGH, working_set=working_set)
    check(case, subspace.solve(case.problem(), options), optimum(*arguments), options)


@every_pair(shape=SHAPES, slack=SLACKS, kind=["dense", "sparse", "gram"])
def test_partial_paths_on_every_shape(shape, slack, kind):
    arguments = shape, "costs", 0.2, slack, "path", "consistent", 0 if kind == "gram" else 2
    case = cached_toy(*arguments)
    check(case, subspace.solve(case.problem(case.items(kind)), ROUGH), optimum(*arguments))


@pytest.mark.parametrize("shape", ["star", "chain", "tree"])
@pytest.mark.parametrize("slack", ["example", "edge"])
def test_the_linear_program_of_paths_leads_to_the_same(slack, shape):
    case = cached_toy(shape, "costs", 0.05, slack, "path", "consistent").select([0, 3, 5, 7])
    best = reference.primal_optimum(case.instance())[0]
    options = replace(ROUGH, tol=0.05, oracle="linear_program")
    check(case, subspace.solve(case.problem(), options), best, options)


@pytest.mark.parametrize("slack", ["example", "example_signed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_path_marginals_are_sums_over_labellings(shape, slack):
    """In the polytope, and no path has more weight than its prefixes."""
    case = cached_toy(shape, "costs", 0.3, slack, "path", "consistent")
    instance = case.instance()
    *_, state = climbed(case, ROUGH, 10)
    used = state.marginals.used
    assert (used <= instance.C * (1 + 1e-9)).all()
    assert (state.mu[:, 1:] <= state.mu[:, instance.parent[1:]] + 1e-12).all()
    for i, mu in enumerate(state.mu):
        # Rounding can make the truth, whose G is 0, the best labelling.
        rows = instance.others(i) if slack == "example_signed" else instance.labellings
        on = reference.blocks(instance, rows)
        _, residual = nnls(np.column_stack([on, np.ones(len(on))]).T, [*mu, used[i]])
        assert residual <= 1e-9


# Marginals.


def climbed(case, options, passes):
    """Return the states of a solver after each of some passes."""
    state = subspace._State(case.problem(), options)
    for _ in range(passes):
        yield state
        state.visit(state.choose())
        state.look()
    yield state


@pytest.mark.equation("RSSS06:5")
@pytest.mark.equation("RSSS06:6")
@pytest.mark.equation("RSSS06:7")
@every_pair(
    shape=SHAPES,
    train_on=["all", "consistent"],
    way=[("example", "dynamic"), ("example_signed", "dynamic"), ("example", "linear_program")],
)
def test_marginals_stay_in_their_polytope(shape, train_on, way):
    slack, oracle = way
    case = cached_toy(shape, "costs", 0.3, slack, "edge", train_on)
    passes, n = (30, 12) if oracle == "dynamic" else (3, 4)
    instance = case.select(slice(n)).instance()
    for state in climbed(case.select(slice(n)), replace(ROUGH, oracle=oracle), passes):
        for i, mu in enumerate(state.mu):
            assert mu.min() >= 0
            totals = mu.reshape(-1, 4).sum(axis=1)  # Eq. 6
            assert (totals <= instance.C[i] * (1 + 1e-9)).all()
            check_agreement(instance, mu)  # Eq. 7
    for i, mu in enumerate(state.mu):  # Eq. 5
        vertices = reference.blocks(instance, instance.others(i))
        alpha, residual = nnls(vertices.T, mu)
        assert residual <= 1e-9
        assert alpha.sum() <= instance.C[i] * (1 + 1e-9)
        if slack == "example_signed":
            assert alpha.sum() == pytest.approx(instance.C[i], rel=1e-9)


def check_agreement(instance, mu):
    """Check that edges agree on the weights of the labels of every node."""
    for j in range(instance.n_nodes):
        first, *others = reference.node_marginals(instance, mu, j)
        for other in others:
            np.testing.assert_allclose(first, other, atol=1e-9)


@pytest.mark.parametrize("n_local", [0, 2])
@pytest.mark.parametrize("slack", ["example", "example_signed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_certificates_and_weights_follow_from_marginals(shape, slack, n_local):
    case = cached_toy(shape, "costs", 0.3, slack, "edge", "all", n_local)
    instance, before = case.instance(), -np.inf
    for state in climbed(case, ROUGH, 8):
        W = reference.marginal_weights(instance, state.mu)
        np.testing.assert_allclose(state.W, W, atol=1e-9)
        dual = reference.marginal_dual(instance, state.mu)
        assert state.certificate.dual == pytest.approx(dual, abs=1e-9)
        slack_now = reference.slacks(instance, W)[:, 0]
        np.testing.assert_allclose(state.findings.slack, slack_now, atol=1e-9)
        primal = np.sum(W**2) / 2 + instance.C @ slack_now
        assert state.certificate.primal == pytest.approx(primal, abs=1e-9)
        gaps = state.findings.violation * instance.C
        assert gaps.min() >= -1e-9
        assert gaps.sum() == pytest.approx(primal - dual, abs=1e-9)
        assert dual >= before - 1e-12
        before = dual


@st.composite
def gradients(draw):
    """Draw a tree, its edges' gradients and a truth; the gradient of the truth is 0."""
    taxonomy = draw(taxonomies(max_nodes=9, trees_only=True))
    train_on = draw(st.sampled_from(["all", "consistent"]))
    loss = labelling_loss("hierarchical_subtree", taxonomy)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    above, y = parents(taxonomy), (rng.random(taxonomy.n_nodes) < 0.5).astype(int)
    for j in range(1, len(y)):
        y[j] &= y[above[j]]
    tree = labelled_tree(loss, "edge", train_on)
    score = rng.normal(scale=draw(st.sampled_from([0.0, 0.3, 3.0])), size=4 * (len(y) - 1))
    instance = reference.Instance(
        X=np.ones((1, 1)),
        Y=y[None],
        parent=above,
        C=np.ones(1),
        node_costs=loss.costs,
        charge=loss.charge,
        features="edge",
        train_on=train_on,
        slack="example",
        owner=np.array([-1]),
    )
    return tree, score, instance


def largest_gradients(instance, score):
    """Return G of all labellings but the truth."""
    y, others = instance.Y[0], instance.others(0)
    margins = (reference.blocks(instance, y) - reference.blocks(instance, others)) @ score
    return reference.loss(instance, y, others) - margins


def scratch_for(tree, score, instance):
    """Return scratch arrays in which an item's climb has begun."""
    scratch = markov_scratch(tree, len(score), np.float64)
    slope = loops.make_slope(len(score))
    scratch.truth[:], scratch.score[:] = instance.Y[0], score
    loops.begin(tree, scratch, slope)
    return scratch, slope


@pytest.mark.equation("RSSS06:12")
@settings(max_examples=40)
@given(gradients(), st.booleans(), st.sampled_from([0.0, 0.7]))
def test_dynamic_programming_finds_the_best_vertex(drawn, is_signed, cost):
    tree, score, instance = drawn
    scratch, slope = scratch_for(tree, score, instance)
    loops.aim(tree, cost, is_signed, scratch, slope)
    G = largest_gradients(instance, score)
    best = G.max() if is_signed else max(G.max(), 0.0)
    target = slope.target
    value = target[target > 0] @ slope.gradient[target > 0]
    assert value == pytest.approx(cost * best, abs=1e-9)
    vertices = [*(cost * reference.blocks(instance, instance.others(0)))]
    vertices += [] if is_signed else [np.zeros_like(target)]
    assert (target == vertices).all(axis=1).any()


@pytest.mark.equation("RSSS06:11")
@settings(max_examples=30)
@given(gradients())
def test_linear_programs_reach_the_same_value(drawn):
    tree, score, instance = drawn
    _, slope = scratch_for(tree, score, instance)
    found = MarginalPolytope(tree).best(slope.gradient)
    best = max(largest_gradients(instance, score).max(), 0.0)
    value = found[found > 0] @ slope.gradient[found > 0]
    assert value == pytest.approx(best, abs=1e-6)
    assert found.min() >= 0
    assert (found.reshape(-1, 4).sum(axis=1) <= 1 + 1e-9).all()
    check_agreement(instance, found)
