"""Loops of the MinOver perceptron: compiled against uncompiled, and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import minover as loops
from taxonomist.compiled.arrays import Labels
from taxonomist.compiled.losses import loss_between
from taxonomist.losses import category_loss
from taxonomist.solvers import minover
from taxonomist.solvers.minover import MinOverOptions
from taxonomist.solvers.problem import FeatureRows, GramRows, loss_arrays
from taxonomist.taxonomy import Taxonomy
from tests.reference.joint_toys import LOSSES, SHAPES, SetToy, assert_twins, set_toy

PAST_16_BITS = 70_000
UNWRITTEN = 7.0

ONLY = SetToy(
    X=np.ones((3, 2)),
    Y=np.ones((3, 1), dtype=bool),
    costs=np.ones(3),
    attributes=sparse.csr_array(np.ones((1, 1))),
    loss=category_loss("zero_one", Taxonomy.flat(["only"])),
)
CASES = {
    "sparse with empty rows": set_toy("dag", "weighted", seed=2),
    "real attributes": set_toy("real", "matrix", seed=1),
    "one category": ONLY,
    "one item": set_toy().select([7]),
    "no items": set_toy().select([]),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def after(case, n_steps, kind="sparse", ridge=0.0):
    """Return a search after so many steps; with a Gram matrix, all rows are in the table."""
    if kind == "gram" and len(case.X):
        K = case.X @ case.X.T
        items = GramRows(lambda members: K[members], K.diagonal(), 1e9)
    else:
        items = FeatureRows(sparse.csr_array(case.X), "float64")
    options = MinOverOptions(margin=np.inf, max_iter=1000, report_every=n_steps, ridge=ridge)
    search = minover._Search(case.problem(items), options, None)
    search.advance()
    for i in range(len(case.X) if kind == "gram" else 0):
        search.rows.fetch(i)
    return search


def scores_of(search, case):
    """Return f(x_i, c) from the kept scores."""
    return search.state.scores @ case.attributes.toarray().T


def margins_of(search, case):
    """Return each item's smallest margin by definition, inf where it has none."""
    f = scores_of(search, case)
    own = np.where(case.Y, f, np.inf).min(axis=1, initial=np.inf)
    return own - np.where(case.Y, -np.inf, f).max(axis=1, initial=-np.inf)


@every_case
def test_margin_of(case):
    for j in range(len(case.X)):

        def make(j=j):
            search = after(case, 11)
            return j, search.data, search.state.scores, search.scratch

        (*_, scratch), found = assert_twins(loops.margin_of, make)
        search = after(case, 11)
        assert found[0] - found[1] == pytest.approx(margins_of(search, case)[j])
        np.testing.assert_allclose(scratch.f, scores_of(search, case)[j], atol=1e-12)
        assert not scratch.mark.any()


@every_case
@pytest.mark.parametrize("n_steps", [0, 1, 12])
@pytest.mark.parametrize("at_least", [-np.inf, 0.0, np.inf])
def test_settle(case, n_steps, at_least):
    def make():
        search = after(case, n_steps)
        return search.data, search.state, at_least, search.scratch

    (_, state, *_), worst = assert_twins(loops.settle, make)
    search = after(case, n_steps)
    idle = np.isinf(search.state.bound) & search.state.is_exact
    margins = np.where(idle, np.inf, margins_of(search, case))
    assert worst == pytest.approx(margins.min(initial=np.inf), abs=1e-12)
    exact = state.is_exact
    np.testing.assert_allclose(state.bound[exact], margins[exact], atol=1e-12)
    assert exact[margins <= max(worst, at_least)].all()
    assert (state.bound <= margins + 1e-12).all()


@every_case
def test_bounds_are_below_the_margins_and_scores_are_those_of_the_weights(case):
    for n_steps in range(25):
        search = after(case, n_steps)
        idle = np.isposinf(search.state.bound)
        margins = margins_of(search, case)
        assert (search.state.bound[~idle] <= margins[~idle] + 1e-12).all()
        exact = search.state.is_exact & ~idle
        np.testing.assert_allclose(search.state.bound[exact], margins[exact], atol=1e-12)
        W = search.weights(None)[0]
        np.testing.assert_allclose(search.state.scores[~idle], (case.X @ W)[~idle], atol=1e-9)
        f = scores_of(search, case)
        assert search.state.reach[0] >= np.abs(f).max(initial=0.0) - 1e-12


