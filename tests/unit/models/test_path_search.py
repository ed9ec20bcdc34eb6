"""PathSVC: the search from the top, and what is tuned on held-out items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from taxonomist import PathSVC, Taxonomy
from taxonomist.compiled import path_scores
from taxonomist.compiled.jit import compiled
from taxonomist.errors import ParameterError
from taxonomist.inference import path_scorer
from taxonomist.inference.blend import fit_blend
from taxonomist.inference.path_scorer import Blend
from taxonomist.models.path_tuning import Candidates, first_folds
from tests.unit.models.test_path_svc import DAG, TREE, items

# Search from the top --------------------------------------------------------------------------


def wide_problem(n=300, seed=0):
    """Return items of a tree of three levels in which some nodes have no items."""
    paths = [f"{a} > {a}{b} > {a}{b}{c}" for a in "abc" for b in "xyz" for c in "123"]
    taxonomy = Taxonomy.from_paths([*paths, "d > only"])
    rng = np.random.default_rng(seed)
    labels = np.array([leaf for leaf in taxonomy.leaves if leaf != "bx1"], dtype=object)
    y = rng.choice(labels, size=n)
    X = rng.normal(size=(n, 200)) * (rng.random((n, 200)) < 0.2)
    for k, letter in enumerate("abcdxyz123"):
        X[:, k] += [2.0 * (letter in label) for label in y]
    return taxonomy, sparse.csr_array(X), y


@pytest.mark.parametrize("blend", [None, Blend(beside=0.7, rarity=0.2)], ids=["fitted", "earlier"])
@pytest.mark.parametrize("k", [1, 4])
def test_a_search_without_limit_is_exact_among_siblings(k, blend):
    taxonomy, X, y = wide_problem()
    model = PathSVC(taxonomy, negatives="siblings", random_state=0).fit(X, y)
    if blend is not None:
        model.scorer_ = replace(model.scorer_, blend=blend)
    found = model.search(X, k)
    assert found.is_exact.all()
    scores = model.decision_function(X)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found.labels, model.classes_[order])
    assert found.scores.tobytes() == np.take_along_axis(scores, order, axis=1).tobytes()
    assert (model.predict(X) == found.labels[:, 0]).all()
    np.testing.assert_array_equal(model.predict_topk(X, k)[0], found.labels)


@pytest.mark.parametrize("negatives", ["all", "both"])
def test_a_beam_of_all_nodes_finds_the_best_of_all_classifiers(negatives):
    taxonomy, X, y = wide_problem()
    model = PathSVC(taxonomy, negatives=negatives, random_state=0).fit(X, y)
    exact = model.decision_function(X)
    # All leaves are found, so the order is that of their scores.
    found = model.search(X, k=model.scorer_.seen.sum(), beam=taxonomy.n_nodes)
    place = {label: column for column, label in enumerate(model.classes_)}
    columns = np.vectorize(place.get)(found.labels)
    np.testing.assert_allclose(
        found.scores, np.take_along_axis(exact, columns, axis=1), rtol=1e-9, atol=1e-9
    )
    assert (np.sort(found.labels, axis=1) == np.sort(model.classes_[model.scorer_.seen])).all()
    assert (found.is_exact == (model.blend_["own"] == 0)).all()


def test_a_narrow_beam_says_where_it_may_be_wrong():
    taxonomy, X, y = wide_problem()
    model = PathSVC(taxonomy, negatives="siblings", random_state=0).fit(X[:60], y[:60])
    best = model.predict(X)
    found = model.search(X, beam=1)
    same = found.labels[:, 0] == best
    assert same[found.is_exact].all()
    assert not found.is_exact.all()
    beam = PathSVC(taxonomy, negatives="siblings", beam=1, random_state=0).fit(X[:60], y[:60])
    assert (beam.predict(X) == found.labels[:, 0]).all()
    assert beam.decision_function(X).tobytes() == model.decision_function(X).tobytes()


@pytest.mark.parametrize("beam", [1, 2, 3, None])
@pytest.mark.parametrize("negatives", ["siblings", "both"])
def test_the_best_category_is_the_first_of_several(negatives, beam):
    taxonomy, X, y = wide_problem()
    model = PathSVC(taxonomy, negatives=negatives, random_state=0).fit(X[:60], y[:60])
    blend = model.scorer_.blend._replace(own=5.0 if negatives == "both" else 0.0)
    model.scorer_ = replace(model.scorer_, blend=blend)
    noise = np.random.default_rng(0).normal(size=X.shape)
    several = model.search(X + noise, 3, beam=beam)
    best = model.search(X + noise, 1, beam=beam)
    np.testing.assert_array_equal(best.labels, several.labels[:, :1])
    np.testing.assert_array_equal(best.scores, several.scores[:, :1])


@pytest.mark.parametrize("beam", [1, 3, 99])
def test_searches_have_the_same_results_uncompiled(beam, monkeypatch):
    taxonomy, X, y = wide_problem(n=60)
    model = PathSVC(taxonomy, negatives="both", random_state=0).fit(X, y)
    found = model.search(X[:8], 3, beam=beam)
    loop = path_scorer.search_paths
    monkeypatch.setattr(path_scorer, "search_paths", getattr(loop, "py_func", loop))
    for one, other in zip(found, model.search(X[:8], 3, beam=beam), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("negatives", ["siblings", "both"])
def test_an_item_is_found_as_if_it_were_alone(negatives):
    taxonomy, X, y = wide_problem()
    model = PathSVC(taxonomy, negatives=negatives, random_state=0).fit(X, y)
    X = sparse.csr_array(X.toarray() * (np.random.default_rng(0).random(X.shape) < 0.2))
    together = model.search(X, 3, beam=4)
    for i in range(20):
        for one, other in zip(model.search(X[[i]], 3, beam=4), together, strict=True):
            np.testing.assert_array_equal(one, other[[i]])


def test_a_search_is_compiled_for_much_work_only(monkeypatch):
    monkeypatch.setattr(path_scorer, "is_compiled", lambda _: False)
    monkeypatch.setattr(path_scorer, "search_paths", compiled()(lambda: None))
    most = path_scorer.MOST_SCORED
    assert [path_scorer._can_search(n) for n in (most // 2, most // 2, 1)] == [False, False, True]
    monkeypatch.setattr(path_scorer, "is_compiled", lambda _: True)
    monkeypatch.setattr(path_scorer, "search_paths", compiled()(lambda: None))
    most = path_scorer.MOST_SPARED
    assert [path_scorer._can_search(n) for n in (most, 1)] == [False, True]


def test_items_that_are_like_none_are_found_too(monkeypatch):
    """Most nodes must be expanded; items then ask for the margins of several at a time."""
    paths = [f"{a} > {a}{b} > {a}{b}{c}" for a in range(3) for b in range(9) for c in range(17)]
    taxonomy = Taxonomy.from_paths(paths, ids="name")
    X = sparse.csr_array(sparse.random(2000, 80, 0.2, format="csr", random_state=0))
    y = np.random.default_rng(0).choice(taxonomy.leaves, 2000)
    model = PathSVC(taxonomy, negatives="siblings", random_state=0).fit(X, y)
    new = sparse.csr_array(sparse.random(50, 80, 0.3, format="csr", random_state=1))
    rooms = []
    make = type(model.scorer_.weights).nothing_known
    monkeypatch.setattr(
        type(model.scorer_.weights),
        "nothing_known",
        lambda *given: rooms.append(make(*given)) or rooms[-1],
    )
    found = model.search(new, 2)
    assert np.concatenate([known.is_known for known in rooms]).sum(axis=1).max() > 15
    assert found.is_exact.all()
    scores = model.decision_function(new)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    assert found.labels.tolist() == model.classes_[best].tolist()
    np.testing.assert_allclose(found.scores, np.take_along_axis(scores, best, axis=1), rtol=1e-6)


def test_searches_that_cannot_be_are_refused():
    X, _, sets = items(TREE)
    with pytest.raises(ParameterError, match="needs single labels"):
        PathSVC(TREE, random_state=0).fit(X, sets).search(X)
    X, y, _ = items(DAG)
    model = PathSVC(DAG, beam=2, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="a taxonomy that is a tree"):
        model.search(X)
    assert (model.predict(X) == model.classes_[model.decision_function(X).argmax(axis=1)]).all()
    tree = PathSVC(TREE, random_state=0).fit(*items(TREE)[:2])
    with pytest.raises(ParameterError, match="k must be between 1 and"):
        tree.search(X, k=99)
    with pytest.raises(ParameterError, match="beam must be"):
        PathSVC(TREE, beam=0).fit(*items(TREE)[:2])


@pytest.mark.parametrize("kind", ["tree", "dag"])
def test_scores_of_few_items_need_no_compiled_loop(kind):
    taxonomy, X, y = wide_problem() if kind == "tree" else (DAG, *items(DAG)[:2])
    model = PathSVC(taxonomy, negatives="both", random_state=0).fit(X, y)
    raw, terms = model.scorer_.raw(model.check_rows(X, False)), model.scorer_.terms
    found = [np.empty((len(raw), len(model.classes_))) for _ in range(3)]
    room = path_scores.score_room(terms)
    path_scores.path_scores(raw, terms, room, found[0])
    path_scores.few_path_scores(raw, terms, found[1])
    getattr(path_scores.path_scores, "py_func", path_scores.path_scores)(raw, terms, room, found[2])
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


# Held-out items -------------------------------------------------------------------------------


def test_only_as_many_folds_as_are_needed():
    items = np.arange(9000)
    folds = [(np.setdiff1d(items, part), part) for part in np.split(items, 3)]
    ((train, test),) = first_folds(folds, 20)
    assert len(test) == 3000
    assert not np.intersect1d(train, test).size
    assert [len(test) for _, test in first_folds(folds, 10**6)] == [1024]
    few = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    assert [len(test) for _, test in first_folds(few, 20)] == [20, 20]


def test_candidates_stand_for_all_categories():
    rng = np.random.default_rng(0)
    parts, true = rng.normal(size=(3, 50, 400)), rng.integers(0, 400, size=50)
    found = Candidates.chosen(parts, true, 100)
    everyone = np.arange(50)
    assert (found.columns[everyone, found.true] == true).all()
    np.testing.assert_array_equal(
        found.parts, np.take_along_axis(parts, found.columns[None], axis=2)
    )
    for item in range(50):
        is_there = np.isfinite(found.log_counts[item])
        assert len(set(found.columns[item][is_there])) == is_there.sum()
        best = set(np.argsort(-parts[:, item].sum(axis=0))[:49])
        assert best <= set(found.columns[item][:50])
    # The sum over all categories is estimated without bias.
    sums = [
        np.exp(Candidates.chosen(parts[:, [0]], true[[0]], n).log_counts).sum() for n in (100, 300)
    ]
    np.testing.assert_allclose(sums, 400, rtol=0.2)
    everything = Candidates.chosen(parts, true, 500)
    assert (everything.true == true).all()
    assert not everything.log_counts.any()


def test_candidates_of_folds_with_fewer_categories_fit_as_they_are():
    rng = np.random.default_rng(0)
    parts, true = rng.normal(size=(3, 30, 8)), rng.integers(0, 5, size=30)
    few, many = Candidates.chosen(parts[:, :, :5], true, 9), Candidates.chosen(parts, true, 9)
    blocks = [few, many]
    joined = Candidates.join(blocks)
    assert blocks == []
    assert joined.columns.shape == (60, 8)
    assert (joined.columns[np.arange(60), joined.true] == np.tile(true, 2)).all()
    weights = np.ones(30)
    alone = fit_blend(few.parts, few.true, weights, np.ones(3), few.log_counts)
    wide = few.widened(8)
    found = fit_blend(wide.parts, wide.true, weights, np.ones(3), wide.log_counts)
    np.testing.assert_allclose(found, alone)


def test_a_few_items_need_not_know_what_is_compiled(monkeypatch):
    """To ask whether a loop is compiled takes numba, whose import takes longer than the work."""
    monkeypatch.setattr(path_scorer, "is_compiled", None)
    monkeypatch.setattr(path_scorer, "search_paths", compiled()(lambda: None))
    assert not path_scorer._can_search(path_scorer.MOST_SPARED)


def test_of_equal_categories_the_first_is_found():
    """A blank item with the same bias everywhere: all categories of a depth have the same score."""
    leaves = [f"{top}{k}" for top in "cab" for k in range(5)]
    taxonomy = Taxonomy.from_paths([f"{leaf[0]} > {leaf}" for leaf in leaves], ids="name")
    X = sparse.csr_array(np.eye(45, 20) + np.eye(45, 20, -20) + np.eye(45, 20, -40))
    model = PathSVC(taxonomy, negatives="siblings", random_state=0).fit(X, np.resize(leaves, 45))
    scorer = model.scorer_
    table = scorer.weights.table
    weights = replace(scorer.weights, table=table._replace(bias=np.full_like(table.bias, 0.5)))
    equal = replace(scorer, weights=weights, counts=np.ones_like(scorer.counts))
    blank = sparse.csr_array((3, 20), dtype=np.float32)
    for k in (1, 4):
        found, scores, is_exact = equal.search(blank, k)
        assert is_exact.all()
        assert found.tolist() == [[*range(k)]] * 3
        assert np.unique(scores).size == 1
        every = equal.categories(equal.raw(blank))
        assert found[:, 0].tolist() == every.argmax(axis=1).tolist()
