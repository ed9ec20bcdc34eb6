import re

import pytest

from taxonomist import Taxonomy
from taxonomist.datasets.bad_rows import N_SHOWN, BadRows, BadRowsError, RowError
from taxonomist.datasets.cells import labels_of, text_of, word_of
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.items import read_items
from taxonomist.datasets.label_reader import LabelReader
from taxonomist.datasets.table import OpenTable, Row
from taxonomist.errors import FormatError


@pytest.fixture
def taxonomy():
    return Taxonomy.from_edges(
        [("animal", "cat"), ("animal", "dog"), ("plant", "oak")], {"cat": "Cats", "oak": "Oaks"}
    )


def table_of(*rows, columns=None):
    known = columns or tuple(dict.fromkeys(c for row in rows for c in row if isinstance(row, dict)))
    made = (Row(k, row) for k, row in enumerate(rows, 2))
    return OpenTable("data.csv", tuple(known), made)


def items(columns, *rows, labels=None, **options):
    bad = BadRows()
    return list(read_items(table_of(*rows), columns, bad, labels, **options)), bad


@pytest.mark.parametrize(
    ("value", "text"),
    [("a b", "a b"), (None, ""), (float("nan"), ""), (3, "3"), (3.0, "3"), (2.5, "2.5")],
)
def test_texts(value, text):
    assert text_of(value, "x") == text


def test_no_text():
    with pytest.raises(RowError, match="'x' is not a text but"):
        text_of(["a"], "x")


@pytest.mark.parametrize(("value", "word"), [(" a ", "a"), (7, "7"), (7.0, "7"), (None, "")])
def test_words(value, word):
    assert word_of(value) == word


@pytest.mark.parametrize(
    ("value", "separator", "path_separator", "labels"),
    [
        ("a", None, None, ("a",)),
        (" a ", None, None, ("a",)),
        (12, None, None, ("12",)),
        ("a;b", None, None, ("a;b",)),
        ("a;b; a;", ";", None, ("a", "b")),
        ('["a", "b;c"]', ";", None, ("a", "b;c")),
        ('["a", ', ";", None, ('["a",',)),
        ("['a', \"b's\"]", None, None, ("a", "b's")),
        (" ['a'] ", ";", None, ("a",)),
        ("['a' 'b']", None, None, ("['a' 'b']",)),
        ("['a', b]", None, None, ("['a', b]",)),
        (["a", 3, " b "], None, None, ("a", "3", "b")),
        ("A > B > C", None, None, (("A", "B", "C"),)),
        ("A>B", None, None, ("A>B",)),
        ("A/B; C", ";", "/", (("A", "B"), "C")),
        ("/A/B/; A::B", ";", "/", (("A", "B"), "A::B")),
        ("A::B > C::D", None, "::", (("A", "B > C", "D"),)),
        (["A > B", "C"], None, None, (("A", "B"), "C")),
    ],
)
def test_labels(value, separator, path_separator, labels):
    columns = Columns(labels="code", label_sep=separator, path_sep=path_separator)
    assert labels_of(value, columns) == labels


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "no label in 'code'"),
        (None, "no label in 'code'"),
        ([], "no label in 'code'"),
        ([None, " "], "no label in 'code'"),
        (["a", 3, None, ""], "one of several labels in 'code' is missing"),
        ([["a"]], "is not a label"),
        ("A >  > C", "the path 'A >  > C' has an empty level"),
    ],
)
def test_labels_that_are_none(value, fault):
    with pytest.raises(RowError, match=fault):
        labels_of(value, Columns(labels="code"))


def test_nodes_of_labels(taxonomy):
    reader = LabelReader(taxonomy)
    assert reader.nodes(("cat", ("animal", "Cats"), "animal > dog")) == ("cat", "dog")
    with pytest.raises(RowError, match="'caat' is not a node of the taxonomy.*'cat'"):
        reader.nodes(("caat",))
    with pytest.raises(RowError, match="contradicts the taxonomy, in which 'Cats' is 'animal > C"):
        reader.nodes((("plant", "Cats"),))
    with pytest.raises(RowError, match="'plant > Caats' is not a node"):
        reader.nodes((("plant", "Caats"),))


def test_a_label_that_is_several(taxonomy):
    reader = LabelReader(taxonomy)
    for label, separator in (("cat; dog", ";"), ("dog|cat", "|"), ("cat,dog,cat", ",")):
        said = re.escape(f"but its parts are: pass label_sep={separator!r}")
        with pytest.raises(RowError, match=said):
            reader.nodes((label,), hint=False)
    with pytest.raises(RowError, match="'cat;cow' is not a node of the taxonomy"):
        reader.nodes(("cat;cow",))


