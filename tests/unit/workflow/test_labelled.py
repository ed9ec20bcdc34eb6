import numpy as np
import pytest

from taxonomist import Taxonomy
from taxonomist.datasets.bad_rows import BadRows
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.table_file import TableSource
from taxonomist.errors import FormatError
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


def test_a_single_label_is_told_of(tmp_path):
    assert "the same label" in read(tmp_path, "text,code\na,x\nb,x\n").note
    columns = Columns("text", "code", empty_is_none=True)
    assert not read(tmp_path, "text,code\na,x\nb,\n", columns).note


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


def test_rows_that_are_left_out_are_told_of(tmp_path):
    told = []
    content = "text,code\n" + "a,x\n" * 2500 + ",x\n"
    found = read(tmp_path, content, skip_bad=True, on_step=lambda *step: told.append(step))
    assert found.note.splitlines()[0].endswith("data.csv: 1 of 2,501 rows cannot be used.")
    assert told == [("Reading", 1000, None), ("Reading", 2000, None)]


def test_levels_in_columns(tmp_path):
    content = "text,one,two\na,A,X\nb,B,X\nc,A,\nd,,\ne,,Z\n"
    found = read(tmp_path, content, Columns("text", "one,two"), skip_bad=True)
    assert found.origin == "levels"
    assert found.taxonomy == Taxonomy.from_paths(["A > X", "B > X"])
    assert found.labels == [["A > X"], ["B > X"], ["A"]]
    assert (found.bad.n_rows, found.bad.count, found.bad.n_unlabelled) == (5, 1, 1)
    assert found.note.splitlines() == [
        f"{tmp_path / 'data.csv'}: 1 of 5 rows has no label and is skipped: line 5.",
        f"{tmp_path / 'data.csv'}: 1 of 5 rows cannot be used.",
        "  line 6: the level 'one' is empty, but 'two' below it is 'Z'.",
        "These rows are skipped.",
        "1 name is in several places and kept apart by its path: 'X' (lines 2, 3).",
    ]


def test_levels_that_contradict_a_given_taxonomy(tmp_path):
    taxonomy = Taxonomy.from_paths(["A > X", "B > Y"])
    content = "text,one,two\na,A,X\nb,A,Y\n"
    with pytest.raises(FormatError, match="line 3: 'A > Y' contradicts .* 'Y' is 'B > Y'"):
        read(tmp_path, content, Columns("text", "one,two"), taxonomy)


def test_rows_without_a_label(tmp_path):
    content = "text,code\na,x\nb,\nc,x;y\n"
    found = read(tmp_path, content)
    assert (found.labels, found.bad.n_unlabelled) == ([["x"], ["x", "y"]], 1)
    with pytest.raises(FormatError, match="line 3: no label in 'code'"):
        read(tmp_path, content, strict=True)
    none = Columns("text", "code", label_sep=";", empty_is_none=True)
    assert read(tmp_path, content, none).targets == [["x"], [], ["x", "y"]]
    assert read(tmp_path, "text,code\na,x\nb,\n", none).targets == [["x"], []]
    with pytest.raises(FormatError, match="line 3: no labels, but the model predicts one per item"):
        read(tmp_path, content, none, Taxonomy.flat("xy"), single=True)


def test_repeated_ids_are_told_of(tmp_path):
    content = "id,text,code\n" + "".join(f"{k % 7},a,{'xy'[k % 2]}\n" for k in range(20))
    note = read(tmp_path, content).note
    assert "7 ids occur more than once: '0' in lines 2, 9, 16; '1' in" in note
    assert note.endswith("'4' in lines 6, 13, 20; and 2 more. All these rows are kept.")
    assert read(tmp_path, "id,text,code\n1,a,x\n,b,y\n,c,x\n").note == ""
