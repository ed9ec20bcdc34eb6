import gzip
import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomist.datasets import row_lines
from taxonomist.datasets.rows import open_table
from taxonomist.datasets.table_file import TableSource
from taxonomist.datasets.table_formats import FORMATS
from taxonomist.errors import FormatError


def read(path, **options):
    with open_table(TableSource(str(path), **options)) as table:
        return table.columns, list(table.rows)


def written(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def values(rows):
    return [dict(row.values) for row in rows]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"))


@given(rows=st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1))
def test_what_the_csv_module_writes_is_read_back(tmp_path_factory, rows):
    import csv

    path = tmp_path_factory.mktemp("rows") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("a", "b", "c"), *rows])
    columns, found = read(path)
    assert columns == ("a", "b", "c")
    assert [tuple(row.values.values()) for row in found] == rows
    # Each row begins where as many lines end before it as the text says.
    text, lines = path.read_bytes().decode(), [row.line for row in found]
    assert lines[0] == 2
    assert lines == sorted(set(lines))
    assert lines[-1] <= len(text.splitlines()) + 1


def test_lines_are_those_where_rows_begin(tmp_path):
    path = written(tmp_path, '\n\na,b\n1,"two\nlines"\n\n3,4\n')
    columns, rows = read(path)
    assert columns == ("a", "b")
    assert [row.line for row in rows] == [4, 7]
    assert values(rows) == [{"a": "1", "b": "two\nlines"}, {"a": "3", "b": "4"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "x,y\n1,2\n"),
        ("a.csv", "x;y\n1;2\n"),
        ("a.csv", "\ufeffx,y\r\n1,2\r\n"),
        ("a.csv", '"x","y"\n"1","2"'),
        ("a.csv", "x|y\n1|2\n"),
        ("a.CSV", " x , y \n1,2\n"),
        ("a.tsv", "x\ty\n1\t2\n"),
        ("a.tab", "x\ty\n1\t2\n"),
        ("a.jsonl", '{"x": "1", "y": "2"}\n'),
        ("a.ndjson", '\n{"x": "1", "y": "2"}'),
        ("a.jsonl", '\ufeff{"x": "1", "y": "2"}\n'),
        ("unnamed", "x,y\n1,2\n"),
        ("unnamed", "x\ty\n1\t2\n"),
        ("unnamed", '{"x": "1", "y": "2"}\n'),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_is_read_and_told_apart(tmp_path, name, content, packed):
    data = content.encode()
    path = written(tmp_path, gzip.compress(data) if packed else data, name)
    columns, rows = read(path)
    assert columns == ("x", "y")
    assert values(rows) == [{"x": "1", "y": "2"}]


def test_a_compressed_file_is_known_by_its_first_bytes_and_its_inner_suffix(tmp_path):
    path = written(tmp_path, gzip.compress(b"x,z\ty\n1,0\t2\n"), "a.tsv.gz")
    assert values(read(path)[1]) == [{"x,z": "1,0", "y": "2"}]


def test_the_delimiter_is_looked_for_outside_quotes(tmp_path):
    path = written(tmp_path, '"a,b,c,d";e\n1;2\n')
    assert read(path)[0] == ("a,b,c,d", "e")


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("Price, net, in EUR;Group\n1,5;A\n", ("Price, net, in EUR", "Group")),
        ("Text;Group, part\nx;A\ny;B\n", ("Text", "Group, part")),
        ("a|b,c\n1,2|3\n", ("a|b", "c")),
        # Quotes may hold lines, and rows that do not fit do not decide alone.
        ('a, b;c\n"one;\ntwo";1\n1;2;3\n4;5\n', ("a, b", "c")),
        ("a, b;c\n", ("a", "b;c")),
    ],
)
def test_the_first_rows_decide_between_delimiters_in_names_of_columns(tmp_path, content, columns):
    assert read(written(tmp_path, content))[0] == columns


def test_long_files_have_their_delimiter_found_without_losing_a_row(tmp_path):
    path = written(tmp_path, "x, y;z\n" + "".join(f"{k};{k}\n" for k in range(100)))
    assert [row.values["z"] for row in read(path)[1]] == [str(k) for k in range(100)]


def test_spaces_before_quotes(tmp_path):
    path = written(tmp_path, '"x", "y"\n1, "a, b"\n"2","c ""d"""\n')
    columns, rows = read(path)
    assert columns == ("x", "y")
    assert values(rows) == [{"x": "1", "y": "a, b"}, {"x": "2", "y": 'c "d"'}]


