import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Categories, labels
from tests.strategies import label_sets, taxonomies

TWINS = Taxonomy.from_edges([("A", "b1"), ("A", "b2")], names={"b1": "B", "b2": "B"})
TREE = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2")])


@given(taxonomies(), st.data())
def test_closure_and_most_specific_agree_with_sets(taxonomy, data):
    sets = data.draw(label_sets(taxonomy))
    Y = labels.encode_sets(taxonomy, sets)
    assert list(map(set, labels.decode_sets(taxonomy, Y))) == list(map(set, sets))
    closed = labels.decode_sets(taxonomy, labels.close(taxonomy, Y))
    specific = labels.decode_sets(taxonomy, labels.most_specific(taxonomy, Y))
    for given_labels, all_labels, last in zip(sets, closed, specific, strict=True):
        assert set(all_labels) == set(given_labels).union(*map(taxonomy.ancestors, given_labels))
        implied = set().union(*map(taxonomy.ancestors, given_labels))
        assert set(last) == set(given_labels) - implied


@given(taxonomies(), st.data())
def test_ancestors_given_or_not_mean_the_same(taxonomy, data):
    sets = data.draw(label_sets(taxonomy))
    closed = [set(s).union(*map(taxonomy.ancestors, s)) for s in sets]
    brief, full = (Categories.from_labels(taxonomy, y) for y in (sets, closed))
    assert brief.ids == full.ids
    assert (brief.encode_sets(sets) != full.encode_sets(closed)).nnz == 0


@given(taxonomies(), st.data())
def test_categories_are_leaves_and_interior_nodes_used_alone(taxonomy, data):
    sets = data.draw(label_sets(taxonomy))
    alone = {n for s in sets for n in s if not set(taxonomy.descendants(n)) & set(s)}
    found = Categories.from_labels(taxonomy, sets)
    assert set(found.ids) == alone | set(taxonomy.leaves)
    assert found.expanded.is_leaf[found.codes].all()
    assert list(found.ids) == [n for n in taxonomy if n in set(found.ids)]
    for node, code in zip(found.ids, found.codes.tolist(), strict=True):
        stand_in = found.expanded.nodes[code]
        assert found.expanded.terminals.get(stand_in, stand_in) == node


FORMS = [
    ["a1", "b"],
    np.array(["a1", "b"]),
    np.array(["a1", "b"], dtype=object),
    pd.Series(["a1", "b"]),
    pd.Series(["a1", "b"], dtype="category"),
    pd.Series(["a1", "b"], dtype="string"),
    np.array(["a1", "b"], dtype=np.dtypes.StringDType()),
    pl.Series(["a1", "b"]),
    pl.Series(["a1", "b"], dtype=pl.Categorical),
    pa.array(["a1", "b"]),
    ["r > a > a1", "b"],
]


@pytest.mark.parametrize("y", FORMS, ids=lambda y: type(y).__name__)
def test_one_label_in_many_forms(y):
    assert not labels.is_label_sets(y)
    codes = labels.encode(TREE, y)
    assert labels.decode(TREE, codes).tolist() == ["a1", "b"]
    assert labels.decode_sets(TREE, labels.encode_sets(TREE, y)) == [["a1"], ["b"]]