def test_few_bounds_are_made_exact():
    """What the bounds are for: most items need no look at each step."""
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=600)
    case = set_toy("tree")
    n = case.Y.shape[1]
    X = sparse.random_array((600, 400), density=0.02, rng=rng).toarray()
    X[np.arange(600), y] += 2
    case = case._replace(X=X, Y=np.eye(n, dtype=bool)[y % n], costs=np.ones(600))
    search = after(case, 300)
    n_exact = 0
    for n_wanted in range(301, 351):
        state = search.state
        before = state.is_exact.copy()
        loops.settle(search.data, state, -np.inf, search.scratch)
        n_exact += (state.is_exact & ~before).sum()
        search.options = MinOverOptions(margin=np.inf, max_iter=n_wanted, report_every=1)
        search.advance()
    assert n_exact / 50 < 60


@every_case
def test_count_errors(case):
    def make():
        search = after(case, 9)
        return search.data, search.state, search.scratch

    _, n_errors = assert_twins(loops.count_errors, make)
    search = after(case, 9)
    assert n_errors == (margins_of(search, case)[~np.isposinf(search.state.bound)] <= 0).sum()


@pytest.mark.parametrize("shape", SHAPES)
def test_choose(shape):
    case = set_toy(shape, "weighted", seed=2)

    def make():
        search = after(case, 7)
        worst = loops.settle(search.data, search.state, -np.inf, search.scratch)
        return worst, search.data, search.state, search.scratch

    (worst, *_, scratch), (i, y, c) = assert_twins(loops.choose, make)
    f = scores_of(after(case, 7), case)
    assert f[i, y] - f[i, c] == pytest.approx(worst)
    assert case.Y[i, y]
    assert not case.Y[i, c]
    assert not scratch.mark.any()


def test_labels_need_not_be_sorted():
    case = set_toy("flat").select([5, 6])
    Y = np.zeros_like(case.Y)
    Y[:, [1, 3, 4]] = True
    search = after(case._replace(Y=Y), 0)
    data = search.data._replace(labels=Labels(np.array([0, 3, 6]), np.array([3, 4, 1] * 2)))
    worst = loops.settle(data, search.state, -np.inf, search.scratch)
    assert loops.choose(worst, data, search.state, search.scratch) == (0, 1, 0)


@pytest.mark.parametrize(
    ("item_0", "item_1", "expected"),
    [
        ([0, 0.1, 0, 0.1, 0], [0, 0.1, 0, 0.1, 1e-15], (0, 1, 0)),
        ([0, 0.1, 1e-15, 0.1, 2e-15], [0, 0.1, 0, 0.1, 0], (0, 1, 0)),
        ([0, 0.1, 0, 0.1 - 1e-15, 0], [0, 0.1, 0, 0.1, 0], (0, 1, 0)),
        ([0, 0.1, 0, 0.1 - 1e-9, 0], [0, 0.1, 0, 0.1, 0], (0, 3, 0)),
        ([0, 0.1, 0, 0.1, 0], [0, 0.1, 0, 0.1, 1e-9], (1, 1, 4)),
    ],
)
def test_rounding_does_not_decide_between_equals(item_0, item_1, expected):
    case = set_toy("flat").select([5, 6])
    Y = np.zeros_like(case.Y)
    Y[:, [1, 3]] = True
    search = after(case._replace(Y=Y), 0)
    search.state.reach[0] = 1.0
    search.state.scores[:, :5] = item_0, item_1
    worst = loops.settle(search.data, search.state, -np.inf, search.scratch)
    assert loops.choose(worst, search.data, search.state, search.scratch) == expected


@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("shape", ["tree", "dag", "flat"])
def test_loss_between(shape, name, by_row, monkeypatch):
    if by_row:
        monkeypatch.setattr("taxonomist.solvers.problem.TABULATED_CATEGORIES", 0)
    loss = set_toy(shape, name).loss
    n, n_nodes = loss.n_categories, loss.taxonomy.n_nodes
    for y, c in [(y, c) for y in range(n) for c in range(n) if y != c]:

        def make(y=y, c=c):
            return loss_arrays(loss), y, c, np.zeros(max(n, n_nodes), dtype=bool)

        arguments, found = assert_twins(loss_between, make)
        assert found == pytest.approx(loss.row(y)[c], rel=1e-12)
        assert not arguments[-1].any()


@every_case
@pytest.mark.parametrize("ridge", [0.0, 0.4])
@pytest.mark.parametrize("kind", ["sparse", "gram"])
def test_write_kernel_row(case, kind, ridge):
    K = case.X @ case.X.T + ridge * np.eye(len(case.X))
    for i in range(len(case.X)):

        def make(i=i):
            kernel = after(case, 0, kind, ridge).data.kernel
            return kernel, i, np.full(len(K), UNWRITTEN)

        (kernel, _, row), _ = assert_twins(loops.write_kernel_row, make)
        np.testing.assert_allclose(row, K[i], atol=1e-12)
        if kind == "gram":
            np.testing.assert_allclose(kernel.table[kernel.place[i]], case.X @ case.X[i])