def test_empty_cells_beyond_the_header_do_not_matter(tmp_path):
    path = written(tmp_path, "x,y\n1,2,,\n3,4,\n5,6\n7,8,, \n")
    assert values(read(path)[1])[:3] == [
        {"x": "1", "y": "2"},
        {"x": "3", "y": "4"},
        {"x": "5", "y": "6"},
    ]
    assert read(path)[1][3].fault == "4 cells, but the header has 2"


def test_a_format_that_is_asked_for_beats_the_suffix(tmp_path):
    path = written(tmp_path, '{"x": 1}\n', "a.csv")
    assert values(read(path, format="jsonl")[1]) == [{"x": 1}]
    with pytest.raises(FormatError, match="Unknown format 'jsnl'.*Did you mean 'jsonl'"):
        read(path, format="jsnl")


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    table = pyarrow.table({"x": ["a", None] * 2500, "y": [["u", "v"], []] * 2500})
    parquet.write_table(table, path)
    columns, rows = read(path)
    assert columns == ("x", "y")
    assert [row.line for row in rows] == list(range(1, 5001))
    assert values(rows[:2]) == [{"x": "a", "y": ["u", "v"]}, {"x": None, "y": []}]
    packed = written(tmp_path, gzip.compress(path.read_bytes()), "a.parquet.gz")
    assert read(packed) == (columns, rows)
    unnamed = written(tmp_path, path.read_bytes(), "unnamed")
    assert read(unnamed) == (columns, rows)


def test_a_file_that_is_no_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(FormatError, match="is not a Parquet file"):
        read(written(tmp_path, b"x,y\n1,2\n", "a.parquet"))


