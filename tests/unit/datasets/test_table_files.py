"""Tables as people have them: workbooks, JSON lists, archives, any encoding, addresses."""

import gzip
import io
import json
import sys
import zipfile
from contextlib import suppress
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from taxonomist import datasets
from taxonomist._encodings import CHUNK_BYTES, AsUTF8
from taxonomist.datasets import json_rows
from taxonomist.datasets.rows import open_table
from taxonomist.datasets.table_file import TableSource
from taxonomist.errors import FormatError, MissingExtraError
from taxonomist.taxonomy import Taxonomy
from tests.unit.datasets.workbooks import write_workbook


def read(path, **options):
    """Return the lines, the values and the notes of a table."""
    with open_table(TableSource(str(path), **options)) as table:
        rows = list(table.rows)
        return [row.line for row in rows], [dict(row.values) for row in rows], list(table.notes)


# Encodings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("cp1252", "cp1252"),
        ("latin-1", "cp1252"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encodings_are_found_and_said(tmp_path, encoding, found, pack):
    path = tmp_path / "data.csv"
    path.write_bytes(pack("Größe;Straße\nfünf;süß\n".encode(encoding)))
    _, values, notes = read(path)
    assert values == [{"Größe": "fünf", "Straße": "süß"}]
    assert notes == ([] if found is None else [f"{path} is not UTF-8; it is read as {found}."])


def test_a_letter_far_into_the_file_decides(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"x\n" + b"plain\n" * 50_000 + "Größe – 5 €\n".encode("cp1252") * 3)
    _, values, notes = read(path)
    assert values[-1] == {"x": "Größe – 5 €"}
    assert len(values) == 50_003
    assert notes == [f"{path} is not UTF-8; it is read as cp1252."]


def test_bytes_that_cp1252_lacks_are_latin_1(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"x\nGr\xf6\xdfe\x81\n")
    assert read(path)[1:] == (
        [{"x": "Größe\x81"}],
        [f"{path} is not UTF-8; it is read as latin-1."],
    )


def test_damaged_utf_8_is_not_taken_for_something_else(tmp_path):
    path = tmp_path / "data.csv"
    for content in ("é\n" * 50_000).encode() + b"\xff\n", b"\xff\n" + "é\n".encode() * 5:
        path.write_bytes(b"x\n" + content)
        with pytest.raises(FormatError, match="the text is not valid utf-8.*such as cp1252"):
            read(path)


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    before=st.integers(CHUNK_BYTES - 4, CHUNK_BYTES + 1),
    n_read=st.sampled_from([1, 7, CHUNK_BYTES]),
)
def test_utf_8_passes_unchanged_wherever_a_chunk_ends(text, before, n_read):
    data = b"-" * before + text.encode()
    found = []
    stream = AsUTF8(io.BufferedReader(io.BytesIO(data)), found.append)
    assert b"".join(iter(lambda: stream.read(n_read), b"")) == data
    assert not found


@given(text=st.text(st.sampled_from("aüßé €–,\n"), max_size=60))
def test_cp1252_is_read_as_python_decodes_it(text):
    data = b"\xfcx" + text.encode("cp1252")
    # Two bytes such as those of "ß–" are also UTF-8; a file with many of them may be damaged UTF-8.
    assume(data.decode("utf-8", "ignore").isascii())
    found = []
    stream = AsUTF8(io.BufferedReader(io.BytesIO(data)), found.append)
    assert stream.readall().decode() == data.decode("cp1252")
    assert found == ["cp1252"]


def test_a_stray_zero_byte_does_not_make_a_text_utf_16(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\nx\0,2\n" + b"more,3\n" * 500)
    assert read(path)[1][:2] == [{"a": "x\0", "b": "2"}, {"a": "more", "b": "3"}]
    path.write_bytes(("text,label\n" + ("\u6c34" * 200 + ",a\n") * 40).encode("utf-16-le"))
    assert read(path)[1][0] == {"text": "\u6c34" * 200, "label": "a"}


def test_a_line_that_tells_excel_the_delimiter(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("sep=;\r\na,b;c\r\n1,5;2\r\n")
    assert read(path)[:2] == ([3], [{"a,b": "1,5", "c": "2"}])


# JSON --------------------------------------------------------------------------------------------

OBJECTS = [{"text": f"document {k} [é]", "labels": ["a", "b"], "n": k} for k in range(300)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "unnamed"])
def test_a_json_list(tmp_path, name, indent, monkeypatch):
    monkeypatch.setattr(json_rows, "CHUNK_CHARACTERS", 37)
    path = tmp_path / name
    path.write_text("\n\n" + json.dumps(OBJECTS, indent=indent, ensure_ascii=False), "utf-8")
    lines, values, _ = read(path)
    assert values == OBJECTS
    if indent is None:
        assert lines == list(range(1, len(OBJECTS) + 1))
        return
    text = path.read_text("utf-8").splitlines()
    assert all("{" in text[line - 1] for line in lines)


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"count": 2, "results": [{"text": "a"}]}, "'results'"),
        ({"text": {"0": "a"}, "labels": {"0": "b"}}, "'text' and 'labels'"),
        ({"columns": ["text"], "index": [0], "data": [["a"]]}, "'data'"),
    ],
)
def test_rows_inside_an_object(tmp_path, value, places):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    with pytest.raises(FormatError, match=f"a single object, which holds the rows in {places}[.]"):
        read(path)


