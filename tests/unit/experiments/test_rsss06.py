"""What the experiments of RSSS06 compute: measures of microlabels, claims, and runs of H-M3."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from taxonomist import MaxMarginMarkovClassifier, NodeSVC, Taxonomy, TopDownSVC, metrics
from taxonomist.experiments.claims import Better
from taxonomist.experiments.claims.comparisons import Below, Even, Falls, InnerRatio, NotSeen
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.climbing import AS_IN_PAPER, RAW, climbs, losses_over_time
from taxonomist.experiments.work.microlabels import (
    labelling_trial,
    microlabel_values,
    node_trial,
)
from taxonomist.experiments.work.models import of_label_sets, with_counts_weighted
from taxonomist.experiments.work.proteins import top_level_trial
from taxonomist.experiments.work.term_counts import recovered_counts
from taxonomist.experiments.work.trials import SplitData

PATHS = [
    "animal > cat > lynx",
    "animal > cat > tiger",
    "animal > dog",
    "plant > oak",
    "plant > elm",
]
TREE = Taxonomy.from_paths(PATHS)
ROOTED = TREE.subtree("animal")
TRUE = [["lynx"], ["dog", "tiger"], ["cat"], ["dog"], []]
PREDICTED = [["lynx", "dog"], ["tiger"], [], ["cat"], ["dog"]]


def test_values_of_microlabels_are_those_of_metrics_where_the_root_is_a_label() -> None:
    found = {k: v.mean() for k, v in microlabel_values(TRUE, PREDICTED, ROOTED).items()}
    pair = TRUE, PREDICTED, ROOTED
    assert found["zero_one"] == metrics.zero_one_loss(*pair)
    assert found["delta"] == metrics.symmetric_difference_loss(*pair)
    for scaling in ("uniform", "sibling", "subtree"):
        expected = metrics.hierarchical_loss(*pair, scaling=scaling, charge="parent")
        assert found[scaling] == pytest.approx(expected)
    for level, prf in metrics.precision_recall_f1_per_level(*pair).items():
        for name in ("precision", "recall", "f1"):
            assert found[f"{name}_{level}"] == pytest.approx(getattr(prf, name))
    everywhere = metrics.precision_recall_f1(*pair, nodes=ROOTED.nodes)
    assert found["precision"] == pytest.approx(everywhere.precision)
    assert found["recall"] == pytest.approx(everywhere.recall)
    assert found["f1"] == pytest.approx(everywhere.f1)


def test_a_root_that_joins_is_a_microlabel_of_all_items() -> None:
    found = microlabel_values([["oak"], ["lynx"]], [[], ["cat"]], TREE)
    assert found["zero_one"].tolist() == [1, 1]
    assert found["delta"].tolist() == [2, 1]
    assert found["uniform"].tolist() == [1, 1]  # oak is excused by plant
    assert found["recall_0"].mean() == found["precision_0"].mean() == 1
    assert found["recall"].mean() == pytest.approx((1 + 3) / (3 + 4))


def counted() -> SplitData:
    rng = np.random.default_rng(0)
    labels = [[TREE.nodes[code]] for code in rng.choice(np.flatnonzero(TREE.is_leaf), 60)]
    X = np.array([[float(node in TREE.ancestors(row[0])) for node in TREE.nodes] for row in labels])
    X = 2 * X + rng.poisson(0.5, X.shape)
    return SplitData(X, labels, TREE, [(np.arange(40), np.arange(40, 60))])


def few_counted() -> SplitData:
    data = counted()
    return SplitData(data.X / 5, data.y, TREE, [(np.arange(4), np.arange(4, 8))])


@pytest.mark.parametrize("is_weighted", [False, True])
def test_partial_paths_are_measured_in_full_also_in_pipelines(is_weighted: bool) -> None:
    model = partial(of_label_sets, kind=MaxMarginMarkovClassifier, C=1e-3, **RAW)
    if is_weighted:
        model = partial(with_counts_weighted, model=model)
    result = labelling_trial(counted, model=model)
    data = counted()
    fitted, X = model(TREE).fit(data.X[:40], data.y[:40]), data.X[40:]
    if is_weighted:
        X, fitted = fitted[0].transform(X), fitted[-1]
    sets = fitted.predict_labels(X)
    assert any(row and not TREE.is_leaf[TREE.code(row[-1])] for row in sets)
    expected = metrics.symmetric_difference_loss(data.y[40:], sets, TREE)
    assert result.values["delta"] == [pytest.approx(expected)]
    assert len(result.items["f1_3"]) == 20


@pytest.mark.parametrize("kind", [NodeSVC, TopDownSVC])
def test_labels_without_post_processing_are_those_of_the_classifiers(kind) -> None:
    model = partial(of_label_sets, kind=kind, **AS_IN_PAPER)
    found = node_trial(counted, model=partial(with_counts_weighted, model=model))
    usual = labelling_trial(counted, model=partial(with_counts_weighted, model=model))
    for name in ("zero_one", "delta", "f1", "recall_2"):
        assert found.values[name] == usual.values[name]
        assert found.items[name] == usual.items[name]
    data = counted()
    pipeline = partial(with_counts_weighted, model=model)(TREE).fit(data.X[:40], data.y[:40])
    X, fitted = pipeline[0].transform(data.X[40:]), pipeline[-1]
    wrong = 0.0
    for node in TREE.nodes[1:]:
        truth = [node == row[0] or node in TREE.ancestors(row[0]) for row in data.y[40:]]
        constant = fitted.node_constants_.get(node)
        said = np.full(20, constant) if constant is not None else None
        if said is None:
            said = fitted.node_estimators_[node].decision_function(X) > 0
        wrong += np.sum(said != np.array(truth))
    assert found.values["raw_delta"] == [pytest.approx(wrong / 20)]
    assert found.values["raw_zero_one"][0] >= found.values["zero_one"][0]


def test_counts_are_recovered_from_weights() -> None:
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(20, 420)
    counts = rng.poisson(1.5 * chances * rng.uniform(5, 30, size=(500, 1)))
    idf = np.log(23_149 / rng.uniform(5, 5000, size=400))
    weights = np.where(counts > 0, (1 + np.log(np.maximum(counts, 1))) * idf, 0.0)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    found = recovered_counts(csr_array(weights.astype(np.float32))).toarray()
    frequent = (counts > 0).sum(axis=0) >= 20
    assert np.mean(found[:, frequent] == counts[:, frequent]) > 0.99
    assert ((found > 0) == (counts > 0)).all()


def test_top_levels_of_items_unlike_those_of_training() -> None:
    data = counted()
    X = csr_array(normalize(data.X))
    split = SplitData(X, data.y, TREE, data.splits)
    everything = top_level_trial(lambda: split).values
    assert everything["n_test"] == [20]
    assert everything["recall_1"][0] > 0.9
    similar = (X[40:] @ X[:40].T).toarray().max(axis=1)
    limit = float(np.median(similar))
    few = top_level_trial(lambda: split, limit=limit).values
    assert few["n_test"] == [(similar < limit).sum()]
    svm = NodeSVC(TREE, loss="hinge", bias="free").fit(X[:40], data.y[:40])
    found = svm.predict_labels(X[40:])
    truth = [{row[0], *TREE.ancestors(row[0])} & {"animal", "plant"} for row in data.y[40:]]
    right = [len(set(a) & b) for a, b in zip(found, truth, strict=True)]
    assert everything["recall_1"] == [pytest.approx(sum(right) / 20)]


def test_claims() -> None:
    rng = np.random.default_rng(0)
    low, high = rng.normal(0, 1, 200), rng.normal(1, 1, 200)
    results = {
        "a": Result({"m": [low.mean()]}, {"m": low.tolist(), "deep": high.tolist()}),
        "b": Result({"m": [high.mean()]}, {"m": high.tolist(), "deep": low.tolist()}),
        "t": Result({"slow": [10.0, 12.0, 11.0], "fast": [1.0, 1.1, 0.9], "one": [1.0]}),
    }
    assert NotSeen("", Better("", (("a", "b"),), "m")).judge(results).verdict == "yes"
    assert NotSeen("", Better("", (("b", "a"),), "m")).judge(results).verdict == "no"
    nearly = {"a": Result({"m": [0.0] * 3}), "b": Result({"m": [-0.1, 0.1, 0.2]})}
    assert NotSeen("", Better("", (("b", "a"),), "m")).judge(nearly).verdict == "within noise"
    assert Falls("", ("b",), "m", "deep").judge(results).verdict == "yes"
    assert Falls("", ("a", "b"), "m", "deep").judge(results).verdict == "no"
    assert Falls("", ("a",), "m", "m").judge(results).verdict == "within noise"
    assert Even("", (("a", "a"), ("b", "b")), "m", 0.1).judge(results).verdict == "yes"
    assert Even("", (("a", "b"),), "m", 0.1).judge(results).verdict == "no"
    assert Even("", (("b", "a"),), "m", 0.1).judge(results).verdict == "no"
    assert Even("", (("a", "b"),), "m", 1.0).judge(results).verdict == "within noise"
    assert InnerRatio("", "t", "slow", "fast", 5.0).judge(results).verdict == "yes"
    assert InnerRatio("", "t", "fast", "slow", 5.0).judge(results).verdict == "no"
    assert InnerRatio("", "t", "one", "one", 1.0).judge(results).verdict == "within noise"
    shares = {"t": Result({"share": [0.53, 0.54, 0.55], "one": [0.1]})}
    judged = Below("", "t", "share", 0.25).judge(shares)
    assert judged.verdict == "no"
    assert judged.because.startswith("54.0%")
    assert Below("", "t", "share", 0.6).judge(shares).verdict == "yes"
    assert Below("", "t", "share", 0.54).judge(shares).verdict == "within noise"
    assert Below("", "t", "one", 0.54).judge(shares).verdict == "within noise"


@pytest.mark.filterwarnings("ignore:Stopped after")
def test_runs_of_the_paper_s_algorithm() -> None:
    result = losses_over_time(counted, passes=(1, 20), repeats=2)
    objective = result.values["objective"]
    assert objective == sorted(objective)
    assert 95 < objective[-1] <= 100.2
    assert all(0 <= share < 1 for share in result.values["share_zero"])
    for name in ("svm", "hsvm", "rls", "markov", "loss", "objective"):
        assert len(result.values[f"{name}_seconds"]) == 2
    limits = {"dp": (1, 10), "lp": (1,)}
    found = climbs(few_counted, limits=limits, tol=0.2, repeats=2, most_seconds=5.0).values
    assert len(found["seconds lp1"]) == 2
    ends = [found[f"objective {name}"][-1] for name in ("dp1", "dp10", "lp1")]
    assert max(ends) == 100
    assert min(ends) > 80
