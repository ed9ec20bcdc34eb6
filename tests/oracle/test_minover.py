"""The MinOver perceptron against Algorithm 2 done by hand, and against its bounds [CH07]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from taxonomist.losses import category_loss
from taxonomist.solvers import minover
from taxonomist.solvers.minover import MinOverOptions, solve
from taxonomist.solvers.problem import FeatureRows, GramRows
from tests.reference import pair_svm
from tests.reference.joint_toys import SHAPES, SetToy, pair_alpha, separable_sets, set_toy, toy
from tests.strategies import taxonomies

KINDS = ("sparse", "dense", "gram")


class Run(NamedTuple):
    """What Algorithm 2 did."""

    triples: list[tuple[int, int, int]]
    alphas: list[np.ndarray]  # after each step
    margins: dict[tuple[int, int, int], float]  # in the end

    @property
    def worst(self):
        return min(self.margins.values(), default=np.inf)

    @property
    def n_errors(self):
        return len({i for (i, _, _), margin in self.margins.items() if margin <= 0})


def by_hand(instance, margin, max_iter, ridge=0.0):
    """Algorithm 2, with all margins computed anew before each step."""
    K = instance.K + ridge * np.eye(len(instance.K))
    triples = [t for t in instance.triples if instance.costs[t[0]] > 0 and K[t[0], t[0]] > 0]
    alpha = np.zeros((len(K), *instance.loss.shape))
    taken, alphas = [], []
    while True:
        f = K @ pair_svm.coefficients(instance, alpha) @ instance.attributes.T
        margins = {(i, y, c): f[i, y] - f[i, c] for i, y, c in triples}
        worst = min(margins.values(), default=np.inf)
        if worst > margin or len(taken) == max_iter:
            return Run(taken, alphas, margins)
        # Equal margins may differ by rounding; the triples are in order.
        i, y, c = next(t for t in triples if margins[t] <= worst + 1e-9)
        alpha[i, y, c] += instance.loss[y, c]
        taken.append((i, y, c))
        alphas.append(alpha.copy())


def agreeing(*args, **options):
    """Return a problem in which the two items with the same features have the same labels.

    Otherwise the steps for the two would soon undo each other, and no others follow.
    """
    case = set_toy(*args, **options)
    Y = case.Y.copy()
    Y[2] = Y[1]
    return case._replace(Y=Y)


def gram_rows(K):
    return GramRows(lambda members: K[members], K.diagonal(), 1e9)


def items_of(kind, X):
    if kind == "gram":
        return gram_rows(X @ X.T)
    return FeatureRows(sparse.csr_array(X) if kind == "sparse" else X, "float64")


def rbf(X):
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 20)


def triples_of(problem, options):
    """Return the triples of the steps in their order."""
    search = minover._Search(problem, options, None)
    search.advance()
    return [
        tuple(map(int, t)) for t in zip(*(s[: search.n_taken] for s in search.steps), strict=True)
    ]


def assert_did_the_same(found, expected, instance, X=None):
    """Check a solution against what was done by hand; without X it is in dual form."""
    alpha = expected.alphas[-1] if expected.alphas else np.zeros_like(found_alpha(found, instance))
    np.testing.assert_allclose(found_alpha(found, instance), alpha, rtol=1e-12)
    A = pair_svm.coefficients(instance, alpha)
    np.testing.assert_allclose(found.W, A if X is None else X.T @ A, atol=1e-9)
    assert found.n_iter == len(expected.triples)
    assert found.margin == pytest.approx(expected.worst, abs=1e-9)
    assert found.history[-1][1:3] == (found.n_iter, found.margin)


def found_alpha(found, instance):
    return pair_alpha(found.duals, instance.Y.shape)


@pytest.mark.equation("CH07:Alg. 2")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["zero_one", "tree", "weighted", "matrix"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_steps_are_those_of_the_definition(shape, loss, kind):
    case = agreeing(shape, loss, seed=3)
    options = MinOverOptions(margin=3.0, max_iter=100)
    expected = by_hand(case.instance(), 3.0, 100)
    problem = case.problem(items_of(kind, case.X))
    assert triples_of(problem, options) == expected.triples
    found = solve(problem, options)
    assert_did_the_same(found, expected, case.instance(), None if kind == "gram" else case.X)
    assert found.history[-1].n_errors == expected.n_errors
    assert found.converged == (expected.worst > 3.0)
    assert len(set(expected.triples)) > 20


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_any_kernel(shape, ridge):
    case = agreeing(shape, "weighted", seed=1)
    K = rbf(case.X)
    options = MinOverOptions(margin=0.5, max_iter=80, ridge=ridge)
    expected = by_hand(case.instance(K), 0.5, 80, ridge)
    problem = case.problem(gram_rows(K))
    assert triples_of(problem, options) == expected.triples
    assert_did_the_same(solve(problem, options), expected, case.instance(K))


def test_a_kernel_with_negative_values():
    case = agreeing("dag", "weighted", seed=2)
    X = case.X - 0.5 * (case.X != 0)
    case = case._replace(X=X)
    assert (X @ X.T < 0).any()
    expected = by_hand(case.instance(), 1.0, 150)
    for kind in KINDS:
        options = MinOverOptions(margin=1.0, max_iter=150)
        assert triples_of(case.problem(items_of(kind, X)), options) == expected.triples


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_one_category_each(shape, kind):
    case = SetToy.of(toy(shape, "tree", seed=5))
    expected = by_hand(case.instance(), 0.2, 100)
    options = MinOverOptions(margin=0.2, max_iter=100)
    found = solve(case.problem(items_of(kind, case.X)), options)
    assert_did_the_same(found, expected, case.instance(), None if kind == "gram" else case.X)


@pytest.mark.parametrize("kind", KINDS)
def test_items_that_cost_nothing_are_left_out_and_costs_do_not_matter_otherwise(kind):
    case = agreeing("tree", seed=4)
    costs = np.where(np.arange(len(case.X)) % 3 == 0, 0.0, case.costs)
    case = case._replace(costs=costs)
    expected = by_hand(case.instance(), 0.5, 60)
    options = MinOverOptions(margin=0.5, max_iter=60)
    found = solve(case.problem(items_of(kind, case.X)), options)
    assert_did_the_same(found, expected, case.instance(), None if kind == "gram" else case.X)
    kept = case.select(costs > 0)
    alone = solve(kept._replace(costs=np.ones(len(kept.X))).problem(), options)
    np.testing.assert_array_equal(
        found_alpha(found, case.instance())[costs > 0], found_alpha(alone, kept.instance())
    )
    assert found.history[-1].n_errors == alone.history[-1].n_errors


@st.composite
def whole_number_cases(draw):
    """Draw problems on which all arithmetic is exact, so that ties are ties."""
    taxonomy = draw(taxonomies(max_nodes=9))
    leaves = np.flatnonzero(taxonomy.is_leaf)
    n_items = draw(st.integers(1, 6))
    X = draw(arrays(np.float64, (n_items, 3), elements=st.integers(-2, 2).map(float)))
    Y = draw(arrays(np.bool_, (n_items, len(leaves))))
    costs = draw(arrays(np.float64, n_items, elements=st.sampled_from([0.0, 1.0, 1.0])))
    attributes = taxonomy.ancestor_matrix()[leaves].astype(np.float64)
    return SetToy(X, Y, costs, attributes, category_loss("tree", taxonomy))


@given(whole_number_cases(), st.sampled_from(KINDS), st.sampled_from([0.0, 1.0]))
def test_ties_go_to_the_first_item_and_the_smallest_categories(case, kind, margin):
    options = MinOverOptions(margin=margin, max_iter=30)
    expected = by_hand(case.instance(), margin, 30)
    problem = case.problem(items_of(kind, case.X))
    assert triples_of(problem, options) == expected.triples
    found = solve(problem, options)
    assert_did_the_same(found, expected, case.instance(), None if kind == "gram" else case.X)
    assert found.history[-1].n_errors == expected.n_errors


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_averaged_weights_are_the_mean_over_all_steps(shape, kind):
    case = agreeing(shape, "weighted", seed=6)
    options = MinOverOptions(margin=0.5, max_iter=40, average=True)
    found = solve(case.problem(items_of(kind, case.X)), options)
    instance = case.instance()
    expected = by_hand(instance, 0.5, 40)
    mean = pair_svm.coefficients(instance, np.mean(expected.alphas, axis=0))
    last = pair_svm.coefficients(instance, expected.alphas[-1])
    if kind != "gram":
        mean, last = case.X.T @ mean, case.X.T @ last
    np.testing.assert_allclose(found.W, mean, atol=1e-9)
    np.testing.assert_allclose(found.last, last, atol=1e-9)
    assert found.n_averaged == found.n_iter == len(expected.triples)


def perceptron_bounds(instance, X, margin):
    """Return the most steps, and the smallest margin of w / ||w|| in the end, by the theorem."""
    _, best = pair_svm.primal_optimum(instance, X)
    gamma = 1 / np.linalg.norm(best)
    i, y, c = np.array(instance.triples).T
    squared = np.sum((instance.attributes[y] - instance.attributes[c]) ** 2, axis=1)
    longest = np.max(squared * instance.K[i, i])
    delta = instance.loss[y, c]
    size = 2 * margin + longest * delta.max()
    return size / (gamma**2 * delta.min()), gamma, gamma * margin / size


@pytest.mark.parametrize("margin", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_what_can_be_separated_is_within_the_bound(shape, margin):
    case = separable_sets(shape)
    instance = case.instance()
    most, gamma, least = perceptron_bounds(instance, case.X, margin)
    found = solve(case.problem(), MinOverOptions(margin=margin, max_iter=int(most) + 1))
    assert found.converged
    assert not found.is_hopeless
    assert found.n_iter <= most
    f = case.X @ found.W @ instance.attributes.T
    worst = min(f[i, y] - f[i, c] for i, y, c in instance.triples)
    assert worst > margin
    assert found.margin == pytest.approx(worst, rel=1e-9)
    reached = worst / np.linalg.norm(found.W)
    assert least <= reached <= gamma * (1 + 1e-6)
    before = solve(case.problem(), MinOverOptions(margin=margin, max_iter=found.n_iter - 1))
    assert not before.converged
    assert before.margin <= margin


def test_a_large_margin_comes_close_to_the_best():
    case = separable_sets("tree")
    _, gamma, _ = perceptron_bounds(case.instance(), case.X, 0)
    found = solve(case.problem(), MinOverOptions(margin=3000.0))
    assert found.converged
    assert found.margin / np.linalg.norm(found.W) > 0.99 * gamma


@pytest.mark.equation("CH07:Alg. 2")
@pytest.mark.parametrize("shape", ["tree", "dag"])
def test_a_step_changes_the_nodes_above_one_of_the_two_categories_only(shape):
    case = agreeing(shape, "tree", seed=7)
    n_steps = 12
    triples = triples_of(case.problem(), MinOverOptions(max_iter=n_steps))
    W = [solve(case.problem(), MinOverOptions(max_iter=n)).W for n in range(n_steps + 1)]
    above = case.attributes.toarray() > 0
    for n, (i, y, c) in enumerate(triples):
        change = W[n + 1] - W[n]
        size = case.loss.row(y)[c]
        np.testing.assert_allclose(
            change[:, above[y] & ~above[c]].T - size * case.X[i], 0, atol=1e-9
        )
        np.testing.assert_allclose(
            change[:, above[c] & ~above[y]].T + size * case.X[i], 0, atol=1e-9
        )
        np.testing.assert_allclose(change[:, above[c] == above[y]], 0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_ridge_is_a_feature_of_its_own_for_each_item(kind):
    case = set_toy("dag", "tree", seed=8)
    ridge, n_items = 0.7, len(case.X)
    options = MinOverOptions(margin=2.0, max_iter=5000, ridge=ridge)
    found = solve(case.problem(items_of(kind, case.X)), options)
    wide = case._replace(X=np.hstack([case.X, np.sqrt(ridge) * np.eye(n_items)]))
    expected = solve(wide.problem(), MinOverOptions(margin=2.0, max_iter=5000))
    assert found.converged
    assert found.n_iter == expected.n_iter
    np.testing.assert_array_equal(found.duals.beta, expected.duals.beta)
    assert found.margin == pytest.approx(expected.margin)
    if kind != "gram":
        np.testing.assert_allclose(found.W, expected.W[: case.X.shape[1]], atol=1e-9)