def test_a_single_row_may_hold_objects(tmp_path):
    row = {"text": "a", "more": {"by": "b"}, "parts": [{"n": 1}]}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row))
    assert read(path)[1] == [row]


def test_json_lists_in_utf_16(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(OBJECTS), "utf-16")
    assert read(path)[1] == OBJECTS


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('[{"x": 1},\n{"x": 2', "line 2: not JSON"),
        ('[{"x": 1},\n', "line 2: the list does not end"),
        ("[]", "line 1: there are no values. Expected one object"),
        ('{\n  "rows": [1]\n}', "line 1: not JSON .* or a list of objects"),
        ("[1, 2]", "not a JSON object but int"),
    ],
)
def test_json_that_is_no_table(tmp_path, content, fault):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=fault):
        read(path)


# Archives ----------------------------------------------------------------------------------------


def packed(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__dot__", "."), content)
    return path


def test_a_zipped_table(tmp_path, monkeypatch):
    path = packed(tmp_path / "a.zip", **{"folder/data.tsv": "x,1\ty\n1\t2\n", "__MACOSX/._d": "?"})
    assert read(path)[1] == [{"x,1": "1", "y": "2"}]
    stdin = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read("-")[1] == [{"x,1": "1", "y": "2"}]
    cp1252 = packed(tmp_path / "b.csv.zip", **{"data.csv": "x\nGröße\n".encode("cp1252")})
    assert read(cp1252)[1] == [{"x": "Größe"}]


def test_an_archive_with_no_table_or_two(tmp_path):
    with pytest.raises(FormatError, match="exactly one table, but holds 2 files: 'a.csv', 'b.csv'"):
        read(packed(tmp_path / "a.zip", **{"a.csv": "x\n1\n", "b.csv": "x\n1\n"}))
    with pytest.raises(FormatError, match="holds 0 files. Unpack it"):
        read(packed(tmp_path / "a.zip"))
    path = packed(tmp_path / "a.zip", **{"a.csv": "x\n1\n" * 5000})
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(FormatError, match="not a complete zip file"):
        read(path)


# Workbooks ---------------------------------------------------------------------------------------

ROWS = [
    [],
    ["Nr", "Größe", "Preis"],
    [1, "fünf & <sechs>", 2.5],
    [],
    [2.0, "", "1,5"],
]


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv", "unnamed"])
def test_a_workbook(tmp_path, name):
    pytest.importorskip("python_calamine")
    path = write_workbook(tmp_path / name, Artikel=ROWS)
    lines, values, notes = read(path)
    assert lines == [3, 5]
    assert values == [
        {"Nr": 1.0, "Größe": "fünf & <sechs>", "Preis": 2.5},
        {"Nr": 2.0, "Größe": "", "Preis": "1,5"},
    ]
    assert not notes


def test_merged_cells_hold_for_all_their_rows(tmp_path):
    pytest.importorskip("python_calamine")
    rows = [["level1", "level2", "text"], ["Garden", "Rakes", "a"], ["", "", "b"], [""] * 3]
    rows += [["", "Spades", "c"], ["", "", "d"], ["Kitchen", "", "e"]]
    # One range spans an empty row, one goes to the right only, one begins in the header, and one is
    # beside the table, which begins in column B.
    merged = ["B2:B6", "C2:C3", "B7:C7", "D1:D2", "F2:F3"]
    path = write_workbook(tmp_path / "a.xlsx", merged, goods=[["", *row] for row in rows])
    lines, values, _ = read(path)
    assert lines == [2, 3, 5, 6, 7]
    assert [tuple(row.values()) for row in values] == [
        ("Garden", "Rakes", "a"),
        ("Garden", "Rakes", "b"),
        ("Garden", "Spades", "c"),
        ("Garden", "", "d"),
        ("Kitchen", "", "e"),
    ]


def test_the_first_sheet_or_the_one_that_is_named(tmp_path):
    pytest.importorskip("python_calamine")
    path = write_workbook(tmp_path / "a.xlsx", one=[["x"], ["1"]], two=[["y"], ["2"]], three=[])
    assert read(path)[1:] == (
        [{"x": "1"}],
        [f"{path} has 3 sheets; the first one, 'one', is read."],
    )
    assert read(path, sheet="two")[1:] == ([{"y": "2"}], [])
    with pytest.raises(FormatError, match="no sheet 'tow'; its sheets are.*Did you mean 'two'"):
        read(path, sheet="tow")
    with pytest.raises(FormatError, match="the sheet 'three' is empty"):
        read(path, sheet="three")


def test_a_sheet_of_a_file_that_has_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    with pytest.raises(FormatError, match="is not a workbook, so it has no sheet 'two'"):
        read(path, sheet="two")


def test_a_workbook_from_a_pipe(tmp_path, monkeypatch):
    pytest.importorskip("python_calamine")
    path = write_workbook(tmp_path / "a.xlsx", one=[["x"], ["1"]])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert read("-")[1] == [{"x": "1"}]


def test_a_file_that_is_no_workbook(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "a.xlsx"
    for content in b"x,y\n1,2\n", b"\xd0\xcf\x11\xe0" + bytes(600):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"a\.xlsx is not a workbook that can be read"):
            read(path)


def test_a_workbook_without_the_extra_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = write_workbook(tmp_path / "a.xlsx", one=[["x"], ["1"]])
    with pytest.raises(MissingExtraError, match=r"pip install 'taxonomist\[io\]'.*as CSV"):
        read(path)


# Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["https://example.org/a.csv", "HTTP://example.org/a"])
def test_addresses_are_refused(address):
    for reading in (read, datasets.read, Taxonomy.read):
        # A ``Path`` has only one of the two slashes.
        for path in (address, address.replace("//", "/")):
            with pytest.raises(FormatError, match=f"^{address} is an address, but only files are"):
                reading(path)


def test_a_title_above_the_names_of_the_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Export,,\nid,text,label\n1,a,b\n")
    with pytest.raises(FormatError, match="'labels'; its.*The first line must contain the names"):
        datasets.read(path)


def test_columns_without_a_name_do_not_look_like_a_title(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text,text,label,,\n1,a,b,c,,\n")
    with pytest.raises(FormatError, match="columns are 'id', 'text', 'text', 'label'[.]$"):
        datasets.read(path, label="zz")
    with pytest.raises(FormatError, match="Did you mean 'text'[?]$"):
        datasets.read(path, text="text2", label="label")


def test_columns_are_found_in_any_spelling(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Gro\u0308ße\n1\n", "utf-8")
    with open_table(TableSource(str(path))) as table:
        assert table.column("Gro\u0308ße") == table.column("Größe") == "Größe"
        assert next(table.rows).values == {"Größe": "1"}
    path = tmp_path / "a.jsonl"
    path.write_text('{"Gro\u0308ße": 1}\n', "utf-8")
    assert read(path)[1] == [{"Größe": 1}]


# Damage ------------------------------------------------------------------------------------------


def damaged(data, n_copies):
    """Yield copies of some bytes with a few of them changed, or the last ones missing."""
    random = Random(0)
    for k in range(n_copies):
        copy = bytearray(data)
        for _ in range(random.randint(1, 6)):
            copy[random.randrange(4, len(copy))] = random.randrange(256)
        yield bytes(copy[: random.randrange(4, len(copy))] if k % 5 == 0 else copy)


@pytest.mark.parametrize("kind", ["xlsx", "zip", "json", "gz"])
def test_damaged_files_are_read_or_refused(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "xlsx":
        pytest.importorskip("python_calamine")
        write_workbook(path, A=[["x", "y"], *[[f"é{k}", k] for k in range(20)]])
    elif kind == "zip":
        packed(path, **{"a.csv": "x,y\n" + "".join(f"é{k},{k}\n" for k in range(200))})
    elif kind == "json":
        path.write_text(json.dumps([{"x": f"é{k}"} for k in range(20)]), "utf-16")
    else:
        path.write_bytes(gzip.compress("".join(f"é{k},{k}\n" for k in range(200)).encode()))
    for copy in damaged(path.read_bytes(), 400):
        path.write_bytes(copy)
        with suppress(FormatError):
            read(path)
