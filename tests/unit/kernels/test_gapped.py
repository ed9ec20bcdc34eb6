import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from taxonomist import HierarchicalSVC, Taxonomy
from taxonomist.compiled import strings
from taxonomist.features import SequenceCodes, SpectrumFeatures
from taxonomist.kernels import GappedKernel, PairwiseKernel
from taxonomist.kernels.gapped import to_strings
from tests.unit.features.naive import items, naive_kernel, ranges

decays = st.sampled_from([0.0, 0.01, 0.5, 1.0])
LOOPS = ("clear", "enter", "find", "match_kinds", "pair_value", "rescale")


def codes(texts, **options):
    return SequenceCodes(max_length=1_000, **options).transform(texts)


def by_matrices(s, t, lengths, decay):
    """Return the sum of K_l by products of matrices, without any recursion over places."""

    def between(n):
        gaps = np.subtract.outer(np.arange(n), np.arange(n)) - 1.0
        return np.where(gaps >= 0, decay ** np.maximum(gaps, 0), 0.0)

    equal = np.equal.outer(s, t).astype(float)
    ending, total = equal, 0.0
    for length in range(1, lengths[1] + 1):
        total += ending.sum() if length >= lengths[0] else 0.0
        ending = equal * (between(len(s)) @ ending @ between(len(t)).T)
    return total


@given(items, items, ranges, decays)
def test_values_are_sums_over_common_subsequences(left, right, lengths, decay):
    kernel = GappedKernel(lengths, decay=decay, normalize=False)
    expected = [[naive_kernel(s, t, lengths, decay) for t in right] for s in left]
    assert kernel(codes(left), codes(right)) == pytest.approx(np.array(expected))
    own = [[naive_kernel(s, t, lengths, decay) for t in left] for s in left]
    values = kernel(codes(left))
    assert values == pytest.approx(np.array(own))
    assert (values == values.T).all()


@given(
    st.integers(1, 300),
    st.integers(1, 300),
    st.integers(1, 30),
    ranges,
    st.sampled_from([0.0, 1e-3, 0.3, 0.9, 1.0]),
    st.integers(0, 2**32 - 1),
)
def test_long_strings(n, m, n_letters, lengths, decay, seed):
    rng = np.random.default_rng(seed)
    s, t = rng.integers(1, n_letters + 1, n), rng.integers(1, n_letters + 1, m)
    kernel = GappedKernel(lengths, decay=decay, normalize=False)
    value = kernel(s.reshape(1, -1), t.reshape(1, -1))
    assert value == pytest.approx(np.array([[by_matrices(s, t, lengths, decay)]]), rel=1e-10)


@given(items, ranges, st.sampled_from([0.3, 1.0]))
def test_it_is_the_product_of_the_features(texts, lengths, decay):
    texts = [*texts, "abcab"]
    features = SpectrumFeatures(lengths, max_gaps=8, decay=decay).fit_transform(texts)
    values = GappedKernel(lengths, decay=decay)(codes(texts))
    assert values == pytest.approx((features @ features.T).toarray())


@given(items, ranges)
def test_without_gaps_it_is_the_spectrum_kernel(texts, lengths):
    texts = [*texts, "abcab"]
    features = SpectrumFeatures(lengths).fit_transform(texts)
    values = GappedKernel(lengths, decay=0)(codes(texts))
    assert values == pytest.approx((features @ features.T).toarray())


@given(items, decays)
def test_normalised_values(texts, decay):
    kernel = GappedKernel(2, decay=decay)
    rows = codes(texts)
    values = kernel(rows)
    assert values.diagonal() == pytest.approx([float(len(text) >= 2) for text in texts])
    assert values.max() <= 1 + 1e-12
    assert np.linalg.eigvalsh(values).min() > -1e-9
    assert kernel(rows, rows.copy()) == pytest.approx(values)
    assert (kernel(rows, rows) == values).all()


