from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist import Taxonomy
from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.table_file import TableSource
from taxonomist.errors import FormatError, LabelError
from taxonomist.workflow.holding_out import held_out
from taxonomist.workflow.labelled import Labelled, read_labelled


def labelled(labels):
    nodes = Taxonomy.flat(dict.fromkeys(label for row in labels for label in row))
    texts = [{"text": f"document {i}"} for i in range(len(labels))]
    return Labelled(texts, labels, nodes, "labels", BadRows(n_rows=len(labels)))


def read(tmp_path, content, columns=None, taxonomy=None, **options):
    path = tmp_path / "data.csv"
    path.write_text(content, encoding="utf-8")
    columns = columns or Columns("text", "code", label_sep=";")
    return read_labelled(TableSource(str(path)), columns, taxonomy, **options)


def test_without_a_taxonomy_labels_have_one_level(tmp_path):
    found = read(tmp_path, "text,code\na,x\nb,y\nc,x\n")
    assert found.origin == "labels"
    assert found.taxonomy == Taxonomy.flat("xy")
    assert found.targets == ["x", "y", "x"]
    assert not found.is_multilabel


def test_paths_make_a_taxonomy(tmp_path):
    found = read(tmp_path, "text,code\na,A > B > C\nb,A > D;E\nc,A > B\n")
    assert found.origin == "paths"
    assert found.taxonomy == Taxonomy.from_paths(["A > B > C", "A > D", "E"])
    assert found.targets == [["C"], ["D", "E"], ["B"]]


def test_a_name_in_two_places_keeps_both(tmp_path):
    found = read(tmp_path, "text,code\na,A > X\nb,B > X\n")
    assert len({label for (label,) in found.labels}) == 2
    assert [found.taxonomy.name(label) for (label,) in found.labels] == ["X", "X"]


def test_a_given_taxonomy_knows_codes_and_paths(tmp_path):
    taxonomy = Taxonomy.from_paths(["A > B", "A > C"])
    found = read(tmp_path, "text,code\na,B\nb,A > C\n", taxonomy=taxonomy)
    assert (found.origin, found.targets) == ("given", ["B", "C"])
    with pytest.raises(FormatError, match="line 2: 'Z' is not a node"):
        read(tmp_path, "text,code\na,Z\nb,B\n", taxonomy=taxonomy)
    kept = read(tmp_path, "text,code\na,Z\nb,B\n", taxonomy=taxonomy, skip_bad=True)
    assert (kept.targets, kept.bad.count) == (["B"], 1)
    with pytest.raises(FormatError, match="2 labels"):
        read(tmp_path, "text,code\na,B;C\nb,B\n", taxonomy=taxonomy, single=True)


def test_some_of_the_items():
    some = labelled([["a"], ["b"], ["c"]]).take(np.array([2, 0]))
    assert some.labels == [["c"], ["a"]]
    assert some.texts == [{"text": "document 2"}, {"text": "document 0"}]


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.25, 0.3, 0.37, 0.5, 0.63, 0.8])
def test_a_share_of_every_category_is_held_out(share):
    sizes = {"a": 200, "b": 60, "c": 20, "d": 7, "e": 1}
    items = labelled([[label] for label, size in sizes.items() for _ in range(size)])
    is_test = held_out(items, share, seed=3)
    assert abs(is_test.sum() - share * 288) <= 1.5
    found = Counter(items.targets[i] for i in np.flatnonzero(is_test))
    for label, size in sizes.items():
        assert abs(found[label] - share * size) <= 1.5


@given(data=st.data(), n_items=st.integers(2, 100), seed=st.integers(0, 5), sets=st.booleans())
def test_as_many_as_asked_for_are_held_out_and_the_seed_decides(data, n_items, seed, sets):
    n_test = data.draw(st.integers(1, n_items - 1))
    items = labelled([["a"] + ["b"] * (sets and i % 3 == 0) for i in range(n_items)])
    is_test = held_out(items, n_test / n_items, seed)
    assert is_test.sum() == n_test
    assert np.array_equal(is_test, held_out(items, n_test / n_items, seed))


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_share_that_leaves_none(share):
    with pytest.raises(LabelError, match="of 10 items leaves none on one side"):
        held_out(labelled([["a"]] * 10), share, seed=0)


def test_the_only_label_set_is_learnt_from():
    items = labelled([["a"]] * 9 + [["a", "b"]])
    for seed in range(10):
        is_test = held_out(items, 0.5, seed)
        assert not is_test[-1]
        assert is_test.sum() == 5


def test_nothing_is_held_out_on_demand():
    assert not held_out(labelled([["a"], ["b"]]), 0, seed=0).any()


def test_rows_that_are_left_out_are_told_of(tmp_path):
    told = []
    content = "text,code\n" + "a,x\n" * 2500 + ",x\n"
    found = read(tmp_path, content, skip_bad=True, on_step=lambda *step: told.append(step))
    assert found.note.splitlines()[0].endswith("data.csv: 1 of 2,501 rows cannot be used.")
    assert told == [("Reading", 1000, None), ("Reading", 2000, None)]
