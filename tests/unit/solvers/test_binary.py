"""The solver of coupled binary SVMs: parts, work, limits, starts, threads, problems at the edge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxonomist.compiled import binary as loops
from taxonomist.solvers import binary
from taxonomist.solvers import problem as problems
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.solvers.solution import Options
from tests.combinations import every_value
from tests.reference import binary_svm as reference
from tests.reference.binary_svm import recomputed, toy

EXACT = Options(tol=1e-6, stop="gap", dtype="float64")


@pytest.fixture
def many_parts(monkeypatch):
    """Let small problems be split as large ones are."""
    monkeypatch.setattr(binary, "LEAST_SIZE", 1)


# Parts.


def connected(attributes):
    """Return the sets of categories that are connected by shared attributes, one by one."""
    found = []
    for r, row in enumerate(attributes != 0):
        mine, columns = {r}, row.copy()
        for other, used in [*found]:
            if (used & columns).any():
                found.remove((other, used))
                mine, columns = mine | other, columns | used
        found.append((mine, columns))
    return [members for members, _ in found]


matrices = st.integers(1, 12).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.0]), min_size=6, max_size=6),
        min_size=n,
        max_size=n,
    )
)


@given(matrices, st.integers(1, 4), st.integers(1, 8))
def test_parts_share_no_attribute(rows, least_size, most_parts):
    attributes = np.array(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary, "LEAST_SIZE", least_size)
        patch.setattr(binary, "MOST_PARTS", most_parts)
        parts = binary.split_categories(sparse.csr_array(attributes))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(attributes)))
    components = connected(attributes)
    for members in components:
        assert sum(bool(members & set(part.tolist())) for part in parts) == 1
    size = len(attributes) + np.count_nonzero(attributes.any(axis=0))
    assert len(parts) == min(max(size // least_size, 1), most_parts, len(components))
    assert all(len(part) for part in parts)
    assert all((np.diff(part) > 0).all() for part in parts)


def test_parts_are_balanced():
    sizes = [10, 9, 8, 7, 6, 5, 4, 3, 2, 2]
    blocks = [np.hstack([np.ones((n, 1)), np.eye(n)]) for n in sizes]
    attributes = sparse.csr_array(sparse.block_diag(blocks))
    parts = binary.split_categories(attributes)
    assert len(parts) == (56 + 66) // binary.LEAST_SIZE == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary, "LEAST_SIZE", 30)
        parts = binary.split_categories(attributes)
    assert len(parts) == 4
    assert max(map(len, parts)) - min(map(len, parts)) <= min(sizes)


@pytest.mark.parametrize("shape", ["flat", "tree"])
def test_parts_do_not_change_the_optimum(shape, monkeypatch):
    case = toy(shape, 10.0)
    whole = binary.solve(case.problem(), EXACT)
    monkeypatch.setattr(binary, "LEAST_SIZE", 1)
    assert len(binary.split_categories(sparse.csr_array(case.attributes))) > 1
    split = binary.solve(case.problem(), EXACT)
    assert split.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(split.W, whole.W, atol=0.05)


# Threads and seeds.


@every_value(shape=["flat", "tree", "real"], form=["features", "gram"])
def test_threads_do_not_change_a_bit(shape, form, many_parts, monkeypatch):
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 8)
    case = toy(shape, 10.0)
    K = case.X @ case.X.T
    found = []
    for n_threads in (1, 2, 5):
        items = FeatureRows(sparse.csr_array(case.X), "float32")
        if form == "gram":
            items = GramRows(lambda members: K[members], K.diagonal(), 1e6)
        options = Options(tol=1e-3, n_threads=n_threads)
        found.append(binary.solve(case.problem(items), options))
    one, *others = found
    for other in others:
        np.testing.assert_array_equal(one.W, other.W)
        np.testing.assert_array_equal(one.alpha, other.alpha)
        assert one.certificate == other.certificate
        assert [entry[1:] for entry in one.history] == [entry[1:] for entry in other.history]


def test_same_seed_same_bits_other_seed_same_optimum():
    case = toy()
    one, again, other = (
        binary.solve(case.problem(), replace(EXACT, random_state=seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.alpha, again.alpha)
    assert (one.alpha != other.alpha).any()
    assert other.certificate.primal == pytest.approx(one.certificate.primal, rel=2e-6)


# Work and limits.


@pytest.mark.parametrize(
    ("case", "options", "most"),
    [
        (toy("tree"), Options(tol=0.01, dtype="float64"), 10),
        (toy("tree"), EXACT, 25),
        (toy("dag", 10.0), EXACT, 60),
        (toy("real", 1.0), EXACT, 40),
        (toy("flat", 1.0), EXACT, 20),
        (toy("tree", 100.0, seed=1), EXACT, 120),
    ],
)
def test_passes_stay_few(case, options, most):
    solution = binary.solve(case.problem(), options)
    assert solution.converged
    assert len(solution.history) <= most


def test_one_pass_solves_flat_problems_over_orthogonal_items():
    case = reference.Toy(np.eye(4), np.eye(4, 3) > 0, np.full(4, 0.7), np.eye(3))
    solution = binary.solve(case.problem(), EXACT)
    assert [entry.is_exact for entry in solution.history] in ([False, True], [False, False, True])
    np.testing.assert_array_equal(solution.alpha, 0.7)


def test_active_passes_do_most_of_the_work(monkeypatch):
    case = toy("tree")
    fewer = binary.solve(case.problem(), EXACT)
    monkeypatch.setattr(binary, "MOST_ACTIVE_PASSES", 0)
    more = binary.solve(case.problem(), EXACT)
    assert more.converged
    assert len(fewer.history) < len(more.history) / 5


def test_history_is_timed_and_counts_positive_variables():
    seen = []
    solution = binary.solve(toy().problem(), EXACT, callback=seen.append)
    assert seen == solution.history
    seconds = [entry.seconds for entry in solution.history]
    assert seconds == sorted(seconds)
    assert solution.history[-1].n_active == np.count_nonzero(solution.alpha)
    assert solution.history[-1].is_exact
    assert not solution.history[0].is_exact


def test_estimates_bound_nothing_but_are_never_below_the_dual():
    solution = binary.solve(toy(C=10.0).problem(), EXACT)
    for entry in solution.history:
        assert entry.primal >= entry.dual * (1 - 1e-9)


@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_too_few_passes_still_certify(max_iter):
    case = toy(C=100.0)
    solution = binary.solve(case.problem(), replace(EXACT, max_iter=max_iter))
    assert not solution.converged
    assert sum(not entry.is_exact for entry in solution.history) == max_iter
    found = recomputed(case.instance(), solution, case.X)
    assert solution.certificate.primal == pytest.approx(found.primal, rel=1e-9)
    assert solution.certificate.dual == pytest.approx(found.dual, rel=1e-9, abs=1e-12)
    assert solution.certificate.violation == pytest.approx(found.violation.max(), rel=1e-9)
    assert solution.certificate.gap == pytest.approx(1 - found.dual / found.primal)


def test_callback_stops():
    seen = []

    def stop_at_three(entry):
        seen.append(entry)
        return len(seen) == 3

    solution = binary.solve(toy(C=100.0).problem(), EXACT, callback=stop_at_three)
    assert not solution.converged
    assert seen == solution.history
    assert len(seen) == 4  # the certificate
    assert seen[-1].is_exact


# Starts.


@pytest.mark.parametrize("form", ["sparse", "dense", "gram"])
def test_start_at_the_optimum_takes_no_pass(form, many_parts):
    case = toy("tree", 10.0)
    K = case.X @ case.X.T
    items = {
        "sparse": lambda: FeatureRows(sparse.csr_array(case.X), "float64"),
        "dense": lambda: FeatureRows(case.X, "float64"),
        "gram": lambda: GramRows(lambda members: K[members], K.diagonal(), 1e6),
    }[form]
    solution = binary.solve(case.problem(items()), EXACT)
    again = binary.solve(case.problem(items()), EXACT, start=solution.alpha)
    assert again.converged
    assert len(again.history) == 1
    np.testing.assert_array_equal(again.alpha, solution.alpha)
    np.testing.assert_allclose(again.W, solution.W, atol=1e-9)
    assert again.certificate.primal == pytest.approx(solution.certificate.primal, rel=1e-9)


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_start_from_another_cost_reaches_the_optimum(factor):
    case = toy("dag")
    start = binary.solve(case.problem(), EXACT)
    other = case._replace(costs=factor * case.costs, weight=case.weight[::-1])
    solution = binary.solve(other.problem(), EXACT, start=start.alpha)
    assert solution.converged
    best = reference.primal_optimum(other.instance(), case.X)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)
    assert (solution.alpha <= other.instance().costs).all()


def test_start_is_cut_off_at_the_costs():
    case = toy("tree")
    instance = case.instance()
    nothing = replace(EXACT, max_iter=0)
    much = np.full(case.Y.shape, 100.0)
    solution = binary.solve(case.problem(), nothing, start=much)
    np.testing.assert_array_equal(solution.alpha, instance.costs)
    W = case.X.T @ reference.coefficients(instance, instance.costs)
    np.testing.assert_allclose(solution.W, W, atol=1e-9)


def test_start_is_left_as_it_was():
    case = toy()
    start = binary.solve(case.problem(), Options(tol=0.1, dtype="float64"))
    W, alpha = start.W.copy(), start.alpha.copy()
    binary.solve(case.problem(), EXACT, start=start.alpha)
    np.testing.assert_array_equal(start.W, W)
    np.testing.assert_array_equal(start.alpha, alpha)


def test_start_near_the_optimum_takes_fewer_passes():
    case = toy("dag", 100.0)
    cold = binary.solve(case.problem(), EXACT)
    near = case._replace(costs=1.01 * case.costs)
    warm = binary.solve(near.problem(), EXACT, start=cold.alpha)
    assert warm.converged
    assert len(warm.history) < len(cold.history)


# Problems at the edge.


def test_one_item():
    case = toy()
    case = case._replace(X=case.X[5:6], Y=case.Y[5:6], costs=case.costs[5:6])
    solution = binary.solve(case.problem(), EXACT)
    best = reference.primal_optimum(case.instance(), case.X)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)


def test_no_items():
    case = toy()
    case = case._replace(X=case.X[:0], Y=case.Y[:0], costs=case.costs[:0])
    solution = binary.solve(case.problem(), EXACT)
    assert solution.converged
    assert solution.certificate == (0.0, 0.0, 0.0, 0.0)
    assert solution.alpha.shape == case.Y.shape
    assert not solution.W.any()


def test_one_category():
    case = toy("flat")
    case = case._replace(Y=case.Y[:, :1], attributes=np.ones((1, 1)), weight=None)
    solution = binary.solve(case.problem(), EXACT)
    best = reference.primal_optimum(case.instance(), case.X)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)


def test_no_categories():
    case = toy()._replace(Y=np.zeros((24, 0), bool), attributes=np.zeros((0, 3)), weight=None)
    solution = binary.solve(case.problem(), EXACT)
    assert solution.converged
    assert solution.alpha.shape == (24, 0)
    assert solution.W.shape == (12, 3)


def test_categories_with_the_same_attributes():
    case = toy("tree")
    twice = case._replace(
        Y=np.repeat(case.Y, 2, axis=1),
        attributes=np.repeat(case.attributes, 2, axis=0),
        weight=np.repeat(case.weight, 2),
        costs=case.costs / 2,
    )
    one, two = (binary.solve(given.problem(), EXACT) for given in (case, twice))
    assert two.certificate.primal == pytest.approx(one.certificate.primal, rel=2e-6)


def test_a_category_without_attributes_costs_what_it_costs():
    case = toy("tree")
    base = binary.solve(case.problem(), EXACT)
    more = case._replace(
        Y=np.insert(case.Y, 1, case.Y[:, 0], axis=1),
        attributes=np.insert(case.attributes, 1, 0.0, axis=0),
        weight=np.insert(case.weight, 1, 2.0),
    )
    solution = binary.solve(more.problem(), EXACT)
    assert solution.converged
    extra = more.instance().costs[:, 1]
    np.testing.assert_array_equal(solution.alpha[:, 1], extra)
    primal = base.certificate.primal + extra.sum()
    assert solution.certificate.primal == pytest.approx(primal, rel=2e-6)


def test_items_without_features():
    case = toy("dag")
    case = case._replace(X=np.zeros_like(case.X))
    solution = binary.solve(case.problem(), EXACT)
    assert solution.converged
    costs = case.instance().costs
    assert solution.certificate.primal == pytest.approx(costs.sum(), rel=1e-12)
    np.testing.assert_array_equal(solution.alpha, costs)
    assert not solution.W.any()


def test_no_costs():
    solution = binary.solve(toy()._replace(costs=np.zeros(24)).problem(), EXACT)
    assert solution.converged
    assert solution.certificate == (0.0, 0.0, 0.0, 0.0)
    assert not solution.W.any()


def test_positives_that_weigh_nothing():
    case = toy("dag")
    case = case._replace(weight=np.zeros(len(case.attributes)))
    solution = binary.solve(case.problem(), EXACT)
    best = reference.primal_optimum(case.instance(), case.X)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)
    assert not solution.alpha[case.Y].any()


def test_without_weights_all_are_one():
    case = toy("dag")._replace(weight=None)
    ones = case._replace(weight=np.ones(len(case.attributes)))
    one, other = (binary.solve(given.problem(), EXACT) for given in (case, ones))
    np.testing.assert_array_equal(one.alpha, other.alpha)


@pytest.mark.parametrize("form", ["sparse", "dense", "gram"])
@pytest.mark.parametrize("branch", [0.2, 0.0])
def test_many_attributes_of_which_few_are_in_use(form, branch, monkeypatch):
    """Where few of many attributes are in use, they are picked out one by one."""
    monkeypatch.setattr(problems, "GRAM_ROWS_AT_A_TIME", 8)
    monkeypatch.setattr(binary, "MOST_PARTS", 1)
    rng = np.random.default_rng(0)
    n_categories, n = 120, 30
    branches = np.kron(np.eye(n_categories // 4), np.full((4, 1), branch))
    attributes = np.hstack([branches, np.eye(n_categories)])
    Y = rng.random((n, n_categories)) < 0.01
    # What suffices for the first item suffices for most others, so few α are positive.
    constant = np.append(1.0, rng.uniform(2, 3, size=n - 1))
    X = np.hstack([3 * Y, constant[:, None], 0.1 * rng.normal(size=(n, 3))])
    case = reference.Toy(X, Y, np.full(n, 10.0), attributes)
    items = {
        "sparse": lambda: FeatureRows(sparse.csr_array(X), "float64"),
        "dense": lambda: FeatureRows(X, "float64"),
        "gram": lambda: GramRows(lambda members: X[members] @ X.T, (X**2).sum(axis=1), 1e3),
    }[form]()
    solution = binary.solve(case.problem(items), replace(EXACT, tol=1e-5))
    assert solution.converged
    in_use = np.count_nonzero((solution.alpha > 0) @ (attributes != 0), axis=1)
    is_picked = (in_use > 0) & (in_use * loops.DENSE_SHARE <= np.count_nonzero(attributes.any(0)))
    assert is_picked.sum() >= n / 3
    assert not is_picked.all()
    found = recomputed(case.instance(), solution, None if form == "gram" else X)
    assert found.primal - found.dual <= 1.01e-5 * found.primal
    assert solution.certificate.primal == pytest.approx(found.primal, rel=1e-9)
    assert solution.certificate.dual == pytest.approx(found.dual, rel=1e-9)


UNCOMPILED = """
import json
from taxonomist.solvers import binary
from taxonomist.solvers.solution import Options
from tests.reference.binary_svm import toy
options = Options(tol=1e-8, stop="gap", dtype="float64")
problem = toy("dag", n=8).problem()
solution = binary.solve(problem, options)
again = binary.solve(problem, options, start=solution.alpha)
print(json.dumps([solution.W.tolist(), again.W.tolist(), list(solution.certificate)]))
"""


def test_uncompiled_solver_gives_the_same(request):
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join([str(request.config.rootpath), *sys.path]),
    }
    run = subprocess.run(
        [sys.executable, "-c", UNCOMPILED], env=environment, capture_output=True, check=True
    )
    W, again, certificate = json.loads(run.stdout)
    options = Options(tol=1e-8, stop="gap", dtype="float64")
    compiled = binary.solve(toy("dag", n=8).problem(), options)
    np.testing.assert_allclose(W, compiled.W, atol=1e-3)
    np.testing.assert_allclose(again, W, atol=1e-9)
    np.testing.assert_allclose(certificate[:3], compiled.certificate[:3], atol=1e-6)
