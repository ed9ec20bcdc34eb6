from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_array
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_score
from sklearn.naive_bayes import MultinomialNB

from taxonomist.errors import LabelError
from taxonomist.evaluation import GivenFolds, StratifiedFolds, sample_per_category

single_labels = st.lists(st.sampled_from("abcde"), min_size=4, max_size=40)
label_sets = st.lists(st.sets(st.sampled_from("abcdef"), max_size=4), min_size=4, max_size=40)
seeds = st.integers(0, 99)


def indicator(sets, names="abcdef"):
    return np.array([[name in row for name in names] for row in sets], dtype=int)


def counts_per_fold(y, folds, n_splits):
    """Count, for each label, its items in each fold."""
    counts = {}
    for labels, fold in zip(y, folds, strict=True):
        for label in labels:
            counts.setdefault(label, [0] * n_splits)[fold] += 1
    return counts


@given(single_labels, st.integers(2, 4), seeds, st.booleans())
def test_one_label_is_spread_as_evenly_as_can_be(y, n_splits, seed, shuffle):
    folds = StratifiedFolds(n_splits, shuffle=shuffle, random_state=seed).folds(y)
    sizes = np.bincount(folds, minlength=n_splits)
    assert sizes.max() - sizes.min() <= 1
    for counts in counts_per_fold(y, folds, n_splits).values():
        assert max(counts) - min(counts) <= 1


@given(label_sets, st.integers(2, 4), seeds)
def test_folds_of_label_sets_have_equal_sizes(y, n_splits, seed):
    folds = StratifiedFolds(n_splits, random_state=seed).folds(y)
    sizes = np.bincount(folds, minlength=n_splits)
    assert sizes.max() - sizes.min() <= 1


@given(label_sets, st.integers(2, 4), seeds)
def test_the_rarest_label_is_spread_as_evenly_as_can_be(y, n_splits, seed):
    totals = Counter(label for row in y for label in row)
    if not totals or min(totals.values()) > len(y) // n_splits:
        return
    folds = StratifiedFolds(n_splits, random_state=seed).folds(y)
    rarest = indicator(y, names=sorted(totals)).sum(axis=0).min()
    spreads = [
        max(counts) - min(counts)
        for label, counts in counts_per_fold(y, folds, n_splits).items()
        if totals[label] == rarest
    ]
    assert min(spreads) <= 1


def test_label_sets_are_spread_better_than_at_random():
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(2, 42)
    Y = rng.random((600, 40)) < frequency
    wanted = Y.sum(axis=0) / 5

    def unevenness(folds):
        return np.mean([np.abs(Y[folds == f].sum(axis=0) - wanted).mean() for f in range(5)])

    stratified = unevenness(StratifiedFolds(5, random_state=0).folds(Y))
    random = np.mean([unevenness(rng.permutation(600) % 5) for _ in range(10)])
    assert stratified < 0.8
    assert stratified < 0.4 * random


@given(label_sets, st.integers(2, 4), seeds)
def test_split_yields_a_partition(y, n_splits, seed):
    pairs = list(StratifiedFolds(n_splits, random_state=seed).split(y, y))
    assert len(pairs) == n_splits
    assert sorted(np.concatenate([test for _, test in pairs])) == list(range(len(y)))
    for train, test in pairs:
        assert sorted([*train, *test]) == list(range(len(y)))


@given(label_sets, seeds)
def test_label_sets_in_any_form_and_order_give_the_same_folds(y, seed):
    splitter = StratifiedFolds(2, random_state=seed)
    expected = splitter.folds([sorted(row) for row in y])
    assert (splitter.folds([sorted(row, reverse=True) * 2 for row in y]) == expected).all()
    dense = splitter.folds(indicator(y))
    for form in (csr_array(indicator(y)), csc_matrix(indicator(y)), indicator(y).astype(bool)):
        assert (splitter.folds(form) == dense).all()


def test_a_matrix_may_hold_zeros_and_repeats_and_is_left_as_it_is():
    # Stored twice, the rarer label 1 looks like the more frequent one.
    columns, ends = [0, 0, 0, 1, 1, 1, 1, 0], [0, 1, 2, 3, 5, 7, 8]
    stored = csr_array((np.array([True] * 7 + [False]), columns, ends), shape=(6, 2))
    before = stored.copy()
    for seed in range(5):
        folds = StratifiedFolds(2, random_state=seed).folds
        assert folds(stored).tolist() == folds(stored.toarray()).tolist()
    for part in ("data", "indices", "indptr"):
        assert getattr(stored, part).tolist() == getattr(before, part).tolist()


def test_a_data_frame_is_an_indicator():
    Y = indicator([{"a"}, {"b"}, {"a", "c"}, set()])
    splitter = StratifiedFolds(2, random_state=0)
    for frame in (pd.DataFrame(Y), pl.DataFrame(Y)):
        assert (splitter.folds(frame) == splitter.folds(Y)).all()


def test_a_padded_table_of_ids_is_label_sets():
    table = np.array([["a", "b"], ["a", ""], ["b", ""], ["b", "a"]], dtype=object)
    sets = [["a", "b"], ["a"], ["b"], ["b", "a"]]
    splitter = StratifiedFolds(2, random_state=0)
    assert (splitter.folds(table) == splitter.folds(sets)).all()


