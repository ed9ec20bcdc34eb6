"""Loops of the joint SVM: compiled against uncompiled, and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import joint
from taxonomist.losses import category_loss
from taxonomist.solvers import sequential
from taxonomist.solvers.problem import FeatureRows, GramRows, loss_arrays
from taxonomist.solvers.solution import Options
from taxonomist.taxonomy import Taxonomy
from tests.reference import joint_svm as reference
from tests.reference.joint_toys import LOSSES, SHAPES, alpha_of, recomputed, toy

PAST_16_BITS = 70_000


def arrays_in(value):
    """Yield the arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_in(part)


def assert_twins(loop, make_arguments):
    """Check that the compiled loop and the plain one return and write the same; return both."""
    arguments, twins = make_arguments(), make_arguments()
    found, expected = loop(*arguments), loop.py_func(*twins)
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    written = list(arrays_in(tuple(arguments)))
    for one, other in zip(written, arrays_in(tuple(twins)), strict=True):
        precision = 1e-5 if one.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(one, other, rtol=precision, atol=1e-2 * precision)
    return arguments, found


class State:
    """A solver's arrays after some passes."""

    def __init__(self, case, items=None, passes=2, dtype="float64"):
        problem = case.problem(items)
        options = Options(tol=1e-9, max_iter=passes, dtype=dtype)
        self.solution = sequential.solve(problem, options)
        self.W = self.solution.W.copy()
        self.items = np.arange(len(case.y))
        arrays = problem.arrays()
        self.problem = arrays._replace(rows=problem.items.rows(self.items, arrays.row_of))
        # Room for more, so that loops that add categories may.
        self.duals = joint.Duals(
            self.solution.duals.size.copy(),
            *(np.pad(table, ((0, 0), (0, 4))) for table in self.solution.duals[1:]),
        )
        self.findings = joint.Findings(*np.zeros((5, len(case.y))))
        capacity = self.duals.category.shape[1]
        self.scratch = joint.make_scratch(self.W.shape[1], capacity, self.W.dtype)

    def enter(self, i):
        """Prepare item i's small QP; return how many attributes it uses."""
        n_used = joint.enter_active(self.problem, i, self.duals, self.scratch)
        joint.write_used_scores(self.problem, i, self.W, n_used, self.scratch)
        joint.write_gradients(self.problem, i, self.duals, self.scratch)
        return n_used


