"""Every solver on label sets against a general QP solver, its certificate, and CH07's claims."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from taxonomist.compiled import joint
from taxonomist.losses import category_loss, labelling_loss
from taxonomist.solvers import SOLVERS, sequential
from taxonomist.solvers import problem as problems
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.solvers.solution import Options
from taxonomist.solvers.warm_start import carry_over
from taxonomist.taxonomy import Taxonomy
from tests.combinations import every_pair, every_value
from tests.reference import joint_svm
from tests.reference import pair_svm as reference
from tests.reference.joint_toys import (
    LOSSES,
    SHAPES,
    SLACKS,
    SetToy,
    alpha_of,
    assert_feasible,
    assert_solves,
    recomputed_pairs,
    separable_sets,
    set_toy,
    toy,
)
from tests.strategies import taxonomies

EXACT = Options(tol=1e-6, stop="gap", dtype="float64")
VERY_EXACT = Options(tol=1e-9, stop="gap", dtype="float64", max_iter=5000)
GOOD = Options(tol=1e-5, stop="gap", dtype="float64")

NAMES = [name for name in SOLVERS if name not in ("auto", "hcc03")]
every_solver = pytest.mark.parametrize("name", NAMES)
every_slack = pytest.mark.parametrize("slack", SLACKS)
every = pytest.mark.parametrize(("name", "slack"), list(product(NAMES, SLACKS)))
some = every_value(name=NAMES, slack=SLACKS)
cached_toy = cache(set_toy)
SMALL = 1, 16  # seed and number of items, where slow solvers run


@cache
def optimum(*arguments):
    found = cached_toy(*arguments)
    return reference.primal_optimum(found.instance(), found.X)[0]


def rbf(X):
    squared = np.sum(X**2, axis=1)
    return np.exp(-(squared[:, None] - 2 * X @ X.T + squared) / 10)


def gram(K, budget=1e6):
    return GramRows(lambda members: K[members], K.diagonal(), budget)


def assert_same(solution, other, tol=1e-9):
    """Check one optimum: ½ ||w - w'||² is at most the gap."""
    primal = other.certificate.primal
    assert solution.certificate.primal == pytest.approx(primal, rel=2 * tol)
    np.testing.assert_allclose(solution.W, other.W, atol=np.sqrt(8 * tol * primal))


# The reference programs.


@every_pair(shape=SHAPES, C=[0.01, 1.0, 100.0], slack=SLACKS)
def test_reference_programs_agree(shape, C, slack):
    instance = cached_toy(shape, "weighted", C, slack).instance()
    value, alpha = reference.dual_optimum(instance)
    assert optimum(shape, "weighted", C, slack) == pytest.approx(value, rel=1e-7)
    assert reference.at_alpha(instance, alpha).primal == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_reference_programs_agree_with_those_of_one_category_each(shape):
    one = toy(shape, "weighted", n=20)
    several = SetToy.of(one).instance()
    value, W = joint_svm.primal_optimum(one.instance(), one.X)
    found, weights = reference.primal_optimum(several, one.X)
    assert found == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(weights, W, atol=1e-4)
    rough = sequential.solve(one.problem(), Options(max_iter=2, dtype="float64"))
    alpha = alpha_of(rough, one.instance())
    A = joint_svm.coefficients(one.instance(), alpha)
    expected = joint_svm.certificate(
        one.instance(), several.K @ A, np.sum(A * (several.K @ A)), alpha
    )
    known = recomputed_pairs(several, rough, one.X)
    assert known.primal == pytest.approx(expected.primal)
    assert known.dual == pytest.approx(expected.dual)
    np.testing.assert_allclose(known.slack, expected.slack, atol=1e-12)
    np.testing.assert_allclose(known.psi, expected.psi, atol=1e-9)


def test_toys_have_label_sets_of_all_sizes():
    for found in (set_toy(), set_toy("dag", "tree", 1.0, "pair", *SMALL)):
        assert {0, 1, 2, 3, found.Y.shape[1]} <= set(found.Y.sum(axis=1).tolist())
        assert found.problem().n_pairs == len(found.instance().triples)


# Solvers.


@every_pair(shape=SHAPES, loss=LOSSES, C=[0.03, 3.0, 100.0], slack=SLACKS)
def test_sequential_is_optimal(shape, loss, C, slack):
    found = cached_toy(shape, loss, C, slack)
    solution = sequential.solve(found.problem(), EXACT)
    assert_solves(found, solution, optimum(shape, loss, C, slack), EXACT)