@pytest.mark.parametrize("decay", [0.2, 0.5, 1.0])
def test_an_example_of_the_literature(decay):
    rows = codes(["cat", "car", "bat", "bar"])
    values = GappedKernel(2, decay=decay)(rows)
    shared = 1 / (2 + decay**2)
    assert values[0] == pytest.approx([1, shared, shared, 0])


@given(items, items)
def test_a_pair_depends_on_nothing_else(left, right):
    kernel = GappedKernel(2)
    values = kernel(codes(left), codes(right))
    for i, s in enumerate(left):
        for j, t in enumerate(right):
            assert kernel(codes([s]), codes([t]))[0, 0] == values[i, j]


def test_any_number_of_threads_gives_the_same():
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 5, (30, 50))
    values = GappedKernel(3, n_jobs=1)(rows)
    assert all((GappedKernel(3, n_jobs=n)(rows) == values).all() for n in (None, 3, -1))


@given(items, items, ranges, decays)
def test_loops_run_uncompiled(left, right, lengths, decay):
    s, t = to_strings(codes(left)), to_strings(codes(right))
    powers = decay ** np.arange(strings.CHUNK + 1)
    shape = len(left), len(right)
    compiled, plain, own, plain_own = (np.zeros(n) for n in (shape, shape, len(left), len(left)))
    scratch, own_scratch = (strings.string_scratch(s, other, lengths[1]) for other in (t, s))
    strings.write_gapped(s, t, powers, lengths, (0, len(left)), False, scratch, compiled)
    strings.write_own(s, powers, lengths, (0, len(left)), own_scratch, own)
    with pytest.MonkeyPatch.context() as patch:
        for name in LOOPS:
            patch.setattr(strings, name, getattr(strings, name).py_func)
        strings.write_gapped.py_func(s, t, powers, lengths, (0, len(left)), False, scratch, plain)
        strings.write_own.py_func(s, powers, lengths, (0, len(left)), own_scratch, plain_own)
    assert plain == pytest.approx(compiled, rel=1e-12)
    assert plain_own == pytest.approx(own, rel=1e-12)


def test_only_the_asked_rows_are_written():
    s = to_strings(codes(["ab", "ab", "ab"]))
    values = np.full((3, 3), -1.0)
    powers, scratch = np.ones(strings.CHUNK + 1), strings.string_scratch(s, s, 1)
    strings.write_gapped(s, s, powers, (1, 1), (1, 2), True, scratch, values)
    assert values.tolist() == [[-1, -1, -1], [-1, 2, 2], [-1, -1, -1]]


def test_words_and_skipped_letters():
    kernel = GappedKernel(2, decay=0.5, normalize=False)
    words = codes(["the cat sat", "the cat", "sat"], unit="word")
    assert kernel(words).tolist() == [[2.25, 1, 0], [1, 1, 0], [0, 0, 0]]
    gapped = codes(["aXb", "ab", "Xab", "XX"], alphabet="ab", outside="skip")
    assert kernel(gapped).tolist() == [
        [0.25, 0.5, 0.5, 0],
        [0.5, 1, 1, 0],
        [0.5, 1, 1, 0],
        [0, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_array,
        lambda rows: sparse.csr_array(rows.astype(float)),
        lambda rows: rows.astype(np.float32),
    ],
)
def test_forms_of_rows(form):
    rows = codes(["abba", "", "bab"]).toarray()
    kernel = GappedKernel((1, 2))
    assert (kernel(form(rows)) == kernel(rows)).all()
    assert kernel(rows)[1].tolist() == [0, 0, 0]


def test_strings_reach_from_their_first_letter_to_their_last():
    rows = sparse.csr_array(np.array([[0, 0, 5, 0, 6, 5, 0], [9, 9, 9, 9, 9, 9, 9]]))
    rows.data[-7:] = 0
    read = to_strings(rows)
    assert read.ends.tolist() == [0, 4, 4]
    assert read.letters.tolist() == [0, -1, 1, 0]
    assert read.kind_ends.tolist() == [0, 2, 2]
    assert read.kinds.tolist() == [5, 6]
    assert read.place_ends.tolist() == [0, 2, 3]
    assert read.places.tolist() == [0, 3, 2]