CASES = {
    "sparse with empty rows": toy("dag", "weighted"),
    "one category": toy()._replace(
        y=np.zeros(30, dtype=np.intp),
        attributes=sparse.csr_array(np.ones((1, 1))),
        loss=category_loss("zero_one", Taxonomy.flat(["only"])),
    ),
    "one item": toy()._replace(X=np.ones((1, 3)), y=np.array([2]), costs=np.ones(1)),
    "many attributes": toy()._replace(
        attributes=sparse.csr_array(np.random.default_rng(0).normal(size=(6, 80)))
    ),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.mark.equation("CH04:23")
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_write_losses(shape, name):
    loss = toy(shape, name).loss
    n = loss.n_categories
    for y in range(n):
        arguments, _ = assert_twins(
            joint.write_losses,
            lambda y=y: (
                loss_arrays(loss),
                y,
                np.zeros(loss.taxonomy.n_nodes, bool),
                np.full(n, 7.0),
            ),
        )
        np.testing.assert_allclose(arguments[-1], loss.row(y), rtol=1e-12)
        assert not arguments[-2].any()


@pytest.mark.parametrize("shape", ["tree", "dag"])
def test_losses_by_row_equal_tabulated_ones(shape, monkeypatch):
    monkeypatch.setattr("taxonomist.solvers.problem.TABULATED_CATEGORIES", 0)
    loss = toy(shape, "weighted").loss
    by_row = loss_arrays(loss)
    assert by_row.kind == joint.ANCESTORS
    arguments, _ = assert_twins(
        joint.write_loss_matrix, lambda: (by_row, np.zeros((loss.n_categories,) * 2))
    )
    np.testing.assert_allclose(arguments[1], loss.rows(range(loss.n_categories)), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dense", [True, False])
def test_score_rows(dense, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 11)) * (rng.random((5, 11)) < 0.5)
    X[2] = 0
    W = rng.normal(size=(11, 3)).astype(dtype)
    rows = FeatureRows(X if dense else sparse.csr_array(X), dtype)._rows
    arguments, _ = assert_twins(
        joint.score_rows, lambda: (rows, W, np.full((5, 3), 7, dtype=dtype))
    )
    np.testing.assert_allclose(arguments[-1], X @ W, rtol=1e-4, atol=1e-5)
    assert_twins(joint.score_row, lambda: (rows, 4, W, np.full(3, 7, dtype=dtype)))


@pytest.mark.parametrize("total", [0.0, 0.3, 0.7 * (1 - 1e-13), 0.7, 0.7 * (1 + 1e-13)])
@pytest.mark.parametrize("cost", [0.0, 0.7, np.inf])
def test_unused_cost(cost, total):
    _, left = assert_twins(joint.unused_cost, lambda: (cost, total))
    assert left == (max(cost - total, 0) if abs(cost - total) > 1e-12 else 0)


def test_drop_zeros():
    def make():
        table = np.arange(12.0).reshape(2, 6)
        beta = np.array([[0.0] * 6, [0.5, 0.0, 0.25, 0.0, 9.0, 9.0]])
        return joint.Duals(np.array([2, 4]), table.astype(np.intp), beta, table), 1

    (duals, _), total = assert_twins(joint.drop_zeros, make)
    assert total == 0.75
    assert duals.size.tolist() == [2, 2]
    assert duals.category[1, :2].tolist() == [6, 8]
    assert duals.delta[1, :2].tolist() == [6, 8]


@pytest.mark.parametrize("most_new", [1, 3, 8])
@pytest.mark.parametrize("seed", range(5))
def test_add_violated(seed, most_new):
    rng = np.random.default_rng(seed)
    F, delta = rng.normal(size=9), rng.uniform(1, 2, size=9)
    active = rng.random(9) < 0.3
    n_active = int(active.sum())

    def make():
        duals = sequential.empty_duals(2, n_active + 5)
        duals.category[1, :n_active] = np.flatnonzero(active)
        duals.size[1] = n_active
        return 1, F, delta, 0.1, most_new, active.copy(), duals

    (*_, duals), _ = assert_twins(joint.add_violated, make)
    wanted = [c for c in np.argsort(-F) if F[c] > 0.1 and not active[c]][: min(most_new, 5)]
    assert duals.category[1, n_active : duals.size[1]].tolist() == wanted
    np.testing.assert_array_equal(duals.delta[1, n_active : duals.size[1]], delta[wanted])
    assert duals.size[0] == 0


@every_case
@pytest.mark.parametrize("passes", [1, 3])
def test_inspect_finds_what_the_definitions_say(case, passes):
    state = State(case, passes=passes)
    expected = recomputed(case.instance(), state.solution, case.X)
    n_categories = case.attributes.shape[0]

    def make():
        now = State(case, passes=passes)
        return now.items, now.problem, now.W, now.duals, 2, now.findings

    (*_, duals, _, findings), _ = assert_twins(joint.inspect, make)
    np.testing.assert_allclose(findings.slack, expected.slack, atol=1e-12)
    np.testing.assert_allclose(findings.violation, expected.psi, atol=1e-9)
    alpha = alpha_of(state.solution.duals, case.instance())
    np.testing.assert_allclose(findings.linear, alpha.sum(axis=1), atol=1e-12)
    assert findings.quadratic.sum() == pytest.approx(np.sum(state.W**2), rel=1e-9)
    if n_categories > 1:
        margins = case.margins(state.W)
        margins[np.arange(len(margins)), case.y] = np.inf
        np.testing.assert_allclose(findings.margin, margins.min(axis=1), atol=1e-12)
    for i in range(len(case.y)):
        new = duals.category[i, : duals.size[i]][duals.beta[i, : duals.size[i]] == 0]
        assert len(new) <= 2
        assert (expected.F[i, new] > 0).all()


@every_case
def test_loops_of_one_item(case):
    first = State(case)
    for i in (0, len(case.y) - 1):

        def at(*names, i=i):
            state = State(case)
            state.i, state.n_used = i, state.enter(i)
            state.attributes, state.tol = state.problem.attributes, 1e-9
            state.y = state.problem.y[i]
            state.sign, state.a = -1.0, int(state.duals.size[i]) - 1
            state.m, state.beta, state.free = state.duals.size[i], state.duals.beta[i], 0.5
            state.F, state.scores = state.scratch.F, state.scratch.row
            state.out = np.zeros(case.attributes.shape[0])
            return tuple(getattr(state, name) for name in names)

        for loop in (joint.write_used_scores, joint.apply_change):
            assert_twins(loop, lambda: at("problem", "i", "W", "n_used", "scratch"))
        assert_twins(joint.write_gradients, lambda: at("problem", "i", "duals", "scratch"))
        assert_twins(joint.category_score, lambda: at("attributes", "y", "scratch"))
        assert_twins(joint.category_scores, lambda: at("attributes", "scores", "out"))
        assert_twins(joint.best_pair, lambda: at("m", "beta", "free", "F"))
        assert_twins(
            joint.add_direction, lambda: at("problem", "i", "a", "sign", "duals", "scratch")
        )
        assert_twins(joint.ascend, lambda: at("problem", "i", "n_used", "duals", "scratch", "tol"))
        assert_twins(joint.solve_item, lambda: at("problem", "i", "W", "duals", "scratch", "tol"))
    assert_twins(
        joint.enter_attributes, lambda: (first.problem.attributes, 0, 0, State(case).scratch)
    )


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_visit(case, dtype):
    n = len(case.y)

    def make():
        state = State(case, FeatureRows(sparse.csr_array(case.X), dtype), dtype=dtype)
        calm, rest = np.arange(n) % 4, np.arange(n) % 2
        return state.items, state.problem, state.W, state.duals, state.scratch, 0.1, calm, rest

    (*_, calm, rest), (_, _, n_visits) = assert_twins(joint.visit, make)
    assert n_visits <= (n + 1) // 2
    assert (calm <= 3).all()
    assert (rest <= 7).all()


def test_visit_in_dual_form():
    case = toy()
    K = np.exp(-((case.X[:, None] - case.X) ** 2).sum(axis=-1) / 20)

    def make():
        state = State(case, GramRows(lambda members: K[members], K.diagonal(), 1e6))
        calm = np.zeros((2, len(K)), dtype=np.intp)
        return state.items, state.problem, state.W, state.duals, state.scratch, 1e-3, *calm

    (_, _, W, duals, *_), (gain, _, _) = assert_twins(joint.visit, make)
    before = State(case, GramRows(lambda members: K[members], K.diagonal(), 1e6))
    instance = case.instance(K)
    raised = dual_value(instance, duals) - dual_value(instance, before.duals)
    assert gain == pytest.approx(raised, rel=1e-6)
    alpha = alpha_of(duals, instance)
    np.testing.assert_allclose(W, reference.coefficients(instance, alpha), atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_item_is_solved_exactly(shape):
    """With one item, the small QP over all categories is the whole dual."""
    case = toy(shape, "weighted", C=2.0)
    case = case._replace(X=case.X[5:6], y=case.y[5:6], costs=case.costs[5:6])
    instance = case.instance()
    state = State(case)
    others = [c for c in range(case.attributes.shape[0]) if c != case.y[0]]
    duals = sequential.empty_duals(1, len(others))
    duals.category[0], duals.size[0] = others, len(others)
    duals.delta[0] = instance.loss[case.y[0], others]
    W = np.zeros_like(state.W)
    state.scratch = state.scratch._replace(F=np.zeros(len(others)))
    _, gain = joint.solve_item(state.problem, 0, W, duals, state.scratch, 1e-10)
    best = reference.dual_optimum(instance)[0]
    assert gain == pytest.approx(best, rel=1e-6)
    assert dual_value(instance, duals) == pytest.approx(best, rel=1e-6)
    alpha = alpha_of(duals, instance)
    np.testing.assert_allclose(W, case.X.T @ reference.coefficients(instance, alpha), atol=1e-9)


@pytest.mark.parametrize("n_attributes", [2, 80])
def test_columns_past_16_bits(n_attributes):
    rng = np.random.default_rng(0)
    columns = np.array([3, 65_535, 65_536, PAST_16_BITS - 1])
    X = sparse.csr_array((rng.normal(size=4), columns, [0, 0, 4]), shape=(2, PAST_16_BITS))
    attributes = sparse.csr_array(rng.normal(size=(2, n_attributes)))
    case = toy()._replace(
        X=X,
        y=np.array([0, 1]),
        costs=np.ones(2),
        attributes=attributes,
        loss=category_loss("zero_one", Taxonomy.flat("ab")),
    )

    def make():
        state = State(case, FeatureRows(X, "float64"), passes=0)
        state.duals.category[1, 0], state.duals.delta[1, 0], state.duals.size[1] = 0, 1.0, 1
        return state.problem, 1, state.W, state.duals, state.scratch, 1e-6

    (_, _, W, duals, *_), _ = assert_twins(joint.solve_item, make)
    assert np.flatnonzero(W.any(axis=1)).tolist() == columns.tolist()
    difference = attributes.toarray()[1] - attributes.toarray()[0]
    expected = duals.beta[1, 0] * np.outer(X.data, difference)
    np.testing.assert_allclose(W[columns], expected, rtol=1e-12)


def dual_value(instance, duals):
    """Return the dual objective by Eq. 16."""
    alpha = alpha_of(duals, instance)
    A = reference.coefficients(instance, alpha)
    return alpha.sum() - np.sum(A * (instance.K @ A)) / 2
