"""Convert the archives of public corpora to the files that ``datasets.load`` reads.

Each function takes the downloaded files and the folder to write to, and returns the number of
items. Nothing is unpacked to disk.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["newsgroups", "rcv1", "reuters"]

POSTING = re.compile(r"(?:.*/)?20news-bydate-(train|test)/([^/]+)/(\d+)")
SUBJECT = re.compile(r"^subject:(.*(?:\n[ \t].*)*)", re.I | re.M)
STORY = re.compile(r"<REUTERS (?P<head>[^>]*)>(?P<content>.*?)</REUTERS>", re.S)
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
CONTROL = re.compile(r"&#(?:\d|[12]\d|3[01]|127);|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def newsgroups(files: Sequence[Path], folder: Path) -> int:
    """Convert the "bydate" archive of 20 Newsgroups."""
    rows = []
    for name, text in _members(files[0]):
        if posting := POSTING.fullmatch(name):
            split, group, number = posting.groups()
            headers, _, body = text.replace("\r\n", "\n").partition("\n\n")
            subject = SUBJECT.search(headers)
            row = {
                "id": f"{group}/{number}",
                "group": group,
                "bydate": split,
                "subject": re.sub(r"\s*\n\s*", " ", subject[1].strip()) if subject else "",
                "headers": headers,
                "body": body,
            }
            rows.append(((group, int(number)), row))
    return _write_rows(folder, [row for _, row in sorted(rows, key=lambda pair: pair[0])])


def reuters(files: Sequence[Path], folder: Path) -> int:
    """Convert the archive of Reuters-21578: the ModApte split of the topics in the taxonomy."""
    topics = Taxonomy.read(folder / "taxonomy.tsv").leaves
    rows = []
    for name, text in _members(files[0]):
        if name.endswith(".sgm"):
            rows += [row for story in STORY.finditer(text) if (row := _story(story, set(topics)))]
    return _write_rows(folder, sorted(rows, key=lambda row: int(row["id"])))


def _story(story: re.Match[str], topics: set[str]) -> dict[str, object] | None:
    """Return a story, or None if it is outside the split or has none of the topics."""
    head, content = dict(ATTRIBUTE.findall(story["head"])), story["content"]
    split = {"TRAIN": "train", "TEST": "test"}.get(head.get("LEWISSPLIT", ""))
    labels = topics.intersection(re.findall(r"<D>(.*?)</D>", _element(content, "TOPICS")))
    if split is None or head.get("TOPICS") != "YES" or not labels:
        return None
    text = _element(content, "TEXT")
    is_raw = 'TYPE="UNPROC"' in content
    return {
        "id": head["NEWID"],
        "split": split,
        "title": _clean(_element(text, "TITLE")),
        "dateline": _clean(_element(text, "DATELINE")),
        "body": _clean(text if is_raw else _element(text, "BODY")),
        "labels": sorted(labels),
    }


def _element(content: str, name: str) -> str:
    """Return the content of the first element with a name, or an empty string."""
    found = re.search(rf"<{name}\b[^>]*>(.*?)</{name}>", content, re.S)
    return found[1] if found else ""


def _clean(text: str) -> str:
    """Remove control characters and decode entities."""
    plain = CONTROL.sub("", text)
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def rcv1(files: Sequence[Path], folder: Path) -> int:
    """Convert the LYRL2004 vectors; the last file holds their topics."""
    *vectors, judgements = files
    topics: dict[str, list[str]] = {}
    for line in _lines(judgements):
        topic, item, _ = line.split(maxsplit=2)
        topics.setdefault(item, []).append(topic)
    n_items = 0
    with _writing(folder / "train.svm.gz") as train, _writing(folder / "test.svm.gz") as test:
        for path in vectors:
            stream = train if "train" in path.name else test
            for line in _lines(path):
                item, _, features = line.strip().partition(" ")
                if item not in topics:
                    raise FormatError(f"{path.name}: the story {item!r} has no topics.")
                stream.write(f"{','.join(topics[item])} {features.strip()} # {item}\n")
                n_items += 1
    return n_items


def _members(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file in a tar archive; all are in Latin-1."""
    try:
        with tarfile.open(archive, "r:*") as members:
            for member in members:
                stream = members.extractfile(member) if member.isfile() else None
                if stream is not None:
                    yield member.name, stream.read().decode("latin-1")
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise FormatError(f"{archive.name} is not a complete tar archive ({error}).") from error


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a gzip'd file."""
    try:
        with gzip.open(path, "rt", encoding="ascii") as stream:
            yield from stream
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise FormatError(f"{path.name} is not a complete gzip file of text ({error}).") from error


def _write_rows(folder: Path, rows: Sequence[dict[str, Any]]) -> int:
    """Write JSON lines and return their number."""
    with _writing(folder / "docs.jsonl.gz") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    return len(rows)


@contextmanager
def _writing(path: Path) -> Iterator[IO[str]]:
    """Open a compressed text file whose bytes do not depend on the time of writing."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as stream,
    ):
        yield stream
