"""Reliability per level: the probabilities of nodes, and blocks of items."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist import metrics
from taxonomist.errors import LabelError
from taxonomist.evaluation import assess, level_reliability
from taxonomist.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_edges(
    [("R", "a"), ("R", "b"), ("a", "a1"), ("a", "ab"), ("b", "ab"), ("b", "b1")]
)
CLASSES = ["a1", "ab", "b1"]


@pytest.fixture
def items():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), size=200)
    truth = np.array(CLASSES)[[rng.choice(3, p=p) for p in P]]
    return truth, P


def node_probabilities(P):
    """The sum over categories at or below each node, each counted once."""
    columns = {
        node: [i for i, c in enumerate(CLASSES) if c in {node, *TAXONOMY.descendants(node)}]
        for node in TAXONOMY.nodes
    }
    return np.clip(np.column_stack([P[:, columns[n]].sum(axis=1) for n in TAXONOMY.nodes]), 0, 1)


def test_a_node_has_the_sum_of_its_categories(items):
    truth, P = items
    expected = metrics.reliability(truth, node_probabilities(P), TAXONOMY).levels
    for given in (P, csr_array(P)):
        found = assess(truth, truth, TAXONOMY, probabilities=given, classes=CLASSES).reliability
        for ours, theirs in zip(found, expected, strict=True):
            assert ours[:5] == pytest.approx(theirs[:5])
            assert np.array(ours.bins) == pytest.approx(np.array(theirs.bins))


def test_probabilities_of_nodes_are_taken_as_they_are(items):
    truth, P = items
    nodes = node_probabilities(P)
    found = assess(truth, truth, TAXONOMY, probabilities=nodes).reliability
    expected = metrics.reliability(truth, nodes, TAXONOMY).levels
    assert [level.error for level in found] == pytest.approx([e.error for e in expected])


def test_blocks_of_items_make_no_difference(items, monkeypatch):
    truth, P = items
    arguments = {"probabilities": P, "classes": CLASSES}
    whole = assess(truth, truth, TAXONOMY, **arguments).reliability
    monkeypatch.setattr(level_reliability, "_DENSE_CELLS", 7 * TAXONOMY.n_nodes)
    parts = assess(truth, truth, TAXONOMY, **arguments).reliability
    for ours, theirs in zip(parts, whole, strict=True):
        assert ours[:5] == pytest.approx(theirs[:5])
        assert np.array(ours.bins) == pytest.approx(np.array(theirs.bins))


def test_label_sets_count_with_any_of_their_categories():
    P = np.array([[0.5, 0.5, 0.0], [0.1, 0.0, 0.9]])
    truth = [["a1", "ab"], ["b1"]]
    found = assess(truth, truth, TAXONOMY, probabilities=P, classes=CLASSES).reliability
    # The first item is under "a" with 1 - 0.5 * 0.5, the second under "b" with 0.9.
    assert [part.probability for part in found[0].bins] == pytest.approx([0.75, 0.9])
    assert found[0].share == 1


def test_reliability_is_plain_data(items):
    truth, P = items
    found = assess(truth, truth, TAXONOMY, probabilities=P, classes=CLASSES).to_dict()
    first = found["reliability"][0]
    assert first["level"] == 1
    assert {"low", "high", "weight", "probability", "share"} == set(first["bins"][0])
    assert sum(part["weight"] for part in first["bins"]) == 200


def test_what_is_no_probability_is_refused(items):
    truth, P = items
    with pytest.raises(LabelError, match=r"shape \(200, 3\), items x classes. Got \(200, 2\)"):
        assess(truth, truth, TAXONOMY, probabilities=P[:, :2], classes=CLASSES)
    with pytest.raises(LabelError, match="calibrate"):
        assess(truth, truth, TAXONOMY, probabilities=3 * P, classes=CLASSES)
