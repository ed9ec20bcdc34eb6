from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from taxonomist import NodeSVC, datasets
from taxonomist.persistence import describe, load, pruned, save
from tests.unit.persistence.examples import (
    LINEAR,
    NAMES,
    TREE,
    model_of,
    problem,
    same,
    same_answers,
)


def fitted(name, d=200, **parameters):
    X, y, sets = problem(n=40, d=d)
    return model_of(name, **parameters).fit(X, y if name == "HierarchicalSVC" else sets), X


def tables(model):
    """Return all tables of weights of a linear model."""
    if hasattr(model, "node_estimators_"):
        return [node.coef_ for node in model.node_estimators_.values()]
    if hasattr(model.scorer_, "edge_weights"):
        return [model.scorer_.W, model.scorer_.edge_weights]
    return [model.scorer_.W if hasattr(model.scorer_, "W") else model.node_coef_]


def by_hand(weights, share):
    """Return weights with the smallest share of those that are not 0 taken out, one by one."""
    flat = weights.ravel().copy()
    order = sorted((abs(w), k) for k, w in enumerate(flat.tolist()) if w)
    for _, k in order[: int(share * len(order))]:
        flat[k] = 0
    return flat.reshape(weights.shape)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_the_smallest_weights_go(name, share, tmp_path):
    model, X = fitted(name)
    before = [table.copy() for table in tables(model)]
    smaller = pruned(model, share)
    assert type(smaller) is type(model)
    for table, old, new in zip(tables(model), before, tables(smaller), strict=True):
        assert not same(table, old)
        expected = by_hand(old, share)
        # Of weights of the same size, more may stay than by hand.
        kept = (new != 0) & (expected == 0)
        assert (new[~kept] == expected[~kept]).all()
        assert (np.abs(new[kept]) == np.abs(new[new != 0]).min()).all()
        assert new.dtype == old.dtype
    save(model, tmp_path / "smaller", prune=share)
    copy = load(tmp_path / "smaller")
    same_answers(smaller, copy, X)
    assert not same(smaller, copy, without=("start_",))
    assert describe(tmp_path / "smaller")["pruned"] == share


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", LINEAR)
def test_pruning_nothing_changes_nothing(name, tmp_path):
    model, X = fitted(name)
    save(model, tmp_path / "model", prune=0)
    same_answers(model, load(tmp_path / "model"), X)
    same_answers(model, pruned(model), X)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {*LINEAR, "PathSVC"}))
def test_other_models_have_nothing_to_prune(name, tmp_path):
    model, _ = fitted(name, d=20)
    with pytest.raises(ValueError, match=f"{name} has no feature weights to prune"):
        pruned(model, 0.5)
    with pytest.raises(ValueError, match="not linear or not fitted"):
        save(model, tmp_path / "model", prune=0.5)
    assert not any(tmp_path.iterdir())


def test_kernels_and_unfitted_models_have_nothing_to_prune():
    X, y, _ = problem()
    for model in (model_of("HierarchicalSVC"), model_of("HierarchicalSVC", kernel="rbf").fit(X, y)):
        with pytest.raises(ValueError, match="HierarchicalSVC has no feature weights"):
            pruned(model, 0.5)


def test_weights_below_a_size():
    model, _ = fitted("HierarchicalSVC")
    smaller = pruned(model, below=0.01)
    is_small = np.abs(model.scorer_.W) < 0.01
    assert 0 < is_small.sum() < is_small.size
    assert (smaller.scorer_.W[is_small] == 0).all()
    assert (smaller.scorer_.W[~is_small] == model.scorer_.W[~is_small]).all()
    assert not same(
        pruned(model, 0.5, below=0.01).scorer_.W, pruned(pruned(model, 0.5), below=0.01).scorer_.W
    )


@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, float("nan")])
def test_shares_that_make_no_sense(share):
    with pytest.raises(
        ValueError, match="share of weights to prune must be at least 0 and below 1"
    ):
        pruned(model_of("HierarchicalSVC"), share)
    with pytest.raises(ValueError, match="below must be at least 0"):
        pruned(model_of("HierarchicalSVC"), below=-abs(share))


def test_weights_that_are_all_zero():
    X, y, _ = problem()
    model = model_of("HierarchicalSVC").fit(X, y)
    model.scorer_ = replace(model.scorer_, W=np.zeros_like(model.scorer_.W))
    assert (pruned(model, 0.5).scorer_.W == 0).all()


def test_models_inside_others_are_pruned():
    corpus = datasets.load("arxiv-sample", labels="primary")
    texts, y = corpus.texts[:100], corpus.y[:100]
    pipeline = make_pipeline(TfidfVectorizer(), model_of("HierarchicalSVC", corpus.taxonomy))
    pipeline.fit(texts, y)
    smaller = pruned(pipeline, 0.5)
    assert smaller[0] is pipeline[0]
    assert (smaller[-1].scorer_.W != 0).sum() < 0.51 * (pipeline[-1].scorer_.W != 0).sum()
    assert not same(smaller[-1].scorer_.W, pruned(pipeline[-1], 0.5).scorer_.W)


def test_classifiers_of_nodes_stay_the_same_in_both_places():
    X, _, y = problem()
    smaller = pruned(NodeSVC(TREE, estimator=LogisticRegression()).fit(X, y), 0.5)
    for one, two in zip(
        smaller.node_estimators_.values(), smaller.scorer_.estimators.values(), strict=True
    ):
        assert one is two


def test_perceptrons_go_on_from_pruned_weights():
    X, _, y = problem()
    for average in (False, True):
        model = model_of("HierarchicalPerceptron", average=average, warm_start=True).fit(X, y)
        smaller = pruned(model, 0.5)
        assert smaller.start_.W is smaller.scorer_.W
        assert (smaller.start_.last is smaller.scorer_.W) != average
        assert not same(smaller.start_.last, by_hand(model.start_.last, 0.5))
        smaller.fit(X, y)


def test_pruned_models_take_less_room(tmp_path):
    model, _ = fitted("HierarchicalSVC", d=8)
    weights = np.random.default_rng(0).normal(size=(20_000, 8)).astype(np.float32)
    model.scorer_ = replace(model.scorer_, W=weights)
    sizes = {}
    for share in (None, 0, 0.5, 0.9):
        save(model, tmp_path / str(share), prune=share)
        sizes[share] = describe(tmp_path / str(share))["bytes"] / model.scorer_.W.nbytes
    assert 1 < sizes[None] < 1.1
    # Half of the numbers, and a bit for each.
    assert 0.53 < sizes[0.5] < 0.6
    assert 0.13 < sizes[0.9] < 0.2
    assert sizes[0] == pytest.approx(sizes[None], rel=0.01)


def test_zeros_with_a_sign_are_kept(tmp_path):
    model, _ = fitted("HierarchicalSVC", d=500)
    model.scorer_.W[:] = 0
    model.scorer_.W[::2, 0] = -0.0
    model.scorer_.W[7, 3] = np.nan
    save(model, tmp_path / "model", prune=0)
    names = [part["name"] for part in describe(tmp_path / "model")["parts"]]
    assert any("uint8" in name for name in names)
    assert load(tmp_path / "model").scorer_.W.tobytes() == model.scorer_.W.tobytes()
