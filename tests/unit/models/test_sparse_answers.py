"""The most probable categories as sparse rows, beside the dense answer."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import LidstoneNB, PathSVC, Taxonomy, TextClassifier
from taxonomist.errors import ParameterError
from taxonomist.inference.scorers import best_columns, top_entries
from taxonomist.models import probable_questions
from taxonomist.models.calibrated import CalibratedClassifier
from taxonomist.text import answers

TREE = Taxonomy.from_paths(["a > b > c", "a > b > d", "a > e", "f > g", "f > h"])
DAG = Taxonomy.from_edges([("a", "c"), ("b", "c"), ("a", "d"), ("b", "e"), ("c", "f"), ("c", "g")])
SINGLE = [list("cdeghb")[k % 6] for k in range(36)]
SETS = [[list("defg")[k % 4], list("defg")[(k // 4) % 4]] for k in range(36)]


def items(n, seed=0):
    """Return random counts of words."""
    return csr_array(np.random.default_rng(seed).poisson(0.6, (n, 12)).astype(float))


def naive_best(row, k):
    """Return the columns of the k largest entries; ties go to the first."""
    return sorted(sorted(range(len(row)), key=lambda c: (-row[c], c))[:k])


MODELS = {
    "paths": (PathSVC(TREE, random_state=0), SINGLE),
    "path sets": (PathSVC(DAG, random_state=0), SETS),
    "calibrated": (CalibratedClassifier(LidstoneNB(TREE), cv=2), SINGLE),
    "calibrated sets": (CalibratedClassifier(LidstoneNB(DAG), cv=2), SETS),
    "words": (LidstoneNB(TREE), SINGLE),
}


@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_are_those_of_the_dense_answer(name, monkeypatch):
    model, y = MODELS[name]
    model.fit(items(36), y)
    X, dense = items(9, seed=1), model.predict_proba(items(9, seed=1))
    monkeypatch.setattr(probable_questions, "NODES_AT_A_TIME", 4 * model.taxonomy_.n_nodes)
    for k in (1, 3, dense.shape[1]):
        found = model.predict_proba(X, top=k)
        assert found.shape == dense.shape
        for row, whole in enumerate(dense):
            here = slice(*found.indptr[row : row + 2])
            assert found.indices[here].tolist() == naive_best(whole, k)
            assert np.array_equal(found.data[here], whole[found.indices[here]])
    for k in (0, dense.shape[1] + 1):
        with pytest.raises(ParameterError, match="k must be from 1 to"):
            model.predict_proba(X, top=k)


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"words"}))
def test_nodes_above_the_best_categories_come_with_them(name, monkeypatch):
    model, y = MODELS[name]
    model.fit(items(36), y)
    X, taxonomy = items(9, seed=1), model.taxonomy_
    dense, best = model.predict_node_proba(X), model.predict_proba(X, top=2)
    monkeypatch.setattr(probable_questions, "NODES_AT_A_TIME", 4 * taxonomy.n_nodes)
    found = model.predict_node_proba(X, top=2)
    for row in range(9):
        columns = best[[row]].indices
        nodes = {node for label in model.classes_[columns] for node in taxonomy.ancestors(label)}
        codes = sorted({*taxonomy.codes(nodes).tolist(), *model.targets_.nodes[columns].tolist()})
        here = slice(*found.indptr[row : row + 2])
        assert found.indices[here].tolist() == codes
        assert np.array_equal(found.data[here], dense[row, codes])


def test_ties_go_to_the_first_column():
    scores = np.random.default_rng(0).integers(4, size=(40, 9)).astype(float)
    scores[0, :5] = -np.inf
    for k in range(1, 10):
        found, (best, values) = top_entries(scores, k), best_columns(scores, k)
        expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        assert np.array_equal(found.indices.reshape(-1, k), np.sort(expected, axis=1))
        assert np.array_equal(best, expected)
        assert np.array_equal(values, np.take_along_axis(scores, expected, axis=1))


def test_texts_without_known_words_have_the_shares_of_categories(monkeypatch):
    labels = [["c", "c", "e", "g"][k % 4] for k in range(24)]
    texts = [f"{label}word filler" for label in labels]
    model = TextClassifier(TREE, features="words", names="off", vectors="off").fit(texts, labels)
    new = ["cword", "unheard", "gword filler", "", "eword"]
    dense, nodes = model.predict_proba(new), model.predict_node_proba(new)
    monkeypatch.setattr(answers, "NODES_AT_A_TIME", 2 * TREE.n_nodes)
    found, above = model.predict_proba(new, top=2), model.predict_node_proba(new, top=1)
    assert [row.tolist() for row in found.indices.reshape(5, 2)] == [
        naive_best(row, 2) for row in dense
    ]
    assert np.array_equal(found.toarray()[found.toarray() > 0], dense[found.toarray() > 0])
    assert np.array_equal(above.toarray()[above.toarray() > 0], nodes[above.toarray() > 0])


def test_a_sparse_answer_needs_no_dense_array(monkeypatch):
    monkeypatch.setattr(probable_questions, "NODES_AT_A_TIME", 2**15)
    leaves = [f"{k // 30}.{k}" for k in range(600)]
    tree = Taxonomy.from_paths([f"{leaf.split('.')[0]} > {leaf}" for leaf in leaves], ids="name")
    X = csr_array(np.eye(600) + np.eye(600, k=1))
    model = PathSVC(tree, negatives="siblings", cv=2, random_state=0).fit(X, leaves)
    many = csr_array((np.ones(1200), np.arange(1200) % 600, np.arange(1201)), shape=(1200, 600))
    model.predict_node_proba(many[:1])

    def peak(ask):
        tracemalloc.start()
        ask()
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    dense = many.shape[0] * len(leaves) * 8
    assert peak(lambda: model.predict_proba(many)) > dense
    assert peak(lambda: model.predict_proba(many, top=3)) < dense / 4
    assert peak(lambda: model.predict_node_proba(many, top=3)) < dense / 4