class Pipe(io.RawIOBase):
    """Bytes that come once, a few at a time."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        part = self._data.read(min(100, len(buffer)))
        buffer[: len(part)] = part
        return len(part)


def test_standard_input_stays_open(monkeypatch):
    for data in (b"x,y\n1,2\n", gzip.compress(b"x,y\n1,2\n")):
        stdin = io.TextIOWrapper(io.BufferedReader(Pipe(data)))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert values(read("-")[1]) == [{"x": "1", "y": "2"}]
        assert not stdin.closed
        assert not stdin.buffer.closed


def test_parquet_from_a_pipe(monkeypatch, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": ["1"]}), tmp_path / "a")
    pipe = Pipe((tmp_path / "a").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(pipe)))
    assert values(read("-")[1]) == [{"x": "1"}]


def test_rows_of_another_length_are_faults(tmp_path):
    _, rows = read(written(tmp_path, "a,b\n1\n1,2,3\n1,2\n"))
    assert [row.fault for row in rows] == [
        "1 cells, but the header has 2",
        "3 cells, but the header has 2",
        "",
    ]


def test_lines_that_are_no_objects_are_faults(tmp_path):
    _, rows = read(written(tmp_path, '{"x": 1}\n{"x": \n[1]\n{"x": 2}\n', "a.jsonl"))
    assert [row.line for row in rows if not row.fault] == [1, 4]
    assert rows[1].fault.startswith("not JSON (")
    assert rows[2].fault == "not a JSON object but list"


def test_columns_that_the_first_lines_leave_out(tmp_path):
    lines = [{"x": 1}, {"y": 2}, {"x": 3, "z": 4}]
    path = written(tmp_path, "".join(json.dumps(line) + "\n" for line in lines), "a.jsonl")
    columns, rows = read(path)
    assert columns == ("x", "y", "z")
    assert values(rows) == lines


def test_long_cells(tmp_path):
    cell = "word " * 100_000
    assert values(read(written(tmp_path, f'x\n"{cell}"\n'))[1]) == [{"x": cell}]


def test_rows_are_read_as_they_are_asked_for(tmp_path):
    path = written(tmp_path, b"x\n" + "é\n".encode() * 50_000 + b"\xff\n")
    with open_table(TableSource(str(path))) as table:
        assert next(table.rows).line == 2
        with pytest.raises(FormatError, match=r"after line \d+: the text is not valid utf-8"):
            list(table.rows)


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(tmp_path, content):
    with pytest.raises(FormatError, match="is empty"):
        read(written(tmp_path, content))


def test_other_encodings(tmp_path):
    for encoding in ("cp1252", "utf-16", "utf-8"):
        path = written(tmp_path, "x,y\nGröße,2\n".encode(encoding))
        assert values(read(path, encoding=encoding)[1]) == [{"x": "Größe", "y": "2"}]
    with pytest.raises(FormatError, match="looks like utf-16. Specify its encoding"):
        read(written(tmp_path, "x,y\nGröße,2\n".encode("utf-16")), encoding="utf-8")
    with pytest.raises(FormatError, match="not valid utf-8.*such as cp1252"):
        read(written(tmp_path, "x,y\nGröße,2\n".encode("cp1252")), encoding="utf-8")
    with pytest.raises(FormatError, match="unknown encoding: klingon"):
        read(path, encoding="klingon")
    with pytest.raises(FormatError, match="not a text encoding"):
        read(path, encoding="hex")


@pytest.mark.parametrize("broken", ['"1,2', '"a"b,2', '5,"a\nb"c'])
@pytest.mark.parametrize("after", ["", '7,"x, y"\n8,9\n', '"two\nlines",9\n'])
def test_quotes_that_do_not_fit_spoil_their_line_only(tmp_path, broken, after):
    _, rows = read(written(tmp_path, f'x,y\n3,4\n"5",6\n{broken}\n{after}'))
    bad = rows[2]
    assert (bad.line, bad.fault[:17]) == (4, "unbalanced quotes")
    assert values(rows[:2]) == [{"x": "3", "y": "4"}, {"x": "5", "y": "6"}]
    # The second line of a broken row is a row of its own, which has too few cells.
    n_before = 4 + broken.count("\n")
    short = [row.fault for row in rows[3:] if row.line <= n_before]
    assert short == ["1 cells, but the header has 2"] * (n_before - 4)
    good = read(written(tmp_path, f"x,y\n{after}", "good.csv"))[1]
    found = [row for row in rows[3:] if row.line > n_before]
    assert values(found) == values(good)
    assert [row.line - n_before for row in found] == [row.line - 1 for row in good]


def test_quotes_between_tabs_may_stand_as_they_are(tmp_path):
    lines = ['1\t"Moduli" of curves\ta', '2\t"open\tb', '3\t"x\ty"\tc', '4\t"half" x', "5\td\te"]
    _, rows = read(written(tmp_path, "id\ttext\tlabel\n" + "\r\n".join(lines), "a.tsv"))
    assert [row.values.get("text") for row in rows] == [
        '"Moduli" of curves',
        '"open',
        "x\ty",
        None,
        "d",
    ]
    assert [row.line for row in rows if row.fault] == [5]
    assert rows[3].fault.startswith("unbalanced quotes")


def test_a_quote_that_is_never_closed_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(row_lines, "LARGEST_ROW", 1000)
    lines = [f"{k},{k}\n" for k in range(1000)]
    lines[100] = '100,"100\n'
    _, rows = read(written(tmp_path, "x,y\n" + "".join(lines)))
    assert [row.line for row in rows] == list(range(2, 1002))
    assert [row.line for row in rows if row.fault] == [102]
    assert rows[100].fault == (
        "unbalanced quotes (more than 1,000 characters). Double the quotes inside a cell."
    )
    with pytest.raises(FormatError, match="line 1: unbalanced quotes"):
        read(written(tmp_path, '"x,y\n1,2\n'))


def test_a_damaged_gzip_file(tmp_path):
    whole = gzip.compress(b"x,y\n" + b"".join(b"%d,2\n" % i for i in range(5000)))
    with pytest.raises(FormatError, match="not a complete gzip file"):
        read(written(tmp_path, whole[:-200]))


def test_a_missing_file():
    with pytest.raises(FileNotFoundError):
        read("nowhere.csv")


def test_columns_are_found_or_the_nearest_is_named(tmp_path):
    path = written(tmp_path, "title,abstract,code,code\n")
    with open_table(TableSource(str(path))) as table:
        assert table.column("title") == "title"
        with pytest.raises(FormatError, match="no column 'abstrct'.*Did you mean 'abstract'"):
            table.column("abstrct")
        with pytest.raises(FormatError, match="two columns named 'code'"):
            table.column("code")


def test_a_file_that_only_its_name_calls_compressed(tmp_path):
    with pytest.raises(FormatError, match="not a complete gzip file"):
        read(written(tmp_path, b"x,y\n1,2\n", "a.csv.gz"))


def test_a_suffix_names_one_format():
    suffixes = [suffix for known in FORMATS.values() for suffix in known.suffixes]
    assert len(set(suffixes)) == len(suffixes)


def test_a_damaged_parquet_file(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"x": [f"word{k}" for k in range(5000)]}), path)
    data = bytearray(path.read_bytes())
    data[8:2000] = bytes(1992)
    with pytest.raises((FormatError, OSError)):
        read(written(tmp_path, bytes(data), "a.parquet"))
