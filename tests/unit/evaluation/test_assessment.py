"""Assessments against plain counting, and against the measures of ``taxonomist.metrics``."""

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.evaluation import assess, bootstrap_interval, confusions
from taxonomist.taxonomy import Taxonomy
from tests.strategies import label_sets, taxonomies


@st.composite
def single_cases(draw):
    taxonomy = draw(taxonomies())
    labels = st.lists(st.sampled_from(taxonomy.nodes), min_size=1, max_size=12)
    truth = draw(labels)
    predicted = [draw(st.sampled_from(taxonomy.nodes)) for _ in truth]
    return taxonomy, truth, predicted


@st.composite
def set_cases(draw):
    taxonomy = draw(taxonomies())
    truth = draw(label_sets(taxonomy))
    nodes = st.lists(st.sampled_from(taxonomy.nodes[1:]), unique=True, max_size=4)
    return taxonomy, truth, [draw(nodes) for _ in truth]


def closed(taxonomy, labels):
    """The labels and all above them but the root, plainly."""
    above = {node for label in labels for node in (label, *taxonomy.ancestors(label))}
    return above - {taxonomy.root}


def as_lists(labels):
    return [[label] if isinstance(label, str) else label for label in labels]


def same(a, b):
    return a == pytest.approx(b, nan_ok=True)


@given(single_cases())
def test_measures_of_single_labels_are_those_of_metrics(case):
    taxonomy, truth, predicted = case
    found = assess(truth, predicted, taxonomy)
    values = {name: interval.estimate for name, interval in found.measures.items()}
    macro = {"nodes": "all", "average": "macro"}
    assert values == pytest.approx(
        {
            "accuracy": metrics.accuracy(truth, predicted),
            "hierarchical_f1": metrics.hierarchical_f1(truth, predicted, taxonomy),
            "macro_f1": metrics.precision_recall_f1(truth, predicted, taxonomy, **macro).f1,
            "category_macro_f1": metrics.precision_recall_f1(
                truth, predicted, taxonomy, nodes="categories", average="macro"
            ).f1,
            "taxonomy_loss": metrics.taxonomy_loss(truth, predicted, taxonomy),
        }
    )
    assert not found.is_multilabel


@given(set_cases())
def test_measures_of_label_sets_are_those_of_metrics(case):
    taxonomy, truth, predicted = case
    found = assess(truth, predicted, taxonomy)
    values = {name: interval.estimate for name, interval in found.measures.items()}
    arguments = truth, predicted, taxonomy
    macro = {"nodes": "all", "average": "macro"}
    assert values == pytest.approx(
        {
            "subset_accuracy": 1 - metrics.zero_one_loss(*arguments),
            "hierarchical_f1": metrics.hierarchical_f1(*arguments),
            "macro_f1": metrics.precision_recall_f1(*arguments, **macro).f1,
            "category_micro_f1": metrics.precision_recall_f1(*arguments, nodes="categories").f1,
            "category_macro_f1": metrics.precision_recall_f1(
                *arguments, nodes="categories", average="macro"
            ).f1,
            "symmetric_difference_loss": metrics.symmetric_difference_loss(*arguments),
        }
    )
    assert found.is_multilabel


@given(st.one_of(single_cases(), set_cases()))
def test_levels_nodes_and_subtrees_are_counted(case):
    taxonomy, truth, predicted = case
    found = assess(truth, predicted, taxonomy)
    Y, U = ([closed(taxonomy, one) for one in as_lists(y)] for y in (truth, predicted))

    def prf(nodes):
        pairs = [(node in y, node in u) for y, u in zip(Y, U, strict=True) for node in nodes]
        both = sum(y and u for y, u in pairs)
        n_true, n_predicted = sum(y for y, _ in pairs), sum(u for _, u in pairs)
        nan = math.nan
        return (
            n_true,
            both / n_predicted if n_predicted else nan,
            both / n_true if n_true else nan,
            2 * both / (n_true + n_predicted) if n_true + n_predicted else nan,
        )

    assert [node.node for node in found.nodes] == list(taxonomy.nodes[1:])
    for node in found.nodes:
        expected = prf([node.node])
        assert same((node.support, node.precision, node.recall, node.f1), expected)
        assert node.predicted == sum(node.node in u for u in U)
        assert node.found == sum(node.node in y & u for y, u in zip(Y, U, strict=True))
    assert [level.level for level in found.levels] == list(range(1, taxonomy.height + 1))
    for level in found.levels:
        nodes = taxonomy.level(level.level)
        assert level.n_nodes == len(nodes)
        values = level.support, level.precision, level.recall, level.f1.estimate
        assert same(values, prf(nodes))
    assert [each.node for each in found.subtrees] == list(taxonomy.children(taxonomy.root))
    for each in found.subtrees:
        below = {each.node, *taxonomy.descendants(each.node)}
        assert each.n_nodes == len(below)
        assert same((each.support, each.precision, each.recall, each.f1), prf([each.node]))
        assert same(each.pooled_f1, prf(below)[3])
        inside = [y == u for y, u in zip(Y, U, strict=True) if each.node in y]
        assert same(each.accuracy, np.mean(inside) if inside else math.nan)