def test_without_a_hint_nothing_similar_is_looked_for(taxonomy, monkeypatch):
    reader = LabelReader(taxonomy)
    with pytest.raises(RowError, match="^'plant > Cats' is not a node of the taxonomy$"):
        reader.nodes((("plant", "Cats"),), hint=False)
    monkeypatch.setattr(Taxonomy, "resolve", None)
    with pytest.raises(RowError, match="^'plant > Cats' is not a node of the taxonomy$"):
        reader.nodes((("plant", "Cats"),), hint=False)
    with pytest.raises(RowError, match="^'caat' is not a node of the taxonomy$"):
        reader.nodes(("caat",), hint=False)
    assert reader.nodes(("dog",), hint=False) == ("dog",)


def test_one_label_where_one_is_wanted(taxonomy):
    reader = LabelReader(taxonomy, single=True)
    assert reader.nodes(("cat", ("animal", "Cats"))) == ("cat",)
    with pytest.raises(RowError, match="2 labels, but the model predicts one per item"):
        reader.nodes(("cat", "dog"))


def test_items_have_lines_ids_texts_and_nodes(taxonomy):
    row = {"id": 7, "title": "Purrs", "body": None, "code": "cat;dog"}
    columns = Columns("title, body", "code", label_sep=";")
    ((item,), bad) = items(columns, row, labels=LabelReader(taxonomy))
    assert item == (2, "7", {"title": "Purrs", "body": ""}, ("cat", "dog"), None, None)
    assert (bad.n_rows, bad.count) == (1, 0)


def test_an_id_column_can_be_named_or_missing():
    row = {"text": "a", "key": "k", "id": "i"}
    assert items(Columns("text", None, id="key"), row)[0][0].id == "k"
    assert items(Columns("text", None), row)[0][0].id == "i"
    assert items(Columns("text", None), {"text": "a"})[0][0].id is None


def test_a_column_whose_name_has_a_comma():
    ((item,), _) = items(Columns("a,b", None), {"a,b": "x", "a": "y", "b": "z"})
    assert item.text == {"a,b": "x"}


@pytest.mark.parametrize(
    "columns", [Columns("x", None), Columns("text", "x"), Columns("text", None, id="x")]
)
def test_a_column_that_is_not_there(columns):
    with pytest.raises(FormatError, match="data.csv has no column 'x'"):
        items(columns, {"text": "a"})


def test_bad_rows_are_counted_in_order(taxonomy):
    rows = [
        {"text": "a", "code": "cat"},
        {"text": " ", "code": "cat"},
        {"text": "a", "code": ""},
        {"text": "a", "code": "kat"},
        {"text": ["a"], "code": "cat"},
    ]
    known = {"labels": LabelReader(taxonomy)}
    found, bad = items(Columns("text", "code"), *rows, **known, strict=True)
    assert [item.line for item in found] == [2]
    assert (bad.n_rows, bad.count) == (5, 4)
    assert [line for line, _ in bad.first] == [3, 4, 5, 6]
    assert bad.first[0][1] == "no text in 'text'"
    assert "Did you mean 'cat'" in bad.first[2][1]
    found, bad = items(Columns("text", "code"), *rows, **known)
    assert [item.line for item in found] == [2]
    assert (bad.n_rows, bad.count, bad.n_unlabelled) == (5, 3, 1)
    assert bad.first_unlabelled == [4]


def test_a_row_without_a_label_needs_no_text():
    rows = [{"text": "", "code": ""}, {"text": "a"}, {"text": "a", "code": "cat"}]
    found, bad = items(Columns("text", "code"), *rows)
    assert [item.line for item in found] == [4]
    assert (bad.count, bad.first_unlabelled) == (0, [2, 3])


def test_an_empty_cell_can_mean_no_labels():
    rows = [{"text": "a", "code": " "}, {"text": "b"}, {"text": "c", "code": "x;y"}]
    columns = Columns("text", "code", label_sep=";", empty_is_none=True)
    found, bad = items(columns, *rows)
    assert [item.labels for item in found] == [(), (), ("x", "y")]
    assert (bad.count, bad.n_unlabelled) == (0, 0)
    levels = Columns("text", ["code", "sub"], empty_is_none=True)
    found, _ = items(levels, {"text": "a", "code": "", "sub": ""})
    assert [item.labels for item in found] == [()]


def test_rows_with_a_fault_are_bad():
    table = OpenTable("data.csv", ("text",), iter([Row(2, {}, "3 cells"), Row(3, {"text": "a"})]))
    bad = BadRows()
    assert [item.line for item in read_items(table, Columns("text", None), bad)] == [3]
    assert bad.first == [(2, "3 cells")]


