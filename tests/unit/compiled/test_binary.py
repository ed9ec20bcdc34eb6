"""Loops of the coupled binary SVMs: compiled against uncompiled, and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxonomist.compiled import binary
from taxonomist.compiled.arrays import Attributes, Findings, Labels
from taxonomist.compiled.places import leave_places, score_places
from taxonomist.compiled.rows import score_row
from taxonomist.solvers.problem import FeatureRows, GramRows
from tests.reference import binary_svm as reference
from tests.reference.binary_svm import SHAPES, Toy, toy
from tests.reference.joint_toys import assert_twins

PAST_16_BITS = 70_000


class State:
    """The arrays of a problem at random feasible dual variables and the weights they imply."""

    def __init__(self, case, items=None, dtype="float64", seed=0):
        rng = np.random.default_rng(seed)
        self.instance = instance = case.instance()
        problem = case.problem(items)
        self.items = rng.permutation(problem.n_items)
        row_of = np.zeros(problem.n_items, dtype=np.intp)
        csr = problem.attributes
        weight = problem.positive_weight
        self.problem = binary.BinaryArrays(
            rows=problem.items.rows(np.arange(problem.n_items), row_of),
            row_of=row_of,
            labels=Labels(
                *(a.astype(np.intp) for a in (problem.labels.indptr, problem.labels.indices))
            ),
            costs=problem.costs,
            positive_weight=np.ones(csr.shape[0]) if weight is None else weight,
            norms=problem.items.norms,
            attributes=Attributes(
                csr.indptr.astype(np.intp),
                csr.indices.astype(np.intp),
                csr.data.astype(np.float64),
                np.empty((0, 0)),
            ),
            squares=(case.attributes**2).sum(axis=1),
            dual_form=problem.items.dual_form,
        )
        free = rng.uniform(-1, 2, size=instance.costs.shape)
        self.alpha = instance.costs * np.clip(free, 0, 1)
        A = reference.coefficients(instance, self.alpha)
        self.W = A if problem.items.dual_form else np.asarray(case.X.T @ A, dtype=dtype)
        self.findings = Findings(*np.full((4, problem.n_items), 7.0))
        self.scratch = binary.binary_scratch(self.problem, self.W)
        self.attributes = self.problem.attributes

    def listed(self, i, categories=None):
        """Prepare item i's QP over categories, all by default; return how many, and attributes."""
        n = len(self.problem.squares)
        categories = np.arange(n) if categories is None else categories
        self.scratch.listed[: len(categories)] = categories
        n_used, _ = binary.enter_listed(self.attributes, len(categories), self.scratch)
        whole_rows = n_used * binary.DENSE_SHARE > self.W.shape[1]
        score_places(self.problem.rows, i, self.W, n_used, whole_rows, self.scratch.places)
        binary.mark_own(self.problem, i, self.scratch, True)
        return len(categories), n_used

    def active(self):
        """Return the categories with a positive α."""
        ends = np.cumsum(np.append(0, np.count_nonzero(self.alpha, axis=1)))
        return Labels(ends, np.nonzero(self.alpha > 0)[1].copy())

    def dual(self):
        """Return the dual value of α by definition."""
        A = reference.coefficients(self.instance, self.alpha)
        return self.alpha.sum() - np.sum(A * (self.instance.K @ A)) / 2

    def expected_weights(self, X):
        """Return the weights of α by definition."""
        return X.T @ reference.coefficients(self.instance, self.alpha)


def wide(n_attributes=200):
    """Return a case in which most categories have few of many attributes."""
    rng = np.random.default_rng(1)
    attributes = rng.normal(size=(5, n_attributes)) * (rng.random((5, n_attributes)) < 0.02)
    return toy("flat")._replace(attributes=attributes)


