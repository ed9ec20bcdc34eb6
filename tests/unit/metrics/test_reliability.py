"""Reliability: against plain loops, and on probabilities that are right by construction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.metrics import reliability
from tests.strategies import label_sets, taxonomies

SHOP = Taxonomy.from_nested({"garden": ["spade", "rake"], "kitchen": ["pan"]})


def by_loops(truth, table, taxonomy, weights, n_bins, nodes):
    """Return the calibration error of each level, answer by answer."""
    errors = []
    for depth in range(1, taxonomy.height + 1):
        level = [code for code in range(taxonomy.n_nodes) if taxonomy.depths[code] == depth]
        bins = {}
        for row, true, weight in zip(table, truth, weights, strict=True):
            asked = level if nodes == "all" else [max(level, key=lambda code: (row[code], -code))]
            for code in asked:
                k = min(int(row[code] * n_bins), n_bins - 1)
                bins.setdefault(k, []).append((weight, row[code], taxonomy.nodes[code] in true))
        total = sum(w for answers in bins.values() for w, _, _ in answers)
        gaps = [abs(sum(w * (p - hit) for w, p, hit in answers)) for answers in bins.values()]
        errors.append(sum(gaps) / total)
    return errors


@given(st.data(), st.sampled_from(["best", "all"]), st.integers(1, 7))
def test_errors_by_plain_loops(data, nodes, n_bins):
    taxonomy = data.draw(taxonomies())
    sets = data.draw(label_sets(taxonomy))
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    table = rng.random((len(sets), taxonomy.n_nodes)).round(1)
    weights = rng.uniform(0.5, 2, len(sets))
    truth = [
        {node for label in row for node in [label, *taxonomy.ancestors(label)]} for row in sets
    ]
    for given_table in (table, csr_array(table)):
        found = reliability(
            sets, given_table, taxonomy, nodes=nodes, n_bins=n_bins, sample_weight=weights
        )
        expected = by_loops(truth, table, taxonomy, weights, n_bins, nodes)
        np.testing.assert_allclose([level.error for level in found.levels], expected, atol=1e-12)
    for level in found.levels:
        assert level.weight == pytest.approx(sum(part.weight for part in level.bins))
        share = sum(part.share * part.weight for part in level.bins) / level.weight
        assert level.share == pytest.approx(share)
        gaps = sum(abs(part.share - part.probability) * part.weight for part in level.bins)
        assert level.error == pytest.approx(gaps / level.weight, abs=1e-12)


def test_probabilities_that_are_frequencies_have_no_error():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], size=20_000)
    drawn = (rng.random((20_000, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    truth = np.array(["spade", "rake", "pan"])[drawn]
    table = np.ones((len(p), 6))
    table[:, SHOP.codes(["spade", "rake", "pan"])] = p
    table[:, SHOP.codes(["garden", "kitchen"])] = np.column_stack([p[:, 0] + p[:, 1], p[:, 2]])
    found = reliability(truth, table, SHOP)
    assert found.error < 0.02
    sharper = reliability(truth, np.where(table > 0.5, 1.0, 0.0), SHOP)
    assert sharper.error > 0.1
    assert str(found).startswith("level 1: probability 0.")
    assert len(str(found).splitlines()) == 2 + sum(len(level.bins) for level in found.levels)


def test_the_end_of_the_last_bin_belongs_to_it():
    found = reliability(["pan"], np.ones((1, 6)), SHOP, n_bins=4)
    (part,) = found.levels[0].bins
    assert (part.low, part.high, part.probability, part.weight) == (0.75, 1.0, 1.0, 1.0)
    # Of equally probable nodes the first is the answer, which is garden.
    assert part.share == 0.0


def test_an_indicator_names_its_columns():
    table = np.ones((2, 6))
    given_ids = reliability([["pan"], ["rake"]], table, SHOP)
    matrix = reliability(np.array([[1, 0], [0, 1]]), table, SHOP, classes=["pan", "rake"])
    assert given_ids == matrix


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": "worst"}, "best, all"),
        ({"n_bins": 0}, "n_bins"),
        ({"node_probabilities": np.ones((1, 5))}, "6 nodes"),
        ({"node_probabilities": np.full((1, 6), 1.1)}, "between 0 and 1"),
        ({"node_probabilities": np.full((1, 6), -0.1)}, "between 0 and 1"),
        ({"node_probabilities": np.ones((2, 6))}, "same items"),
    ],
)
def test_what_is_refused(change, message):
    given_all = {"y_true": ["pan"], "node_probabilities": np.ones((1, 6)), "taxonomy": SHOP}
    with pytest.raises(LabelError, match=message):
        reliability(**(given_all | change))
