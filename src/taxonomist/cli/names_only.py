"""``taxonomist train --names-only``: a model from the names of categories."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from taxonomist.cli.checks import OptionError
from taxonomist.cli.output import print_facts, print_json, print_note

if TYPE_CHECKING:
    from pathlib import Path

    from taxonomist.datasets.columns import Columns
    from taxonomist.text import TextClassifier

__all__ = ["check_names_only", "train_on_names"]

UNMEASURED = (
    "There were no items, so the model's quality is unknown. Its probabilities are not calibrated."
)


def check_names_only(data: str | None, taxonomy: Path | None, names_only: bool) -> None:
    """Raise unless there are either rows, or a taxonomy and ``--names-only``."""
    if names_only and (data is not None or taxonomy is None):
        raise OptionError(
            "--names-only trains on the names of a taxonomy: pass --taxonomy, and no data."
        )
    if not names_only and data is None:
        raise OptionError(
            "Missing argument 'DATA': pass a file with texts and labels, or --taxonomy and "
            "--names-only."
        )


def train_on_names(classifier: TextClassifier, columns: Columns, out: Path, as_json: bool) -> None:
    """Fit a classifier to the names of its taxonomy, save it, and say so."""
    classifier.fit([], [])
    facts = {"columns": asdict(columns), "test_items": 0, "measures": {}, "final": False}
    classifier.record(**facts).save(out)
    found = {
        "model": str(out),
        "categories": len(classifier.classes_),
        "seconds": classifier.training_["seconds"],
    }
    if as_json:
        print_json(found)
        return
    print_facts(found)
    print_note(UNMEASURED)
