"""Checks of the parameters of ``TextClassifier``."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from taxonomist.errors import ParameterError, closest
from taxonomist.inference.probabilities import METHODS
from taxonomist.text.models import choice_of

if TYPE_CHECKING:
    from taxonomist.text.classifier import TextClassifier

__all__ = ["calibration_method", "check_parameters"]


def check_parameters(classifier: TextClassifier) -> None:
    """Raise if a parameter of a classifier is invalid."""
    if isinstance(classifier.model, str) and classifier.model != "auto":
        choice_of(classifier.model)
    C: Any = classifier.C
    if C is not None and not (isinstance(C, Real) and float(C) > 0):
        raise ParameterError(f"C must be a number above 0, or None. Got {C!r}.")
    budget: Any = classifier.budget
    if budget is not None and not (isinstance(budget, Real) and float(budget) > 0):
        raise ParameterError(
            f"budget must be a number of seconds above 0, or None. Got {budget!r}."
        )
    method = classifier.calibration
    if method not in (None, "auto", *METHODS):
        known = ", ".join(("auto", *METHODS))
        hint = closest(str(method), METHODS)
        raise ParameterError(f"calibration must be one of {known}, or None. Got {method!r}.{hint}")


def calibration_method(calibration: str | None, is_multilabel: bool) -> str | None:
    """Return the calibration method, after resolving ``"auto"``."""
    if calibration != "auto":
        return calibration
    return "isotonic" if is_multilabel else "temperature"