CASES = {shape: toy(shape) for shape in SHAPES} | {
    "one category": toy("flat")._replace(
        Y=toy("flat").Y[:, :1], attributes=np.ones((1, 1)), weight=np.array([2.0])
    ),
    "one item": toy("dag", n=1),
    "many attributes": wide(),
    "without attributes": toy("flat")._replace(attributes=np.zeros((5, 3))),
    "without costs": toy("dag")._replace(costs=np.zeros(24)),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def rbf_state(case):
    K = np.exp(-((case.X[:, None] - case.X) ** 2).sum(axis=-1) / 20)
    state = State(case, GramRows(lambda members: K[members], K.diagonal(), 1e6))
    state.instance = state.instance._replace(K=K)
    return state


@pytest.mark.parametrize("n_features", [0, 1, 3, 4, 11])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dense", [True, False])
def test_score_row(dense, dtype, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, n_features)) * (rng.random((5, n_features)) < 0.7)
    X[2] = 0
    W = rng.normal(size=(n_features, 3)).astype(dtype)
    items = FeatureRows(X if dense else sparse.csr_array(X), dtype)
    rows = items.rows(np.arange(5), np.zeros(5, dtype=np.intp))
    for row in range(5):
        (*_, out), _ = assert_twins(
            score_row, lambda row=row: (rows, row, W, np.full(3, 7, dtype=dtype))
        )
        np.testing.assert_allclose(out, X[row] @ W, rtol=1e-4, atol=1e-5)


@every_case
def test_inspect_finds_what_the_definitions_say(case):
    def make():
        state = State(case)
        return state.items, state.problem, state.W, state.alpha, state.findings, state.scratch

    (*_, alpha, findings, _), _ = assert_twins(binary.inspect, make)
    instance, W = case.instance(), make()[2]
    at = reference.certificate(instance, case.X @ W, np.sum(W * W), alpha)
    slack = (instance.costs * np.maximum(at.G, 0)).sum(axis=1)
    np.testing.assert_allclose(findings.slack, slack, atol=1e-9)
    np.testing.assert_allclose(findings.violation, at.violation.max(axis=1), atol=1e-9)
    np.testing.assert_allclose(findings.linear, alpha.sum(axis=1), atol=1e-12)
    assert findings.quadratic.sum() == pytest.approx(np.sum(W * W), rel=1e-9, abs=1e-12)
    np.testing.assert_array_equal(alpha, make()[3])


@every_case
def test_look_at_all_lists_what_is_in_play(case):
    for i in range(min(5, len(case.X))):

        def make(i=i):
            state = State(case)
            score_row(state.problem.rows, i, state.W, state.scratch.places.row)
            binary.mark_own(state.problem, i, state.scratch, True)
            return state.problem, i, state.alpha, state.findings, state.scratch

        (_, _, alpha, _, scratch), n_listed = assert_twins(binary.look_at_all, make)
        G = 1 - np.where(case.Y[i], 1, -1) * (case.attributes @ (case.X[i] @ State(case).W))
        in_play = np.flatnonzero((alpha[i] > 0) | (G > 0))
        np.testing.assert_array_equal(scratch.listed[:n_listed], in_play)


LOOPS_OF_ONE_ITEM = {
    "apply_change": ("problem", "i", "W", "n_used", "places"),
    "ascend_round": ("problem", "i", "alpha", "n_listed", "scratch"),
    "solve_listed": ("problem", "i", "W", "alpha", "n_listed", "n_used", "scratch", "most_rounds"),
    "mark_own": ("problem", "i", "scratch", "value"),
    "cost_of": ("problem", "i", "r", "own"),
}


