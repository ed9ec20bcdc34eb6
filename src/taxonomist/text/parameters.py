"""Checks of the parameters of ``TextClassifier``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from taxonomist.errors import ParameterError, closest
from taxonomist.inference.probabilities import METHODS
from taxonomist.models.parameters import Number, TaxonomyOrNone
from taxonomist.taxonomy.build import is_table, rows
from taxonomist.text.feature_sets import check_features
from taxonomist.text.measure import check_measure
from taxonomist.text.models import choice_of
from taxonomist.text.name_documents import check_names
from taxonomist.text.vector_columns import check_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taxonomist.models.parameters import Requirement
    from taxonomist.text.classifier import TextClassifier

__all__ = ["calibration_method", "check_parameters", "several"]


_REQUIREMENTS: dict[str, Requirement] = {
    "taxonomy": TaxonomyOrNone(),
    "C": Number("a number above 0", lambda value: value > 0, optional=True),
    "budget": Number("a number of seconds above 0", lambda value: value > 0, optional=True),
}


def several(texts: Iterable[Any]) -> Iterable[Any]:
    """Return the texts of several items; raise if there is only one text.

    All methods that take texts ask this function, because a string is a sequence of letters, and a
    data frame one of names of columns.
    """
    if isinstance(texts, str | bytes | Mapping):
        raise TypeError(
            "texts must be a sequence with one entry per item, not a single text. Pass [text]."
        )
    columns = getattr(texts, "columns", None)
    if columns is not None and is_table(texts):
        return [dict(zip(columns, row, strict=True)) for row in rows(texts)]
    return texts


def check_parameters(classifier: TextClassifier) -> None:
    """Raise if a parameter of a classifier is invalid."""
    if isinstance(classifier.model, str) and classifier.model != "auto":
        choice_of(classifier.model)
    for name, requirement in _REQUIREMENTS.items():
        value = getattr(classifier, name)
        problem = requirement.problem(name, value)
        if problem is not None:
            raise ParameterError(f"{problem} Got {value!r}.")
    check_vectors(classifier.vectors)
    check_measure(classifier.measure)
    check_features(classifier.features)
    check_names(classifier.names)
    method = classifier.calibration
    if method not in (None, "auto", *METHODS):
        known = ", ".join(("auto", *METHODS))
        hint = closest(str(method), METHODS)
        raise ParameterError(f"calibration must be one of {known}, or None. Got {method!r}.{hint}")


def calibration_method(calibration: str | None, model: object, is_multilabel: bool) -> str | None:
    """Return the calibration method, after resolving ``"auto"``; None if there is nothing to fit.

    Parameters
    ----------
    calibration
        The parameter of ``TextClassifier``.
    model
        The unfitted model, which may fit probabilities of its own.
    is_multilabel
        Whether items have label sets.
    """
    if calibration != "auto":
        return calibration
    traits = getattr(model, "traits", None)
    if traits is not None and traits.fits_probabilities:
        return None
    return "isotonic" if is_multilabel else "temperature"