def test_seed_decides_the_folds():
    y = list("aabbbccccd") * 5
    one, same, other = (StratifiedFolds(3, random_state=s).folds(y) for s in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_the_folds_of_single_items_are_drawn_too():
    drawn = {tuple(StratifiedFolds(2, random_state=seed).folds(list("abcd"))) for seed in range(20)}
    assert len(drawn) > 1


def test_of_equally_needy_folds_the_emptier_takes_the_item():
    folds = StratifiedFolds(2, shuffle=False).folds([["x"], ["y"], ["z"], ["z"]])
    assert folds[0] != folds[1]
    assert folds[2] != folds[3]


def test_without_shuffling_the_order_decides():
    folds = StratifiedFolds(2, shuffle=False).folds(["a", "b", "a", "b", "a", "b"])
    assert folds.tolist() == [0, 1, 1, 0, 0, 1]


def test_categories_of_one_item_are_legal():
    y = ["only", *["a"] * 5]
    tested = [np.array(y)[test] for _, test in StratifiedFolds(3, random_state=0).split(y, y)]
    assert sum("only" in fold for fold in tested) == 1


def test_scikit_learn_accepts_the_splitters():
    X, y = np.abs(np.random.default_rng(0).normal(size=(12, 3))), np.array(list("aaabbbcccabc"))
    folds = StratifiedFolds(3, random_state=0)
    by_number = cross_val_score(MultinomialNB(), X, y, cv=GivenFolds(folds.folds(y)))
    assert (cross_val_score(MultinomialNB(), X, y, cv=folds) == by_number).all()
    search = GridSearchCV(MultinomialNB(), {"alpha": [0.1, 1.0]}, cv=folds).fit(X, y)
    assert search.n_splits_ == folds.get_n_splits() == 3


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"], "Cannot make 3 folds of 2 items"),
        ([], "of 0 items"),
        (["a", None, "b"], "no label at position 1"),
        (np.array([1.0, 2.0, np.nan]), "no label at position 2"),
        (pd.Series(["a", "b", pd.NA]), "no label at position 2"),
    ],
)
def test_folds_refuse_labels_that_cannot_be_split(y, message):
    with pytest.raises(LabelError, match=message):
        StratifiedFolds(3).folds(y)


def test_split_refuses_what_it_cannot_do():
    for n_splits in (1, 2.5):
        with pytest.raises(ValueError, match="n_splits must be a whole number, at least 2"):
            StratifiedFolds(n_splits)
    with pytest.raises(LabelError, match="X has 3 items, but y has 2"):
        StratifiedFolds(2).split([1, 2, 3], ["a", "b"])
    with pytest.raises(LabelError, match="needs labels"):
        StratifiedFolds(2).split([1, 2, 3])
    with pytest.raises(ValueError, match="groups"):
        StratifiedFolds(2).split([1, 2], ["a", "b"], [1, 1])


@given(st.lists(st.integers(-1, 3), min_size=2, max_size=12))
def test_given_folds_are_those_of_scikit_learn(folds):
    if max(folds) < 0 or len(set(folds)) == 1:
        with pytest.raises(ValueError, match="All items are in fold"):
            GivenFolds(folds)
        return
    ours, theirs = GivenFolds(folds), PredefinedSplit(folds)
    assert ours.get_n_splits() == theirs.get_n_splits()
    for (train, test), (other_train, other_test) in zip(
        ours.split(folds), theirs.split(), strict=True
    ):
        assert (train == other_train).all()
        assert (test == other_test).all()


@pytest.mark.parametrize("folds", [[], [0.5, 1.0], [[0], [1]], [-2, 0], ["a", "b"]])
def test_given_folds_must_be_numbers(folds):
    with pytest.raises(ValueError, match="folds must be a sequence of integers"):
        GivenFolds(folds)


def test_given_folds_must_fit_the_items():
    assert repr(GivenFolds([-1, 0, 1])) == "GivenFolds(2 folds of 3 items)"
    with pytest.raises(LabelError, match="X has 2 items, but folds has 3"):
        GivenFolds([-1, 0, 1]).split(["x", "y"])


@given(single_labels, st.integers(1, 6), seeds)
def test_sample_has_exactly_k_items_per_category_where_there_are(y, k, seed):
    sample = sample_per_category(y, k, seed)
    assert sample.tolist() == sorted(set(sample.tolist()))
    drawn = Counter(y[i] for i in sample)
    assert drawn == {label: min(k, count) for label, count in Counter(y).items()}


@given(label_sets, st.integers(1, 4), seeds)
def test_sample_of_label_sets_has_at_least_k_items_per_label(y, k, seed):
    sample = sample_per_category(y, k, seed)
    drawn = Counter(label for i in sample for label in y[i])
    for label, count in Counter(label for row in y for label in row).items():
        assert drawn[label] >= min(k, count)
    assert len(sample) <= k * len(drawn)
    assert all(y[i] for i in sample)


def test_samples_are_drawn_by_seed():
    y = list("ab") * 50
    assert sample_per_category(y, 3, 1).tolist() == sample_per_category(y, 3, 1).tolist()
    assert sample_per_category(y, 3, 1).tolist() != sample_per_category(y, 3, 2).tolist()


def test_sample_refuses_nonsense():
    for k in (0, 1.5):
        with pytest.raises(ValueError, match="k must be a whole number, at least 1"):
            sample_per_category(["a"], k)
    with pytest.raises(LabelError, match="y is empty"):
        sample_per_category([], 1)
