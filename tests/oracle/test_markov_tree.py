"""The solver of the maximum-margin Markov tree against enumeration and a general QP solver."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxonomist.compiled import labelling_search as loops
from taxonomist.compiled.markov_arrays import markov_scratch
from taxonomist.losses import labelling_loss
from taxonomist.solvers import markov
from taxonomist.solvers import problem as problems
from taxonomist.solvers.markov_problem import labelled_tree, node_map, parents
from taxonomist.solvers.problem import GramRows
from taxonomist.solvers.solution import Options
from tests.combinations import every_pair
from tests.reference import markov_tree as reference
from tests.reference.markov_toys import (
    LOSSES,
    SHAPES,
    SLACKS,
    check_claims,
    check_history,
    steps_of,
    toy,
)
from tests.strategies import taxonomies

EXACT = Options(tol=1e-5, stop="gap", dtype="float64", max_iter=20_000)
ROUNDING = {"float64": 1e-11, "float32": 1e-6}

cached_toy = cache(toy)
every_slack = pytest.mark.parametrize("slack", SLACKS)
FEATURES = ("edge", "path")
TRAIN_ON = ("all", "consistent")
every_train_on = pytest.mark.parametrize("train_on", TRAIN_ON)
every_features = pytest.mark.parametrize("features", FEATURES)
every_precision = pytest.mark.parametrize(
    "dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)]
)
"""Loops for the other type take long to compile."""


@cache
def optimum(*arguments):
    return reference.primal_optimum(cached_toy(*arguments).instance())[0]


def check(case, solution, best, options=EXACT, items=None):
    """Check what every solution must be: feasible, certified and optimal."""
    problem, instance = case.problem(items), case.instance()
    steps = steps_of(problem, solution)
    check_feasible(instance, steps)
    check_history(solution, ROUNDING[options.dtype])
    assert solution.converged
    W = case.X.T @ solution.W if problem.items.dual_form else solution.W
    precision = 1e-9 if options.dtype == "float64" else 1e-5
    np.testing.assert_allclose(
        W, reference.weights(instance, steps), atol=precision * (1 + np.abs(W).max())
    )
    found = reference.certificate(instance, W, steps)
    check_claims(solution.certificate, found, best, options.tol, precision)
    assert solution.certificate.violation == pytest.approx(
        found.violation.max(), abs=1e3 * precision
    )


def check_feasible(instance, steps):
    """Check Eq. 2, and that what is stored are distinct labellings with their losses."""
    allowed = [reference.constraints(instance, i) for i in range(len(instance.X))]
    used = np.zeros((len(allowed), len(allowed[0])))
    for i, k, on, charge, alpha in steps:
        assert alpha > 0
        used[i, k] += alpha
        is_same = (allowed[i][k].differences == on).all(axis=1)
        assert np.isclose(allowed[i][k].losses[is_same], charge, rtol=1e-12).any()
    assert (used <= instance.C[:, None] * (1 + 1e-12)).all()
    if instance.slack == "example_signed":
        np.testing.assert_allclose(used[:, 0], instance.C, rtol=1e-12)
    keys = [(i, k, tuple(on), charge) for i, k, on, charge, _ in steps]
    assert len(set(keys)) == len(keys)


# The optimum.


@pytest.mark.equation("RSSS06:1")
@pytest.mark.equation("RSSS06:2")
@every_pair(loss=LOSSES, slack=SLACKS, features=FEATURES)
def test_every_loss_is_optimal(loss, slack, features):
    arguments = "tree", loss, 1.0, slack, features
    case = cached_toy(*arguments)
    check(case, markov.solve(case.problem(), EXACT), optimum(*arguments))


@every_pair(shape=SHAPES, slack=SLACKS, features=FEATURES, train_on=TRAIN_ON)
def test_local_features_on_every_shape(shape, slack, features, train_on):
    arguments = shape, "costs", 0.5, slack, features, train_on, 2
    case = cached_toy(*arguments)
    assert (case.owner >= 0).sum() == 2
    check(case, markov.solve(case.problem(), EXACT), optimum(*arguments))


@every_features
@every_slack
@pytest.mark.parametrize("C", [0.01, 20.0])
def test_costs_of_every_size(C, slack, features):
    arguments = "tree", "hierarchical_sibling", C, slack, features
    case = cached_toy(*arguments)
    options = replace(EXACT, tol=1e-5 if C < 1 else 1e-4)
    check(case, markov.solve(case.problem(), options), optimum(*arguments), options)


@every_precision
@every_pair(kind=["dense", "sparse"], n_local=[0, 2], slack=SLACKS)
def test_feature_rows_of_any_kind(kind, dtype, n_local, slack):
    arguments = "tree", "costs", 1.0, slack, "edge", "all", n_local
    case = cached_toy(*arguments)
    options = Options(tol=1e-4, stop="gap", dtype=dtype)
    items = case.items(kind, dtype)
    solution = markov.solve(case.problem(items), options)
    assert solution.W.dtype == dtype
    check(case, solution, optimum(*arguments), options, items)


@every_features
@every_slack
@pytest.mark.parametrize("block", [5, 256])
def test_the_linear_kernel_by_its_gram_matrix(block, slack, features, monkeypatch):
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", block)
    arguments = "tree", "symmetric_difference", 1.0, slack, features
    case = cached_toy(*arguments)
    items = case.items("gram")
    solution = markov.solve(case.problem(items), EXACT)
    assert solution.W.shape[0] == len(case.X)
    check(case, solution, optimum(*arguments), EXACT, items)


@every_slack
def test_another_kernel(slack):
    case = cached_toy("tree", "costs", 1.0, slack)
    squared = np.sum(case.X**2, axis=1)
    K = np.exp(-(squared[:, None] - 2 * case.X @ case.X.T + squared) / 10)
    values, vectors = np.linalg.eigh(K)
    mapped = case._replace(
        X=vectors * np.sqrt(np.maximum(values, 0)), owner=np.full(len(values), -1)
    )
    items = GramRows(lambda members: K[members], K.diagonal().copy(), 1e9)
    solution = markov.solve(case.problem(items), EXACT)
    best = reference.primal_optimum(mapped.instance())[0]
    check(mapped, solution, best, EXACT, items)


@every_slack
def test_stopping_on_the_violation(slack):
    case = cached_toy("tree", "costs", 1.0, slack)
    options = replace(EXACT, tol=1e-3, stop="violation")
    solution = markov.solve(case.problem(), options)
    assert solution.converged
    steps = steps_of(case.problem(), solution)
    found = reference.certificate(case.instance(), solution.W, steps)
    assert found.violation.max() <= 1e-3 * (1 + 1e-6)


# Hard margins.


def hard(features="edge", train_on="all", loss="symmetric_difference"):
    """Return a problem of six items that differ, with ten features: they can be separated."""
    case = cached_toy("tree", loss, 1.0, "example", features, train_on)
    return case.select([1, 4, 5, 6, 7, 8])._replace(C=np.full(6, np.inf))


@every_pair(
    model=[("edge", "all"), ("edge", "consistent"), ("path", "consistent")],
    loss=LOSSES,
    dtype=list(ROUNDING),
)
def test_a_hard_margin_is_optimal_and_kept(model, loss, dtype):
    """Minimise ½ ||w||² where every labelling has a margin of its loss [RSSS06, Sec. 2.4]."""
    case = hard(*model, loss)
    options = replace(EXACT, tol=1e-4, dtype=dtype, max_iter=1000)
    solution = markov.solve(case.problem(case.items("sparse", dtype)), options)
    primal, dual, gap, _ = solution.certificate
    assert solution.converged
    assert gap <= 1e-4
    best, _ = reference.primal_optimum(case.instance())
    assert primal == pytest.approx(best, rel=2e-4)
    assert dual <= best * (1 + 1e-6)
    W = solution.W.astype(float)
    kept = W * np.sqrt(2 * primal / np.sum(W**2))
    assert reference.slacks(case.instance(), kept).max() <= 1e-5 * (1 + np.abs(kept).max())


@every_pair(features=FEATURES, loss=LOSSES, dtype=list(ROUNDING))
def test_a_hard_margin_that_many_labellings_just_keep(features, loss, dtype):
    """With features of their own, items keep no margin for free; the truth, too, has a G near 0."""
    case = hard(features, "consistent", loss)
    n = len(case.X)
    case = case._replace(X=np.eye(n), owner=np.full(n, -1))
    options = replace(EXACT, tol=1e-3, dtype=dtype, max_iter=300)
    solution = markov.solve(case.problem(case.items("sparse", dtype)), options)
    assert solution.converged
    assert solution.certificate.gap <= 1e-3
    best, _ = reference.primal_optimum(case.instance())
    assert solution.certificate.primal == pytest.approx(best, rel=2e-3)


def test_the_certificate_of_a_hard_margin_is_the_largest_ratio_of_loss_to_margin():
    case = hard("path", "consistent", "costs")
    solution = markov.solve(case.problem(), replace(EXACT, max_iter=12))
    instance, W = case.instance(), solution.W
    factors = []
    for i in range(len(case.X)):
        score = np.sum(W * reference.copies(instance, i), axis=0)
        for _, differences, losses in reference.constraints(instance, i):
            margins = differences @ score
            assert margins.min() > 0
            factors.append((losses / margins).max())
    factor = max(*factors, 1.0)
    assert solution.certificate.primal == pytest.approx(np.sum(W**2) / 2 * factor**2, rel=1e-5)


@pytest.mark.parametrize("kind", ["empty", "twins"])
def test_a_hard_margin_that_nothing_has(kind):
    case = hard()
    X, Y = case.X.copy(), case.Y
    other = np.flatnonzero((Y[0] != Y).any(axis=1))[0]
    X[0] = 0 if kind == "empty" else X[other]
    options = replace(EXACT, max_iter=50)
    solution = markov.solve(case._replace(X=X).problem(), options)
    assert not solution.converged
    assert solution.certificate.primal == np.inf
    assert np.isfinite(solution.W).all()


# Special cases.


@every_features
@every_slack
def test_weight_two_is_two_items(slack, features):
    once = cached_toy("tree", "costs", 1.0, slack, features)
    n = len(once.X)
    heavy = once._replace(C=once.C * np.where(np.arange(n) % 3 == 1, 2, 1))
    twice = once.select(np.concatenate([np.arange(n), np.arange(1, n, 3)]))
    one = markov.solve(heavy.problem(), EXACT).certificate
    two = markov.solve(twice.problem(), EXACT).certificate
    assert len(twice.X) == n + 4
    assert one.primal == pytest.approx(two.primal, rel=2e-5)


@every_pair(members=[[0], [3], [5], [1, 2]], slack=SLACKS, features=FEATURES, train_on=TRAIN_ON)
def test_few_items(members, slack, features, train_on):
    """An item without features, one without labels, a usual one, and two with equal features."""
    case = cached_toy("tree", "costs", 1.0, slack, features, train_on).select(members)
    best = reference.primal_optimum(case.instance())[0]
    check(case, markov.solve(case.problem(), EXACT), best)


@every_slack
def test_items_that_cost_nothing(slack):
    case = cached_toy("tree", "costs", 1.0, slack)
    free = case._replace(C=np.where(np.arange(len(case.C)) < 4, 0.0, case.C))
    solution = markov.solve(free.problem(), EXACT)
    rest = reference.primal_optimum(case.select(slice(4, None)).instance())[0]
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(rest, rel=2e-5)


@every_slack
def test_no_features_at_all(slack):
    case = cached_toy("tree", "costs", 1.0, slack)
    blank = case._replace(X=np.zeros_like(case.X))
    solution = markov.solve(blank.problem(), EXACT)
    largest = [
        reference.loss(blank.instance(), y, blank.instance().labellings).max() for y in case.Y
    ]
    if slack != "edge":
        assert solution.certificate.primal == pytest.approx(case.C @ largest, rel=1e-12)
    assert solution.converged
    assert not solution.W.any()


@every_slack
def test_threads_and_seeds(slack):
    case = cached_toy("tree", "costs", 1.0, slack)
    alone = markov.solve(case.problem(), EXACT)
    together = markov.solve(case.problem(), replace(EXACT, n_threads=3))
    np.testing.assert_array_equal(alone.W, together.W)
    assert alone.certificate == together.certificate


@every_slack
def test_a_callback_sees_and_stops(slack):
    case = cached_toy("tree", "costs", 1.0, slack)
    seen = []
    solution = markov.solve(case.problem(), EXACT, lambda entry: seen.append(entry))
    assert seen == solution.history
    if slack != "edge":
        stopped = markov.solve(case.problem(), EXACT, lambda entry: True)
        assert not stopped.converged
        assert len(stopped.history) <= 2
        assert stopped.history[-1].is_exact


@every_features
@every_slack
def test_warm_starts(slack, features):
    arguments = "tree", "costs", 1.0, slack, features
    case = cached_toy(*arguments)
    whole = markov.solve(case.problem(), EXACT)
    start = whole.of_items(np.arange(len(case.X)))
    again = markov.solve(case.problem(), replace(EXACT, max_iter=0), start=start)
    assert again.certificate.primal == pytest.approx(whole.certificate.primal, rel=1e-9)
    assert again.certificate.dual == pytest.approx(whole.certificate.dual, rel=1e-9)
    assert again.converged
    members = np.array([7, 2, 9, 0, 4, 5])
    part = case.select(members)
    begun = markov.solve(part.problem(), EXACT, start=whole.of_items(members))
    check(part, begun, reference.primal_optimum(part.instance())[0])
    known = markov.solve(case.select(slice(8)).problem(), EXACT)
    grown = markov.solve(case.problem(), EXACT, start=known.of_items(np.arange(len(case.X))))
    check(case, grown, optimum(*arguments))


# Losses and worst labellings by enumeration.


def states_of(tree, u):
    """Return the states of all nodes of labellings, which may be rows."""
    states = u.copy()
    for j in range(1, u.shape[-1]):
        states[..., j] = np.where(u[..., j], tree.up[states[..., tree.parent[j]]], 0)
    return states


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
@every_features
@every_train_on
def test_losses_of_nodes_sum_to_the_loss(loss, shape, features, train_on):
    """For every truth that is closed under ancestors, and any labelling."""
    case = cached_toy(shape, loss, 1.0, "example", features, train_on)
    instance = case.instance()._replace(train_on="all")
    tree, above, nodes = case.problem().tree, instance.parent, np.arange(instance.n_nodes)
    u = instance.labellings
    is_closed = (u <= u[:, above]).all(axis=1)
    for y in u[is_closed]:
        total = tree.loss[2 * y[above] + y, nodes, states_of(tree, u)[:, above], u].sum(axis=1)
        expected = reference.loss(instance, y, u)
        np.testing.assert_allclose(expected, case.loss(np.tile(y, (len(u), 1)), u), rtol=1e-12)
        if train_on == "consistent":
            expected[~is_closed] = -np.inf
        np.testing.assert_allclose(total, expected, rtol=1e-12)


@pytest.mark.parametrize("split", ["shared", "upper"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_of_edges_are_split_among_the_edges_at_a_node(loss, shape, split):
    """By enumeration [RSSS06, Sec. 2.1]: ℓ_e = ℓ_j / N(j) + ℓ_j' / N(j'), which sum to the loss."""
    case = cached_toy(shape, loss)._replace(edge_loss=split)
    instance, tree = case.instance(), case.problem().tree
    above, nodes = instance.parent, np.arange(1, instance.n_nodes)
    u = instance.labellings
    for y in u[(u <= u[:, above]).all(axis=1)]:
        charged = tree.loss[(2 * y[above] + y)[1:], nodes, u[:, above[1:]], u[:, 1:]]
        np.testing.assert_allclose(charged, reference.factor_losses(instance, y, u), atol=1e-12)
        np.testing.assert_allclose(charged.sum(axis=1), reference.loss(instance, y, u), atol=1e-12)
        root, edges = case.loss.decompose(np.tile(y, (len(u), 1)), u, split=split)
        lower = case.loss.taxonomy.edges[:, 1]
        np.testing.assert_allclose(edges.toarray(), charged[:, lower - 1], atol=1e-12)
        assert not root.any()


def test_the_split_of_the_paper_differs_only_for_the_symmetric_difference():
    for loss in LOSSES:
        one, other = (
            cached_toy("tree", loss)._replace(edge_loss=split).problem().tree.loss
            for split in ("shared", "upper")
        )
        is_same = np.array_equal(one, other)
        assert is_same == (cached_toy("tree", loss).loss.charge == "parent")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", ["symmetric_difference", "costs of nodes", "costs"])
def test_a_slack_for_each_edge_with_shared_losses(loss, shape):
    case = cached_toy(shape, loss, 1.0, "edge")._replace(edge_loss="shared")
    best = reference.primal_optimum(case.instance())[0]
    check(case, markov.solve(case.problem(), EXACT), best)


@pytest.mark.parametrize("shape", SHAPES)
@every_features
def test_node_map_sums_to_the_score(shape, features):
    case = cached_toy(shape, "costs", 1.0, "example", features, "consistent")
    instance = case.instance()
    scores = np.random.default_rng(0).normal(size=len(instance.block_nodes))
    on = reference.blocks(instance, instance.labellings)
    gains = scores @ node_map(case.problem().tree)
    empty = on[(instance.labellings == 0).all(axis=1)][0]
    np.testing.assert_allclose(on @ scores, empty @ scores + instance.labellings @ gains)


@st.composite
def scored_trees(draw):
    """Draw a problem of one item, scores of its codes, and which loop to run."""
    taxonomy = draw(taxonomies(max_nodes=12, trees_only=True))
    loss = labelling_loss(
        draw(st.sampled_from(["symmetric_difference", "hierarchical_subtree"])), taxonomy
    )
    features = draw(st.sampled_from(["edge", "path"]))
    train_on = draw(st.sampled_from(["all", "consistent"]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    above, y = parents(taxonomy), (rng.random(taxonomy.n_nodes) < 0.5).astype(int)
    for j in range(1, len(y)):
        y[j] &= y[above[j]]
    instance = reference.Instance(
        X=np.ones((1, 1)),
        Y=y[None],
        parent=above,
        C=np.ones(1),
        node_costs=loss.costs,
        charge=loss.charge,
        features=features,
        train_on=train_on,
        slack="example",
        owner=np.array([-1]),
    )
    scale = draw(st.sampled_from([0.0, 0.3, 3.0]))
    score = rng.normal(scale=scale, size=len(instance.block_nodes))
    return instance, labelled_tree(loss, features, train_on), score


def worths(instance, score, u):
    return reference.loss(instance, instance.Y[0], u) + reference.blocks(instance, u) @ score


@pytest.mark.equation("RSSS06:13")
@pytest.mark.parametrize("is_compiled", [True, False])
@settings(max_examples=40)
@given(scored_trees())
def test_worst_labellings(is_compiled, drawn):
    instance, tree, score = drawn
    scratch = markov_scratch(tree, len(score), np.float64)
    scratch.truth[:], scratch.score[:] = instance.Y[0], score
    find_worst, find_other, true_score = (
        loop if is_compiled else loop.py_func
        for loop in (loops.find_worst, loops.find_other, loops.true_score)
    )
    worst = find_worst(tree, scratch)
    everything = instance.labellings
    assert worst == pytest.approx(worths(instance, score, everything).max(), abs=1e-9)
    assert worths(instance, score, np.minimum(scratch.state, 1)) == pytest.approx(worst, abs=1e-9)
    np.testing.assert_array_equal(scratch.state, states_of(tree, np.minimum(scratch.state, 1)))
    truth = reference.blocks(instance, instance.Y[0]) @ score
    assert true_score(tree, scratch) == pytest.approx(truth, abs=1e-9)
    other = find_other(tree, scratch)
    others = instance.others(0)
    assert other == pytest.approx(worths(instance, score, others).max(), abs=1e-9)
    found = np.minimum(scratch.state, 1)
    assert (found == others).all(axis=1).any()
    assert worths(instance, score, found) == pytest.approx(other, abs=1e-9)
    np.testing.assert_array_equal(scratch.state, states_of(tree, found))
