"""What the experiments of RSSS06 compute: measures of microlabels, claims, and runs of H-M3."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from taxonomist import MaxMarginMarkovClassifier, Taxonomy, metrics
from taxonomist.experiments.claims import Better
from taxonomist.experiments.claims.comparisons import Even, Falls, InnerRatio, NotSeen
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.climbing import RAW, climbs, losses_over_time
from taxonomist.experiments.work.microlabels import labelling_trial, microlabel_values
from taxonomist.experiments.work.models import of_label_sets, with_counts_weighted
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


@pytest.mark.filterwarnings("ignore:Stopped after")
def test_runs_of_the_paper_s_algorithm() -> None:
    result = losses_over_time(counted, passes=(1, 20), repeats=2)
    objective = result.values["objective"]
    assert objective == sorted(objective)
    assert 95 < objective[-1] <= 100.2
    assert all(0 <= share < 1 for share in result.values["share_zero"])
    assert len(result.values["svm_seconds"]) == len(result.values["loss_seconds"]) == 2
    limits = {"dp": (1, 10), "lp": (1,)}
    found = climbs(few_counted, limits=limits, tol=0.2, repeats=2, most_seconds=5.0).values
    assert len(found["seconds lp1"]) == 2
    ends = [found[f"objective {name}"][-1] for name in ("dp1", "dp10", "lp1")]
    assert max(ends) == 100
    assert min(ends) > 80
