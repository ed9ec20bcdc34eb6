"""DaskPathSVC on a cluster of processes: all collections in, lazy collections out."""

from __future__ import annotations

import pickle

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from taxonomist import PathSVC, persistence
from taxonomist.distributed import DaskPathSVC
from taxonomist.errors import ClusterError, LabelError, ParameterError
from tests.unit.distributed.problems import TREE, assert_same, cut, problem
from tests.waiting import wait_for

ENDS = (0, 50, 130, 300)
OPTIONS = {"negatives": "siblings", "random_state": 3}


def as_array(X, meta=None):
    """Return a Dask array with CSR blocks."""
    blocks = [
        da.from_delayed(dask.delayed(part), part.shape, dtype=part.dtype, meta=meta)
        for part in cut(X, ENDS)
    ]
    return da.concatenate(blocks)


@pytest.fixture(scope="module")
def items():
    return problem()


@pytest.fixture(scope="module")
def local(items):
    X, y, _ = items
    return PathSVC(TREE, **OPTIONS).fit(X, y)


@pytest.fixture(scope="module")
def fitted(items, cluster):
    from distributed import Client

    X, y, _ = items
    with Client(cluster):
        labels = da.from_array(np.array(y), chunks=(np.diff(ENDS).tolist(),))
        return DaskPathSVC(TREE, **OPTIONS).fit(as_array(X, X[:0]), labels)


def test_fit_is_the_local_fit(fitted, local):
    assert_same(fitted.to_local(), local)
    assert fitted.classes_.tolist() == local.classes_.tolist()


@pytest.mark.parametrize("form", ["dense", "bag", "delayed", "frame"])
def test_all_collections(form, client, items, local):
    X, y, _ = items
    if form == "dense":
        given, labels = da.from_array(X.toarray(), (80, 70)), da.from_array(np.array(y), 80)
    elif form == "bag":
        given = db.from_delayed([dask.delayed(list)(part.toarray()) for part in cut(X)])
        labels = db.from_delayed([dask.delayed(list)(part) for part in cut(y)])
    elif form == "delayed":
        given = [dask.delayed(part) for part in cut(X)]
        labels = [dask.delayed(part) for part in cut(y)]
    else:
        frame = pd.DataFrame(X.toarray(), columns=[f"f{k}" for k in range(X.shape[1])])
        table = dd.from_pandas(frame.assign(label=y), npartitions=3)
        given, labels = table[list(frame.columns)], table["label"]
    model = DaskPathSVC(TREE, client=client, **OPTIONS).fit(given, labels)
    assert_same(model.to_local(), local)
    if form != "frame":
        found = model.predict(given).compute()
        assert found.tolist() == local.predict(X).tolist()


def test_predictions_are_lazy_and_equal(fitted, client, items, local):
    X, y, _ = items
    given = as_array(X, X[:0])
    labels, paths = fitted.predict(given), fitted.predict_paths(given)
    assert isinstance(labels, da.Array)
    assert isinstance(paths, db.Bag)
    assert labels.compute().tolist() == local.predict(X).tolist()
    assert paths.compute() == local.predict_paths(X)
    assert fitted.predict_labels(given).compute() == local.predict_labels(X)
    np.testing.assert_array_equal(fitted.predict_proba(given).compute(), local.predict_proba(X))
    np.testing.assert_array_equal(
        fitted.decision_function(given).compute(), local.decision_function(X)
    )
    best, scores = dask.compute(*fitted.predict_topk(given, 3))
    expected = local.predict_topk(X, 3)
    assert best.tolist() == expected[0].tolist()
    np.testing.assert_array_equal(scores, expected[1])
    assert fitted.score(given, y) == pytest.approx(local.score(X, y), abs=1e-12)


def test_the_model_is_scattered_once(fitted, client, items):
    given = as_array(items[0], items[0][:0])
    fitted.predict(given)
    first = fitted._scattered[2]
    fitted.predict_proba(given)
    assert fitted._scattered[2] is first


def test_predictions_need_no_cluster(fitted, items, local):
    X = items[0]
    found = fitted.predict(as_array(X, X[:0])).compute(scheduler="synchronous")
    assert found.tolist() == local.predict(X).tolist()


def test_label_sets(client):
    X, y, weights = problem(is_sets=True)
    local = PathSVC(TREE, **OPTIONS).fit(X, y, weights)
    given = as_array(X, X[:0])
    labels = [dask.delayed(part) for part in cut(y, ENDS)]
    parts = [dask.delayed(part) for part in cut(weights, ENDS)]
    model = DaskPathSVC(TREE, client=client, **OPTIONS).fit(given, labels, parts)
    assert_same(model.to_local(), local)
    found = model.predict(given).compute()
    np.testing.assert_array_equal(found.toarray(), local.predict(X).toarray())
    assert model.score(given, labels, parts) == pytest.approx(local.score(X, y, weights))


def test_to_local_saves_to_the_ordinary_folder(fitted, items, tmp_path):
    persistence.save(fitted.to_local(), tmp_path / "model")
    loaded = persistence.load(tmp_path / "model")
    assert type(loaded) is PathSVC
    assert loaded.predict(items[0]).tolist() == fitted.to_local().predict(items[0]).tolist()


def test_it_is_a_scikit_learn_estimator(client):
    model = DaskPathSVC(TREE, C=2.0, client=client)
    assert set(model.get_params()) == {*PathSVC().get_params(), "client"}
    assert model.set_params(C=3.0).C == 3.0
    copied = clone(model)
    assert (copied.C, copied.client, copied.taxonomy) == (3.0, client, TREE)
    assert "DaskPathSVC" in repr(model)
    with pytest.raises(TypeError, match="unexpected keyword argument 'D'"):
        DaskPathSVC(D=1)


def test_the_client_is_never_pickled(fitted, client, items):
    fitted.set_params(client=client)
    fitted.predict(as_array(items[0], items[0][:0]))
    again = pickle.loads(pickle.dumps(fitted))
    fitted.set_params(client=None)
    assert again.client is None
    assert_same(again.to_local(), fitted.to_local())


def test_errors_of_workers_are_those_of_the_local_model(client):
    given, labels = da.ones((4, 3), chunks=(2, 3)), da.from_array(np.array(["c0"] * 4), 2)
    with pytest.raises(LabelError, match="c00"):
        DaskPathSVC(TREE).fit(given, da.from_array(np.array(["c0", "c0", "c0", "c00"]), 2))
    with pytest.raises(ParameterError, match="X has 2 partitions, but y has 1"):
        DaskPathSVC(TREE).fit(given, labels.rechunk(4))
    with pytest.raises(ParameterError, match="must be a Dask array"):
        DaskPathSVC(TREE).fit(np.ones((4, 3)), labels)
    with pytest.raises(ParameterError, match="warm_start=False"):
        DaskPathSVC(TREE, warm_start=True).fit(given, labels)
    with pytest.raises(ParameterError, match="complement=False"):
        DaskPathSVC(TREE, complement=True).fit(given, labels)
    # The scheduler hears of released tasks a little later.
    wait_for(lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def test_without_a_client():
    with pytest.raises(ClusterError, match="There is no Dask client"):
        DaskPathSVC(TREE).fit(da.ones((4, 3)), da.from_array(np.array(["c0"] * 4)))
