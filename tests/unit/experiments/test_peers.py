import ast
import json
import math
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import Taxonomy, metrics
from taxonomist.errors import ParameterError
from taxonomist.experiments.work import peer_worker, peers

LEAVES = ["a1", "a2", "b1", "b21", "b22"]


class Loudest:
    """Says that an item has the labels of its largest features; learns nothing."""

    fits = 0

    def __init__(self, threads, is_single):
        self.options = threads, is_single

    def fit(self, X, Y):
        assert X.dtype == np.float32
        assert X.shape[0] == Y.shape[0]
        type(self).fits += 1

    def predict(self, X, n_best):
        rows = [list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in X]
        # The best one last, to see that answers are sorted.
        return [sorted(row, key=lambda pair: pair[1])[-n_best:] for row in rows]


@pytest.fixture
def loudest(monkeypatch):
    """Let the worker run here, with a model that needs no other package."""

    def work(python, given, made):
        with np.load(given) as job:
            np.savez(made, **peer_worker.work(dict(job)))

    Loudest.fits = 0
    monkeypatch.setattr(peers, "_run_worker", work)
    monkeypatch.setenv(peers.VARIABLE, "python")
    monkeypatch.setitem(peer_worker.KINDS, "pecos", Loudest)
    monkeypatch.setitem(peer_worker.NEEDED, "pecos", "json")
    return Loudest


def items_of(labels):
    X = np.zeros((len(labels), len(LEAVES)))
    for row, given in zip(X, labels, strict=True):
        row[[LEAVES.index(label) for label in given]] = 1
    return csr_array(X)


def drawn_sets(n_items, seed=0):
    rng = np.random.default_rng(seed)
    chosen = (rng.choice(LEAVES, rng.integers(1, 4), replace=False) for _ in range(n_items))
    return [sorted(row.tolist()) for row in chosen]


# Files in and out ------------------------------------------------------------------------------


def test_a_peer_answers_with_one_label_each(loudest):
    y = np.array(LEAVES * 4, dtype=object)
    run = peers.run_peer("PECOS", items_of([[label] for label in y]), y, items_of([["b1"], ["a2"]]))
    assert run.predicted.tolist() == ["b1", "a2"]
    assert loudest.fits == 1
    assert {name: len(spent) for name, spent in run.seconds.items()} == {
        "fit_wall": 1,
        "fit_cpu": 1,
        "predict_wall": 1,
        "predict_cpu": 1,
    }


def test_an_item_without_an_answer_gets_the_most_frequent_label(loudest):
    y = ["a1", "b1", "b1"]
    run = peers.run_peer("PECOS", items_of([[label] for label in y]), y, items_of([[]]))
    assert run.predicted.tolist() == ["b1"]


def test_a_peer_answers_with_label_sets_above_a_threshold(loudest):
    y = drawn_sets(50)
    X = items_of(y)
    weak = csr_array(0.2 * (X.toarray() == 0) + X.toarray())
    run = peers.run_peer("PECOS", weak, y, weak, repeats=2)
    assert run.predicted == y
    # Of each repeat, one fit is for the threshold.
    assert loudest.fits == 4


def test_no_repeat_starts_after_enough_seconds(loudest):
    y = LEAVES * 2
    X = items_of([[label] for label in y])
    assert len(peers.run_peer("PECOS", X, y, X, repeats=5, enough_s=0).seconds["fit_cpu"]) == 1


def test_answers_are_sorted_and_filled():
    labels, scores = peer_worker.table([[(4, 0.1), (2, 0.9)], []], 3)
    assert labels.tolist() == [[2, 4, -1], [-1, -1, -1]]
    assert scores.tolist() == [[0.9, 0.1, -math.inf], [-math.inf] * 3]


def test_matrices_of_jobs_are_sorted():
    X = csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    found = peer_worker.matrix(peers._parts("X", X), "X")
    assert found.indices.tolist() == [0, 2]
    assert found.toarray().tolist() == [[2, 0, 1]]


def test_memory_is_told_where_the_system_tells_it():
    assert peer_worker.peak_mib() > 20 or not Path("/proc/self/status").exists()


# Environments ----------------------------------------------------------------------------------


def test_the_worker_does_not_import_taxonomist():
    tree = ast.parse(Path(peer_worker.__file__).read_text(encoding="utf-8"))
    names = [
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert "numpy" in names
    assert not [name for name in names if name.startswith("taxonomist")]


def test_without_an_environment_there_are_no_peers(monkeypatch):
    monkeypatch.delenv(peers.VARIABLE, raising=False)
    assert peers.installed() == {}


def test_an_environment_without_peers_has_none(monkeypatch):
    monkeypatch.setenv(peers.VARIABLE, sys.executable)
    here = {name for name, module in peers.PEERS.items() if find_spec(module)}
    assert set(peers.installed()) == here


def test_a_wrong_environment_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv(peers.VARIABLE, str(tmp_path / "python"))
    with pytest.raises(ParameterError, match="TAXONOMIST_PEERS must be the path of a Python"):
        peers.installed()


def test_a_worker_that_fails_is_told(tmp_path):
    with pytest.raises(RuntimeError, match=r"peer_worker.py failed"):
        peers._run_worker(sys.executable, tmp_path / "no job", tmp_path / "answers")


def test_the_worker_prints_versions(capsys, monkeypatch):
    monkeypatch.setattr(peer_worker, "PACKAGES", {"numpy": "numpy", "no_such_module": "none"})
    peer_worker.main([])
    assert json.loads(capsys.readouterr().out) == {"numpy": np.__version__}


@pytest.mark.parametrize("name", list(peers.PEERS))
def test_peers_learn(name, need_peer):
    need_peer(name)
    sets = drawn_sets(80)
    X = items_of(sets).toarray() + 0.3 * np.random.default_rng(0).random((80, len(LEAVES)))
    found = peers.run_peer(name, X, sets, X)
    assert metrics.hierarchical_f1(sets, found.predicted, Taxonomy.flat(LEAVES)) > 0.75
    y = LEAVES * 8
    X = items_of([[label] for label in y])
    found = peers.run_peer(name, X, y, X)
    assert found.predicted.tolist() == y
    assert 20 < found.start_mib <= found.peak_mib < 1000
