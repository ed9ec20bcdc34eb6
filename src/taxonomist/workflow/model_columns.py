"""The columns that a classifier was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taxonomist.datasets.columns import Columns
from taxonomist.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.text import TextClassifier

__all__ = ["as_item", "as_model_texts", "model_columns"]

FORMER_NAMES = {"label": "labels", "separator": "label_sep", "path_separator": "path_sep"}
"""Fields of ``Columns`` by the names they have in older model files."""


def model_columns(classifier: TextClassifier) -> Columns:
    """Return the columns that a classifier was trained on, without the id column.

    A classifier that was not trained on a table has only its text columns.
    """
    known: Any = classifier.training_.get("columns")
    if not known:
        return Columns(",".join(_names(classifier)))
    fields = {FORMER_NAMES.get(name, name): value for name, value in known.items()}
    return Columns(**{**fields, "id": None})


def _names(classifier: TextClassifier) -> list[str]:
    """Return the names of the classifier's text columns."""
    return list(classifier.features_.columns_ or ["text"])


def as_item(classifier: TextClassifier, text: str) -> dict[str, str]:
    """Return one text as an item, in the classifier's first text column."""
    return {_names(classifier)[0]: text}


def as_model_texts(
    classifier: TextClassifier, texts: Sequence[dict[str, str]]
) -> list[dict[str, str]]:
    """Rename the columns of texts, by position, to the classifier's text columns.

    Raises
    ------
    FormatError
        If the texts have more columns than the classifier was trained on.
    """
    names = _names(classifier)
    n_given = len(texts[0]) if texts else 0
    if n_given > len(names):
        raise FormatError(
            f"The text has {n_given} columns, but the model was trained on {len(names)}: "
            f"{', '.join(names)}."
        )
    return [dict(zip(names, text.values(), strict=False)) for text in texts]
