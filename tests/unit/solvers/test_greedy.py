"""The papers' solvers against a twin of Algorithm 1, the sequential solver and the oracle."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist.compiled import greedy as loops
from taxonomist.solvers import greedy, problem, sequential
from taxonomist.solvers.duals import Entries
from taxonomist.solvers.interior_point import maximise
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.solvers.solution import Options
from taxonomist.solvers.weights import weights_from_duals
from tests.combinations import every_pair
from tests.reference.joint_svm import certificate, coefficients, minimise
from tests.reference.joint_toys import SHAPES, alpha_of, recomputed, separable, toy

VARIANTS = ("greedy", "greedy_joint", "full")
TIGHT = Options(tol=1e-5, dtype="float64")


def items_of(kind, X, budget=1e9):
    if kind == "gram":
        K = X @ X.T
        return GramRows(lambda group: K[group], np.diag(K).copy(), budget=budget)
    return FeatureRows(csr_array(X) if kind == "sparse" else X, "float64")


def best_alpha(instance, alpha, i, selected):
    """Solve the QP over one item's selected variables: try which are positive, and if C_i is used.

    Stationary points of all faces; the best of those that are feasible is the maximum.
    """
    y, losses = instance.y[i], instance.loss[instance.y[i], selected]
    rest = alpha.copy()
    rest[i] = 0
    D = instance.attributes[y] - instance.attributes[selected]
    Q = instance.K[i, i] * D @ D.T
    linear = 1 - D @ (instance.K[i] @ coefficients(instance, rest))
    best, highest = np.zeros(len(selected)), 0.0
    for positive in product([False, True], repeat=len(selected)):
        for is_used in (0, 1):
            at = np.flatnonzero(positive)
            border = 1 / losses[at][:, None][:, :is_used]
            system = np.block([[Q[np.ix_(at, at)], border], [border.T, np.zeros((is_used,) * 2)]])
            right = np.concatenate([linear[at], [instance.costs[i]] * is_used])
            found = np.zeros(len(selected))
            found[at] = np.linalg.lstsq(system, right)[0][: len(at)]
            feasible = (found >= 0).all() and found @ (1 / losses) <= instance.costs[i] + 1e-12
            value = linear @ found - found @ Q @ found / 2
            if feasible and value > highest:
                best, highest = found, value
    return best


def naive_steps(instance, n_steps, whole_item):
    """Algorithm 1 of CH04 with step 8a, or without active sets; all computed anew in each step."""
    alpha = np.zeros((len(instance.y), len(instance.attributes)))
    for _ in range(n_steps):
        scores = instance.K @ coefficients(instance, alpha)
        known = certificate(instance, scores, 0.0, alpha)
        i = known.psi.argmax()
        others = np.arange(alpha.shape[1]) != instance.y[i]
        added = np.where(others, known.F[i], -np.inf).argmax()
        selected = others if whole_item else alpha[i] > 0
        selected[added] = True
        alpha[i, selected] = best_alpha(instance, alpha, i, np.flatnonzero(selected))
    return alpha


@pytest.mark.parametrize("variant", ["greedy", "full"])
def test_a_pass_does_the_steps_of_the_papers(variant, monkeypatch):
    monkeypatch.setattr(greedy, "ACCURACY", 1e-9)
    given = no_ties()
    options = Options(max_iter=1, tol=0, dtype="float64")
    found = greedy.solve(given.problem(), options, variant=variant)
    expected = naive_steps(given.instance(), 16, whole_item=variant == "full")
    np.testing.assert_allclose(alpha_of(found, expected.shape), expected, atol=1e-6)


def naive_psi(instance, alpha):
    """HCC03's ψ_i = max_{y: α_iy > 0} G_iy - min_y G_iy, from its Eq. 19 written out.

    Where no α_iy is positive, the maximum is taken over the item's own class, whose G is 0.
    """
    n, q = alpha.shape
    Lambda = instance.attributes
    psi = np.zeros(n)
    for i, y_i in enumerate(instance.y):
        G = np.zeros(q)
        for y in range(q):
            product = sum(
                alpha[j, c]
                * ((Lambda[y_i] - Lambda[y]) @ (Lambda[instance.y[j]] - Lambda[c]))
                * instance.K[i, j]
                for j in range(n)
                for c in range(q)
                if c != instance.y[j]
            )
            G[y] = instance.loss[y_i, y] * (product - 1)
        positive = [G[y] for y in range(q) if alpha[i, y] > 0]
        psi[i] = max(positive, default=0.0) - G.min()
    return psi


def naive_hcc03(instance, first, n_steps):
    """Algorithm 1 of HCC03, everything computed anew in each step."""
    alpha = np.zeros((len(instance.y), len(instance.attributes)))
    i = first
    for _ in range(n_steps):
        others = np.flatnonzero(np.arange(alpha.shape[1]) != instance.y[i])
        alpha[i, others] = best_alpha(instance, alpha, i, others)
        alpha[alpha < 1e-12] = 0.0
        i = naive_psi(instance, alpha).argmax()
    return alpha


def no_ties():
    """Return a problem in which no two items are alike: rounding would decide between them."""
    given = toy("dag", "matrix", seed=4, n=16)
    return given._replace(X=given.X + np.random.default_rng(0).normal(size=given.X.shape))


@pytest.mark.equation("HCC03:11")
@pytest.mark.equation("HCC03:19")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hcc03_does_the_steps_of_its_algorithm_1(seed, monkeypatch):
    monkeypatch.setattr(greedy, "ACCURACY", 1e-9)
    given = no_ties()
    options = Options(max_iter=1, tol=0, dtype="float64", random_state=seed)
    found = greedy.solve(given.problem(), options, variant="hcc03")
    first = np.random.default_rng(seed).integers(16)
    expected = naive_hcc03(given.instance(), first, 16)
    np.testing.assert_allclose(alpha_of(found, expected.shape), expected, atol=1e-6)


def test_hcc03_starts_at_a_random_item():
    given = no_ties().problem()
    firsts = set()
    for seed in range(8):
        state = greedy._State(given, "hcc03", None)
        state.next_item = first = greedy._first_item(given, Options(random_state=seed))
        state.take_steps(1, 0.0)
        assert state.store.duals.size.nonzero()[0].tolist() == [first]
        firsts.add(first)
    assert len(firsts) > 2


@pytest.mark.equation("HCC03:19")
def test_psi_of_hcc03():
    given = no_ties()
    state = greedy._State(given.problem(), "hcc03", None)
    for _ in range(20):
        state.take_steps(1, 0.0)
        alpha = np.zeros((16, given.attributes.shape[0]))
        entries = Entries.of(state.store.duals)
        alpha[entries.item, entries.other] = entries.beta * entries.delta
        np.testing.assert_allclose(state.psi, naive_psi(given.instance(), alpha), atol=1e-9)


def test_hcc03_may_stop_short_of_the_optimum():
    """An item with one positive variable and unused C has no violation by HCC03, but by CH04.

    The second item's step lowers the first item's margin below 1 or lifts it above; its only
    variable stays the one with the largest gradient, so that HCC03's ψ is 0.
    """
    short = 0
    for seed in range(10):
        given = toy("flat", "zero_one", C=2, seed=seed)
        found = greedy.solve(given.problem(), TIGHT, variant="hcc03")
        assert found.converged
        best = sequential.solve(given.problem(), TIGHT).certificate
        assert found.certificate.dual <= best.primal * (1 + 1e-9)
        assert found.certificate.primal >= best.dual * (1 - 1e-9)
        short += found.certificate.violation > 100 * TIGHT.tol
    assert short > 0


@pytest.mark.parametrize("variant", ["greedy", "full", "hcc03"])
def test_an_interior_point_program_gives_the_same_steps(variant, monkeypatch):
    monkeypatch.setattr(greedy, "ACCURACY", 1e-7)
    given = no_ties()
    options = Options(max_iter=1, tol=0, dtype="float64")
    pairwise, interior = (
        greedy.solve(given.problem(), options, variant=variant, qp=qp) for qp in (None, maximise)
    )
    shape = (16, given.attributes.shape[0])
    np.testing.assert_allclose(alpha_of(interior, shape), alpha_of(pairwise, shape), atol=1e-3)
    assert interior.certificate.dual == pytest.approx(pairwise.certificate.dual, rel=1e-4)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_the_interior_point_method_solves_the_qp(m, C):
    rng = np.random.default_rng(m)
    A = rng.normal(size=(m, 9))
    Q, g = A @ A.T, 2 * rng.normal(size=m)
    found = maximise(Q, g, C, 1e-7)
    _, least = minimise(Q, -g, np.vstack([np.eye(m), -np.ones(m)]), np.append(np.zeros(m), -C))
    assert (found >= 0).all()
    assert found.sum() <= C * (1 + 1e-12)
    assert g @ found - found @ Q @ found / 2 == pytest.approx(-least, rel=1e-4, abs=1e-8)


@cache
def sequential_solution(shape):
    return sequential.solve(toy(shape, "weighted", C=2).problem(), TIGHT)


@every_pair(shape=SHAPES, variant=VARIANTS, kind=["sparse", "dense", "gram"])
def test_all_variants_reach_the_optimum_of_the_sequential_solver(shape, variant, kind):
    given = toy(shape, "weighted", C=2)
    found = greedy.solve(given.problem(items_of(kind, given.X)), TIGHT, variant=variant)
    expected = sequential_solution(shape)
    assert found.converged
    assert found.certificate.violation <= 1e-5
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-4)
    assert found.certificate.dual == pytest.approx(expected.certificate.dual, rel=1e-4)


@pytest.mark.parametrize("kind", ["sparse", "gram"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_certificate_of_kept_gradients_is_that_of_the_definition(variant, kind):
    given = toy("dag", "matrix", C=5, seed=1)
    options = Options(max_iter=3, tol=0, dtype="float64")
    found = greedy.solve(given.problem(items_of(kind, given.X)), options, variant=variant)
    known = recomputed(given.instance(), found, given.X if kind == "sparse" else None)
    assert not found.converged
    assert found.certificate.primal == pytest.approx(known.primal)
    assert found.certificate.dual == pytest.approx(known.dual)
    assert found.certificate.violation == pytest.approx(known.psi.max(), abs=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_dual_rises_and_stays_feasible(variant):
    given = toy("tree", "tree", C=3, seed=2)
    found = greedy.solve(given.problem(), Options(tol=1e-6, dtype="float64"), variant=variant)
    duals = [entry.dual for entry in found.history]
    assert (np.diff(duals) >= -1e-12 * duals[-1]).all()
    item, own, other, beta, delta = Entries.of(found.duals)
    assert (beta > 0).all()
    assert len(found.duals.beta) == len(beta)
    assert (own == given.y[item]).all()
    assert (own != other).all()
    np.testing.assert_allclose(delta, given.instance().loss[own, other])
    assert (np.bincount(item, beta, len(given.y)) <= given.costs * (1 + 1e-12)).all()
    assert found.history[-1].n_active == len(beta)


def test_step_8b_leaves_no_violation_within_selected_variables(monkeypatch):
    given = toy("tree", "tree", seed=3).problem()
    state = greedy._State(given, "greedy_joint", None)
    n_additions = 0
    add = state._add_pairs

    def checked(i):
        nonlocal n_additions
        n_additions += 1
        assert state.findings.within.max() <= allowed[0]
        allowed[0] = greedy.JOINT_ACCURACY * state.findings.violation.max()
        add(i)

    allowed = [0.0]
    monkeypatch.setattr(state, "_add_pairs", checked)
    state.take_steps(200, 1e-3)
    assert n_additions > 10


@pytest.mark.parametrize("variant", VARIANTS)
def test_hard_margin(variant):
    given = separable("dag")
    found = greedy.solve(given.problem(), Options(tol=1e-4, dtype="float64"), variant=variant)
    assert found.converged
    assert found.certificate.gap < 1e-3
    others = np.arange(given.attributes.shape[0]) != given.y[:, None]
    assert given.margins(found.W)[others].min() >= 1 - 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_hard_margin_that_does_not_exist_is_given_up(variant):
    alike = separable()
    X = alike.X.copy()
    X[:] = X[0]
    options = Options(max_iter=100)
    found = greedy.solve(alike._replace(X=X).problem(), options, variant=variant)
    assert not found.converged
    assert found.certificate.primal == np.inf
    empty = greedy.solve(alike._replace(X=0 * X).problem(), Options(), variant=variant)
    assert not empty.converged
    assert len(empty.history) == 1


def test_stopping_on_the_gap():
    given = toy(C=2).problem()
    found = greedy.solve(given, Options(tol=1e-3, stop="gap"))
    assert found.converged
    assert 0 <= found.certificate.gap <= 1e-3
    gaps = [(entry.primal - entry.dual) / entry.primal for entry in found.history[:-1]]
    assert all(gap > 1e-3 for gap in gaps)
    exact = greedy.solve(given, Options(tol=0, stop="gap", max_iter=10_000))
    assert exact.certificate.gap == pytest.approx(0, abs=1e-12)
    assert len(exact.history) < 10_000


def test_a_callback_sees_each_pass_and_may_stop():
    seen = []
    found = greedy.solve(
        toy().problem(), Options(tol=1e-9), lambda entry: seen.append(entry) or len(seen) == 2
    )
    assert seen == found.history
    assert len(seen) == 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_start_is_gone_on_from(variant):
    given = toy("dag", C=2)
    for solved in (
        greedy.solve(given.problem(), TIGHT, variant=variant),
        sequential.solve(given.problem(), TIGHT),
    ):
        found = greedy.solve(given.problem(), Options(tol=1e-4), start=solved, variant=variant)
        assert found.certificate.dual == pytest.approx(solved.certificate.dual, rel=1e-9)
        assert len(found.history) == 1
    rough = greedy.solve(given.problem(), Options(max_iter=1), variant=variant)
    found = greedy.solve(given.problem(), TIGHT, start=rough, variant=variant)
    assert found.certificate.dual == pytest.approx(solved.certificate.dual, rel=1e-5)


def test_what_rounding_leaves_of_the_costs_of_a_start_counts_as_used():
    given = toy("dag", C=2)
    solved = greedy.solve(given.problem(), TIGHT)
    less = solved.duals._replace(beta=solved.duals.beta * (1 - 1e-14))
    found = greedy.solve(given.problem(), Options(max_iter=0), start=replace(solved, duals=less))
    assert found.certificate.violation == pytest.approx(solved.certificate.violation, abs=1e-9)
    assert found.history == []


def test_the_same_problem_gives_the_same_solution():
    given = toy("tree", C=2)
    first, second = (greedy.solve(given.problem(), Options(n_threads=k)) for k in (1, 3))
    np.testing.assert_array_equal(first.W, second.W)


def test_blocks_of_a_gram_matrix_need_not_be_kept(monkeypatch):
    monkeypatch.setattr(problem, "GRAM_ROWS_AT_A_TIME", 7)
    given = toy()
    found, kept = (
        greedy.solve(given.problem(items_of("gram", given.X, budget)), TIGHT) for budget in (0, 1e9)
    )
    np.testing.assert_array_equal(found.W, kept.W)


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_category_and_one_item(variant):
    one = toy("flat", "zero_one", n=4)
    alone = one._replace(X=one.X[3:], y=one.y[3:], costs=one.costs[3:])
    assert greedy.solve(alone.problem(), TIGHT, variant=variant).converged
    nothing_to_pay = one._replace(costs=np.zeros(4))
    found = greedy.solve(nothing_to_pay.problem(), TIGHT, variant=variant)
    assert found.converged
    assert not found.W.any()


@pytest.mark.parametrize("kind", ["sparse", "dense", "gram"])
def test_weights_from_duals(kind):
    given = toy("real", C=2)
    solved = sequential.solve(given.problem(items_of(kind, given.X)), TIGHT)
    W = weights_from_duals(given.problem(items_of(kind, given.X)), solved.duals, "float64")
    np.testing.assert_allclose(W, solved.W, atol=1e-9)
    assert W.flags.c_contiguous


def test_loops_run_uncompiled(monkeypatch):
    given = toy("dag", n=10).problem()
    compiled = greedy.solve(given, Options(dtype="float64"))
    for name, loop in vars(loops).copy().items():
        if hasattr(loop, "py_func"):
            monkeypatch.setattr(loops, name, loop.py_func)
    plain = greedy.solve(given, Options(dtype="float64"))
    np.testing.assert_allclose(plain.W, compiled.W, atol=1e-12)
