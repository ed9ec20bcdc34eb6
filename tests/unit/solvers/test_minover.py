"""The MinOver perceptron: history, starts, averages, limits, and what cannot be separated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxonomist.compiled import minover as loops
from taxonomist.losses import category_loss
from taxonomist.solvers import minover, problem
from taxonomist.solvers.minover import MinOverOptions, solve
from taxonomist.solvers.problem import FeatureRows, GramRows
from taxonomist.taxonomy import Taxonomy
from tests.reference.joint_toys import SetToy, pair_alpha, separable_sets, set_toy

KINDS = ("sparse", "dense", "gram")
every_kind = pytest.mark.parametrize("kind", KINDS)


def items_of(kind, X):
    if kind == "gram":
        K = X @ X.T
        return GramRows(lambda members: K[members], K.diagonal(), 1e9)
    return FeatureRows(sparse.csr_array(X) if kind == "sparse" else X, "float64")


def agreeing(*args, **options):
    """Return a problem in which the two items with the same features have the same labels."""
    case = set_toy(*args, **options)
    Y = case.Y.copy()
    Y[2] = Y[1]
    return case._replace(Y=Y)


def flat_case(X, labels, n_categories=3):
    """Return a flat problem with one category for each row of X."""
    taxonomy = Taxonomy.flat([f"c{k}" for k in range(n_categories)])
    Y = np.eye(n_categories, dtype=bool)[labels]
    attributes = sparse.csr_array(np.eye(n_categories))
    loss = category_loss("zero_one", taxonomy)
    return SetToy(np.array(X, dtype=float), Y, np.ones(len(X)), attributes, loss)


def assert_same(found, expected):
    """Check that two solutions are the same but for their history."""
    np.testing.assert_allclose(found.W, expected.W, atol=1e-9)
    np.testing.assert_allclose(found.last, expected.last, atol=1e-9)
    np.testing.assert_array_equal(found.duals.beta, expected.duals.beta)
    assert found.margin == pytest.approx(expected.margin)
    assert found.n_iter == expected.n_iter
    assert found.converged == expected.converged


# History and limits ---------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("report_every", [1, 7, 20])
def test_the_history_has_an_entry_every_so_many_steps(kind, report_every):
    case = separable_sets("tree")
    options = MinOverOptions(margin=np.inf, max_iter=50, report_every=report_every)
    given = case.problem(items_of(kind, case.X))
    found = solve(given, options)
    expected = [*range(report_every, 50, report_every), 50]
    assert [entry.n_iter for entry in found.history] == expected
    assert found.n_iter == 50
    seconds = [entry.seconds for entry in found.history]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    for entry in found.history:
        there = solve(given, MinOverOptions(margin=np.inf, max_iter=entry.n_iter))
        assert there.margin == pytest.approx(entry.margin)
        assert there.history[-1].n_errors == entry.n_errors


def test_a_callback_sees_each_entry_and_may_stop():
    seen = []
    options = MinOverOptions(margin=np.inf, report_every=5)
    given = separable_sets().problem()
    found = solve(given, options, lambda entry: seen.append(entry) or len(seen) == 3)
    assert seen == found.history
    assert found.n_iter == 15
    assert not found.converged


def test_no_steps():
    found = solve(set_toy().problem(), MinOverOptions(max_iter=0))
    assert not found.W.any()
    assert (found.n_iter, found.margin, found.converged) == (0, 0.0, False)
    assert not found.is_hopeless
    averaged = solve(set_toy().problem(), MinOverOptions(max_iter=0, average=True))
    assert not averaged.W.any()
    assert averaged.n_averaged == 0


def test_the_margin_must_be_exceeded_and_not_just_reached():
    case = flat_case([[1.0]], [1], 2)
    assert solve(case.problem(), MinOverOptions(margin=0.0)).n_iter == 1
    assert solve(case.problem(), MinOverOptions(margin=1.9)).n_iter == 1
    assert solve(case.problem(), MinOverOptions(margin=2.0)).n_iter == 2
    assert solve(case.problem(), MinOverOptions(margin=-0.1)).n_iter == 0


@pytest.mark.parametrize("average", [True, False])
def test_the_type_of_the_weights(average):
    options = MinOverOptions(max_iter=20, dtype="float32", average=average)
    single = solve(set_toy().problem(), options)
    double = solve(set_toy().problem(), MinOverOptions(max_iter=20, average=average))
    assert single.W.dtype == single.last.dtype == np.float32
    assert double.W.dtype == double.last.dtype == np.float64
    np.testing.assert_allclose(single.W, double.W, rtol=1e-6)


# What there is to separate --------------------------------------------------------------------


@every_kind
def test_without_triples_there_is_nothing_to_do(kind):
    case = set_toy("dag")
    nothing, everything = np.zeros_like(case.Y), np.ones_like(case.Y)
    empty = case._replace(X=np.zeros_like(case.X))
    free = case._replace(costs=np.zeros(len(case.X)))
    for given in (case._replace(Y=nothing), case._replace(Y=everything), empty, free):
        found = solve(given.problem(items_of(kind, given.X)), MinOverOptions())
        assert found.converged
        assert not found.is_hopeless
        assert not found.W.any()
        assert (found.n_iter, found.margin) == (0, np.inf)
        assert found.history[-1].n_errors == 0
        assert len(found.duals.beta) == 0


def test_one_category():
    only = flat_case([[1.0], [2.0]], [0, 0], 1)
    for margin in (1.0, np.inf):
        found = solve(only.problem(), MinOverOptions(margin=margin))
        assert found.converged
        assert found.n_iter == 0


@every_kind
def test_one_item(kind):
    case = set_toy("tree", "weighted").select([7])
    found = solve(case.problem(items_of(kind, case.X)), MinOverOptions(margin=3.0))
    assert found.converged
    W = found.W if kind != "gram" else case.X.T @ found.W
    f = (case.X @ W @ case.attributes.toarray().T)[0]
    own = case.Y[0]
    assert f[own].min() - f[~own].max() == pytest.approx(found.margin)
    assert found.margin > 3


@every_kind
def test_items_without_features_do_not_hold_the_others_up(kind):
    case = separable_sets()
    X = case.X.copy()
    X[7] = 0
    others = np.arange(len(X)) != 7
    found = solve(case._replace(X=X).problem(items_of(kind, X)), MinOverOptions())
    without = case.select(others)
    expected = solve(without.problem(items_of(kind, without.X)), MinOverOptions())
    assert found.converged
    assert found.n_iter == expected.n_iter
    np.testing.assert_array_equal(found.duals.beta, expected.duals.beta)


@every_kind
@pytest.mark.parametrize("report_every", [1, 1000])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_contradictions_are_noticed_and_a_ridge_softens_them(kind, report_every, n_labels):
    X = [[1.0, 0.5]] * n_labels + [[0.0, 0.3]]
    case = flat_case(X, [*range(n_labels), 0])
    given = case.problem(items_of(kind, case.X))
    found = solve(given, MinOverOptions(report_every=report_every))
    assert found.is_hopeless
    assert not found.converged
    assert found.n_iter <= max(30, report_every)
    soft = solve(given, MinOverOptions(report_every=report_every, ridge=0.1))
    assert soft.converged
    assert not soft.is_hopeless


def test_a_round_in_which_steps_differ_in_size():
    case = flat_case([[1.0], [1.0]], [0, 1], 2)
    loss = category_loss(np.array([[0.0, 1.0], [2.0, 0.0]]), case.loss.taxonomy)
    found = solve(case._replace(loss=loss).problem(), MinOverOptions(report_every=1))
    # Steps for the items 0, 1, 0, and then for item 0 as in the beginning.
    assert found.is_hopeless
    assert found.n_iter == 4
    assert found.duals.beta.tolist() == [3, 1]


def test_rounds_are_not_seen_where_there_is_progress():
    case = separable_sets("dag")
    often = solve(case.problem(), MinOverOptions(margin=50.0, report_every=1))
    assert often.converged
    assert_same(often, solve(case.problem(), MinOverOptions(margin=50.0)))


def test_the_last_step_that_is_allowed_may_satisfy():
    given = separable_sets("dag").problem()
    found = solve(given, MinOverOptions())
    last = solve(given, MinOverOptions(max_iter=found.n_iter))
    assert last.converged
    assert_same(last, found)
    assert not solve(given, MinOverOptions(max_iter=found.n_iter - 1)).converged


def test_what_cannot_be_separated_ends_at_the_limit():
    # Three points on a line, the middle one in the category of neither neighbour.
    case = flat_case([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]], [0, 1, 0], 2)
    found = solve(case.problem(), MinOverOptions(max_iter=500))
    assert not found.converged
    assert found.margin <= 0
    assert found.history[-1].n_errors >= 1


def test_categories_with_the_same_attributes_end_the_search():
    case = flat_case(np.eye(3), [0, 1, 2])
    alike = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    found = solve(case._replace(attributes=alike).problem(), MinOverOptions())
    assert found.is_hopeless
    assert found.n_iter < 10
    assert not found.converged
    assert found.margin <= 0


# Starts ---------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("average", [True, False])
def test_going_on_is_as_if_there_had_been_no_stop(kind, average):
    case = agreeing("dag", "weighted", seed=2)
    given = case.problem(items_of(kind, case.X))
    whole = solve(given, MinOverOptions(margin=np.inf, max_iter=45, average=average))
    found = None
    for max_iter in (20, 0, 24, 1):
        options = MinOverOptions(margin=np.inf, max_iter=max_iter, average=average)
        found = solve(given, options, start=found)
    np.testing.assert_allclose(found.W, whole.W, atol=1e-9)
    np.testing.assert_allclose(found.last, whole.last, atol=1e-9)
    assert found.margin == pytest.approx(whole.margin)
    assert found.n_averaged == (45 if average else 0)
    assert found.n_iter == 1
    assert found.duals.beta.sum() == 1


def test_going_on_with_a_ridge_in_dual_form():
    case = agreeing("dag", "weighted", seed=2)
    given = case.problem(items_of("gram", case.X))
    whole = solve(given, MinOverOptions(margin=np.inf, max_iter=45, ridge=0.3))
    half = solve(given, MinOverOptions(margin=np.inf, max_iter=20, ridge=0.3))
    rest = solve(given, MinOverOptions(margin=np.inf, max_iter=25, ridge=0.3), start=half)
    np.testing.assert_allclose(rest.W, whole.W, atol=1e-9)
    assert rest.margin == pytest.approx(whole.margin)


def test_averaging_begins_when_it_is_asked_for():
    given = agreeing("dag", seed=2).problem()
    half = solve(given, MinOverOptions(margin=np.inf, max_iter=20))
    found = solve(given, MinOverOptions(margin=np.inf, max_iter=10, average=True), start=half)
    options = [MinOverOptions(margin=np.inf, max_iter=n) for n in range(21, 31)]
    expected = np.mean([solve(given, o).W for o in options], axis=0)
    np.testing.assert_allclose(found.W, expected, atol=1e-9)
    assert found.n_averaged == 10


def steps_by_hand(case, W, n_steps):
    """Take steps from weights for features, all scores computed anew."""
    attributes, W = case.attributes.toarray(), W.copy()
    for _ in range(n_steps):
        f = case.X @ W @ attributes.T
        triples = case.instance().triples
        i, y, c = min(triples, key=lambda t: round(f[t[0], t[1]] - f[t[0], t[2]], 9))
        W += case.loss.row(y)[c] * np.outer(case.X[i], attributes[y] - attributes[c])
    return W


@every_kind
def test_going_on_with_other_items(kind):
    case = agreeing("tree", "weighted", seed=5)
    old, new = np.arange(5, 14), np.arange(14, 24)
    first = solve(case.select(old).problem(), MinOverOptions(margin=np.inf, max_iter=15))
    expected = steps_by_hand(case.select(new), first.W, 15)
    options = MinOverOptions(margin=np.inf, max_iter=15)
    if kind == "gram":
        # In dual form the old items stay in the problem, at no cost.
        both = case.select([*old, *new])
        both = both._replace(costs=np.repeat([0.0, 1.0], [len(old), len(new)]))
        coefficients = solve(case.select(old).problem(items_of("gram", case.X[old])), options)
        padded = np.pad(coefficients.last, ((0, len(new)), (0, 0)))
        start = coefficients.__class__(**{**vars(coefficients), "last": padded, "W": padded})
        found = solve(both.problem(items_of("gram", both.X)), options, start=start)
        W = both.X.T @ found.W
    else:
        given = case.select(new)
        found = solve(given.problem(items_of(kind, given.X)), options, start=first)
        W = found.W
    np.testing.assert_allclose(W, expected, atol=1e-9)


def test_a_start_of_another_shape_is_refused():
    start = solve(agreeing("tree").problem(), MinOverOptions(max_iter=3))
    with pytest.raises(ValueError, match=r"shape \(20, \d+\), but this problem has 20 features"):
        solve(agreeing("flat").problem(), MinOverOptions(), start=start)
    case = agreeing("tree")
    with pytest.raises(ValueError, match=r"24 items"):
        solve(case.problem(items_of("gram", case.X)), MinOverOptions(), start=start)


# Where rows and losses come from --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense", "gram"])
@pytest.mark.parametrize("n_kept", [0, 1, 3])
def test_few_rows_of_the_kernel_may_be_kept(kind, n_kept, monkeypatch):
    case = agreeing("dag", "weighted", seed=1)
    options = MinOverOptions(margin=np.inf, max_iter=60)
    expected = solve(case.problem(items_of(kind, case.X)), options)
    monkeypatch.setattr(minover, "KEPT_BYTES", n_kept * 8 * len(case.X))
    monkeypatch.setattr(problem, "GRAM_ROWS_AT_A_TIME", 7)
    found = solve(case.problem(items_of(kind, case.X)), options)
    assert_same(found, expected)


def test_blocks_of_a_gram_matrix_add_up_to_the_scores_of_a_start(monkeypatch):
    monkeypatch.setattr(problem, "GRAM_ROWS_AT_A_TIME", 7)
    test_going_on_is_as_if_there_had_been_no_stop("gram", average=False)


@pytest.mark.parametrize("shape", ["tree", "dag"])
def test_losses_need_not_be_tabulated(shape, monkeypatch):
    options = MinOverOptions(margin=np.inf, max_iter=60)
    expected = solve(agreeing(shape, "weighted").problem(), options)
    monkeypatch.setattr(problem, "TABULATED_CATEGORIES", 0)
    assert_same(solve(agreeing(shape, "weighted").problem(), options), expected)


def test_dual_variables_count_the_steps():
    case = agreeing("tree", "weighted")
    found = solve(case.problem(), MinOverOptions(margin=np.inf, max_iter=70))
    assert found.duals.beta.sum() == 70
    assert (found.duals.beta >= 1).all()
    alpha = pair_alpha(found.duals, case.Y.shape)
    i, y, c = np.nonzero(alpha)
    assert case.Y[i, y].all()
    assert not case.Y[i, c].any()


@every_kind
def test_loops_run_uncompiled(kind, monkeypatch):
    case = agreeing("dag", "weighted", n=12)
    options = MinOverOptions(margin=0.5, max_iter=40, report_every=9)
    compiled = solve(case.problem(items_of(kind, case.X)), options)
    for name, loop in vars(loops).copy().items():
        if hasattr(loop, "py_func"):
            monkeypatch.setattr(loops, name, loop.py_func)
    plain = solve(case.problem(items_of(kind, case.X)), options)
    assert_same(plain, compiled)
    assert [entry[1:] for entry in plain.history] == [
        pytest.approx(entry[1:]) for entry in compiled.history
    ]
