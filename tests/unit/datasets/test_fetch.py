from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace

import pytest

from taxonomist import Taxonomy, datasets
from taxonomist.datasets import fetching
from taxonomist.datasets.fetching import RECIPES
from taxonomist.datasets.named import BUNDLED
from taxonomist.errors import CorpusNotFoundError, DownloadError, FormatError
from tests.unit.datasets import archives
from tests.unit.datasets.web import serving

NEWS, STORIES = archives.tar_gz(archives.NEWSGROUPS), archives.tar_gz(archives.REUTERS)
NEWS_SHA256 = hashlib.sha256(NEWS).hexdigest()
FILES = {
    "20news-bydate.tar.gz": NEWS,
    "reuters21578.tar.gz": STORIES,
    "page.html": b"<html>Sorry</html>",
    **archives.gz(archives.RCV1),
}


@pytest.fixture
def site():
    with serving(FILES) as site:
        yield site


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a data home that does not exist yet; no pause between tries."""
    monkeypatch.setenv("TAXONOMIST_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return tmp_path / "home"


@pytest.fixture
def tiny(monkeypatch):
    """Let the tiny archives pass for the official ones."""
    sizes = {"20newsgroups": 4, "reuters21578": 3, "rcv1": 6}
    for name, recipe in RECIPES.items():
        remotes = tuple(
            replace(
                remote,
                sha256=remote.sha256 and hashlib.sha256(FILES[remote.file]).hexdigest(),
            )
            for remote in recipe.remotes
        )
        changed = replace(recipe, remotes=remotes, n_items=sizes[name])
        monkeypatch.setitem(RECIPES, name, changed)


def everything(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_newsgroups(site, home, tiny):
    steps = set()
    path = datasets.fetch("20newsgroups", url=site.url, report=lambda step, *_: steps.add(step))
    assert path == home / "20newsgroups" == datasets.find("20newsgroups")
    assert everything(home) == [
        "20newsgroups",
        *(
            f"20newsgroups/{name}"
            for name in (
                "README.md",
                "SOURCE.json",
                "docs.jsonl.gz",
                "taxonomy_15.tsv",
                "taxonomy_20.tsv",
            )
        ),
    ]
    assert "20news-bydate.tar.gz" in steps
    corpus = datasets.load("20newsgroups")
    assert corpus.texts[1] == "A  cure\nTake water.\n"
    assert list(corpus.y) == ["alt.atheism", "sci.med", "sci.med", "talk.religion.misc"]
    assert list(corpus.split) == ["test", "train", "train", "test"]
    assert len(datasets.load("20newsgroups", tree="15")) == 2
    facts = json.loads((path / "SOURCE.json").read_text())
    assert facts == {
        "name": "20newsgroups",
        "items": 4,
        "files": [{"file": "20news-bydate.tar.gz", "sha256": NEWS_SHA256}],
    }


def test_reuters(site, home, tiny):
    datasets.fetch("reuters21578", url=f"{site.url}reuters21578.tar.gz")
    corpus = datasets.load("reuters21578")
    assert corpus.labels == [("tin", "zinc"), ("wheat",), ("coffee", "tea")]
    assert len(corpus.test()) == 1
    assert corpus.taxonomy.n_nodes == 95


def test_rcv1(site, home, tiny):
    datasets.fetch("rcv1", url=site.url)
    corpus = datasets.load("rcv1")
    assert corpus.X.shape == (6, 47_236)
    assert corpus.ids == ["2286", "2287", "26151", "26152", "26153", "26154"]
    assert list(corpus.split) == ["train"] * 2 + ["test"] * 4
    assert corpus.labels[0] == ("E11", "ECAT")
    assert corpus.X[[0], [863]] == 0.5
    assert corpus.X[[1], [47_235]] == 1.0
    assert datasets.load("rcv1", part="test").ids == corpus.ids[2:]
    assert list(datasets.load("rcv1", part="train").split) == ["train", "train"]


def test_a_corpus_that_is_there_is_left_alone(site, home, tiny):
    path = datasets.fetch("20newsgroups", url=site.url)
    (path / "mine.txt").touch()
    assert datasets.fetch("20newsgroups", url=site.url) == path
    assert len(site.asked) == 1
    assert datasets.fetch("20newsgroups", url=site.url, force=True) == path
    assert len(site.asked) == 2
    assert not (path / "mine.txt").exists()
    assert everything(home)[0] == "20newsgroups"
    assert not [name for name in everything(home) if name.startswith(".")]


def test_a_folder_with_other_files_is_not_replaced(site, home, tiny):
    (home / "20newsgroups").mkdir(parents=True)
    (home / "20newsgroups" / "mine.txt").touch()
    with pytest.raises(DownloadError, match=r"20newsgroups exists but is not a complete corpus"):
        datasets.fetch("20newsgroups", url=site.url)
    assert everything(home) == ["20newsgroups", "20newsgroups/mine.txt"]
    assert site.asked == []


def test_an_empty_folder_is_filled(site, home, tiny):
    (home / "20newsgroups").mkdir(parents=True)
    datasets.fetch("20newsgroups", url=site.url)
    assert len(datasets.load("20newsgroups")) == 4


def test_an_interrupted_download_leaves_no_corpus_and_is_resumed(site, home, tiny):
    site.faults = [("drop", 100)]

    def interrupt(step, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.fetch("20newsgroups", url=site.url, report=interrupt)
    assert not (home / "20newsgroups").exists()
    datasets.fetch("20newsgroups", url=site.url)
    assert site.asked[-1] == ("/20news-bydate.tar.gz", "bytes=100-")
    assert len(datasets.load("20newsgroups")) == 4


def test_of_several_files_those_that_are_whole_are_not_asked_for_again(site, home, tiny):
    site.faults = [None, None, 404]
    with pytest.raises(DownloadError, match="404"):
        datasets.fetch("rcv1", url=site.url)
    assert not (home / "rcv1").exists()
    datasets.fetch("rcv1", url=site.url)
    asked = [path for path, _ in site.asked]
    assert len(asked) == 3 + 4
    assert asked.count("/lyrl2004_vectors_train.dat.gz") == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, FormatError, OSError(28, "disk full")])
def test_an_interrupted_conversion_leaves_no_corpus(site, home, tiny, monkeypatch, error):
    def convert(files, folder):
        (folder / "half.txt").touch()
        raise error

    whole = RECIPES["20newsgroups"]
    monkeypatch.setitem(RECIPES, "20newsgroups", replace(whole, convert=convert))
    with pytest.raises(error if isinstance(error, type) else type(error)):
        datasets.fetch("20newsgroups", url=site.url)
    assert not (home / "20newsgroups").exists()
    with pytest.raises(CorpusNotFoundError):
        datasets.find("20newsgroups")
    monkeypatch.setitem(RECIPES, "20newsgroups", whole)
    datasets.fetch("20newsgroups", url=site.url)
    assert not (home / "20newsgroups" / "half.txt").exists()
    # The archive had its checksum, so it is not asked for again.
    assert len(site.asked) == 1
    assert len(datasets.load("20newsgroups")) == 4


def test_a_wrong_checksum_leaves_no_corpus(site, home):
    with pytest.raises(DownloadError, match="SHA-256"):
        datasets.fetch("20newsgroups", url=site.url)
    assert everything(home) == [".20newsgroups.fetch"]


def test_a_corpus_of_another_size_is_refused_and_asked_for_again(site, home):
    with pytest.raises(FormatError, match="gave 3 items instead of 10,789"):
        datasets.fetch("reuters21578", url=site.url)
    assert not (home / "reuters21578").exists()
    with pytest.raises(FormatError, match="gave 3 items"):
        datasets.fetch("reuters21578", url=site.url)
    assert len(site.asked) == 2


def test_a_page_instead_of_an_archive_is_refused(site, home):
    with pytest.raises(FormatError, match="not a complete tar archive"):
        datasets.fetch("reuters21578", url=f"{site.url}page.html")
    assert not (home / "reuters21578").exists()


def test_another_edition_has_its_own_checksum(site, home):
    datasets.fetch("20newsgroups", url=site.url, sha256=NEWS_SHA256)
    assert len(datasets.load("20newsgroups")) == 4
    with pytest.raises(DownloadError, match="0000 was expected"):
        datasets.fetch("20newsgroups", url=site.url, sha256="0" * 64, force=True)
    assert len(datasets.load("20newsgroups")) == 4


def test_a_file_of_this_machine(home, tiny, tmp_path):
    archive = tmp_path / "downloaded by hand.tar.gz"
    archive.write_bytes(NEWS)
    datasets.fetch("20newsgroups", url=str(archive))
    assert len(datasets.load("20newsgroups")) == 4
    assert archive.exists()
    with pytest.raises(FileNotFoundError, match="not an existing file, and not an address"):
        datasets.fetch("20newsgroups", url=str(tmp_path / "nothing"), force=True)


def test_if_the_new_folder_cannot_be_put_in_place_the_old_one_stays(site, home, tiny, monkeypatch):
    path = datasets.fetch("20newsgroups", url=site.url)
    (path / "mine.txt").touch()
    rename = os.replace

    def refuse(source, target):
        if source.name == "corpus":
            raise PermissionError(13, "no", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        datasets.fetch("20newsgroups", url=site.url, force=True)
    assert (path / "mine.txt").exists()
    assert len(datasets.load("20newsgroups")) == 4


def test_what_cannot_be_fetched(home):
    with pytest.raises(CorpusNotFoundError, match=r"only 20newsgroups, reuters21578, rcv1 can"):
        datasets.fetch("trec-question")
    with pytest.raises(CorpusNotFoundError, match="Did you mean '20newsgroups'"):
        datasets.fetch("20newsgroup")
    assert not home.exists()


@pytest.mark.parametrize("options", [{"url": "http://x/y"}, {"sha256": "0" * 64}])
def test_several_files_have_no_single_address_or_checksum(home, options):
    with pytest.raises(ValueError, match="rcv1 consists of 6 files"):
        datasets.fetch("rcv1", **options)


def test_a_checksum_has_64_digits(home):
    with pytest.raises(ValueError, match="64 hexadecimal digits. Got 'abc'"):
        datasets.fetch("20newsgroups", sha256="abc")


def test_find_says_how_to_fetch(home):
    with pytest.raises(CorpusNotFoundError, match="taxonomist data fetch reuters21578"):
        datasets.find("reuters21578")
    with pytest.raises(CorpusNotFoundError) as caught:
        datasets.find("trec-question")
    assert "data fetch" not in str(caught.value)


def test_addresses_and_checksums_are_those_of_scikit_learn():
    from sklearn.datasets import _rcv1, _twenty_newsgroups

    known = {
        (remote.url, remote.checksum)
        for remote in (_twenty_newsgroups.ARCHIVE, *_rcv1.XY_METADATA, _rcv1.TOPICS_METADATA)
    }
    ours = {
        (remote.urls[0], remote.sha256)
        for name in ("20newsgroups", "rcv1")
        for remote in RECIPES[name].remotes
    }
    assert ours == known


def test_topics_are_the_last_file_of_rcv1():
    files = [remote.file for remote in RECIPES["rcv1"].remotes]
    assert "qrels" in files[-1]
    assert sum("train" in file for file in files) == 1
    assert set(files) == set(archives.RCV1)


@pytest.mark.parametrize("name", RECIPES)
def test_every_taxonomy_comes_with_the_package(name):
    entry = datasets.info(name)
    taxonomies = [file for file in entry.files if file.startswith("taxonomy")]
    assert taxonomies
    n_nodes = [Taxonomy.read(BUNDLED / name / file).n_nodes for file in taxonomies]
    assert entry.size[1] in n_nodes


@pytest.mark.parametrize("name", ["20newsgroups", "reuters21578", "rcv1"])
def test_taxonomies_are_those_of_the_prepared_corpora(name, data_folder):
    folder = data_folder({"rcv1": "rcv1-subset"}.get(name, name))
    for path in (BUNDLED / name).glob("*.tsv"):
        assert Taxonomy.read(path) == Taxonomy.read(folder / path.name)


def test_fetching_is_public():
    assert datasets.fetch is fetching.fetch
