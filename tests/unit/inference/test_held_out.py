"""What is kept of held-out scores, and which are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from taxonomist.compiled import decisions
from taxonomist.errors import LabelError
from taxonomist.inference import held_out
from taxonomist.inference.held_out import EvidenceReader
from taxonomist.inference.limits import label_limits
from tests.unit.inference.plain_loops import plain


def table(seed, n_items=40, n_categories=6):
    """Return scores with many equal ones, and labels."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_items, n_categories)) < [0.4, 0.2, 0.1, 0.1, 0.05, 0.0]
    scores = np.round(rng.normal(size=truth.shape) + truth, 1)
    return scores, truth


def collect(scores, truth, blocks=None):
    """Return the evidence of a table, by blocks of items."""
    blocks = [np.arange(len(scores))] if blocks is None else blocks
    labels = csr_array(truth)
    return EvidenceReader.of(
        [(b, scores[b]) for b in blocks], labels, label_limits(labels)
    ).evidence()


@pytest.fixture
def scarce(monkeypatch):
    """Leave room for little more than what must be kept."""
    monkeypatch.setattr(held_out, "SAMPLED_PAIRS", 30)
    monkeypatch.setattr(held_out, "LISTED_PER_ITEM", 2)
    monkeypatch.setattr(held_out, "MIN_LISTED", 3)


def test_all_is_kept_where_there_is_room():
    scores, truth = table(0)
    evidence = collect(scores, truth)
    shape = scores.T.shape
    np.testing.assert_array_equal(evidence.scores.reshape(shape), scores.T)
    np.testing.assert_array_equal(evidence.truth.reshape(shape), truth.T)
    np.testing.assert_array_equal(evidence.items.reshape(shape)[0], np.arange(len(scores)))
    np.testing.assert_array_equal(evidence.categories.reshape(shape)[:, 0], np.arange(6))
    np.testing.assert_array_equal(evidence.starts, np.arange(7) * len(scores))
    assert (evidence.weights == 1).all()


@pytest.mark.usefixtures("scarce")
@pytest.mark.parametrize("seed", range(5))
def test_what_must_be_kept_is(seed):
    scores, truth = table(seed)
    evidence = collect(scores, truth)
    kept = set(zip(evidence.items.tolist(), evidence.categories.tolist(), strict=True))
    assert len(kept) == len(evidence.items) < scores.size
    must = set(zip(*map(np.ndarray.tolist, truth.nonzero()), strict=True))
    depth = truth.sum(axis=1).max()
    for i, row in enumerate(scores):
        must |= {(i, int(c)) for c in np.argsort(-row, kind="stable")[:depth]}
    for c, column in enumerate(scores.T):
        room = max(2 * truth[:, c].sum(), 3)
        must |= {(int(i), c) for i in np.argsort(-column, kind="stable")[:room]}
    assert must <= kept
    # The rest are all categories of five items, since 30 cells have room for five rows of 6.
    rest = kept - must
    drawn = {i for i, _ in rest}
    assert 0 < len(drawn) <= 5
    assert all((i, c) in kept for i in drawn for c in range(6))
    for item, c, weight in zip(evidence.items, evidence.categories, evidence.weights, strict=True):
        n_rest, n_must = sum(r[1] == c for r in rest), sum(m[1] == c for m in must)
        expected = (len(scores) - n_must) / n_rest if (item, c) in rest else 1
        assert weight == pytest.approx(expected)
    np.testing.assert_array_equal(evidence.scores, scores[evidence.items, evidence.categories])
    np.testing.assert_array_equal(evidence.truth, truth[evidence.items, evidence.categories])
    np.testing.assert_array_equal(np.diff(evidence.starts), np.bincount(evidence.categories))


@pytest.mark.usefixtures("scarce")
@pytest.mark.parametrize("n_blocks", [2, 7, 40])
def test_blocks_and_their_order_do_not_matter(n_blocks):
    scores, truth = table(3)
    order = np.random.default_rng(n_blocks).permutation(len(scores))
    one = collect(scores, truth)
    other = collect(scores, truth, np.array_split(order, n_blocks))
    for expected, found in zip(one, other, strict=True):
        np.testing.assert_array_equal(found, expected)


@given(st.integers(0, 1000), st.integers(1, 12))
def test_lists_hold_the_best_items(seed, room):
    scores, _ = table(seed, n_items=15)
    starts = np.arange(7) * room
    lists = []
    for loop in (decisions.list_best, plain.list_best):
        items, best = np.zeros(6 * room, dtype=np.intp), np.zeros(6 * room)
        loop(scores[:9], np.arange(9), 0, starts, items, best)
        loop(scores[9:], np.arange(9, 15), 9, starts, items, best)
        lists.append((items, best))
    np.testing.assert_array_equal(lists[0], lists[1])
    items, best = (values.reshape(6, room) for values in lists[0])
    for c, column in enumerate(scores.T):
        expected = np.argsort(-column, kind="stable")[:room]
        np.testing.assert_array_equal(np.sort(items[c]), np.sort(expected))
        np.testing.assert_array_equal(best[c], column[items[c]])


def read(blocks, n_items=4):
    """Read blocks for items with three categories."""
    labels = csr_array(np.ones((n_items, 3), dtype=bool))
    reader = EvidenceReader.of(blocks, labels, label_limits(labels))
    return reader.evidence()


FINE = np.zeros((4, 3))
BAD = np.array([[0, 1, 2], [0, 1, np.nan]])


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([([0, 1, 2, 3], FINE), ([2], FINE[:1])], "item 2 twice"),
        ([([0, 1, 1, 3], FINE)], "item 1 twice"),
        ([([0, 3], FINE[:2])], "lack 2 of 4 items, such as 1"),
        ([], "lack 4 of 4 items"),
        ([([0, 1, 2, 3], FINE[:, :2])], r"shape \(4, 2\).*3 categories"),
        ([([0, 1, 2, 3], FINE[0])], r"shape \(3,\)"),
        ([([0, 1], FINE)], "2 items, but 4 rows of scores"),
        ([([2, 3], BAD)], "category 2 for item 3 is nan"),
        ([([2, 3], np.where(np.isnan(BAD), -np.inf, BAD))], "category 2 for item 3 is -inf"),
    ],
)
def test_blocks_that_are_refused(blocks, message):
    with pytest.raises(LabelError, match=message):
        read(blocks)


def test_no_items_are_refused():
    with pytest.raises(LabelError, match="at least one item"):
        read([], n_items=0)


def test_an_empty_block_is_fine():
    evidence = read([([0, 1, 2, 3], FINE), (np.array([], dtype=int), FINE[:0])])
    assert len(evidence.items) == FINE.size
