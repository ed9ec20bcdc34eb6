from __future__ import annotations

import csv
import gzip
import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from taxonomist.datasets import read, read_csv, read_jsonl, read_parquet
from taxonomist.errors import FormatError, LabelError
from taxonomist.taxonomy import Taxonomy
from tests.unit.datasets.workbooks import write_workbook

if TYPE_CHECKING:
    from pathlib import Path

TAXONOMY = Taxonomy.from_edges([("a", "b"), ("a", "c")])
ROWS = [
    {
        "id": "1",
        "title": "T",
        "text": 'Räksmörgås, "q"\nnext',
        "labels": ["b", "c"],
        "split": "train",
    },
    {"id": "2", "title": "", "text": "", "labels": ["b"], "split": None},
]


def write_jsonl(path: Path, rows: list[object]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    packed = path.suffix.lower() == ".gz"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def write_csv(path: Path, delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(ROWS[0]), delimiter=delimiter)
        writer.writeheader()
        for row in ROWS:
            writer.writerow(row | {"labels": "; ".join(row["labels"])})
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.ndjson", "a.JSONL.GZ"])
def test_jsonl(tmp_path: Path, name: str) -> None:
    corpus = read(write_jsonl(tmp_path / name, ROWS), TAXONOMY, text=("title", "text"))
    assert corpus.name == "a"
    assert corpus.texts == ['T\nRäksmörgås, "q"\nnext', ""]
    assert corpus.labels == [("b", "c"), ("b",)]
    assert corpus.ids == ["1", "2"]
    assert corpus.split is not None
    assert corpus.split.tolist() == ["train", "unused"]
    assert corpus.folds is None
    assert corpus.taxonomy is TAXONOMY


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t"), ("a.TSV", "\t")])
def test_csv_reads_the_same_as_jsonl(tmp_path: Path, name: str, delimiter: str) -> None:
    table = read(write_csv(tmp_path / name, delimiter), TAXONOMY, label_sep=";")
    lines = read(write_jsonl(tmp_path / "a.jsonl", ROWS), TAXONOMY)
    assert (table.texts, table.labels, table.ids) == (lines.texts, lines.labels, lines.ids)
    assert table.split is not None
    assert lines.split is not None
    assert table.split.tolist() == lines.split.tolist()


def test_parquet_reads_the_same_as_jsonl(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet", TAXONOMY)
    lines = read(write_jsonl(tmp_path / "a.jsonl", ROWS), TAXONOMY)
    assert (table.texts, table.labels, table.ids) == (lines.texts, lines.labels, lines.ids)


def test_taxonomy_from_file_or_flat(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)
    TAXONOMY.write(tmp_path / "taxonomy.csv")
    assert read_jsonl(path, tmp_path / "taxonomy.csv").taxonomy == TAXONOMY
    assert read_jsonl(path).taxonomy == Taxonomy.flat(["b", "c"])


def test_labels_are_cleaned(tmp_path: Path) -> None:
    rows = [{"text": 5, "labels": [" b ", "b", 7]}, {"text": "", "labels": []}]
    corpus = read_jsonl(write_jsonl(tmp_path / "a.jsonl", rows))
    assert corpus.labels == [("b", "7"), ()]
    assert corpus.texts == ["5", ""]
    assert corpus.ids is None
    assert corpus.split is None


def test_without_labels(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "x"}])
    assert read_jsonl(path, TAXONOMY, labels=None).labels == [()]
    with pytest.raises(FormatError, match="no labels; give the taxonomy"):
        read_jsonl(path, labels=None)


def test_folds(tmp_path: Path) -> None:
    rows = [{"text": "x", "labels": "b", "part": 2}, {"text": "y", "labels": "b", "part": "0"}]
    corpus = read_jsonl(write_jsonl(tmp_path / "a.jsonl", rows), fold="part")
    assert corpus.folds is not None
    assert corpus.folds.tolist() == [2, 0]


def test_parts_and_ids_may_be_numbers_or_empty(tmp_path: Path) -> None:
    rows = [{"text": "x", "labels": "b", "split": part, "id": ""} for part in (0, 1, "", None)]
    corpus = read_jsonl(write_jsonl(tmp_path / "a.jsonl", rows))
    assert corpus.split is not None
    assert corpus.split.tolist() == ["0", "1", "unused", "unused"]
    assert corpus.ids is None


def test_long_documents_and_blank_lines_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\n" + "x" * 200_000 + ",b\n\n", encoding="utf-8")
    limit = csv.field_size_limit(1_000)
    assert [len(text) for text in read_csv(path).texts or ()] == [200_000]
    assert csv.field_size_limit(limit) == 1_000


def test_empty_places_between_labels_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,b; ;c;\n", encoding="utf-8")
    assert read_csv(path, label_sep=";").labels == [("b", "c")]
    path.write_text("text,labels\nx, ; \n", encoding="utf-8")
    with pytest.raises(FormatError, match="no label in 'labels'"):
        read_csv(path, label_sep=";", strict=True)


