import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from taxonomist import Taxonomy, metrics
from taxonomist.experiments import beyond
from taxonomist.experiments.beyond import CORPORA, PATHS, PEER_MODULES, left_out, paper
from taxonomist.experiments.claims.gains import Trend, draw_gains, relative_gain
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work import contestants, contests, corpora, peers
from taxonomist.experiments.work.contestants import best_threshold
from taxonomist.experiments.work.set_measures import measured, pseudo_values
from taxonomist.experiments.work.trials import SplitData

TREE = Taxonomy.from_edges(
    [("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"), ("b2", "b21"), ("b2", "b22")]
)
LEAVES = ["a1", "a2", "b1", "b21", "b22"]
DAG = Taxonomy.from_edges([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z")])


def drawn_sets(nodes, n_items, seed):
    rng = np.random.default_rng(seed)
    return [list(rng.choice(nodes, rng.integers(1, 4), replace=False)) for _ in range(n_items)]


def test_measures_of_single_labels_are_those_of_the_library():
    rng = np.random.default_rng(0)
    truth, predicted = (rng.choice(LEAVES, 60) for _ in range(2))
    found = measured(truth, predicted, TREE).values
    assert found["taxonomy_loss"] == [pytest.approx(metrics.taxonomy_loss(truth, predicted, TREE))]
    assert found["hierarchical_f1"] == [
        pytest.approx(metrics.hierarchical_f1(truth, predicted, TREE))
    ]
    assert found["exact"] == [pytest.approx(metrics.accuracy(truth, predicted))]
    macro = metrics.precision_recall_f1(
        truth, predicted, TREE, nodes=sorted(set(truth)), average="macro"
    )
    assert found["macro_f1"] == [pytest.approx(macro.f1)]


@pytest.mark.parametrize("taxonomy", [TREE, DAG], ids=["tree", "dag"])
def test_measures_of_label_sets_are_those_of_the_library(taxonomy):
    truth, predicted = (drawn_sets(taxonomy.nodes[1:], 50, seed) for seed in (1, 2))
    predicted[0] = []
    found = measured(truth, predicted, taxonomy)
    expected = {
        "taxonomy_loss": metrics.symmetric_difference_loss(truth, predicted, taxonomy),
        "hierarchical_f1": metrics.hierarchical_f1(truth, predicted, taxonomy),
        "exact": 1 - metrics.zero_one_loss(truth, predicted, taxonomy),
    }
    for name, value in expected.items():
        assert found.values[name] == [pytest.approx(value)]
        assert np.mean(found.items[name]) == pytest.approx(value)


def test_macro_f1_is_over_the_categories_of_the_truth():
    truth, predicted = [["a1"], ["a1"], ["b1"]], [["a1"], ["a2"], ["a1", "b21"]]
    # a1: 2 · 1 / (2 + 2); b1: 0. Predicted categories that no item has are left out.
    assert measured(truth, predicted, TREE).items["macro_f1"] == [0.5, 0.0]


def test_pseudo_values_have_the_ratio_as_mean():
    part, whole = np.array([1.0, 0, 2, 3]), np.array([2.0, 1, 4, 3])
    # 0.6 + (part - 0.6 whole) / 2.5
    assert pseudo_values(part, whole) == pytest.approx([0.52, 0.36, 0.44, 1.08])
    assert pseudo_values(np.zeros(3), np.zeros(3)).tolist() == [0, 0, 0]


def test_best_threshold_is_that_of_a_search():
    rng = np.random.default_rng(3)
    scores, right = rng.random(40).tolist(), (rng.random(40) < 0.4).tolist()
    n_true = sum(right) + 5

    def f1(threshold):
        taken = np.array(scores) >= threshold
        return 2 * np.array(right)[taken].sum() / (taken.sum() + n_true)

    assert best_threshold(scores, right, n_true) == max(scores, key=f1)


# Gains -----------------------------------------------------------------------------------------


def results_of(gains, at):
    """Return cells in which the first of each pair saves so much of a loss of 2."""
    rng = np.random.default_rng(0)
    results = {}
    for number, (gain, x) in enumerate(zip(gains, at, strict=True)):
        noise = rng.normal(size=50)
        flat = 2 + noise - noise.mean()
        results[f"{number}/new"] = Result({"x": [x]}, {"loss": (flat - 2 * gain).tolist()})
        results[f"{number}/old"] = Result({"x": [x]}, {"loss": flat.tolist()})
    return results, tuple((f"{n}/new", f"{n}/old") for n in range(len(gains)))


def test_relative_gain():
    results, (pair,) = results_of([0.25], [1])
    assert relative_gain(results, pair, "loss") == pytest.approx((0.25, 0.25, 0.25))


@pytest.mark.parametrize("grows", [True, False])
def test_trend_is_the_rank_correlation(grows):
    gains, at = [0.3, 0.2, 0.25, 0.1, 0.05, -0.1, -0.2], [1, 2, 3, 4, 5, 6, 7]
    results, pairs = results_of(gains, at)
    claim = Trend("", (pairs,), "loss", "x", grows)
    judgement = claim.judge(results)
    assert judgement.verdict == ("no" if grows else "yes")
    assert f"{spearmanr(gains, at).statistic:.2f} over 7" in judgement.because
    assert set(claim.cells) == set(results)


def test_trend_compares_only_within_groups():
    # Over all pairs the gain grows; in either group it shrinks.
    results, pairs = results_of([0.2, 0.15, 0.1, 0.6, 0.55, 0.5], [1, 2, 3, 11, 12, 13])
    together = Trend("", (pairs,), "loss", "x", True).judge(results)
    apart = Trend("", (pairs[:3], pairs[3:]), "loss", "x", True).judge(results)
    assert together.because.startswith("rank correlation 0.54")
    assert apart.because.startswith("rank correlation -1.00 over 6 pairs, p = 0.05")


def test_trend_of_equal_values_is_within_noise():
    results, pairs = results_of([0.2, 0.1, 0.3], [2, 2, 2])
    assert Trend("", (pairs,), "loss", "x", True).judge(results).verdict == "within noise"


def test_gains_are_drawn_with_names_or_lines():
    results, pairs = results_of([0.2, 0.1, 0.3], [1, 2, 3])
    groups = {"one": [pairs[0]], "line": list(pairs[1:])}
    figure = draw_gains(results, groups=groups, loss="loss", over={"x": "x"})
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["one"]
    assert [line.get_ydata().tolist() for line in axes.lines if line.get_marker() == "o"] == [
        pytest.approx([20]),
        pytest.approx([10, 30]),
    ]


# Contests --------------------------------------------------------------------------------------


def items_of(labels, seed=0):
    """Return features that tell the leaves apart, with noise."""
    rng = np.random.default_rng(seed)
    place = {label: number for number, label in enumerate(LEAVES)}
    X = 0.1 * rng.random((len(labels), 6))
    for row, given in zip(X, labels, strict=True):
        row[[place[label] for label in given]] += 1
    return X


def single():
    y = np.array(LEAVES * 8, dtype=object)
    X = csr_array(items_of([[label] for label in y]))
    return SplitData(X, y, TREE, [(np.arange(25), np.arange(25, 40))])


def sets():
    y = drawn_sets(LEAVES, 60, 0)
    return SplitData(csr_array(items_of(y)), y, TREE, [(np.arange(40), np.arange(40, 60))])


PEERS = tuple(f"/{name}" for name in (*PEER_MODULES, *peers.PEERS))


def always_there(names):
    return [name for name in names if name not in PEER_MODULES]


@pytest.mark.parametrize("name", always_there(contestants.SINGLE))
def test_contestants_learn_single_labels(name):
    found = contests.fitted(single, single, contestant=name)
    assert found.values["exact"] == [1.0, 1.0]
    assert len(found.items["exact"]) == 30


@pytest.mark.parametrize("name", always_there(contestants.SETS))
def test_contestants_learn_label_sets(name):
    assert contests.fitted(sets, contestant=name).values["hierarchical_f1"][0] > 0.75


def test_hiclass_learns_labels_of_all_depths():
    pytest.importorskip("hiclass")
    data = single()
    y = np.where(data.y == "b1", "b2", data.y).astype(object)
    model = contestants.PerParentNode(TREE).fit(data.X, y)
    assert model.predict(data.X).tolist() == y.tolist()


def test_omikuji_learns_label_sets():
    pytest.importorskip("omikuji")
    data = sets()
    X, y = data.X.tolil(), data.y
    X[0] = 0
    predicted = contestants.Omikuji(TREE).fit(X.tocsr(), y).predict(X.tocsr())
    assert metrics.hierarchical_f1(y[1:], predicted[1:], TREE) > 0.75


def test_contest_runs_in_a_process_of_its_own():
    found = contests.contest(single, contestant="one-vs-rest", repeats=2)
    assert found.values["exact"] == [1.0]
    assert len(found.values["fit_seconds"]) == len(found.values["predict_seconds"]) == 2
    assert 20 < found.values["peak_mib"][0] < 2000
    assert found.values["n_items"] == [25.0]
    assert found.values["n_categories"] == [5.0]
    assert found.values["per_category"] == [5.0]
    assert found.values["depth"] == [pytest.approx((2 + 2 + 2 + 3 + 3) / 5)]


def test_sizes_count_training_items_only():
    y = [["b1"], ["a1"], ["a1", "b21"]]
    few = SplitData(csr_array(items_of(y)), y, TREE, [(np.array([1, 2]), np.array([0]))])
    assert contests.sizes(few) == {
        "n_items": [2.0],
        "n_categories": [2.0],
        "per_category": [1.0],
        "depth": [pytest.approx(7 / 3)],
    }


# Corpora ---------------------------------------------------------------------------------------


def test_corpora_are_cut_to_sizes():
    data = corpora.divided(
        "arxiv-sample", is_single=True, n_train=300, n_test=100, labels="primary"
    )
    ((train, test),) = data.splits
    assert data.X.shape[0] == len(data.y) == 400
    assert train.tolist() + test.tolist() == list(range(400))
    assert len(train) == 300
    # Words that only test items have are no features.
    assert data.X[train].sum(axis=0).min() > 0
    assert set(data.taxonomy.leaves) <= set(data.y)


def test_corpora_with_few_items_per_category():
    data = corpora.divided(
        "arxiv-sample", is_single=True, n_train=2000, n_test=50, per_category=2, labels="primary"
    )
    train = data.splits[0][0]
    counts = np.unique(data.y[train].astype(str), return_counts=True)[1]
    assert counts.max() == 2
    assert len(data.splits[0][1]) == 50


def test_label_sets_are_kept():
    data = corpora.divided("arxiv-sample", is_single=False, n_train=200, n_test=50, labels="all")
    assert max(map(len, data.y)) > 1


@pytest.fixture
def all_peers(monkeypatch):
    """Declare experiments as if every other package were installed."""
    monkeypatch.setattr("taxonomist.experiments.beyond.find_spec", lambda name: name)
    monkeypatch.setattr(peers, "installed", lambda: dict.fromkeys(peers.PEERS, "1"))


def test_a_peer_of_another_environment_competes(monkeypatch):
    def answer(name, X, y, X_test, *, repeats, enough_s):
        assert (name, X.shape[0], len(y), repeats) == ("PECOS", 25, 25, 2)
        seconds = {
            "fit_cpu": [2.0, 3.0],
            "predict_cpu": [0.5, 0.5],
            "fit_wall": [],
            "predict_wall": [],
        }
        return peers.PeerRun(single().y[25:], seconds, 100.0, 50.0)

    monkeypatch.setattr(contests, "run_peer", answer)
    found = contests.contest(single, contestant="PECOS", repeats=2).values
    assert found["exact"] == [1.0]
    assert found["fit_seconds"] == [2.0, 3.0]
    assert found["predict_seconds"] == [0.5, 0.5]
    assert found["peak_mib"] == [100.0]


def test_everyone_competes_with_one_label_and_with_label_sets(all_peers):
    assert beyond.contestants("20newsgroups") == [
        *("HierarchicalSVC", "flat twin", "one-vs-rest", "HiClass", "PathSVC", "PECOS", "napkinXC")
    ]
    assert beyond.contestants("arxiv-acm") == [
        *("HierarchicalRankingSVC", "MaxMarginMarkovClassifier", "one-vs-rest sets", "Omikuji"),
        *("PathSVC", "PECOS", "napkinXC"),
    ]
    # HiClass needs a tree.
    assert "HiClass" not in beyond.contestants("arxiv, primary")
    assert list(left_out()) == []


def test_what_is_left_out_is_told(monkeypatch):
    monkeypatch.setattr("taxonomist.experiments.beyond.find_spec", lambda name: None)
    monkeypatch.setattr(peers, "installed", dict)
    notes = paper(is_quick=True).notes
    assert [note.partition(" ")[0] for note in notes] == ["HiClass", "Omikuji", "PECOS", "napkinXC"]
    assert all("is not installed and takes no part: " in note for note in notes)
    table = paper(is_quick=True).tables[0]
    assert all(note in table.corpus for note in notes)


def test_a_change_of_path_svc_runs_only_its_own_cells_again(monkeypatch, all_peers):
    before = {cell.name: cell.key for cell in paper(is_quick=False).cells}
    monkeypatch.setattr("taxonomist.experiments.beyond.digest_of_imports", lambda name: "changed")
    after = {cell.name: cell.key for cell in paper(is_quick=False).cells}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {f"{name}/{PATHS}" for name in CORPORA}


def test_path_svc_is_compared_with_each_contestant_and_the_best(all_peers):
    table = paper(is_quick=False).tables[2]
    rows = list(dict.fromkeys(entry.row for entry in table.entries))
    assert len([row for row in rows if row.endswith(": best other")]) == len(CORPORA) == 21
    assert rows[:3] == [
        *("20newsgroups: best other", "20newsgroups: HierarchicalSVC", "20newsgroups: flat twin")
    ]
    (best, _) = (entry for entry in table.entries if entry.row == "enron-ucb: best other")
    assert best.cell == "enron-ucb/PathSVC"
    assert len(best.versus) == 6
    assert [len(claim.rows) for claim in table.claims] == [21, 21, 21]


def test_declarations_leave_out_what_is_not_installed(monkeypatch):
    every = paper(is_quick=False)
    monkeypatch.setattr("taxonomist.experiments.beyond.find_spec", lambda name: None)
    monkeypatch.setattr(peers, "installed", dict)
    without = paper(is_quick=False)
    names = {cell.name for cell in every.cells}
    assert {cell.name for cell in without.cells} == {
        name for name in names if not name.endswith(PEERS)
    }
    assert len(CORPORA) >= 12
    assert {cell.corpus for cell in without.cells} == {data.corpus for data in CORPORA.values()}
