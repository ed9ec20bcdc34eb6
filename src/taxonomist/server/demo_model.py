"""The demo: a model of the bundled corpus, for newcomers without a model.

``python -m taxonomist.server.demo_model FOLDER`` trains it and asks it once, so that all loops that
the demo needs are compiled.
"""

from __future__ import annotations

import importlib.resources
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from taxonomist.datasets.columns import Columns
from taxonomist.datasets.table_file import TableSource
from taxonomist.taxonomy import Taxonomy
from taxonomist.text import TextClassifier
from taxonomist.workflow.labelled import read_labelled
from taxonomist.workflow.model_columns import as_model_texts
from taxonomist.workflow.steps import silent
from taxonomist.workflow.training import train

if TYPE_CHECKING:
    from taxonomist.workflow.steps import OnStep

__all__ = ["DEMO_PROJECT", "demo_documents", "demo_table", "make_demo"]

DEMO_PROJECT = "arxiv"
N_DOCUMENTS = 60
"""Documents in the queue of the demo, so that newcomers have something to file."""
COLUMNS = Columns(text="title,abstract", labels="primary")
_CORPUS = "datasets/bundled/arxiv-sample"


def demo_table() -> Path:
    """Return the table of the bundled corpus."""
    return Path(str(importlib.resources.files("taxonomist"))) / _CORPUS / "docs.jsonl.gz"


def make_demo(folder: Path, on_step: OnStep = silent) -> Path:
    """Train the demo model, unless it is there, and return its folder."""
    place = folder / "models" / DEMO_PROJECT / "demo"
    if not (place / "manifest.json").exists():
        table = demo_table()
        taxonomy = Taxonomy.read(table.with_name("taxonomy.csv"))
        labelled = read_labelled(TableSource(str(table)), COLUMNS, taxonomy, on_step=on_step)
        # Words and characters are a point of F1 better, but take seven times as long to learn.
        classifier = TextClassifier(taxonomy, features="words")
        result = train(classifier, labelled, COLUMNS, on_step=on_step)
        result.classifier.save(place)
    return place


def demo_documents(classifier: TextClassifier) -> list[tuple[str, dict[str, str]]]:
    """Return ids and texts of documents of the bundled corpus that the model has not seen."""
    rows = read_labelled(TableSource(str(demo_table())), COLUMNS, classifier.taxonomy_)
    texts = as_model_texts(classifier, rows.texts)
    unseen = [
        text for text, seen in zip(texts, classifier.has_seen(texts), strict=True) if not seen
    ]
    step = max(1, len(unseen) // N_DOCUMENTS)
    chosen = unseen[::step][:N_DOCUMENTS]
    return [(f"sample-{number:02d}", text) for number, text in enumerate(chosen, 1)]


if __name__ == "__main__":
    from taxonomist.server.live_model import LiveModel

    LiveModel(make_demo(Path(sys.argv[1])))