@every_pair(
    name=NAMES,
    toy=[("tree", "weighted"), ("dag", "tree"), ("flat", "zero_one"), ("real", "matrix")],
    C=[0.1, 5.0],
    slack=SLACKS,
)
def test_every_solver_is_optimal(name, toy, C, slack):
    shape, loss = toy
    found = cached_toy(shape, loss, C, slack, *SMALL)
    solution = SOLVERS[name](found.problem(), GOOD)
    assert_solves(found, solution, optimum(shape, loss, C, slack, *SMALL), GOOD)


@every
def test_single_precision_and_dense_rows(name, slack):
    options = Options(tol=5e-5, stop="gap", dtype="float32")
    found = cached_toy("dag", "weighted", 1.0, slack, *SMALL)
    solution = SOLVERS[name](found.problem(FeatureRows(found.X, "float32")), options)
    assert solution.W.dtype == np.float32
    assert_solves(found, solution, optimum("dag", "weighted", 1.0, slack, *SMALL), options)


@every
def test_a_kernel_with_blocks_that_are_recomputed(name, slack, monkeypatch):
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 7)
    found = cached_toy("dag", "tree", 1.0, slack, *SMALL)
    K = rbf(found.X)
    solution = SOLVERS[name](found.problem(gram(K, 2 * 8 * 7 * len(K))), GOOD)
    assert_solves(found, solution, reference.dual_optimum(found.instance(K))[0], GOOD, K)


@some
def test_many_attributes(name, slack):
    rng = np.random.default_rng(0)
    n_categories = cached_toy("flat").Y.shape[1]
    dense = rng.normal(size=(n_categories, 80)) * (rng.random((n_categories, 80)) < 0.2)
    # Attributes that no category has change nothing, but make few into many.
    dense = np.pad(dense, ((0, 0), (0, joint.FEW_ATTRIBUTES)))
    assert dense.shape[1] > joint.FEW_ATTRIBUTES
    found = cached_toy("flat", "weighted", 1.0, slack, *SMALL)
    found = found._replace(attributes=sparse.csr_array(dense))
    solution = SOLVERS[name](found.problem(), GOOD)
    assert_solves(found, solution, reference.dual_optimum(found.instance())[0], GOOD)


@every
def test_losses_and_products_computed_when_needed(name, slack, monkeypatch):
    found = cached_toy("dag", "weighted", 1.0, slack, *SMALL)
    monkeypatch.setattr(problems, "TABULATED_CATEGORIES", 0)
    assert found.problem().arrays().loss.matrix.size == 0
    assert found.problem().arrays().attributes.products.size == 0
    solution = SOLVERS[name](found.problem(), GOOD)
    assert_solves(found, solution, optimum("dag", "weighted", 1.0, slack, *SMALL), GOOD)


@every
def test_stopping_on_the_violation(name, slack):
    found = cached_toy("tree", "weighted", 1.0, slack, *SMALL)
    solution = SOLVERS[name](found.problem(), Options(tol=1e-3, dtype="float64"))
    assert solution.converged
    assert recomputed_pairs(found.instance(), solution, found.X).psi.max() <= 1e-3 * (1 + 1e-9)


@every
@pytest.mark.parametrize("max_iter", [0, 2])
def test_too_few_passes_still_certify(name, slack, max_iter):
    found = cached_toy("dag", "matrix", 10.0, slack, *SMALL)
    options = Options(tol=1e-9, max_iter=max_iter, dtype="float64")
    solution = SOLVERS[name](found.problem(), options)
    assert_feasible(found.instance(), solution)
    known = recomputed_pairs(found.instance(), solution, found.X)
    assert not solution.converged
    assert solution.certificate.primal == pytest.approx(known.primal, rel=1e-9)
    assert solution.certificate.dual == pytest.approx(known.dual, rel=1e-9, abs=1e-12)
    assert solution.certificate.violation == pytest.approx(known.psi.max(), rel=1e-9)


# Slacks, and the one-category problem.


@every_solver
@pytest.mark.parametrize("shape", SHAPES)
def test_one_category_each_is_the_multiclass_problem(name, shape):
    one = toy(shape, "weighted", n=20)
    value, W = joint_svm.primal_optimum(one.instance(), one.X)
    options = Options(tol=1e-7, stop="gap", dtype="float64", max_iter=5000)
    found = SOLVERS[name](SetToy.of(one).problem(), options)
    assert found.certificate.primal == pytest.approx(value, rel=1e-6)
    dense = one.attributes.toarray().T
    bound = np.sqrt(8e-7 * value) * np.linalg.norm(one.X, axis=1).max()
    np.testing.assert_allclose(one.X @ found.W @ dense, one.X @ W @ dense, atol=bound)


