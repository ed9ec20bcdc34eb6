from __future__ import annotations

import gzip
import json

import pytest

from taxonomist.datasets import conversions
from taxonomist.datasets.named import BUNDLED
from taxonomist.errors import FormatError
from tests.unit.datasets import archives


@pytest.fixture
def saved(tmp_path):
    """Return a function that writes files, each with its bytes, and returns their paths."""

    def save(files):
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
        return [tmp_path / name for name in files]

    return save


def rows(folder):
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def with_taxonomy(folder, name):
    for path in (BUNDLED / name).iterdir():
        (folder / path.name).write_bytes(path.read_bytes())


def test_newsgroups(saved, tmp_path):
    n_items = conversions.newsgroups(
        saved({"a.tar.gz": archives.tar_gz(archives.NEWSGROUPS)}), tmp_path
    )
    found = rows(tmp_path)
    assert n_items == len(found) == 4
    ids = ["alt.atheism/7", "sci.med/99", "sci.med/200", "talk.religion.misc/8"]
    assert [row["id"] for row in found] == ids
    assert [row["group"] for row in found] == [item.partition("/")[0] for item in ids]
    assert [row["bydate"] for row in found] == ["test", "train", "train", "test"]
    assert [row["subject"] for row in found] == ["x", "A  cure", "Old stories", ""]
    assert [row["body"] for row in found] == [
        "One\nTwo\n",
        "Take water.\n",
        "Café\n\nTwo",
        "no subject: here",
    ]
    assert found[0]["headers"] == "From: c\nSubject: x"


def test_reuters(saved, tmp_path):
    with_taxonomy(tmp_path, "reuters21578")
    n_items = conversions.reuters(saved({"a.tar.gz": archives.tar_gz(archives.REUTERS)}), tmp_path)
    assert n_items == 3
    assert rows(tmp_path) == [
        {
            "id": "2",
            "split": "train",
            "title": "TIN <T> &lt; ZINC",
            "dateline": "OSLO, Jan 1 -",
            "body": "Tin rose.\n    Zinc fell. \n Reuter",
            "labels": ["tin", "zinc"],
        },
        {
            "id": "11",
            "split": "train",
            "title": "",
            "dateline": "",
            "body": "****PRICES\n 1 2",
            "labels": ["wheat"],
        },
        {
            "id": "12",
            "split": "test",
            "title": "TEA",
            "dateline": "",
            "body": "",
            "labels": ["coffee", "tea"],
        },
    ]


def test_rcv1(saved, tmp_path):
    files = saved(archives.gz(archives.RCV1))
    assert conversions.rcv1(files, tmp_path) == 6
    with gzip.open(tmp_path / "train.svm.gz", "rt") as stream:
        assert stream.read() == "E11,ECAT 864:0.5 1523:0.25 # 2286\nMCAT 47236:1 # 2287\n"
    with gzip.open(tmp_path / "test.svm.gz", "rt") as stream:
        assert stream.readline() == "C11,CCAT 1:0.125 # 26151\n"
        assert len(stream.readlines()) == 3


def test_a_story_without_topics(saved, tmp_path):
    files = archives.RCV1 | {"rcv1-v2.topics.qrels.gz": "E11 2286 1\n"}
    with pytest.raises(FormatError, match=r"vectors_train.*'2287' has no topics"):
        conversions.rcv1(saved(archives.gz(files)), tmp_path)


@pytest.mark.parametrize("cut", [0, 20, -30])
def test_an_archive_that_is_cut(saved, tmp_path, cut):
    with_taxonomy(tmp_path, "reuters21578")
    data = archives.tar_gz(archives.REUTERS)[:cut]
    for convert in (conversions.newsgroups, conversions.reuters):
        with pytest.raises(FormatError, match=r"a\.tar\.gz is not a complete tar archive"):
            convert(saved({"a.tar.gz": data}), tmp_path)


def test_a_page_instead_of_an_archive(saved, tmp_path):
    with pytest.raises(FormatError, match="is not a complete tar archive"):
        conversions.newsgroups(saved({"a.tar.gz": b"<html>Sorry</html>" * 100}), tmp_path)


def test_vectors_that_are_cut(saved, tmp_path):
    files = archives.gz(archives.RCV1)
    name = "lyrl2004_vectors_test_pt2.dat.gz"
    files[name] = files[name][:-12]
    with pytest.raises(FormatError, match=f"{name} is not a complete gzip file"):
        conversions.rcv1(saved(files), tmp_path)


def test_the_bytes_do_not_depend_on_the_time(saved, tmp_path, monkeypatch):
    files = saved({"a.tar.gz": archives.tar_gz(archives.NEWSGROUPS)})
    conversions.newsgroups(files, tmp_path)
    first = (tmp_path / "docs.jsonl.gz").read_bytes()
    monkeypatch.setattr("time.time", lambda: 1e9)
    conversions.newsgroups(files, tmp_path)
    assert (tmp_path / "docs.jsonl.gz").read_bytes() == first


def test_real_postings_come_out_as_they_are(data_folder, saved, tmp_path):
    """The postings of the prepared corpus, packed as in the archive, give the same rows."""
    with gzip.open(data_folder("20newsgroups") / "docs.jsonl.gz", "rt") as stream:
        lines = [json.loads(line) for line in stream]
    some = [row for row in lines if row["bydate"]][::20]
    packed = {
        f"20news-bydate-{row['bydate']}/{row['id']}": f"{row['headers']}\n\n{row['body']}"
        for row in reversed(some)
    }
    conversions.newsgroups(saved({"a.tar.gz": archives.tar_gz(packed)}), tmp_path)
    assert rows(tmp_path) == some


def test_real_stories_come_out_as_they_are(data_folder, saved, tmp_path):
    """The stories of the prepared corpus, marked up as in the archive, give the same rows."""
    with_taxonomy(tmp_path, "reuters21578")
    with gzip.open(data_folder("reuters21578") / "docs.jsonl.gz", "rt") as stream:
        some = [json.loads(line) for line in stream][::10]

    def escaped(text):
        return text.replace("&", "&amp;").replace("<", "&lt;")

    def marked_up(row):
        title, dateline, body = (escaped(row[key]) for key in ("title", "dateline", "body"))
        text = (
            f"<TEXT>&#2;\n<TITLE>{title}</TITLE>\n<DATELINE>   {dateline} </DATELINE>"
            f"<BODY>{body}\n&#3;</BODY></TEXT>"
        )
        return archives.story(row["id"], " ".join(row["labels"]), text, split=row["split"].upper())

    packed = {"reut2-000.sgm": "".join(map(marked_up, some))}
    conversions.reuters(saved({"a.tar.gz": archives.tar_gz(packed)}), tmp_path)
    assert rows(tmp_path) == some