INDICATOR = np.array([[1, 0], [0, 0], [1, 1]])
SETS = [["a1"], [], ["a1", "b"]]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (SETS, None),
        ([("a1",), set(), {"b", "a1"}], None),
        ([np.array(["a1"]), np.array([]), ["b", "a1", "a1"]], None),
        (np.array([["a1", ""], ["", None], ["a1", "b"]], dtype=object), None),
        (pd.DataFrame([["a1", None], ["", None], ["a1", "b"]]), None),
        (pd.DataFrame([["a1", None], ["", None], ["a1", "b"]], dtype="string"), None),
        (pl.DataFrame({"x": ["a1", None, "a1"], "y": [None, "", "b"]}), None),
        (pl.Series(SETS), None),
        (pa.array(SETS), None),
        ([[("r", "a", "a1")], [None, float("nan"), pd.NA], ["r > a > a1", "b", "a1"]], None),
        (pd.DataFrame(INDICATOR).astype("boolean"), ["a1", "b"]),
        (pd.DataFrame(INDICATOR).astype("Int64"), ["a1", "b"]),
        (pl.DataFrame({"a1": [1, 0, 1], "b": [0, 0, 1]}), ["a1", "b"]),
        (pd.DataFrame(INDICATOR[:, ::-1], columns=["b", "a1"]), ["a1", "b"]),
        (pd.DataFrame(INDICATOR[:, ::-1], columns=["b", "a1"]), None),
        (pl.DataFrame(INDICATOR[:, ::-1], schema=["b", "a1"]), None),
        (INDICATOR, ["a1", "b"]),
        (INDICATOR[:, ::-1], ["b", "a1"]),
        (INDICATOR.astype(bool), ["a1", "b"]),
        (csr_array(INDICATOR), ["a1", "b"]),
        (csr_matrix(INDICATOR), ["a1", "b"]),
        (pd.DataFrame(INDICATOR), ["a1", "b"]),
        (csr_array(INDICATOR[:, [0, 0, 0, 0, 1]] * [0, 0, 1, 0, 1]), None),
    ],
    ids=lambda y: type(y).__name__,
)
def test_label_sets_in_many_forms(y, classes):
    assert labels.is_label_sets(y)
    Y = labels.encode_sets(TREE, y, classes)
    assert labels.decode_sets(TREE, Y) == SETS
    assert Y.dtype == bool


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: labels.encode(TREE, ["a1", "a11"]), "1 label in y is not a node.*'a11'.*'a1'"),
        (lambda: labels.encode(TREE, ["qqq", "a11"]), "'qqq', 'a11'.*Did you mean 'a1'"),
        (lambda: labels.encode(TREE, ["q", "w", "a1"]), "2 labels in y are not nodes.*'q', 'w'"),
        (lambda: labels.encode(TREE, ["a1", None]), "no label at position 1"),
        (lambda: labels.encode(TREE, [float("nan")]), "no label at position 0"),
        (lambda: labels.encode(TREE, ["a1", " "]), "no label at position 1"),
        (lambda: labels.encode(TREE, pd.Series(["b", None], dtype="string")), "at position 1"),
        (lambda: labels.encode_sets(TREE, [["a1", "b"], None]), "no label at position 1"),
        (lambda: labels.encode(TREE, "ab"), "for each item. Got 'ab' instead"),
        (lambda: labels.encode(TREE, None), "for each item. Got None instead"),
        (lambda: labels.encode(TREE, np.array("a")), "for each item. Got array"),
        (
            lambda: labels.encode_sets(TREE, [[["a"]]]),
            "nested too deeply: expected a label",
        ),
        (lambda: labels.encode(TREE, csr_array(INDICATOR)), "one label per item is expected"),
        (lambda: labels.encode_sets(TREE, INDICATOR, ["a", "r > a"]), "names a node twice"),
        (lambda: labels.encode(TWINS, ["A > B"]), "'A > B' in y is ambiguous: it means 2 nodes"),
        (lambda: labels.encode(TREE, SETS), "one label per item is expected"),
        (lambda: labels.encode_sets(TREE, [["a1", "zz"]]), "'zz'"),
        (lambda: labels.encode_sets(TREE, INDICATOR), "has 2 columns, but the taxonomy has 5"),
        (lambda: labels.encode_sets(TREE, INDICATOR, ["a"]), "classes names 1"),
        (lambda: labels.encode_sets(TREE, INDICATOR * 2, ["a", "b"]), "only 0 and 1"),
    ],
)
def test_bad_labels_are_named(call, message):
    with pytest.raises(LabelError, match=message):
        call()


def test_categories_encode_and_decode():
    found = Categories.from_labels(TREE, ["a1", "a", "b"])
    assert found.ids == ("a", "a1", "a2", "b")
    assert len(found) == 4
    assert found.encode(["b", "a"]).tolist() == [3, 0]
    assert found.decode(np.array([3, 0])).tolist() == ["b", "a"]
    assert found.encode_sets([["a", "a1"], ["a"]]).toarray().astype(int).tolist() == [
        [0, 1, 0, 0],
        [1, 0, 0, 0],
    ]


def test_an_interior_label_that_was_not_trained_on_is_refused():
    found = Categories.from_labels(TREE, ["a1", "b"])
    with pytest.raises(LabelError, match="'a' in y are interior nodes"):
        found.encode(["a"])
    with pytest.raises(LabelError, match="'a' in y are interior nodes"):
        found.encode_sets([["a"], ["b"]])


def test_no_items_and_numbers_for_truth():
    assert labels.encode_sets(TREE, pd.DataFrame({"x": []}, dtype=object)).shape == (0, 5)
    closed = labels.close(TREE, labels.encode_sets(TREE, SETS).astype(np.int64))
    assert closed.dtype == bool
    assert labels.decode_sets(TREE, closed) == [["r", "a", "a1"], [], ["r", "a", "a1", "b"]]


def test_categories_of_an_indicator_matrix():
    found = Categories.from_labels(TREE, INDICATOR, classes=["a", "b"])
    assert found.ids == ("a", "a1", "a2", "b")
    columns = found.encode_sets(INDICATOR, classes=["a", "b"]).toarray()
    assert columns.astype(int).tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]]


def test_generators_are_read_once():
    assert labels.encode(TREE, (label for label in ["a1", "b"])).tolist() == [2, 4]
    found = Categories.from_labels(TREE, ([label] for label in ["a", "b"]))
    assert found.encode(label for label in ["b", "a"]).tolist() == [3, 0]


def test_the_matrix_of_the_caller_stays_as_it_was():
    given = csr_array(([True, False, True], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    assert labels.decode_sets(TREE, labels.encode_sets(TREE, given, ["a1", "b"])) == [["a1"], ["b"]]
    assert given.nnz == 3
    assert given.indptr.tolist() == [0, 2, 3]


def test_many_unknown_labels_are_told_at_once():
    wide = Taxonomy.flat(f"c{code}" for code in range(20_000))
    start = time.process_time()
    with pytest.raises(LabelError, match="5000 labels in y are not nodes.*Did you mean"):
        labels.encode(wide, [f"c{code}x" for code in range(5000)])
    paths = [f"ROOT > c{code}" for code in range(5000)]
    assert labels.encode(wide, paths).tolist() == list(range(1, 5001))
    assert time.process_time() - start < 2


def test_equal_categories_are_equal():
    one, other = (Categories.from_labels(TREE, ["a", "b"]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Categories.from_labels(TREE, ["b"])