@every_solver
def test_two_categories_leave_one_pair_and_one_slack(name):
    two = toy("flat", "zero_one", n=20)
    Y = SetToy.of(two).Y[:, :2]
    loss = category_loss(np.array([[0.0, 1.5], [0.5, 0.0]]), Taxonomy.flat("ab"))
    case = SetToy(two.X, Y, two.costs, sparse.csr_array(np.eye(2)), loss)
    example, pair = (
        SOLVERS[name](case._replace(slack=slack).problem(), VERY_EXACT) for slack in SLACKS
    )
    assert_same(pair, example)
    assert 0 < (Y.sum(axis=1) == 1).sum() < len(Y)


@every_solver
def test_many_active_pairs_of_an_item(name):
    """The store of variables grows far beyond the room that an item is given at first."""
    rng = np.random.default_rng(0)
    loss = category_loss("zero_one", Taxonomy.flat([f"c{k}" for k in range(16)]))
    Y = np.arange(16) % 2 == np.arange(6)[:, None] % 2
    Y ^= rng.random(Y.shape) < 0.1
    X, attributes = rng.normal(size=(6, 8)), sparse.csr_array(rng.normal(size=(16, 5)))
    case = SetToy(X, Y, rng.uniform(0.5, 1.5, size=6), attributes, loss, "pair")
    options = Options(tol=1e-5, stop="gap", dtype="float64", max_iter=5000)
    solution = SOLVERS[name](case.problem(), options)
    assert_solves(case, solution, reference.primal_optimum(case.instance(), X)[0], options)
    assert solution.duals.size.max() > 4 * sequential.MOST_NEW


@every_solver
def test_where_cost_is_small_every_pair_is_at_its_bound(name):
    found = cached_toy("dag", "matrix", 1e-6, "pair")
    solution = SOLVERS[name](found.problem(), GOOD)
    entries = Entries.of(solution.duals)
    assert len(entries.beta) == len(found.instance().triples)
    np.testing.assert_array_equal(entries.beta, found.costs[entries.item])


# What must not change the answer.


@every
def test_items_with_no_or_all_categories_add_nothing(name, slack):
    found = cached_toy("dag", "weighted", 1.0, slack, *SMALL)
    has_pairs = found.Y.any(axis=1) & ~found.Y.all(axis=1)
    assert has_pairs.sum() == len(has_pairs) - 2
    solution = SOLVERS[name](found.problem(), GOOD)
    without = SOLVERS[name](found.select(has_pairs).problem(), GOOD)
    assert_same(solution, without, GOOD.tol)
    assert (solution.duals.size[~has_pairs] == 0).all()


@every
@pytest.mark.parametrize("fill", [False, True])
def test_no_item_has_a_pair(name, slack, fill):
    found = set_toy(slack=slack)
    for costs in (found.costs, np.full_like(found.costs, np.inf)):
        alike = found._replace(Y=np.full_like(found.Y, fill), costs=costs)
        for case in (alike, alike.select(slice(0))):
            solution = SOLVERS[name](case.problem(), EXACT)
            assert solution.converged
            assert solution.certificate == (0.0, 0.0, 0.0, 0.0)
            assert not solution.W.any()


@every_pair(name=NAMES, slack=SLACKS, stop=["gap", "violation"])
def test_items_that_cost_nothing(name, slack, stop):
    found = cached_toy("dag", "weighted", 1.0, slack)
    free = np.arange(len(found.costs)) % 5 == 0
    some = found._replace(costs=np.where(free, 0.0, found.costs))
    options = Options(tol=1e-5, stop=stop, dtype="float64", max_iter=2000)
    solution = SOLVERS[name](some.problem(), options)
    rest = found.select(~free)
    best = reference.primal_optimum(rest.instance(), rest.X)[0]
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(best, rel=1e-4)
    assert (solution.duals.size[free] == 0).all()
    psi = recomputed_pairs(some.instance(), solution, some.X).psi.max()
    assert solution.certificate.violation == pytest.approx(psi, abs=1e-9)


@every_slack
def test_an_item_twice_is_cost_two(slack):
    found = cached_toy("tree", "matrix", 1.0, slack, *SMALL)
    solution = sequential.solve(found.problem(), VERY_EXACT)
    twice = found.select(np.repeat(np.arange(len(found.Y)), 2))
    twice = twice._replace(costs=twice.costs / 2)
    assert_same(sequential.solve(twice.problem(), VERY_EXACT), solution)