def test_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("\ufefftext,labels\r\nx,b\r\n".encode())
    assert read_csv(path).texts == ["x"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: not a JSON object but list"),
        ('{"text": "x"}', "line 2: no column 'labels', only 'text'"),
        ('{"txt": "x", "labels": "b"}', "line 2: no column 'text'.*Did you mean 'txt'"),
        ('{"text": null, "labels": "b"}', "line 2: no text in 'text'"),
        ('{"text": NaN, "labels": "b"}', "line 2: no text in 'text'"),
        ('{"text": ["x"], "labels": "b"}', "line 2: 'text' is not a text but"),
        ('{"text": "x", "labels": null}', "line 2: no label in 'labels'"),
        ('{"text": "x", "labels": NaN}', "line 2: no label in 'labels'"),
        ('{"text": "x", "labels": " "}', "line 2: no label in 'labels'"),
        ('{"text": "x", "labels": ["b", null]}', "line 2: one of several labels .* is missing"),
        ('{"text": "x", "labels": {"b": 1}}', "line 2: .* in 'labels' is not a label"),
        ('{"text": "x", "labels": [["b"]]}', "line 2: .* in 'labels' is not a label"),
        ('{"text": "x", "labels": "b", "fold": "x"}', "line 2: a fold must be an integer"),
        ('{"text": "x", "labels": "b", "fold": 1.5}', "line 2: a fold must be an integer"),
        ('{"text": "x", "labels": "b", "fold": [1]}', "line 2: a fold must be an integer"),
        ('{"text": "x", "labels": "b", "fold": 1}', "1 of 2 rows have no 'fold'"),
        ('{"text": "x", "labels": "b", "id": 1}', "1 of 2 rows have no 'id'"),
        ('{"text": ' + 5000 * "1" + "}", "line 2: not JSON"),
    ],
)
def test_faulty_json_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x", "labels": "b"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_jsonl(path, strict=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("text,labels\n", "has no rows"),
        ("text,labels\nx\n", "line 2: 1 cells, but the header has 2"),
        ("text,labels\nx,b,c\n", "line 2: 3 cells, but the header has 2"),
        ("text,labels\nx,\n", "line 2: no label in 'labels'"),
        ("text,label\nx,b\n", "no column 'labels'.*Did you mean 'label'"),
        ("text,labels,text\nx,b,y\n", "two columns named 'text'"),
    ],
)
def test_faulty_csv(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_csv(path, strict=True)


def test_rows_without_empty_cells_at_their_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,a,b,c\nx,A,B,C\ny,A,B\nz,A\nw,A,B,,\n", encoding="utf-8")
    corpus = read_csv(path, label=["a", "b", "c"])
    assert list(corpus.labels) == [("C",), ("B",), ("A",), ("B",)]
    # A row must have its text and its first level.
    path.write_text("a,b,text\nA,B,x\nA,B\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 3: 2 cells, but the header has 3"):
        read_csv(path, label=["a", "b"])
    path.write_text("text,a,b\nx,A,B\ny\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 3: 1 cells, but the header has 3"):
        read_csv(path, label=["a", "b"])


def test_named_column_must_be_there(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(FormatError, match="no column 'key'"):
        read_jsonl(path, id="key")
    with pytest.raises(TypeError, match="labelz"):
        read_jsonl(path, labelz="x")


def test_unknown_label(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "x", "labels": "z"}])
    with pytest.raises(LabelError, match="'z'"):
        read_jsonl(path, TAXONOMY)


def test_what_cannot_be_decoded(tmp_path: Path) -> None:
    latin = tmp_path / "a.csv"
    latin.write_bytes("text,labels\nå,b\n".encode("latin-1"))
    with pytest.raises(FormatError, match="not valid utf-8"):
        read_csv(latin, encoding="utf-8")
    packed = tmp_path / "a.csv.gz"
    for content in (b"text,labels\nx,b\n", gzip.compress(b"text,labels\nx,b\n")[:-9]):
        packed.write_bytes(content)
        with pytest.raises(FormatError, match="not a complete gzip file"):
            read_csv(packed)
    with pytest.raises(FormatError, match="is not a Parquet file"):
        read_parquet(latin)


def test_unknown_options(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("text,label\nit purrs,cat\n")
    message = r"no option 'path_separator' for a table\. Did you mean 'path_sep'"
    with pytest.raises(TypeError, match=message):
        read(path, label="label", path_separator="/")


def test_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"has an unknown suffix; the known ones are \.csv"):
        read(tmp_path / "a.docx")


def test_every_bad_row_is_listed_and_can_be_skipped(tmp_path: Path, caplog) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,b\ny\nz,\n", encoding="utf-8")
    with pytest.raises(FormatError, match="2 of 3 rows cannot be used") as caught:
        read(path, strict=True)
    assert "line 3: 1 cells" in str(caught.value)
    assert "line 4: no label in 'labels'" in str(caught.value)
    assert "skip_bad=True" in str(caught.value)
    assert read(path, skip_bad=True, strict=True).texts == ["x"]
    assert "These rows are skipped." in caplog.text