@pytest.mark.slow
@every_case
@pytest.mark.parametrize("name", LOOPS_OF_ONE_ITEM)
def test_loops_of_one_item(case, name):
    for i in {0, len(case.X) // 2, len(case.X) - 1}:

        def make(i=i):
            state = State(case)
            state.i, state.r, state.own, state.value = i, 0, bool(case.Y[i, 0]), True
            state.n_listed, state.n_used = state.listed(i)
            state.most_rounds, state.places = 3, state.scratch.places
            return tuple(getattr(state, part) for part in LOOPS_OF_ONE_ITEM[name])

        _, found = assert_twins(getattr(binary, name), make)
        if name == "cost_of":
            assert found == case.instance().costs[i, 0]


@every_case
def test_scratch_arrays_are_as_they_were_after_an_item(case):
    state = State(case)
    before = binary.binary_scratch(state.problem, state.W)
    for i in range(len(case.X)):
        _, n_used = state.listed(i)
        places = state.scratch.places
        places.change[:n_used] = 3.0
        binary.mark_own(state.problem, i, state.scratch, False)
        binary.apply_change(state.problem, i, state.W, n_used, places)
        leave_places(n_used, places)
        np.testing.assert_array_equal(state.scratch.own, before.own)
        np.testing.assert_array_equal(places.place, before.places.place)
        np.testing.assert_array_equal(places.change, before.places.change)


@pytest.mark.parametrize("categories", [[], [1], [0, 1], [3, 0, 2]])
def test_enter_listed(categories):
    rows = [[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    csr = sparse.csr_array(np.array(rows, dtype=float))

    def make():
        state = State(
            toy("flat")._replace(Y=np.zeros((24, 4), bool), attributes=csr.toarray(), weight=None)
        )
        state.scratch.listed[: len(categories)] = categories
        return state.attributes, len(categories), state.scratch

    (_, _, scratch), (n_used, most_rounds) = assert_twins(binary.enter_listed, make)
    used = np.array(rows)[categories].any(axis=0) if categories else np.zeros(4, bool)
    assert sorted(scratch.places.used[:n_used]) == np.flatnonzero(used).tolist()
    assert (scratch.places.place[scratch.places.used[:n_used]] == np.arange(n_used)).all()
    assert (scratch.places.place[:4][~used] == -1).all()
    is_shared = bool(categories) and (np.array(rows)[categories].sum(axis=0) > 1).any()
    assert most_rounds == (binary.MOST_ROUNDS if is_shared else 1)


@every_case
def test_one_step_maximises_over_one_variable(case):
    """No other value within the bounds has a higher dual."""
    instance = case.instance()
    for i in range(min(6, len(case.X))):
        for r in range(case.Y.shape[1]):
            state = State(case, seed=i)
            before = state.dual()
            n_listed, _ = state.listed(i, [r])
            gain, gap, violation = binary.ascend_round(
                state.problem, i, state.alpha, n_listed, state.scratch
            )
            best = state.dual()
            assert best - before == pytest.approx(gain, rel=1e-6, abs=1e-9)
            start = State(case, seed=i)
            at = reference.certificate(instance, case.X @ start.W, np.sum(start.W**2), start.alpha)
            assert violation == pytest.approx(at.violation[i, r], abs=1e-9)
            share = instance.costs[i, r] * max(at.G[i, r], 0) - start.alpha[i, r] * at.G[i, r]
            assert gap == pytest.approx(share, abs=1e-9)
            for value in np.linspace(0, instance.costs[i, r], 7):
                start.alpha[i, r] = value
                assert start.dual() <= best + 1e-9


@pytest.mark.parametrize("shape", SHAPES)
def test_rounds_solve_one_item_exactly(shape):
    """With one item, the QP over all categories is the whole dual."""
    case = toy(shape, C=0.5)
    case = Toy(case.X[5:6], case.Y[5:6], case.costs[5:6], case.attributes, case.weight)
    state = State(case)
    state.alpha[:], state.W[:] = 0, 0
    n_listed, n_used = state.listed(0)
    most_rounds = 10_000
    arguments = (state.problem, 0, state.W, state.alpha, n_listed, n_used, state.scratch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binary, "ROUND_PROGRESS", 1e-9)
        gain, _, _ = binary.solve_listed.py_func(*arguments, most_rounds)
    best = reference.dual_optimum(state.instance)[0]
    assert gain == pytest.approx(best, rel=1e-6)
    assert state.dual() == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(state.W, state.expected_weights(case.X), atol=1e-9)


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_sweep(case, kind, dtype):
    def make():
        X = sparse.csr_array(case.X) if kind == "sparse" else case.X
        state = State(case, FeatureRows(X, dtype), dtype)
        return state.items, state.problem, state.W, state.alpha, state.findings, state.scratch

    (_, _, W, alpha, *_), gain = assert_twins(binary.sweep, make)
    check_ascent(case, W, alpha, gain, 1e-9 if dtype == "float64" else 1e-4)


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_visit(case, kind, dtype):
    def make():
        X = sparse.csr_array(case.X) if kind == "sparse" else case.X
        state = State(case, FeatureRows(X, dtype), dtype)
        return state.items, state.problem, state.active(), state.W, state.alpha, state.scratch

    (*_, W, alpha, _), (gain, gap, worst) = assert_twins(binary.visit, make)
    check_ascent(case, W, alpha, gain, 1e-9 if dtype == "float64" else 1e-4)
    assert not alpha[State(case).alpha == 0].any()
    assert (gap > 0) == (worst > 0)
    if worst > 0:
        assert gap >= gain


def check_ascent(case, W, alpha, gain, precision):
    """Check that α is feasible, the dual rose by the gain, and the weights are those of α."""
    state = State(case)
    before = state.dual()
    state.alpha = alpha
    assert (alpha >= 0).all()
    assert (alpha <= state.instance.costs).all()
    assert gain >= 0
    assert state.dual() - before == pytest.approx(gain, rel=precision, abs=10 * precision)
    np.testing.assert_allclose(W, state.expected_weights(case.X), atol=precision)


def test_an_item_without_active_categories_is_left_alone():
    case = toy("tree")
    state = State(case)
    nothing = Labels(np.zeros(25, dtype=np.intp), np.empty(0, dtype=np.intp))
    W, alpha = state.W.copy(), state.alpha.copy()
    found = binary.visit(state.items, state.problem, nothing, state.W, state.alpha, state.scratch)
    assert found == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(state.W, W)
    np.testing.assert_array_equal(state.alpha, alpha)


@pytest.mark.parametrize("loop", ["sweep", "visit"])
def test_passes_in_dual_form(loop):
    case = toy("dag")

    def make():
        state = rbf_state(case)
        if loop == "visit":
            return state.items, state.problem, state.active(), state.W, state.alpha, state.scratch
        return state.items, state.problem, state.W, state.alpha, state.findings, state.scratch

    arguments, found = assert_twins(getattr(binary, loop), make)
    W, alpha = arguments[3:5] if loop == "visit" else arguments[2:4]
    state = rbf_state(case)
    before = state.dual()
    state.alpha = alpha
    gain = found[0] if loop == "visit" else found
    assert state.dual() - before == pytest.approx(gain, rel=1e-6)
    np.testing.assert_allclose(W, reference.coefficients(state.instance, alpha), atol=1e-9)


@every_case
def test_rebuild(case):
    def make():
        state = State(case)
        state.W[:] = 0
        return state.items, state.problem, state.active(), state.W, state.alpha, state.scratch

    (*_, W, _, _), _ = assert_twins(binary.rebuild, make)
    np.testing.assert_allclose(W, State(case).W, atol=1e-9)


@given(st.integers(0, 6), st.integers(0, 5), st.integers(0, 10**6))
def test_list_positive(n_items, n_categories, seed):
    rng = np.random.default_rng(seed)
    alpha = np.maximum(rng.uniform(-1, 1, size=(n_items, n_categories)), 0)
    n = np.count_nonzero(alpha)

    def make():
        return alpha, np.zeros(n_items + 1, dtype=np.intp), np.zeros(n, dtype=np.intp)

    (_, indptr, indices), _ = assert_twins(binary.list_positive, make)
    for i, row in enumerate(alpha):
        assert indices[indptr[i] : indptr[i + 1]].tolist() == np.flatnonzero(row).tolist()


@pytest.mark.parametrize("n_attributes", [2, 80])
def test_columns_past_16_bits(n_attributes):
    rng = np.random.default_rng(0)
    columns = np.array([3, 65_535, 65_536, PAST_16_BITS - 1])
    X = sparse.csr_array((rng.normal(size=4), columns, [0, 0, 4]), shape=(2, PAST_16_BITS))
    attributes = np.eye(2, n_attributes)
    case = Toy(X.toarray(), np.eye(2) > 0, np.ones(2), attributes)

    def make():
        state = State(case, FeatureRows(X, "float64"))
        state.W[:], state.alpha[:] = 0, 0
        return state.items, state.problem, state.W, state.alpha, state.findings, state.scratch

    (_, _, W, alpha, *_), _ = assert_twins(binary.sweep, make)
    assert np.flatnonzero(W.any(axis=1)).tolist() == columns.tolist()
    expected = np.outer(X.data, [-alpha[1, 0], alpha[1, 1]])
    np.testing.assert_allclose(W[columns, :2], expected, rtol=1e-12)
