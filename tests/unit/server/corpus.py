"""A small model of animals and plants, and the table that it was trained on."""

from __future__ import annotations

import csv
import random
from typing import TYPE_CHECKING

from taxonomist import Taxonomy, TextClassifier
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.table_file import TableSource
from taxonomist.workflow import read_labelled, train

if TYPE_CHECKING:
    from pathlib import Path

EDGES = [
    *(("animal", child) for child in ("cat", "dog", "cow")),
    *(("plant", child) for child in ("oak", "fir", "elm")),
]
NAMES = {
    "animal": "Animals",
    "plant": "Plants",
    "cat": "Cats, felines",
    "dog": "Dogs",
    "cow": "Cows",
    "oak": "Oaks",
    "fir": "Firs",
    "elm": "Élm trees",
}
WORDS = {
    "cat": "purrs sleeps mouse whiskers",
    "dog": "barks runs bone leash",
    "cow": "milk grass moo farm",
    "oak": "acorns leaves strong bark",
    "fir": "needles christmas cones resin",
    "elm": "avenue disease shade seeds",
}
TAXONOMY = Taxonomy.from_edges(EDGES, names=NAMES)


def text_of(label: str, rng: random.Random) -> str:
    words = WORDS[label].split() * 2 + rng.choice(list(WORDS.values())).split()
    return " ".join([*rng.sample(words, 6), "common", "word"])


def write_table(path: Path, n_rows: int = 120, *, sets: bool = False) -> Path:
    """Write a table of documents; those of label sets have one or two labels."""
    rng = random.Random(0)
    labels = list(WORDS)
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "text", "label"])
        for i in range(n_rows):
            one, other = labels[i % 6], labels[(i * 5 + 1) % 6]
            if sets and i % 3 == 0:
                text = f"{text_of(one, rng)} {text_of(other, rng)}"
                rows.writerow([i, text, f"{one};{other}" if one != other else one])
            else:
                rows.writerow([i, text_of(one, rng), one])
    return path


def make_model(folder: Path, table: Path, *, sets: bool = False) -> Path:
    """Train a model on a table, as the command line does."""
    columns = Columns(text="text", labels="label", label_sep=";" if sets else None)
    labelled = read_labelled(TableSource(str(table)), columns, TAXONOMY)
    classifier = TextClassifier(TAXONOMY, min_df=1, features="words", n_jobs=1)
    train(classifier, labelled, columns, test_size=0.25).classifier.save(folder)
    return folder
