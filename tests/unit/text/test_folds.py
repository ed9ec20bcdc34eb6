"""Folds of documents: even shares of categories, and more folds of few documents."""

from __future__ import annotations

import numpy as np
import pytest

from taxonomist.text.folds import document_folds, n_folds_of


@pytest.mark.parametrize("n_added", [0, 3])
def test_categories_are_dealt_out_evenly(n_added):
    labels = ["abcdefgh"[k] for k in np.random.default_rng(1).integers(8, size=90)]
    folds = document_folds(labels, 5, is_multilabel=False, n_added=n_added)
    held_out = np.concatenate([test for _, test in folds])
    assert sorted(held_out.tolist()) == list(range(len(labels)))
    for train, test in folds:
        everyone = np.sort(np.concatenate([train, test]))
        assert everyone.tolist() == list(range(len(labels) + n_added))
        for label in "abcdefgh":
            share = sum(labels[i] == label for i in test.tolist())
            assert abs(share - labels.count(label) / 5) < 1


def test_integers_and_label_sets_are_labels_too():
    of_integers = document_folds([7, 8] * 18, 3, is_multilabel=False)
    assert [np.bincount(test % 2).tolist() for _, test in of_integers] == [[6, 6]] * 3
    of_sets = document_folds([["a", "b"], [], ["a"]] * 4, 5, is_multilabel=True)
    assert sorted(len(test) for _, test in of_sets) == [2, 2, 2, 3, 3]


def test_there_are_no_more_folds_than_documents():
    assert document_folds(["a"], 3, is_multilabel=False, n_added=2) == []
    assert [test.tolist() for _, test in document_folds(list("ab"), 3, is_multilabel=False)] == [
        [0],
        [1],
    ]


def test_few_documents_have_more_folds():
    found = {n: n_folds_of(n, 3) for n in (2, 29, 30, 105, 300, 667, 1000, 10**6)}
    assert found == {2: 3, 29: 3, 30: 10, 105: 10, 300: 6, 667: 3, 1000: 3, 10**6: 3}
    assert n_folds_of(300, 8) == 8