def bad_rows(n_bad, n_rows):
    bad = BadRows(n_rows=n_rows)
    for line in range(2, 2 + n_bad):
        bad.add(line, "no text.")
    return bad


def test_bad_rows_end_everything():
    bad = bad_rows(N_SHOWN + 1200, 5000)
    with pytest.raises(BadRowsError) as caught:
        bad.settle("data.csv", skip=False)
    lines = str(caught.value).splitlines()
    assert lines[:-1] == caught.value.listed.splitlines()
    assert lines[0] == "data.csv: 1,210 of 5,000 rows cannot be used."
    assert lines[1] == "  line 2: no text."
    assert lines[N_SHOWN + 1] == "  ... and 1,200 more."
    assert lines[-1] == "Fix these rows, or skip them with skip_bad=True."
    assert len(lines) == N_SHOWN + 3


def test_bad_rows_are_skipped_on_demand():
    note = bad_rows(1, 2).settle("data.csv", skip=True)
    assert note.splitlines() == [
        "data.csv: 1 of 2 rows cannot be used.",
        "  line 2: no text.",
        "These rows are skipped.",
    ]
    with pytest.raises(FormatError, match="None of the rows can be used"):
        bad_rows(2, 2).settle("data.csv", skip=True)
    with pytest.raises(FormatError, match="has no rows"):
        BadRows().settle("data.csv", skip=True)
    assert BadRows(n_rows=1).settle("data.csv", skip=False) == ""


def test_bad_rows_as_data():
    expected = {"rows": 3, "bad": 1, "first_bad": [{"line": 2, "fault": "no text."}]}
    assert bad_rows(1, 3).to_dict() == {**expected, "without_label": 0}


def test_rows_without_a_label_are_told_of():
    bad = BadRows(n_rows=20)
    for line in range(2, 14):
        bad.add_unlabelled(line)
    lines = "lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"
    note = f"data.csv: 12 of 20 rows have no label and are skipped: {lines}."
    assert bad.settle("data.csv", skip=False) == note
    bad.n_rows = 12
    with pytest.raises(FormatError, match="None of the rows can be used"):
        bad.settle("data.csv", skip=True)


LEVELS = Columns("text", "top, middle ,low")


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        (["A", "B", "C"], ("A", "B", "C")),
        ([" A ", "B", ""], ("A", "B")),
        (["A", None, float("nan")], ("A",)),
        ([11.0, 111, "1112"], ("11", "111", "1112")),
        (["Cafe\u0301", "B", ""], ("Café", "B")),
    ],
)
def test_levels_in_columns_are_a_path(cells, path):
    row = {"text": "a", **dict(zip(("top", "middle", "low"), cells, strict=True))}
    for columns in LEVELS, Columns("text", ["top", "middle", "low"]):
        ((item,), _) = items(columns, row)
        assert item.labels == (path,)


def test_levels_with_gaps_are_bad_and_without_any_are_skipped():
    cells = [("A", "", "C"), ("", "B", "C"), ("", "", "")]
    rows = [{"text": "a", "top": a, "middle": b, "low": c} for a, b, c in cells]
    _, bad = items(LEVELS, *rows, {"text": "a", "top": ["A"], "middle": "", "low": ""})
    assert bad.first == [
        (2, "the level 'middle' is empty, but 'low' below it is 'C'"),
        (3, "the level 'top' is empty, but 'low' below it is 'C'"),
        (5, "\"['A']\" in 'top' is not a label"),
    ]
    assert bad.first_unlabelled == [4]


def test_an_object_is_no_label():
    _, bad = items(Columns("text", "x"), {"text": "t", "x": {"top": "A"}}, {"text": "t", "x": "A"})
    assert bad.first == [
        (2, "\"{'top': 'A'}\" in 'x' is not a label. Give its parts columns of their own")
    ]


def test_one_column_whose_name_has_a_comma_is_no_levels():
    ((item,), _) = items(Columns("text", "a,b"), {"text": "t", "a,b": "x", "a": "y", "b": "z"})
    assert item.labels == ("x",)


def test_levels_have_no_separator():
    with pytest.raises(FormatError, match="the columns a, b are the levels of one label"):
        items(Columns("text", "a,b", label_sep=";"), {"text": "t", "a": "y", "b": "z"})


def test_texts_ids_and_labels_are_composed():
    row = {"id": "e\u0301", "text": "cafe\u0301", "code": "re\u0301"}
    ((item,), _) = items(Columns("text", "code"), row)
    assert item[1:4] == ("é", {"text": "café"}, ("ré",))
    reader = LabelReader(Taxonomy.flat(["re\u0301", "b"]))
    assert reader.nodes(item.labels) == ("re\u0301",)
