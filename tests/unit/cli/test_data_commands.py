from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

from taxonomist import datasets
from tests.unit.cli.running import arguments, run, run_on_terminal
from tests.unit.datasets import archives
from tests.unit.datasets.web import serving

NEWS = archives.tar_gz(archives.NEWSGROUPS)
SHA256 = hashlib.sha256(NEWS).hexdigest()


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TAXONOMIST_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    return tmp_path / "home"


@pytest.fixture
def site():
    with serving({"20news-bydate.tar.gz": NEWS}) as site:
        yield site


def test_list_has_every_corpus(call, home):
    done = call("data", "list")
    assert done.code == 0
    head, *rows = [line.split("\t") for line in done.out.splitlines()]
    assert head == ["name", "items", "nodes", "licence", "fetch", "path"]
    assert [row[0] for row in rows] == list(datasets.names())
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["reuters21578"][:2] == ["10789", "95"]
    assert by_name["reuters21578"][3:] == ["True", ""]
    assert by_name["trec-question"][3:] == ["False", ""]
    assert by_name["arxiv-sample"][-1] == str(datasets.find("arxiv-sample"))


def test_list_of_what_is_found(call, home):
    done = call("data", "list", "--found", "--json")
    (row,) = json.loads(done.out)
    assert done.err == ""
    assert row["name"] == "arxiv-sample"
    assert row["items"] == 6795
    assert row["nodes"] == 169
    assert row["licence"] == "CC0 1.0"
    assert row["fetch"] is None


def test_show(call, home):
    done = call("data", "show", "rcv1")
    assert done.code == 0
    for part in (
        "804,414",
        "train.svm.gz: ",
        "part: all, train, test",
        "650 MB",
        str(home / "rcv1"),
    ):
        assert part in done.out
    facts = json.loads(call("data", "show", "arxiv-sample", "--json").out)
    assert facts["options"] == {"labels": ["all", "primary"]}
    assert facts["path"] == str(datasets.find("arxiv-sample"))
    assert facts["description"] == datasets.info("arxiv-sample").description
    assert "prepare the files" in call("data", "show", "trec-question").out


def test_an_unknown_name(call, home):
    for command in ("show", "fetch"):
        done = call("data", command, "20newsgroup")
        assert (done.code, done.out) == (2, "")
        assert "Did you mean '20newsgroups'" in done.err


def test_fetch_with_the_real_command(home, site):
    done = run("data", "fetch", "20newsgroups", "--url", site.url, "--sha256", SHA256, "--json")
    assert done.code == 0
    assert json.loads(done.out) == {"name": "20newsgroups", "path": str(home / "20newsgroups")}
    assert done.err == "Terms of 20newsgroups: no stated licence; distributed for research.\n"
    assert len(datasets.load("20newsgroups")) == 4
    done = run("data", "fetch", "20newsgroups", "--url", site.url)
    assert (done.code, done.out) == (0, "")
    assert f"20newsgroups is in {home / '20newsgroups'}." in done.err
    assert len(site.asked) == 1


def test_fetch_through_faults(call, home, site, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    site.faults = [("drop", 100), 503, ("drop", 50)]
    done = call("data", "fetch", "20newsgroups", "--url", site.url, "--sha256", SHA256)
    assert done.code == 0
    ranges = [wanted for _, wanted in site.asked]
    assert ranges == [None, "bytes=100-", "bytes=100-", "bytes=150-"]
    assert len(datasets.load("20newsgroups")) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--url", "{url}nothing.tar.gz"], "404 Not Found"),
        (["--url", "{url}"], "was expected"),
        (["--url", "nothing.tar.gz"], "not an existing file, and not an address"),
        (["--sha256", "12"], "64 hexadecimal digits"),
    ],
)
def test_fetch_that_fails(call, home, site, options, message):
    done = call("data", "fetch", "20newsgroups", *(o.format(url=site.url) for o in options))
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (home / "20newsgroups").exists()


def test_a_data_home_that_cannot_be_made(call, home, site):
    home.touch()
    done = call("data", "fetch", "20newsgroups", "--url", site.url)
    assert done.code == 2
    assert str(home) in done.err


def test_force(call, home, site):
    options = ("--url", site.url, "--sha256", SHA256)
    (home / "20newsgroups").mkdir(parents=True)
    (home / "20newsgroups" / "mine").touch()
    assert "--force" in call("data", "fetch", "20newsgroups", *options).err
    assert call("data", "fetch", "20newsgroups", *options, "--force").code == 0
    assert len(datasets.load("20newsgroups")) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
def test_progress_is_drawn_on_a_terminal(home, site):
    done = run_on_terminal("data", "fetch", "20newsgroups", "--url", site.url, "--sha256", SHA256)
    assert done.code == 0
    assert "20news-bydate.tar.gz" in done.out
    assert "bytes" in done.out or "kB" in done.out


def test_a_killed_fetch_leaves_no_corpus_and_is_resumed(home, site):
    site.faults = [("hang", 200)]
    command = ("data", "fetch", "20newsgroups", "--url", site.url, "--sha256", SHA256)
    process = subprocess.Popen(
        arguments(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
    )
    assert site.hanging.wait(60)
    process.kill()
    process.wait(timeout=60)
    assert not (home / "20newsgroups").exists()
    assert run(*command).code == 0
    assert len(datasets.load("20newsgroups")) == 4
