"""Many weights of ``PathSVC`` have 16 bits in files; weights that do not fit are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taxonomist import PathSVC
from taxonomist.errors import ModelFileError
from taxonomist.inference import block_weights
from taxonomist.inference.path_scorer import PathScorer
from taxonomist.persistence import load, save
from taxonomist.persistence.contracts import check_object
from tests.unit.persistence.examples import DAG, TREE, problem


@pytest.fixture
def packing(monkeypatch):
    monkeypatch.setattr(block_weights, "LEAST_PACKED", 0)


@pytest.mark.parametrize("negatives", ["both", "siblings"])
@pytest.mark.parametrize("is_set", [False, True])
@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
def test_packed_weights_answer_nearly_the_same(negatives, is_set, taxonomy, packing, tmp_path):
    X, y, sets = problem(taxonomy.leaves)
    model = PathSVC(taxonomy, negatives=negatives, random_state=0).fit(X, sets if is_set else y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.scorer_.weights.table.values.dtype == np.int16
    assert model.scorer_.weights.table.values.dtype == np.float32
    np.testing.assert_allclose(
        again.decision_function(X), model.decision_function(X), rtol=1e-3, atol=1e-3
    )
    # What was rounded is not rounded again.
    save(again, tmp_path / "third")
    third = load(tmp_path / "third")
    assert third.decision_function(X).tobytes() == again.decision_function(X).tobytes()
    found = again.explain(X[:1])
    assert found.score == pytest.approx(
        model.explain(X[:1], category=found.category).score, abs=1e-3
    )
    assert again.scorer_.top_features(2).keys() == model.scorer_.top_features(2).keys()


def test_a_model_that_goes_on_keeps_all_bits(packing, tmp_path):
    X, y, _ = problem()
    model = PathSVC(TREE, warm_start=True, random_state=0).fit(X, y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_few_weights_keep_all_bits(tmp_path):
    X, y, _ = problem()
    model = PathSVC(TREE, random_state=0).fit(X, y)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").scorer_.weights.table.values.dtype == np.float32


def test_packed_weights_can_be_pruned(packing, tmp_path):
    X, y, _ = problem(d=400, n=90)
    model = PathSVC(TREE, random_state=0).fit(X, y)
    for folder, share in (("whole", None), ("half", 0.5), ("small", 0.9)):
        save(model, tmp_path / folder, prune=share)
    sizes = [
        sum(path.stat().st_size for path in (tmp_path / folder).rglob("*.npy"))
        for folder in ("whole", "half", "small")
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    for folder, share in (("half", 0.5), ("small", 0.9)):
        values = load(tmp_path / folder).scorer_.weights.table.values
        whole = model.scorer_.weights.table.values
        kept = np.count_nonzero(values) / np.count_nonzero(whole)
        # A weight that is kept may be rounded to 0.
        assert kept == pytest.approx(1 - share, abs=0.02)
    again = load(tmp_path / "whole")
    save(again, tmp_path / "later", prune=0.5)
    values = load(tmp_path / "later").scorer_.weights.table.values
    assert 0 < np.count_nonzero(values) < np.count_nonzero(again.scorer_.weights.table.values)


def fitted_scorer():
    X, y, _ = problem()
    scorer = PathSVC(TREE, complement=True, random_state=0).fit(X, y).scorer_
    assert isinstance(scorer, PathScorer)
    return scorer


def test_what_was_fitted_is_in_order():
    scorer = fitted_scorer()
    for value in (scorer, scorer.weights, scorer.weights.table):
        check_object(value)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("indptr", lambda a: a[:-1]),
        ("indptr", lambda a: a + 1),
        ("indptr", lambda a: a[::-1].copy()),
        ("indptr", lambda a: a.astype(np.int32)),
        ("features", lambda a: a[:-1]),
        ("features", lambda a: a.astype(np.int64)),
        ("start", lambda a: a + 10**9),
        ("start", lambda a: a - 10**9),
        ("start", lambda a: a[:-1]),
        ("first", lambda a: a[::-1].copy()),
        ("first", lambda a: np.append(a, a[-1] + 1)),
        ("scale", lambda a: a * np.nan),
        ("scale", lambda a: a[:-1]),
        ("values", lambda a: a[:-1]),
        ("values", lambda a: a.astype(np.float64)),
        ("values", lambda a: a[:, None]),
        ("bias", lambda a: a[:-1]),
        ("bias", lambda a: a[::2]),
    ],
)
def test_tables_that_do_not_fit_are_refused(field, change):
    table = fitted_scorer().weights.table
    with pytest.raises(ModelFileError, match="does not fit the rest"):
        check_object(table._replace(**{field: change(getattr(table, field))}))


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("above", lambda a: a + 10**6),
        ("beside", lambda a: a - 2),
        ("above", lambda a: a[:-1]),
        ("category_nodes", lambda a: a + 10**6),
        ("category_nodes", lambda a: a - 10**6),
        ("counts", lambda a: a[:-1]),
        ("nodes", lambda a: a[:-1]),
        ("nodes", lambda a: a - 10**6),
    ],
)
def test_scorers_that_do_not_fit_are_refused(field, change):
    scorer = fitted_scorer()
    with pytest.raises(ModelFileError, match=f"{field} does not fit the rest"):
        check_object(replace(scorer, **{field: change(getattr(scorer, field))}))


@pytest.mark.parametrize("feature", [-1, 10**6])
def test_features_that_are_not_there_are_found_when_they_are_used(feature):
    weights = fitted_scorer().weights
    features = weights.table.features.copy()
    features[-1] = feature
    broken = replace(weights, table=weights.table._replace(features=features))
    for use in (lambda: broken.index, lambda: broken.by_feature, lambda: broken._n_segments):
        with pytest.raises(ModelFileError, match="features that are not"):
            use()


def test_features_in_another_order_are_found_before_they_are_used():
    weights = fitted_scorer().weights
    features = weights.table.features.copy()
    features[:2] = features[1], features[1]
    with pytest.raises(ModelFileError, match="have no order"):
        _ = replace(weights, table=weights.table._replace(features=features)).index