@every_slack
def test_order_of_items_and_categories(slack):
    found = cached_toy("dag", "matrix", 1.0, slack, *SMALL)
    solution = sequential.solve(found.problem(), VERY_EXACT)
    rng = np.random.default_rng(0)
    order = rng.permutation(found.Y.shape[1])
    matrix = found.loss.rows(order)[:, order]
    moved = found._replace(
        Y=found.Y[:, order],
        attributes=found.attributes[order],
        loss=category_loss(matrix, Taxonomy.flat([f"c{k}" for k in order])),
    ).select(rng.permutation(len(found.Y)))
    assert_same(sequential.solve(moved.problem(), VERY_EXACT), solution)


@every_slack
def test_linear_gram_equals_features(slack):
    found = cached_toy("dag", "weighted", 1.0, slack, *SMALL)
    solution = sequential.solve(found.problem(), VERY_EXACT)
    dual_form = sequential.solve(found.problem(gram(found.X @ found.X.T)), VERY_EXACT)
    primal = solution.certificate.primal
    assert dual_form.certificate.primal == pytest.approx(primal, rel=2e-9)
    np.testing.assert_allclose(found.X.T @ dual_form.W, solution.W, atol=1e-3)


# Hard margins.


@every_pair(name=NAMES, slack=SLACKS, shape=["dag", "flat"])
def test_hard_margin(name, shape, slack):
    found = separable_sets(shape, slack).select(np.arange(16))
    solution = SOLVERS[name](found.problem(), GOOD)
    assert_solves(found, solution, reference.primal_optimum(found.instance(), found.X)[0], GOOD)
    known = recomputed_pairs(found.instance(), solution, found.X)
    margins = [known.margins[triple] for triple in found.instance().triples]
    assert min(margins) == pytest.approx(1, abs=1e-3)


@some
def test_a_hard_margin_need_not_separate_items_without_pairs_or_cost(name, slack):
    found = separable_sets("flat", slack)
    best = reference.primal_optimum(found.instance(), found.X)[0]
    X, Y, costs = found.X.copy(), found.Y.copy(), found.costs.copy()
    X[3:5] = 0
    solution = SOLVERS[name](found._replace(X=X).problem(), GOOD)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(best, rel=1e-4)
    costs[6:8], X[7], Y[6] = 0, 0, ~Y[6]
    free = found._replace(X=X, Y=Y, costs=costs)
    kept = free.select(np.isinf(costs))
    best = reference.primal_optimum(kept.instance(), kept.X)[0]
    solution = SOLVERS[name](free.problem(), GOOD)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(best, rel=1e-4)


@every
def test_a_hard_margin_that_does_not_exist_is_given_up(name, slack):
    found = separable_sets("tree", slack).select(np.arange(3, 9))
    found.X[2:4], found.Y[3] = found.X[2], ~found.Y[2]
    solution = SOLVERS[name](found.problem(), Options(max_iter=5, dtype="float64"))
    assert not solution.converged
    assert solution.certificate.primal == np.inf


# Starts.


@every
def test_a_start_at_the_optimum_takes_few_passes(name, slack):
    found = cached_toy("dag", "weighted", 1.0, slack, *SMALL)
    solved = SOLVERS[name](found.problem(), GOOD)
    same = np.arange(found.Y.shape[1])
    start = carry_over(found.problem(), solved.duals, same, np.float64)
    again = SOLVERS[name](found.problem(), GOOD, start=start)
    assert again.converged
    assert len(again.history) <= 3
    assert again.certificate.dual >= solved.certificate.dual * (1 - 1e-9)


@some
def test_a_start_from_other_label_sets_costs_and_categories(name, slack):
    old = set_toy("dag", "weighted", 3.0, slack, seed=1)
    solved = sequential.solve(old.problem(), Options(tol=0.01, dtype="float64"))
    rng = np.random.default_rng(2)
    n, order = old.Y.shape[1], rng.permutation(old.Y.shape[1])
    Y = old.Y[:, order] ^ (rng.random(old.Y.shape) < 0.1)
    matrix = category_loss(
        rng.uniform(0.2, 2, (n, n)) * (1 - np.eye(n)), Taxonomy.flat("abcdefg"[:n])
    )
    new = old._replace(Y=Y, costs=old.costs / 2, attributes=old.attributes[order], loss=matrix)
    start = carry_over(new.problem(), solved.duals, np.argsort(order), np.float64)
    assert_feasible(new.instance(), start)
    assert start.duals.size.sum() > 20
    solution = SOLVERS[name](new.problem(), GOOD, start=start)
    assert_solves(new, solution, reference.primal_optimum(new.instance(), new.X)[0], GOOD)


# The claims of CH07.


