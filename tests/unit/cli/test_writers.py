import csv
import gzip
import io
import json
import sys

import pytest

from taxonomist.cli.writers import format_of, json_lines, open_output, table_rows
from taxonomist.errors import FormatError


def test_formats_to_write(tmp_path):
    assert format_of(None, None) == "csv"
    assert format_of(tmp_path / "A.TSV.gz", None) == "tsv"
    assert format_of(tmp_path / "a.ndjson", None) == "jsonl"
    assert format_of(tmp_path / "a.csv", "jsonl") == "jsonl"
    with pytest.raises(FormatError, match="cannot tell the format from the suffix"):
        format_of(tmp_path / "a.xls", None)
    with pytest.raises(FormatError, match="--to must be one of csv, tsv, jsonl. Got 'xls'"):
        format_of(None, "xls")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_file_is_complete_or_not_there(tmp_path, name):
    path = tmp_path / name

    def interrupted():
        with open_output(path) as stream:
            stream.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())
    path.write_text("old")
    with open_output(path) as stream:
        stream.write("né\n")
        assert path.read_text() == "old"
    data = path.read_bytes()
    assert (gzip.decompress(data) if name.endswith("gz") else data).decode() == "né\n"
    assert list(tmp_path.iterdir()) == [path]


def test_output_to_a_pipe_and_to_what_is_no_file(capsys, tmp_path):
    with open_output(None) as stream:
        stream.write("x")
    assert capsys.readouterr().out == "x"
    if sys.platform != "win32":
        from pathlib import Path

        with open_output(Path("/dev/null")) as stream:
            stream.write("x")


def test_rows_and_lines():
    stream = io.StringIO()
    write = table_rows(stream, "tsv")
    write(["a", 'b "c"\td'])
    assert next(csv.reader(io.StringIO(stream.getvalue()), delimiter="\t")) == ["a", 'b "c"\td']
    stream = io.StringIO()
    write = json_lines(stream)
    write({"a": "né\n"})
    write({})
    assert stream.getvalue() == '{"a": "né\\n"}\n{}\n'


def test_halves_of_characters_are_escaped_and_stay_distinct(tmp_path):
    with open_output(tmp_path / "a.csv") as stream:
        stream.write("a\ud800b")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == r"a\ud800b"
    with open_output(tmp_path / "a.jsonl") as stream:
        json_lines(stream)({"id": "a\ud800b"})
    assert json.loads((tmp_path / "a.jsonl").read_bytes()) == {"id": "a\ud800b"}
