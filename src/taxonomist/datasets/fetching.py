"""Fetch public corpora from the web into the data home."""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from taxonomist._files import move_into_place
from taxonomist.datasets import conversions
from taxonomist.datasets.download import Remote, download
from taxonomist.datasets.named import BUNDLED, data_home, find, info
from taxonomist.errors import CorpusNotFoundError, DownloadError, FormatError, ParameterError

if TYPE_CHECKING:
    from taxonomist.datasets.download import Report

__all__ = ["RECIPES", "Recipe", "fetch"]

Convert: TypeAlias = Callable[[Sequence[Path], Path], int]


@dataclass(frozen=True)
class Recipe:
    """How to fetch a corpus.

    Parameters
    ----------
    remotes
        The files to download.
    convert
        Function that takes the downloaded files and the folder to write to, which already
        contains the taxonomy, and returns the number of items.
    n_items
        The expected number of items.
    note
        Remarks for users.
    """

    remotes: tuple[Remote, ...]
    convert: Convert
    n_items: int
    note: str


def _figshare(number: int, file: str, sha256: str, home: str) -> Remote:
    """Return a file that scikit-learn hosts on figshare, with its original home as fallback."""
    return Remote(file, (f"https://ndownloader.figshare.com/files/{number}", home + file), sha256)


_LYRL2004 = "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/"
_VECTORS = f"{_LYRL2004}a13-vector-files/"

# The numbers and checksums of the files on figshare are those of sklearn.datasets.
RECIPES = {
    "20newsgroups": Recipe(
        (
            _figshare(
                5975967,
                "20news-bydate.tar.gz",
                "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                "http://qwone.com/~jason/20Newsgroups/",
            ),
        ),
        conversions.newsgroups,
        n_items=18_846,
        note="14 MB; the 'bydate' edition, which lacks duplicates and some headers of the "
        "original 19,997 postings",
    ),
    "reuters21578": Recipe(
        (
            Remote(
                "reuters21578.tar.gz",
                (
                    "https://archive.ics.uci.edu/ml/machine-learning-databases/"
                    "reuters21578-mld/reuters21578.tar.gz",
                    "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
                ),
                None,
            ),
        ),
        conversions.reuters,
        n_items=10_789,
        note="8 MB; no checksum is published, so the number of stories is checked instead",
    ),
    "rcv1": Recipe(
        (
            _figshare(
                5976057,
                "lyrl2004_vectors_train.dat.gz",
                "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
                _VECTORS,
            ),
            _figshare(
                5976069,
                "lyrl2004_vectors_test_pt0.dat.gz",
                "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
                _VECTORS,
            ),
            _figshare(
                5976066,
                "lyrl2004_vectors_test_pt1.dat.gz",
                "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
                _VECTORS,
            ),
            _figshare(
                5976063,
                "lyrl2004_vectors_test_pt2.dat.gz",
                "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
                _VECTORS,
            ),
            _figshare(
                5976060,
                "lyrl2004_vectors_test_pt3.dat.gz",
                "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
                _VECTORS,
            ),
            _figshare(
                5976048,
                "rcv1-v2.topics.qrels.gz",
                "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
                f"{_LYRL2004}a08-topic-qrels/",
            ),
        ),
        conversions.rcv1,
        n_items=804_414,
        note="some 650 MB; several minutes to convert and about a minute to load",
    ),
}


