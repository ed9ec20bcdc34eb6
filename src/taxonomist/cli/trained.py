"""What a trained classifier remembers of the rows that it was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.cli.items import Columns
from taxonomist.cli.labelled import digests
from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taxonomist._typing import Bools
    from taxonomist.text import TextClassifier

__all__ = [
    "as_item",
    "as_trained",
    "check_explains",
    "check_probabilities",
    "trained_columns",
    "was_seen",
]


def trained_columns(classifier: TextClassifier) -> Columns:
    """Return the columns that a classifier was trained on."""
    known: Any = classifier.training_.get("columns")
    return Columns(**known) if known else Columns(",".join(_names(classifier)))


def _names(classifier: TextClassifier) -> list[str]:
    """Return the names of the texts that the classifier takes."""
    return list(classifier.features_.columns_ or ["text"])


def as_item(classifier: TextClassifier, text: str) -> dict[str, str]:
    """Return one text as an item of the classifier, in the first of its columns."""
    return {_names(classifier)[0]: text}


def as_trained(classifier: TextClassifier, texts: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return texts under the names that the classifier knows, in the order of their columns.

    Raises
    ------
    FormatError
        If there are more columns than the classifier was trained on.
    """
    names = _names(classifier)
    n_given = len(texts[0]) if texts else 0
    if n_given > len(names):
        raise FormatError(
            f"--text names {n_given} columns, but the model was trained on {len(names)}: "
            f"{', '.join(names)}."
        )
    return [dict(zip(names, text.values(), strict=False)) for text in texts]


def check_probabilities(classifier: TextClassifier) -> None:
    """Refuse a classifier without probabilities."""
    if classifier.calibration is None:
        raise ValueError(
            "The model has no probabilities: train it with --calibration auto, or ask "
            "for the labels alone."
        )


def check_explains(classifier: TextClassifier) -> None:
    """Refuse a classifier that has no weights of words."""
    if not hasattr(classifier.model_, "explain"):
        raise ValueError("This kind of model cannot say why: train another one, such as svm.")


def was_seen(classifier: TextClassifier, texts: Iterable[dict[str, str]]) -> Bools:
    """Return which texts the classifier was trained on."""
    seen = getattr(classifier, "seen_", np.empty(0, dtype=np.uint64))
    found: Bools = np.isin(digests(texts), seen)
    return found
