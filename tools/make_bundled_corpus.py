"""Draw the bundled corpus ``arxiv-sample`` from the named corpus ``arxiv``.

Usage: python tools/make_bundled_corpus.py ARXIV_FOLDER [TARGET_FOLDER]

Takes the k first documents of each primary category in the order of the SHA-256 of their ids,
with the largest k that keeps the compressed file within the budget. The same source gives the
same bytes.
"""

from __future__ import annotations

import bisect
import gzip
import hashlib
import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

BUDGET = 2_400_000
"""Bytes of ``docs.jsonl.gz``; the whole folder has to stay below 2.5 MB."""

FIELDS = ("id", "title", "abstract", "primary", "labels", "split")
TARGET = Path(__file__).parents[1] / "src/taxonomist/datasets/bundled/arxiv-sample"


def by_primary(source: Path) -> list[list[dict[str, Any]]]:
    """Return the documents of each primary category, in the order of their hashed ids."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            kept = {field: document[field] for field in FIELDS}
            groups[document["primary"]].append(kept)
    for group in groups.values():
        group.sort(key=lambda document: hashlib.sha256(document["id"].encode()).digest())
    return [groups[primary] for primary in sorted(groups)]


def compress(groups: list[list[dict[str, Any]]], k: int) -> bytes:
    """Return the first k documents of each group as gzip'd JSON lines."""
    documents = [document for group in groups for document in group[:k]]
    lines = (json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    return gzip.compress("".join(lines).encode(), compresslevel=9, mtime=0)


def main(source: Path, target: Path = TARGET) -> None:
    """Write the documents and the taxonomy of the sample."""
    groups = by_primary(source / "docs.jsonl.gz")
    sizes = range(1, max(map(len, groups)) + 1)
    k = bisect.bisect_right(sizes, BUDGET, key=lambda k: len(compress(groups, k)))
    packed = compress(groups, k)
    target.mkdir(parents=True, exist_ok=True)
    (target / "docs.jsonl.gz").write_bytes(packed)
    shutil.copyfile(source / "taxonomy.csv", target / "taxonomy.csv")
    n_documents = sum(len(group[:k]) for group in groups)
    print(f"{n_documents} documents, at most {k} per category, {len(packed)} bytes")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
