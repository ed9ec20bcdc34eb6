import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from taxonomist import Taxonomy
from taxonomist.errors import LabelError
from taxonomist.taxonomy import Categories, labels
from tests.strategies import label_sets, taxonomies

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
    pl.Series(["a1", "b"]),
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
        (INDICATOR, ["a1", "b"]),
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
        (lambda: labels.encode(TREE, ["q", "w", "a1"]), "2 labels in y are not nodes.*'q', 'w'"),
        (lambda: labels.encode(TREE, ["a1", None]), "no label at position 1"),
        (lambda: labels.encode(TREE, [float("nan")]), "no label at position 0"),
        (lambda: labels.encode(TREE, SETS), "one label per item is wanted"),
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
    with pytest.raises(LabelError, match="'a' in y stand for interior nodes"):
        found.encode(["a"])
    with pytest.raises(LabelError, match="'a' in y stand for interior nodes"):
        found.encode_sets([["a"], ["b"]])
