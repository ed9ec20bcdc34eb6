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