@given(single_cases())
def test_confusions_of_single_labels_are_pairs_of_categories(case):
    taxonomy, truth, predicted = case
    found = assess(truth, predicted, taxonomy, texts=[f"text {i}" for i in range(len(truth))])
    pairs = Counter((t, p) for t, p in zip(truth, predicted, strict=True) if t != p)
    assert {(c.true, c.predicted): c.count for c in found.confusions} == pairs
    counts = [c.count for c in found.confusions]
    assert counts == sorted(counts, reverse=True)
    for c in found.confusions:
        where = [
            i
            for i, pair in enumerate(zip(truth, predicted, strict=True))
            if pair == (c.true, c.predicted)
        ]
        assert list(c.items) == where[: confusions.N_EXAMPLES]
        assert list(c.texts) == [f"text {i}" for i in c.items]
        below = {c.true, *taxonomy.descendants(c.true)}
        assert c.share == pytest.approx(c.count / sum(t in below for t in truth))


@given(set_cases())
def test_confusions_of_label_sets_are_of_one_level(case):
    taxonomy, truth, predicted = case
    found = assess(truth, predicted, taxonomy)
    pairs, items = Counter(), {}
    for i, (y, u) in enumerate(zip(truth, predicted, strict=True)):
        Y, U = closed(taxonomy, y), closed(taxonomy, u)
        for a in Y - U:
            for b in U - Y:
                if taxonomy.depth(a) == taxonomy.depth(b):
                    pairs[a, b] += 1
                    items.setdefault((a, b), []).append(i)
    listed = {(c.true, c.predicted): c.count for c in found.confusions}
    assert listed.items() <= pairs.items()
    assert len(listed) == min(len(pairs), confusions.N_PAIRS)
    for c in found.confusions:
        assert list(c.items) == items[c.true, c.predicted][: confusions.N_EXAMPLES]
    for node in found.nodes:
        rivals = sorted((n for (a, _), n in pairs.items() if a == node.node), reverse=True)
        assert [n for _, n in node.taken_for] == rivals[: confusions.N_RIVALS]
        assert all(pairs[node.node, other] == n for other, n in node.taken_for)


@given(st.one_of(single_cases(), set_cases()))
def test_distances_count_the_nodes_that_differ(case):
    taxonomy, truth, predicted = case
    found = assess(truth, predicted, taxonomy)

    def whole(labels):
        return closed(taxonomy, labels) | ({taxonomy.root} if labels else set())

    pairs = zip(as_lists(truth), as_lists(predicted), strict=True)
    expected = Counter(len(whole(y) ^ whole(u)) for y, u in pairs)
    assert found.distances == expected
    assert sum(found.distances.values()) == found.n_items


@given(st.one_of(single_cases(), set_cases()))
def test_everything_is_plain_data(case):
    taxonomy, truth, predicted = case
    found = assess(truth, predicted, taxonomy)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert len(plain["nodes"]) == taxonomy.n_nodes - 1
    assert "nan" not in str(found)


@pytest.fixture
def noisy():
    """Two thousand items of twelve categories, two thirds of them right, one category rare."""
    taxonomy = Taxonomy.from_paths([f"{a} > {a}{b}" for a in "xyz" for b in range(4)])
    rng = np.random.default_rng(0)
    leaves = np.array(taxonomy.leaves)
    weights = np.r_[np.ones(11), 0.02]
    truth = rng.choice(12, size=2000, p=weights / weights.sum())
    predicted = np.where(rng.random(2000) < 2 / 3, truth, rng.integers(12, size=2000))
    return taxonomy, leaves[truth], leaves[predicted]


def test_the_interval_of_accuracy_is_that_of_a_mean(noisy):
    taxonomy, truth, predicted = noisy
    ours = assess(truth, predicted, taxonomy).measures["accuracy"]
    theirs = bootstrap_interval(truth == predicted, random_state=1)
    assert ours.estimate == theirs.estimate
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_intervals_cover_what_other_samples_show(noisy):
    taxonomy, truth, predicted = noisy
    half = assess(truth[:1000], predicted[:1000], taxonomy)
    other = assess(truth[1000:], predicted[1000:], taxonomy)
    for name, interval in half.measures.items():
        assert interval.low < interval.estimate < interval.high, name
        width = interval.high - interval.low
        assert abs(other.measures[name].estimate - interval.estimate) < width, name
        # Four times as many items halve the interval.
        quarter = assess(truth[:500], predicted[:500], taxonomy).measures[name]
        whole = assess(truth, predicted, taxonomy).measures[name]
        narrower = (whole.high - whole.low) / (quarter.high - quarter.low)
        assert 0.3 < narrower < 0.75, name