def test_rows_without_a_label_are_skipped_with_a_warning(tmp_path: Path, caplog) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("id,text,labels\n1,ü,b\n2,y,\n3,z,b\n".encode("cp1252"))
    assert read(path).texts == ["ü", "z"]
    assert caplog.messages == [
        f"{path} is not UTF-8; it is read as cp1252.",
        f"{path}: 1 of 3 rows has no label and is skipped: line 3.",
    ]
    corpus = read(path, empty_is_none=True)
    assert corpus.labels == [("b",), (), ("b",)]


def test_levels_make_a_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,one,two\nx,A,other\ny,B,other\nz,A,\n", encoding="utf-8")
    corpus = read(path, label=["one", "two"])
    assert corpus.labels == [("A > other",), ("B > other",), ("A",)]
    assert corpus.taxonomy == Taxonomy.from_paths(["A > other", "B > other"])
    assert read(path, labels="one,two").labels == corpus.labels
    known = Taxonomy.from_edges([("A", "a1"), ("B", "b1")], {"a1": "other", "b1": "other"})
    assert read(path, known, label=["one", "two"]).labels == [("a1",), ("b1",), ("A",)]


def test_prefixes_of_codes_make_a_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,111\ny,1119\nz,21\n", encoding="utf-8")
    corpus = read(path, code_prefixes=[2, 3, 4])
    assert corpus.labels == [("111",), ("1119",), ("21",)]
    assert corpus.taxonomy == Taxonomy.from_edges([("11", "111"), ("111", "1119")], nodes=["21"])


@pytest.mark.parametrize("name", ["a.xlsx", "a.json", "a.zip"])
def test_other_tables_read_the_same_as_jsonl(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.xlsx":
        pytest.importorskip("python_calamine")
        cells = [[*row.values()] for row in ROWS]
        for row in cells:
            row[3] = ";".join(row[3])
        write_workbook(path, rows=[list(ROWS[0]), *cells])
    elif name == "a.json":
        path.write_text(json.dumps(ROWS), encoding="utf-8")
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(write_csv(tmp_path / "b.csv"), "b.csv")
    table = read(path, TAXONOMY, label_sep=";")
    lines = read(write_jsonl(tmp_path / "a.jsonl", ROWS), TAXONOMY)
    assert (table.texts, table.labels, table.ids) == (lines.texts, lines.labels, lines.ids)


@pytest.mark.parametrize(
    "content",
    [
        "text;labels\nx;b\n",
        "text|labels\nx|b\n",
        'text,labels\nx,"[""b""]"\n',
        "\n\n text , labels \nx,b\n",
    ],
)
def test_csv_means_the_same_as_on_the_command_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    corpus = read(path)
    assert (corpus.texts, corpus.labels) == (["x"], [("b",)])


def test_other_encodings_and_delimiters(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("text:labels\nå:b\n".encode("cp1252"))
    assert read(path, encoding="cp1252", delimiter=":").texts == ["å"]


def test_columns_with_commas_between_them(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)
    assert read(path, text="title,text").texts == read(path, text=("title", "text")).texts


def test_a_text_column_may_be_missing_where_another_has_text(tmp_path: Path) -> None:
    rows = [
        {"title": "x", "text": "y", "labels": "b"},
        {"title": "z", "text": None, "labels": "b"},
        {"title": "z", "labels": "b"},
    ]
    corpus = read(write_jsonl(tmp_path / "a.jsonl", rows), text=("title", "text"))
    assert corpus.texts == ["x\ny", "z", "z"]


def test_paths_are_labels_and_make_a_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,a > b\ny,a/c\n", encoding="utf-8")
    assert read(path, TAXONOMY, path_sep="/", skip_bad=True).labels[1] == ("c",)
    path.write_text("text,labels\nx,a > b\ny,a > c\n", encoding="utf-8")
    corpus = read(path)
    assert corpus.labels == [("b",), ("c",)]
    assert corpus.taxonomy == Taxonomy.from_paths(["a > b", "a > c"])
    assert read(path, TAXONOMY).labels == corpus.labels
    named = Taxonomy.flat(["a > b", "a > c"])
    assert read(path, named).labels == [("a > b",), ("a > c",)]
    with pytest.raises(LabelError, match="'a > c'"):
        read(path, Taxonomy.from_paths(["a > b"]))


def test_numbers_are_ids_without_decimals(tmp_path: Path) -> None:
    rows = [{"text": "x", "labels": [1.0, 2], "id": 7.0}]
    corpus = read(write_jsonl(tmp_path / "a.jsonl", rows))
    assert (corpus.labels, corpus.ids) == ([("1", "2")], ["7"])


def test_a_named_column_of_ids_has_to_be_there(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "x", "labels": "b"}])
    assert read(path).ids is None
    with pytest.raises(FormatError, match="no column 'id'"):
        read(path, id="id")