def above(taxonomy, nodes):
    """Return the ancestors of some nodes, themselves included, by following parents."""
    found, new = set(), set(nodes)
    while new:
        found |= new
        new = {p for node in new for p in taxonomy.parents(node)} - found
    return found


@given(taxonomies(min_nodes=3), st.data())
def test_proposition_1_pairs_bound_the_loss_of_label_sets(taxonomy, data):
    leaves = np.flatnonzero(taxonomy.is_leaf)
    assume(len(leaves) > 1)
    codes = data.draw(st.permutations(range(len(leaves))))
    ends = st.lists(st.integers(1, len(leaves) - 1), min_size=2, max_size=2)
    first, last = data.draw(ends)
    true, predicted = set(codes[:first]), set(codes[last:])
    assume(true - predicted and predicted - true)
    ids = [taxonomy.nodes[code] for code in leaves]
    one, other = (above(taxonomy, [ids[k] for k in chosen]) for chosen in (true, predicted))
    pairs = [(y, c) for y in true - predicted for c in predicted - true]
    bound = sum(len(above(taxonomy, [ids[y]]) ^ above(taxonomy, [ids[c]])) for y, c in pairs)
    assert len(one ^ other) <= bound
    tree = category_loss("tree", taxonomy)
    assert 2 * tree.pairs(*np.array(pairs).T).sum() == pytest.approx(bound)
    matrix = taxonomy.ancestor_matrix()[leaves].toarray() > 0
    labellings = (matrix[sorted(chosen)].any(axis=0)[None] for chosen in (true, predicted))
    found = labelling_loss("symmetric_difference", taxonomy)(*labellings)
    assert found[0] == pytest.approx(len(one ^ other))


def check_proposition_2(instance, f, slack):
    if instance.slack == "pair":
        assert (slack >= reference.ranking_loss(instance, f) - 1e-9).all()
    assert (slack >= reference.maximal_loss(instance, f) - 1e-9).all()
    assert slack.mean() >= reference.maximal_loss(instance, f).mean() - 1e-12


@every_slack
@pytest.mark.parametrize("C", [0.001, 0.03, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_proposition_2_slacks_of_a_solution_bound_the_maximal_loss(shape, C, slack):
    found = cached_toy(shape, "weighted", C, slack)
    instance = found.instance()
    solution = sequential.solve(found.problem(), EXACT)
    known = recomputed_pairs(instance, solution, found.X)
    f = found.X @ solution.W @ instance.attributes.T
    assert reference.maximal_loss(instance, f).max() > 0
    check_proposition_2(instance, f, known.slack)
    from_primal = solution.certificate.primal - np.sum(solution.W**2) / 2
    assert found.costs @ reference.maximal_loss(instance, f) <= from_primal + 1e-9


seeds = st.integers(0, 10**6)
cases = st.builds(
    cached_toy,
    st.sampled_from(SHAPES),
    st.sampled_from(LOSSES),
    st.just(1.0),
    st.sampled_from(SLACKS),
)


@settings(max_examples=25)
@given(cases, seeds, st.sampled_from([0.01, 0.3, 3.0]))
def test_proposition_2_slacks_of_any_weights_bound_the_maximal_loss(case, seed, scale):
    instance = case.instance()
    shape = case.X.shape[1], case.attributes.shape[1]
    W = np.random.default_rng(seed).normal(scale=scale, size=shape)
    nothing = np.zeros((*case.Y.shape, case.Y.shape[1]))
    slack = reference.certificate(instance, case.X @ W, np.sum(W**2), nothing).slack
    check_proposition_2(instance, case.X @ W @ instance.attributes.T, slack)


@settings(max_examples=25)
@given(cases, seeds)
def test_no_violation_means_optimal(case, seed):
    """The gap is at most the sum of C_i ψ over the slacks."""
    instance, rng = case.instance(), np.random.default_rng(seed)
    alpha = np.zeros((*case.Y.shape, case.Y.shape[1]))
    for group in instance.sharing:
        beta = rng.random(len(group)) * (rng.random(len(group)) < 0.4)
        cost = instance.costs[group[0][0]] * min(rng.uniform(0, 1.5), 1)
        beta *= cost / max(beta.sum(), 1e-9)
        for triple, share in zip(group, beta, strict=True):
            alpha[triple] = share * instance.loss[triple[1:]]
    found = reference.at_alpha(instance, alpha)
    assert (found.psi >= 0).all()
    bound = sum(
        instance.costs[group[0][0]] * reference.violation(instance, group, found.G, alpha)
        for group in instance.sharing
    )
    assert found.primal - found.dual <= bound * (1 + 1e-9) + 1e-12
