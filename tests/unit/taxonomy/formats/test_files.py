"""Files of any format: suffixes, compression, encodings, and writing whole or not at all."""

from __future__ import annotations

import gzip
import os

import pytest

from taxonomist.errors import FormatError, TaxonomyError, TaxonomyWarning
from taxonomist.taxonomy import Taxonomy, formats

PAIR = Taxonomy([("a", "b")], names={"b": "Ä"})
TEXT = "parent,child,name\na,b,Ä\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", TEXT.encode()),
        ("t.CSV", TEXT.encode("utf-8-sig")),
        ("t.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("T.CSV.GZ", gzip.compress(TEXT.encode(), mtime=0)),
        ("t.csv", gzip.compress(TEXT.encode(), mtime=0)),
        ("t.csv.gz", TEXT.encode()),
        ("t.txt", TEXT.encode()),
    ],
    ids=[
        "plain",
        "byte order mark",
        "gzip",
        "upper case",
        "gzip without suffix",
        "suffix without gzip",
        "txt",
    ],
)
def test_bytes(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    assert formats.read(path) == formats.read(str(path)) == PAIR


def test_format_beside_suffix(tmp_path):
    path = tmp_path / "t.data"
    formats.write(PAIR, path, format="json")
    assert formats.read(path, format="json") == PAIR


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf \n", "the file is empty"),
        (b"parent,child\na,\xc3\xa4\xc3\xb6\na,\xe4\n", "line 3: the text is not UTF-8"),
        (b"\x1f\x8b not gzip", "the compressed file is damaged"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-9], "the compressed file is damaged"),
        (b"parent,child\na,\n", "line 2: the child is empty"),
    ],
)
def test_mistakes_name_the_file(tmp_path, data, sentence):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=f"t.csv: {sentence}"):
        formats.read(path)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("format", ["csv", "levels"])
def test_tables_in_other_encodings(tmp_path, encoding, format):
    path = tmp_path / "t.csv"
    path.write_bytes("parent,child\nKüche,Töpfe\n".encode(encoding))
    with pytest.warns(TaxonomyWarning, match=f"t.csv is not UTF-8; it is read as {encoding}"):
        assert formats.read(path, format) == Taxonomy([("Küche", "Töpfe")])


def test_other_formats_are_utf_8(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes('{"id": "Küche"}'.encode("cp1252"))
    with pytest.raises(FormatError, match="line 1: the text is not UTF-8"):
        formats.read(path)


def test_cycles_name_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("parent,child\na,b\nb,c\nc,b\n")
    with pytest.raises(TaxonomyError, match=r"t.csv: .*cycle: '.' -> '.' -> '.'\."):
        formats.read(path)


def test_unknown_formats(tmp_path):
    with pytest.raises(FormatError, match=r"no format has the suffix '.xls'; pass format=: csv, l"):
        formats.read(tmp_path / "t.xls")
    with pytest.raises(FormatError, match=r" is a folder\. Pass a file\."):
        formats.read(tmp_path)
    with pytest.raises(FormatError, match="Unknown format 'level'.*Did you mean 'levels'"):
        formats.write(PAIR, tmp_path / "t.csv", format="level")
    with pytest.raises(FileNotFoundError):
        formats.read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "taxonomy", "sentence"),
    [
        ("t.obo", Taxonomy([("a", "b\rc")]), "t.obo: OBO cannot hold"),
        ("t.csv", Taxonomy([("a", "\ud800")]), "t.csv: .*surrogates"),
    ],
)
def test_refused_taxonomy_leaves_the_old_file(tmp_path, name, taxonomy, sentence):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(FormatError, match=sentence):
        formats.write(taxonomy, path)
    assert path.read_text() == "old"


def test_failed_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def fail(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        formats.write(PAIR, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_stay_links(tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    formats.write(PAIR, link)
    assert link.is_symlink()
    assert formats.read(target) == PAIR
