from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taxonomist import datasets
from taxonomist.errors import CorpusNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable


def test_every_folder_beside_a_corpus_has_an_entry(data_folder: Callable[[str], Path]) -> None:
    home = data_folder("trec-question").parent
    folders = {folder.name for folder in home.iterdir() if folder.is_dir()}
    assert folders <= set(datasets.names())


def test_names_are_sorted_and_distinct() -> None:
    assert list(datasets.names()) == sorted(set(datasets.names()))
    assert "arxiv-sample" in datasets.names()


def test_unknown_name_comes_with_the_closest() -> None:
    with pytest.raises(CorpusNotFoundError, match="Did you mean '20newsgroups'"):
        datasets.load("20newsgroup")


def test_unknown_option_and_value() -> None:
    with pytest.raises(ValueError, match="no option 'label'; its options: labels"):
        datasets.load("arxiv-sample", label="all")
    with pytest.raises(ValueError, match="must be one of all, primary"):
        datasets.load("arxiv-sample", labels="first")


def test_missing_corpus_says_what_goes_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TAXONOMIST_DATA", str(tmp_path / "given"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(CorpusNotFoundError) as caught:
        datasets.find("trec-question")
    message = str(caught.value)
    assert str(tmp_path / "given" / "trec-question") in message
    assert str(tmp_path / "user" / "taxonomist" / "trec-question") in message
    for part in ("github.com/tstuessi", "docs.jsonl.gz", "taxonomy.csv", "TAXONOMIST_DATA"):
        assert part in message


def test_folder_is_found_in_the_users_data_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TAXONOMIST_DATA", str(tmp_path / "given"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    folder = tmp_path / "taxonomist" / "trec-question"
    folder.mkdir(parents=True)
    (folder / "docs.jsonl.gz").touch()
    with pytest.raises(CorpusNotFoundError):
        datasets.find("trec-question")
    (folder / "taxonomy.csv").touch()
    assert datasets.find("trec-question") == folder


def test_missing_set_of_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAXONOMIST_DATA", str(tmp_path))
    folder = tmp_path / "hmc-funcat-go"
    folder.mkdir()
    (folder / "seq_GO.train.arff.gz").touch()
    with pytest.raises(CorpusNotFoundError, match="lacks the files of Diatoms"):
        datasets.load("hmc-funcat-go", set="Diatoms")


def test_set_is_part_of_the_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAXONOMIST_DATA", str(tmp_path))
    folder = tmp_path / "hmc-funcat-go"
    folder.mkdir()
    header = "@relation toy\n@attribute a numeric\n@attribute class hierarchical 1,1/2\n@data\n"
    for part, row in (("train", "7,1/2"), ("test", "8,1")):
        path = folder / f"Diatoms_{part}.arff.gz"
        path.write_bytes(gzip.compress(f"{header}{row}\n".encode()))
    corpus = datasets.load("hmc-funcat-go", set="Diatoms")
    assert corpus.name == "hmc-funcat-go/Diatoms"
    assert corpus.train().labels == [("1/2",)]
    assert corpus.test().X.tolist() == [[8.0]]


def test_data_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAXONOMIST_DATA", str(tmp_path))
    assert datasets.data_home() == tmp_path
    monkeypatch.delenv("TAXONOMIST_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("sys.platform", "linux")
    assert datasets.data_home() == tmp_path / "xdg" / "taxonomist"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert datasets.data_home() == Path.home() / ".local" / "share" / "taxonomist"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert datasets.data_home() == tmp_path / "local" / "taxonomist"