def test_the_order_of_entries_does_not_matter():
    tidy = codes(["abc"])
    messy = sparse.csr_array(
        (tidy.data[[2, 0, 1, 1]] * [1, 1, 1, 0], tidy.indices[[2, 0, 1, 1]] + [0, 0, 0, 5], [0, 4]),
        shape=tidy.shape,
    )
    messy.data[2] = tidy.data[1]
    kernel = GappedKernel(2, normalize=False)
    assert kernel(messy, tidy) == kernel(tidy)
    assert messy.nnz == 4


def test_no_items():
    rows = codes(["ab", "b"])
    assert GappedKernel(2)(rows[:0], rows).shape == (0, 2)
    assert GappedKernel(2)(rows, rows[:0]).shape == (2, 0)
    assert GappedKernel(2)(rows[:0]).shape == (0, 0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 0.5]], "Row 0 has the value .*0.5.*make rows with features.SequenceCodes"),
        ([[1, 0], [0, -3]], "Row 1 has the value .*-3"),
        ([[1, 0], [0, np.inf]], "Row 1 has the value .*inf"),
        ([[1, np.nan]], "Row 0 has the value .*nan"),
        (np.array([[2.0**30]], dtype=np.float32), "1073741824 are not exact as float32"),
    ],
)
def test_rows_that_are_no_codes(rows, message):
    with pytest.raises(ValueError, match=message):
        GappedKernel()(np.asarray(rows))


def test_large_whole_codes_are_fine():
    rows = np.array([[2**30, 2**30]], dtype=np.int32)
    assert GappedKernel(2, normalize=False)(rows).tolist() == [[1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lengths": 0}, "lengths must be a whole number, at least 1"),
        ({"lengths": (3, 2)}, "in ascending order. Got \\(3, 2\\)"),
        ({"lengths": (1, 2, 3)}, "lengths must be"),
        ({"lengths": (1.5, 2)}, "lengths must be"),
        ({"lengths": 2.5}, "lengths must be"),
        ({"decay": -0.1}, "decay must be from 0 to 1. Got -0.1"),
        ({"decay": float("nan")}, "decay must be from 0 to 1"),
    ],
)
def test_parameters_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        GappedKernel(**options)


def test_values_that_are_too_large():
    rows = np.ones((1, 900))
    with pytest.raises(ValueError, match="too large for float64"):
        GappedKernel(300, decay=1.0)(rows)


def test_it_can_be_stored_and_compared():
    kernel = GappedKernel((1, 3), decay=0.25)
    assert pickle.loads(pickle.dumps(kernel)) == kernel != GappedKernel((1, 3))
    assert dataclasses.replace(kernel, decay=0.5) == GappedKernel((1, 3))
    assert clone(SVC(kernel=kernel)).kernel == kernel


def test_models_take_it_as_their_kernel():
    taxonomy = Taxonomy.from_nested({"x": ["xa", "xb"], "y": None})
    texts = ["aabaa", "aacaa", "abbbb", "cbbbb", "xyxyx", "yxyxy"]
    y = ["xa", "xa", "xb", "xb", "y", "y"]
    kernel = GappedKernel((1, 3), decay=0.5)
    options = {"C": 10.0, "tol": 1e-9, "random_state": 0}
    svc = HierarchicalSVC(taxonomy, kernel=kernel, **options)
    model = make_pipeline(SequenceCodes(), svc).fit(texts, y)
    new = ["aadaa", "bbbbb", "yxyx" * 30]
    assert model.predict(new).tolist() == ["xa", "xb", "y"]
    gram, between = kernel(codes(texts)), kernel(codes(new), codes(texts))
    precomputed = HierarchicalSVC(taxonomy, kernel="precomputed", **options).fit(gram, y)
    assert model.decision_function(new) == pytest.approx(precomputed.decision_function(between))
    assert PairwiseKernel(kernel).diagonal(codes(texts)) == pytest.approx(np.ones(6))