@pytest.mark.parametrize("shape", SHAPES)
def test_write_change(shape):
    case = set_toy(shape)
    Lambda = case.attributes.toarray()
    for y, c in [(0, 1), (3, 2), (1, 1)]:

        def make(y=y, c=c):
            search = after(case, 0)
            return search.data.attributes, y, c, 1.5, search.scratch

        (*_, scratch), n_used = assert_twins(loops.write_change, make)
        change = 1.5 * (Lambda[y] - Lambda[c])
        np.testing.assert_allclose(scratch.change, change, atol=1e-12)
        np.testing.assert_allclose(scratch.gain, Lambda @ change, atol=1e-12)
        assert scratch.used[:n_used].tolist() == np.flatnonzero(change).tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_spread(shape):
    case = set_toy(shape, seed=2)
    row = np.random.default_rng(0).normal(size=len(case.X))
    row[::4] = 0

    def make():
        search = after(case, 5)
        loops.settle(search.data, search.state, np.inf, search.scratch)
        n_used = loops.write_change(search.data.attributes, 0, 3, 1.5, search.scratch)
        search.scratch.row[:] = row
        return n_used, search.data.labels, search.state, search.scratch

    (_, _, state, scratch), _ = assert_twins(loops.spread, make)
    _, _, before, _ = make()
    busy = np.isfinite(before.bound)
    added = np.outer(row, scratch.change)
    np.testing.assert_allclose(state.scores[busy], (before.scores + added)[busy], atol=1e-12)
    np.testing.assert_array_equal(state.is_exact, ~busy | (row == 0))
    np.testing.assert_array_equal(state.bound[~busy], np.inf)
    search = after(case, 5)
    search.state.scores[:] += added
    assert (state.bound <= margins_of(search, case) + 1e-12)[busy].all()
    longest = np.abs(row[busy]).max() * np.abs(scratch.gain).max()
    assert state.reach[0] == pytest.approx(before.reach[0] + longest)


@every_case
@pytest.mark.parametrize("kind", ["sparse", "gram"])
def test_take_steps(case, kind):
    def make():
        search = after(case, 10, kind)
        steps = loops.Steps(*np.pad(np.stack(search.steps), ((0, 0), (0, 30))))
        taken = search.n_taken
        return search.data, search.state, steps, taken, taken + 20, 1e6, search.scratch

    (*_, scratch), (outcome, n_taken, _) = assert_twins(loops.take_steps, make)
    has_triples = np.isfinite(after(case, 10).state.bound).any()
    assert outcome == (loops.STEPPED if has_triples else loops.SATISFIED)
    assert n_taken == (30 if has_triples else 0)
    assert not scratch.change.any()
    assert not scratch.mark.any()


def test_a_row_that_is_not_in_the_table_is_asked_for():
    case = set_toy("tree", seed=2)
    search = after(case, 0, "gram")
    search.data.kernel.place[:] = -1
    steps = loops.Steps(*np.zeros((3, 5), dtype=np.intp))
    arguments = (search.data, search.state, steps, 0, 5, 1.0, search.scratch)
    outcome, n_taken, item = loops.take_steps(*arguments)
    assert (outcome, n_taken) == (loops.ROW_WANTED, 0)
    assert item == after(case, 1).steps.item[0]
    assert not search.state.scores.any()
    search.rows.fetch(item)
    _, n_taken, _ = loops.take_steps(*arguments)
    assert n_taken > 0


def test_columns_past_16_bits():
    columns = np.array([3, 65_535, 65_536, PAST_16_BITS - 1])
    values = np.array([0.5, -1.0, 2.0, 0.25])
    X = sparse.csr_array((np.tile(values, 2), np.tile(columns, 2), [0, 0, 4, 8]))
    case = set_toy("flat").select([5, 6, 7])
    Y = np.eye(case.Y.shape[1], dtype=bool)[[0, 2, 2]]
    given = case._replace(Y=Y).problem(FeatureRows(X, "float64"))
    found = minover.solve(given, MinOverOptions(margin=4.0))
    assert found.converged
    assert np.flatnonzero(found.W.any(axis=1)).tolist() == columns.tolist()
    assert found.margin == pytest.approx(np.min((X @ found.W)[1, 2] - (X @ found.W)[1, [0, 1, 3]]))