def test_intervals_of_means_over_rare_nodes_hold_the_estimate():
    # Resamples miss items of rare nodes, and their mean F1 lies well below the estimate.
    taxonomy = Taxonomy.flat([f"c{i}" for i in range(500)])
    rng = np.random.default_rng(0)
    truth = np.repeat(np.array(taxonomy.leaves), 3)
    predicted = np.where(rng.random(1500) < 0.6, truth, rng.permutation(truth))
    for name, interval in assess(truth, predicted, taxonomy).measures.items():
        middle, width = (interval.low + interval.high) / 2, interval.high - interval.low
        assert abs(middle - interval.estimate) < 0.15 * width, name


def test_the_seed_decides(noisy):
    taxonomy, truth, predicted = noisy
    first, again, other = (
        assess(truth, predicted, taxonomy, random_state=seed).measures for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_intervals_stay_within_what_a_measure_can_be():
    taxonomy = Taxonomy.flat([f"c{i}" for i in range(30)])
    truth = [f"c{i % 30}" for i in range(60)]
    predicted = ["c1", *truth[1:]]
    for interval in assess(truth, predicted, taxonomy).measures.values():
        assert 0 <= interval.low <= interval.high
    assert assess(truth, predicted, taxonomy).measures["macro_f1"].high <= 1


def test_one_item_has_no_interval(taxonomy):
    found = assess(["a1"], ["a2"], taxonomy)
    assert found.measures["accuracy"].estimate == 0
    assert math.isnan(found.measures["accuracy"].low)
    assert found.to_dict()["measures"]["accuracy"] == {"value": 0.0, "low": None, "high": None}
    assert "–" in str(found)


def test_an_indicator_matrix_is_read_by_its_classes(taxonomy):
    Y = np.array([[1, 0, 1], [0, 1, 0]])
    U = np.array([[1, 0, 0], [0, 1, 0]])
    classes = ["a1", "a2", "b1"]
    found = assess(Y, U, taxonomy, classes=classes)
    expected = assess([["a1", "b1"], ["a2"]], [["a1"], ["a2"]], taxonomy)
    assert found.to_dict() == expected.to_dict()


def test_a_single_node_is_assessed():
    taxonomy = Taxonomy.from_edges([], nodes=["all"])
    found = assess(["all", "all"], ["all", "all"], taxonomy)
    assert found.measures["accuracy"].estimate == 1
    assert found.levels == found.subtrees == found.nodes == found.confusions == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\n  lines", "two lines"),
        (("title", "", "abstract"), "title · abstract"),
        ({"title": "a", "body": "b"}, "a · b"),
        ("", ""),
        ("word " * 500, "word " * 79 + "word…"),
    ],
)
def test_texts_are_shown_on_one_line(taxonomy, text, shown):
    (confusion,) = assess(["a1"], ["a2"], taxonomy, texts=[text]).confusions
    assert confusion.texts == (shown,)


def test_what_does_not_fit_is_refused(taxonomy):
    with pytest.raises(LabelError, match="truth has 2 items but predicted has 1"):
        assess(["a1", "a2"], ["a1"], taxonomy)
    with pytest.raises(LabelError, match="at least one"):
        assess([], [], taxonomy)
    with pytest.raises(LabelError, match="2 items but 1 texts"):
        assess(["a1", "a2"], ["a1", "a2"], taxonomy, texts=["one"])
    with pytest.raises(LabelError, match="in predicted is not a node"):
        assess(["a1"], ["a3"], taxonomy)


def test_the_text_names_measures_levels_and_confusions(noisy):
    taxonomy, truth, predicted = noisy
    lines = str(assess(truth, predicted, taxonomy)).splitlines()
    assert lines[0] == "2,000 items, 95% intervals"
    assert lines[2].startswith("accuracy           0.7")
    assert any(line.startswith("level 2") for line in lines)
    assert sum("→" in line for line in lines) == 6


def test_confusions_have_names_beside_codes():
    names = {"1": "Crops", "11": "Oats", "12": "Rye"}
    taxonomy = Taxonomy.from_edges([("1", "11"), ("1", "12"), ("2", "21")], names)
    found = assess(["11", "11", "21"], ["12", "12", "11"], taxonomy)
    assert "      2  11 (Oats) → 12 (Rye)\n      1  21 → 11 (Oats)" in str(found)
    first = found.to_dict()["confusions"][0]
    assert (first["true"], first["true_name"]) == ("11", "Oats")
    assert (first["predicted"], first["predicted_name"]) == ("12", "Rye")
    assert found.confusions[1].true_name == ""
