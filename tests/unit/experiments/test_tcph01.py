"""What TCPH01's experiments compute on their own: draws, label-set measures, groups, claims."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score, precision_recall_fscore_support

from taxonomist import HierarchicalMixture, Taxonomy
from taxonomist.experiments.claims.agreement import Alike, NoChance
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work import grouping, news
from taxonomist.experiments.work.grouping import compared, grouped, likelihood_groups
from taxonomist.experiments.work.label_set_trials import judged
from taxonomist.experiments.work.trials import SplitData
from taxonomist.experiments.work.word_models import SETS, SINGLE, fit_times, weighed
from tests.reference.count_models import make_items
from tests.reference.mixture import TREE


def test_draws_have_as_many_of_each_group_and_test_on_others():
    y = np.repeat(["a", "b", "c"], 20)
    train, test = news.drawn(y, 4, 30, seed=3)
    assert np.unique(y[train], return_counts=True)[1].tolist() == [4, 4, 4]
    assert len(test) == 30 == len(set(test))
    assert not set(train) & set(test)
    assert not np.array_equal(train, news.drawn(y, 4, 30, seed=4)[0])


def test_rare_words_are_counted_in_the_postings_that_are_not_tested():
    X = csr_array(np.array([[3, 1, 0, 9.0], [0, 1, 1, 9], [0, 1, 5, 9], [0, 0, 9, 9]]))
    tested = np.array([False, False, True, True])
    assert news.kept_words(X, ~tested).tolist() == [0, 3]
    assert news.kept_words(X, np.ones(4, dtype=bool)).tolist() == [0, 1, 2, 3]
    assert news.kept_words(X, ~tested, n_frequent=1).tolist() == [0]


def test_a_draw_has_its_training_postings_first_and_no_word_of_test_postings_alone(monkeypatch):
    y = np.repeat(["a", "b"], 10)
    X = csr_array(np.hstack([np.eye(20) * 5, np.ones((20, 1))]))
    monkeypatch.setattr(news, "_postings", lambda *_: (X, y, "tree"))
    data = news.newsgroups(2, draw=0, n_test=6)
    ((train, test),) = data.splits
    assert (len(train), len(test)) == (4, 6)
    assert sorted(data.y[train]) == ["a", "a", "b", "b"]
    # Every posting has a word of its own; those of test postings are gone.
    assert data.X.shape == (10, 15)
    assert (data.X[test].sum(axis=1) == 1).all()
    assert (data.X[train].sum(axis=1) == 6).all()
    everything = news.newsgroups(2, draw=0, n_test=6, counted="all")
    assert everything.X.shape == (10, 21)


def test_seconds_are_measured_in_turn():
    fitted = []

    class Timed:
        def __init__(self, name):
            self.name = name

        def fit(self, X, y):
            fitted.append((self.name, X.tolist(), list(y)))

    data = SplitData(np.arange(3), ["a", "b", "c"], None, [(np.array([2, 0]), np.array([1]))])
    models = {name: lambda _, name=name: Timed(name) for name in ("one", "two")}
    found = fit_times(lambda: data, models=models, repeats=2).values
    assert [name for name, *_ in fitted] == ["one", "two"] * 3
    assert fitted[0][1:] == ([2, 0], ["c", "a"])
    assert {name: len(seconds) for name, seconds in found.items()} == {"one": 2, "two": 2}


def test_given_weights_go_by_depth():
    tree = Taxonomy.from_paths(["p > a", "p > b", "q > c"])
    X, y = np.eye(3) + 1, ["a", "b", "c"]
    model = weighed(tree, HierarchicalMixture, (0.4, 0.3, 0.2, 0.1)).fit(X, y)
    weights = model.path_weights_.toarray()
    for row, leaf in zip(weights, model.classes_, strict=True):
        found = {tree.nodes[v]: row[v] for v in np.flatnonzero(row[:-1])}
        parent = tree.parents(leaf)[0]
        assert found == pytest.approx({tree.root: 0.3, parent: 0.2, leaf: 0.1})
        assert row[-1] == pytest.approx(0.4)


def test_models_as_in_the_paper_have_its_settings():
    X, y = make_items(most=2, n_items=40)
    for name in ("HM", "HS", "NB"):
        model = SETS[f"{name} as in the paper"](TREE).fit(X, y)
        assert model.background == "pooled"
        assert model.label_limits_.least == 0
        assert model.decision_.calibration is None
        assert model.damping is None
        assert model.length == 0
        if name != "NB":
            assert (model.path_weights, model.trust, model.discount) == ("class", 1, 0)
    for name in ("HM", "HS"):
        assert SINGLE[f"{name} as in the paper"](TREE).path_weights == "class"
        assert SINGLE[f"{name}, our defaults"](TREE).path_weights == "level"


def test_only_long_lines_without_a_blank_are_encoded():
    line = "M" + "9" * 45
    text = f"Subject\n{line}\n{line} said {line} \n  {line}\nend"
    assert news.without_encoded(text).split() == ["Subject", line, "said", line, "end"]


def random_sets(seed=0):
    rng = np.random.default_rng(seed)
    Y, U = (rng.random((2, 40, 6)) < 0.3).astype(float)
    U[:, 2] = 0
    Y[0, :] = U[0, :] = 0
    return Y, U


def test_label_set_measures_are_those_of_scikit_learn():
    Y, U = random_sets()
    found = judged(Y, U, np.array([3, 10, 11, 100, 101, 5.0]))
    for average, head in (("micro", "mi"), ("macro", "ma")):
        p, r, f, _ = precision_recall_fscore_support(Y, U, average=average, zero_division=0)
        if average == "macro":
            p *= 6 / 5  # over the categories that were predicted
        for name, value in zip(["P", "R", "F1"], (p, r, f), strict=True):
            assert found.values[head + name] == pytest.approx([value])
    assert found.values["acc"] == pytest.approx([np.mean(Y == U)])
    assert found.values["n_predicted"] == [5]


def test_values_of_items_or_categories_have_the_measure_as_mean():
    found = judged(*random_sets(1), np.array([3, 10, 11, 100, 101, 5.0]))
    for name, values in found.items.items():
        assert found.values[name] == pytest.approx([np.mean(values)])
    f1 = np.array(found.items["maF1"])
    assert found.items["f1_10"] == f1[[0, 1, 5]].tolist()
    assert found.items["f1_100"] == f1[[0, 1, 2, 3, 5]].tolist()


def test_nothing_predicted_is_no_error():
    found = judged(np.ones((3, 2)), np.zeros((3, 2)), np.array([500.0, 500.0]))
    assert [found.values[name][0] for name in ("miP", "miF1", "maP", "maF1", "f1_10")] == [0] * 5


def merged_by_trying(counts, n_groups):
    """Merge the pair whose merger leaves the largest likelihood, all computed afresh."""
    groups = [[point] for point in range(len(counts))]

    def likelihood(parts):
        sums = [counts[part].sum(axis=0) for part in parts]
        return sum(float(np.sum(n[n > 0] * np.log(n[n > 0] / n.sum()))) for n in sums)

    while len(groups) > n_groups:
        options = []
        for a in range(len(groups)):
            for b in range(a):
                rest = [g for i, g in enumerate(groups) if i not in (a, b)]
                options.append([*rest, groups[a] + groups[b]])
        groups = max(options, key=likelihood)
    return {frozenset(part) for part in groups}


@pytest.mark.parametrize("seed", range(6))
def test_groups_by_likelihood_are_those_of_trying_all_mergers(seed):
    counts = np.random.default_rng(seed).poisson(2.0, size=(9, 5)).astype(float) + 0.1
    for n_groups in (1, 2, 4, 9):
        found = likelihood_groups(counts, n_groups)
        parts = {frozenset(np.flatnonzero(found == g).tolist()) for g in np.unique(found)}
        assert parts == merged_by_trying(counts, n_groups)
        assert found.max() == n_groups - 1


def test_agreement_counts_members_and_has_the_p_value_of_shuffles(monkeypatch):
    monkeypatch.setattr(grouping, "N_PERMUTATIONS", 99)
    found, given = np.array([2, 2, 2, 0, 0, 1]), np.array([1, 1, 0, 0, 0, 0])
    values = compared(found, given, ["x", "y", "z"]).values
    assert values["rand"] == [adjusted_rand_score(given, found)]
    assert [values[f"size {n}"] for n in (1, 2, 3)] == [[3], [2], [1]]
    assert [values[f"{name} 1"] for name in "xyz"] == [[1], [2], [0]]
    rng = np.random.default_rng(grouping._SEED)
    drawn = [adjusted_rand_score(given, rng.permutation(found)) for _ in range(99)]
    expected = (1 + np.sum(np.array(drawn) >= values["rand"][0] - 1e-12)) / 100
    assert values["p_value"] == [pytest.approx(expected)]


@pytest.mark.parametrize("linkage", ["likelihood", "average"])
@pytest.mark.parametrize("tfidf", [False, True])
def test_categories_with_the_same_words_are_grouped(linkage, tfidf):
    taxonomy = Taxonomy.from_paths(["p > a", "p > b", "q > c", "q > d"])
    X = csr_array(
        np.array([[5, 1, 0, 0], [4, 2, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3], [9, 9, 9, 9.0]])
    )
    y = [["a"], ["b"], ["c"], ["d"], ["a"]]
    data = SplitData(X, y, taxonomy, [(np.arange(4), np.array([4]))])
    metric = "" if linkage == "likelihood" else "cosine"
    found = grouped(lambda: data, linkage=linkage, metric=metric, tfidf=tfidf).values
    assert found["rand"] == [1.0]
    assert found["p 1"] == found["q 2"] == [2] or found["q 1"] == found["p 2"] == [2]


def cells(**values):
    return {name: Result({"m": list(row)}) for name, row in values.items()}


def test_alike_is_decided_by_intervals():
    base = np.random.default_rng(0).normal(size=20)
    found = cells(a=base, near=base + 0.01, far=base + 1, loose=base + base[::-1] * 0.2)
    verdicts = {
        name: Alike("", (("a", name),), "m", 0.05).judge(found).verdict
        for name in ("near", "far", "loose")
    }
    assert verdicts == {"near": "yes", "far": "no", "loose": "within noise"}
    assert Alike("", (("far", "a"),), "m", 0.05).judge(found).verdict == "no"
    both = Alike("", (("a", "near"), ("a", "far")), "m", 0.05).judge(found)
    assert both.verdict == "no"
    assert "in 1 of 2 pairs" in both.because
    assert Alike("", (("a", "a"),), "m", 0.05).judge(cells(a=[1.0])).verdict == "within noise"


def test_no_chance_goes_by_the_p_value():
    found = {"a": Result({"rand": [0.4], "p_value": [0.01]})}
    found["b"] = Result({"rand": [0.1], "p_value": [0.2]})
    assert NoChance("", "a", "rand").judge(found).verdict == "yes"
    assert NoChance("", "b", "rand").judge(found).verdict == "within noise"
