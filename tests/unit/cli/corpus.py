"""A small corpus with obvious words, as rows."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

EDGES = (
    "parent,child,name\nROOT,A,Animals\nA,cat,Cats\nA,dog,Dogs\nROOT,P,Plants\nP,oak,\nP,rose,\n"
)
WORDS = {
    "cat": "purrs sleeps whiskers mouse claws fur paw",
    "dog": "barks runs bone leash fur paw tail",
    "oak": "acorn trunk forest timber leaf root bark",
    "rose": "thorn petal garden scent leaf root bloom",
}


def rows(n_items: int, seed: int = 0) -> list[dict[str, str]]:
    """Return items with id, title, text and code."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n_items):
        code = list(WORDS)[i % 4]
        words = rng.choice(WORDS[code].split(), size=6).tolist()
        title, text = " ".join(words[:2]), " ".join([*words[2:], f"seed{seed}item{i}"])
        found.append({"id": f"doc-{i}", "title": title, "text": text, "code": code})
    return found


def write_csv(path: Path, items: list[dict[str, str]]) -> Path:
    """Write rows as CSV, or as JSON lines if the name says so."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
        return path
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(items[0]))
        writer.writeheader()
        writer.writerows(items)
    return path
