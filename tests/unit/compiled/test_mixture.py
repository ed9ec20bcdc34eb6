"""Loops of the hierarchical mixture: compiled against uncompiled, and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from taxonomist.compiled import mixture
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.rows import row_sum
from taxonomist.models.sources import node_sources, rest_sources
from taxonomist.solvers.mixture import discounted
from taxonomist.solvers.path_weights import PathWeights
from taxonomist.solvers.word_counts import count_rows, item_parts, pool
from tests.reference import mixture as naive
from tests.reference.joint_toys import assert_twins

KINDS = [*naive.TAXONOMIES, "rest", "wide"]


class Case:
    """A toy with its sources and counts; "wide" has words beyond 65,536."""

    def __init__(self, kind):
        self.toy = naive.make_toy(naive.TAXONOMIES.get(kind, naive.TREE), seed=KINDS.index(kind))
        if kind == "wide":
            X = np.zeros((len(self.toy.X), 70_001))
            X[:, 70_000] = self.toy.X[:, 0]
            X[:, 3:9] = self.toy.X[:, 1:]
            self.toy = self.toy._replace(X=X)
        categories = self.toy.targets.categories
        self.sources = rest_sources(categories)[0] if kind == "rest" else node_sources(categories)
        self.items = self.toy.items
        self.n_items, self.n_words = self.items.X.shape
        self.X = count_rows(self.items.X)
        self.pooled = pool(self.items, self.sources)
        self.first = self.sources.paths.indptr.astype(np.intp)
        self.entries = item_parts(self.items, np.diff(self.first))
        self.own = count_rows(
            (self.items.parts(np.minimum(self.items.weights, 1)) @ self.sources.pools.T).tocsc()
        )
        lengths = np.diff(self.first)
        even = 1.0 / (lengths + 1)
        self.weights = PathWeights(np.repeat(even, lengths), even)
        self.uniform = self.weights.uniform / self.n_words

    def room(self, value=0.0):
        return np.full(self.n_words, value)

    def components(self):
        components = np.zeros(self.entries.start[-1])
        mixture.leave_out(*self.leaving_out(components))
        return components

    def leaving_out(self, components):
        counts, readers = count_rows(self.pooled.sources), self.sources.readers()
        rooms = self.room(), np.zeros(self.n_items)
        return self.X, self.entries, self.own, counts, readers, self.first, *rooms, components

    def counts(self):
        return count_rows(self.pooled.categories)

    def words(self):
        return count_rows(discounted(self.pooled, self.sources, 0.0))


@pytest.fixture(params=KINDS)
def case(request):
    return Case(request.param)


def test_words_are_counted_and_pooled(case):
    parts = case.items.parts(case.items.weights) @ case.sources.pools.T.astype(float)
    columns = count_rows(parts.tocsc())
    n_groups = parts.shape[1]

    def codes(value):
        return np.full(case.n_words, value, dtype=np.intp)

    (*_, n_different), _ = assert_twins(
        mixture.count_words, lambda: (case.X, columns, codes(-1), np.zeros(n_groups, np.intp))
    )
    expected = (parts.T @ case.items.X).tocsr()
    assert n_different.tolist() == np.diff(expected.indptr).tolist()
    ends = np.append(0, np.cumsum(n_different))

    def arguments():
        pooled = Rows(ends, np.zeros(ends[-1], np.intp), np.zeros(ends[-1]))
        return case.X, columns, case.items.weights, codes(-1), pooled, np.zeros(ends[-1])

    (*_, place, pooled, having), _ = assert_twins(mixture.pool_words, arguments)
    assert (place == -1).all()
    found = csr_array((pooled.data, pooled.indices, ends), shape=expected.shape)
    assert np.abs(found - expected).max() < 1e-12
    found = csr_array((having, pooled.indices, ends), shape=expected.shape)
    is_in, has_word = parts > 0, case.items.X > 0
    weighted = is_in.multiply(case.items.weights[:, None])
    assert np.abs(found - weighted.T @ has_word.astype(float)).max() < 1e-12


def test_items_are_left_out(case):
    def arguments():
        return case.leaving_out(np.zeros(case.entries.start[-1]))

    (*_, words, part, components), _ = assert_twins(mixture.leave_out, arguments)
    assert not words.any()
    assert not part.any()
    assert components.any()


def test_one_item_is_left_out():
    X = Rows(np.array([0, 3]), np.array([0, 1, 2]), np.array([1.0, 2.0, 1.0]))
    words = np.array([1.0, 6.0, 0.5, 4.0])

    def arguments(part, total=11.5):
        return X, 0, part, total, words, 1, 2, np.full(7, -1.0)

    (*_, out), _ = assert_twins(mixture._leave_item_out, lambda: arguments(0.5))
    np.testing.assert_allclose(out, [-1, 0.5 / 9.5, -1, 5 / 9.5, -1, -1, -1])
    (*_, out), _ = assert_twins(mixture._leave_item_out, lambda: arguments(0.0))
    np.testing.assert_allclose(out, [-1, 1 / 11.5, -1, 6 / 11.5, -1, 0.5 / 11.5, -1])
    (*_, out), _ = assert_twins(mixture._leave_item_out, lambda: arguments(1.0, total=4.0))
    np.testing.assert_array_equal(out, -1)


def test_expectations_of_weights(case):
    components = case.components()

    def arguments():
        outs = np.zeros(len(case.weights.slots)), np.zeros(len(case.uniform))
        return (
            case.X,
            case.entries,
            components,
            case.first,
            case.weights.slots,
            case.uniform,
            *outs,
        )

    (*_, pull, uniform_pull), value = assert_twins(mixture.expect_weights, arguments)
    # The value is homogeneous in the weights of a category: Σ weight x derivative = Σ n.
    total = pull @ case.weights.slots + uniform_pull @ case.uniform
    assert np.isclose(total, case.pooled.categories.sum())
    assert value < 0


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_mixing_and_moving(case, beta):
    readers, slots = case.sources.readers(), case.weights.slots

    def mixing():
        mixed = np.zeros(case.pooled.categories.nnz)
        arrays = case.counts(), case.words(), readers, slots, case.uniform
        return *arrays, beta, case.room(), mixed

    (*_, words, mixed), value = assert_twins(mixture.mix_words, mixing)
    assert not words.any()
    assert np.isclose(value, (case.pooled.categories.data * np.log(mixed)).sum() / beta)

    def moving():
        arrays = case.counts(), case.words(), readers, slots
        return *arrays, beta, mixed, case.room(), case.room()

    (_, sources, *_, words, expected), _ = assert_twins(mixture.move_words, moving)
    assert not words.any()
    assert not expected.any()
    sums = np.add.reduceat(sources.data, sources.indptr[:-1][np.diff(sources.indptr) > 0])
    np.testing.assert_allclose(sums, 1)


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_items_are_left_out_of_a_step(case, beta):
    readers, slots = case.sources.readers(), case.weights.slots
    mixed = np.zeros(case.pooled.categories.nnz)
    arrays = case.counts(), case.words(), readers, slots
    mixture.mix_words(*arrays, case.uniform, beta, case.room(), mixed)
    own = case.entries.shares / case.items.weights[case.entries.items]

    def arguments():
        sizes = case.n_words, case.n_words, case.n_words, len(case.X.data), case.n_items
        room = mixture.LeaveOutRoom(*map(np.zeros, sizes))
        components = np.full(case.entries.start[-1], -1.0)
        given = case.X, case.entries, own, *arrays
        return *given, beta, mixed, case.first, room, components

    (*_, room, components), _ = assert_twins(mixture.leave_out_expected, arguments)
    assert not any(array.any() for array in room)
    assert components.min() >= 0
    assert components.max() > 0


def test_a_source_that_makes_nothing_stays(case):
    readers, slots = case.sources.readers(), np.zeros(len(case.weights.slots))

    def moving():
        arrays = case.counts(), case.words(), readers, slots
        mixed = np.ones(case.pooled.categories.nnz)
        return *arrays, 1.0, mixed, case.room(), case.room()

    (_, sources, *_), _ = assert_twins(mixture.move_words, moving)
    np.testing.assert_array_equal(sources.data, case.words().data)


def test_likelihoods_of_lidstone(case):
    alphas = np.array([0.01, 0.5, 2.0])
    own = case.entries.shares / case.items.weights[case.entries.items]

    def arguments():
        counts = case.counts()
        return case.X, case.entries, own, counts, alphas, case.room(), np.zeros(len(alphas))

    (*_, words, likelihoods), _ = assert_twins(mixture.left_out_likelihoods, arguments)
    assert not words.any()
    items, leaves = case.toy.naive_items(), case.toy.taxonomy.leaves
    expected = np.zeros(len(alphas))
    for i, (row, labels, weight) in enumerate(items):
        counts = naive.category_counts(naive.without(items, i), case.toy.taxonomy)
        for c in labels:
            assert c in leaves
            for w in np.flatnonzero(row):
                p = (counts[c][w] + alphas) / (sum(counts[c]) + alphas * len(row))
                expected += weight * row[w] / len(labels) * np.log(p)
    np.testing.assert_allclose(likelihoods, expected)


@pytest.mark.parametrize("is_log", [True, False])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_damping(is_log, power):
    counts = np.array([1.0, 3.0, 300.0, 2.5, 4.0])
    ends = np.array([0, 2, 2, 4, 5], dtype=np.intp)
    logs = np.log1p(np.arange(8.0)) if is_log else np.zeros(0)
    (*_, damped), _ = assert_twins(
        mixture.damp_counts, lambda: (ends, counts, logs, power, 10.0, np.zeros(5))
    )
    taken = np.log1p(counts) if is_log else counts
    lengths = np.array([taken[:2].sum()] * 2 + [taken[2:4].sum()] * 2 + [taken[4]])
    np.testing.assert_allclose(damped, taken * (10 / lengths) ** power)


def test_row_sums():
    X = Rows(np.array([0, 2, 2]), np.array([1, 5]), np.array([1.5, 2.0]))
    assert [assert_twins(row_sum, lambda i=i: (X, i))[1] for i in (0, 1)] == [3.5, 0.0]