def fetch(
    name: str,
    *,
    url: str | None = None,
    sha256: str | None = None,
    force: bool = False,
    report: Report | None = None,
) -> Path:
    """Download a public corpus, convert it, and return its folder in the data home.

    The next call resumes an interrupted download. The folder of the corpus appears only once it
    is complete. Check the terms of use in ``info(name).licence``.

    Parameters
    ----------
    name
        One of ``RECIPES``: ``"20newsgroups"``, ``"reuters21578"`` or ``"rcv1"``.
    url
        Another address, or a local file. If it ends in a slash, it is a folder that contains the
        files under their original names.
    sha256
        SHA-256 of the file at ``url`` if it is a different edition; the number of items is then
        not checked.
    force
        Replace an existing corpus, or a folder with other files.
    report
        Called with the step, the amount done, and the total amount if known (in bytes).

    Returns
    -------
    Path
        The folder of the corpus; an existing one is returned as is unless ``force`` is set.

    Raises
    ------
    CorpusNotFoundError
        If the name is unknown, or the corpus cannot be fetched.
    DownloadError
        If a file could not be downloaded or is not the expected one.
    FormatError
        If a file does not have the expected content.
    """
    entry = info(name)
    if name not in RECIPES:
        raise CorpusNotFoundError(
            f"{name!r} cannot be fetched; only {', '.join(RECIPES)} can. See {entry.source} "
            f"(terms: {entry.licence})."
        )
    target = data_home() / name
    if not force:
        try:
            return find(name)
        except CorpusNotFoundError:
            _check_free(target)
    recipe = _redirected(name, url, sha256)
    staging = target.with_name(f".{name}.fetch")
    staging.mkdir(parents=True, exist_ok=True)
    files = [download(remote, staging, report) for remote in recipe.remotes]
    made = _convert(name, recipe, files, staging / "corpus", is_edition=sha256 is None)
    _put(made, target)
    shutil.rmtree(staging)
    return target


def _check_free(target: Path) -> None:
    """Raise if the folder exists and is not empty."""
    if target.exists() and any(target.iterdir()):
        raise DownloadError(
            f"{target} exists but is not a complete corpus; move it away, or replace it with "
            "--force (force=True)."
        )


def _redirected(name: str, url: str | None, sha256: str | None) -> Recipe:
    """Return the recipe with the given address and checksum."""
    recipe = RECIPES[name]
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise ParameterError(f"A SHA-256 has 64 hexadecimal digits. Got {sha256!r} instead.")
    is_folder = url is None or url.endswith("/")
    if len(recipe.remotes) > 1 and (sha256 is not None or not is_folder):
        raise ParameterError(
            f"{name} consists of {len(recipe.remotes)} files; pass the address of a folder, "
            "ending in a slash, and no checksum."
        )
    remotes = []
    for remote in recipe.remotes:
        urls = remote.urls
        if url is not None:
            urls = (_address(url + remote.file if is_folder else url),)
        remotes.append(replace(remote, urls=urls, sha256=sha256 or remote.sha256))
    return replace(recipe, remotes=tuple(remotes))


def _address(url: str) -> str:
    """Return an address; a local path becomes a file URI."""
    if "://" in url:
        return url
    path = Path(url).expanduser().resolve()
    if not path.is_file():
        raise FileNotFoundError(2, "not an existing file, and not an address", url)
    return path.as_uri()


def _convert(name: str, recipe: Recipe, files: list[Path], made: Path, is_edition: bool) -> Path:
    """Create the folder of the converted corpus, and return it."""
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(BUNDLED / name, made)
    try:
        n_items = recipe.convert(files, made)
        if is_edition and n_items != recipe.n_items:
            raise FormatError(
                f"{recipe.remotes[0].urls[0]} gave {n_items:,} items instead of "
                f"{recipe.n_items:,}; the file is not the expected one, or is damaged."
            )
    except FormatError:
        # Files without a checksum may be damaged; keeping them would repeat the failure.
        for file, remote in zip(files, recipe.remotes, strict=True):
            if remote.sha256 is None:
                file.unlink()
        raise
    sources = [{"file": remote.file, "sha256": remote.sha256} for remote in recipe.remotes]
    facts = {"name": name, "items": n_items, "files": sources}
    (made / "SOURCE.json").write_text(
        json.dumps(facts, indent=1) + "\n", encoding="utf-8", newline="\n"
    )
    return made


def _put(made: Path, target: Path) -> None:
    """Move a finished folder into place, then remove the one it replaces."""
    old = target.with_name(f".{target.name}.old-{secrets.token_hex(4)}")
    if target.exists():
        move_into_place(target, old)
    try:
        move_into_place(made, target)
    except OSError:
        if old.exists():
            move_into_place(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)
