"""Checks of option values, with messages that name the options."""

from __future__ import annotations

from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING

from taxonomist.errors import TaxonomistError, closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taxonomist.datasets.bad_rows import BadRowsError
    from taxonomist.text import TextClassifier

__all__ = [
    "OptionError",
    "bad_rows_explained",
    "check_budget",
    "check_cost",
    "check_explains",
    "check_model",
    "check_models",
    "check_probabilities",
    "check_share",
    "check_text",
    "explained",
    "prefix_lengths",
]


class OptionError(TaxonomistError, ValueError):
    """An option has an invalid value."""


def check_model(name: str) -> None:
    """Raise if a model is unknown."""
    from taxonomist.text.models import choice_of

    try:
        choice_of(name)
    except ValueError as error:
        raise OptionError(str(error)) from error


def check_models(names: Iterable[str]) -> None:
    """Raise if one of the models to compare is unknown."""
    from taxonomist.text.models import MODELS, members_of

    for name in names:
        if unknown := next((each for each in members_of(name) if each not in MODELS), None):
            known, hint = ", ".join(MODELS), closest(unknown, MODELS)
            raise OptionError(f"--models must be some of {known}. Got {unknown!r}.{hint}")


def check_cost(C: float | None) -> None:
    """Raise if C is not a positive finite number."""
    if C is not None and not (C > 0 and isfinite(C)):
        raise OptionError(f"--C must be a finite number above 0. Got {C:g}.")


def check_budget(seconds: float) -> None:
    """Raise if a time is not positive."""
    if not seconds > 0:
        raise OptionError(f"--budget must be a number of seconds above 0, or inf. Got {seconds:g}.")


def check_share(share: float) -> None:
    """Raise if the fraction of held-out items is not in [0, 1)."""
    if not 0 <= share < 1:
        raise OptionError(f"--test-size must be at least 0 and below 1. Got {share:g}.")


def prefix_lengths(given: str | None) -> list[int] | None:
    """Parse the lengths of prefixes."""
    if given is None:
        return None
    from taxonomist.datasets.label_taxonomy import check_prefixes

    try:
        found = [int(part) for part in given.split(",")]
        check_prefixes(found)
    except ValueError:
        raise OptionError(
            f"--code-prefixes must be increasing lengths such as 2,3,4. Got {given!r}."
        ) from None
    return found


def check_text(text: str) -> None:
    """Raise if a text is empty."""
    if not text.strip():
        raise OptionError("--text is empty. Pass the text to classify.")


def check_probabilities(classifier: TextClassifier) -> None:
    """Raise if a classifier cannot predict probabilities."""
    if classifier.calibration is None:
        raise OptionError(
            "The model has no probabilities: train it with --calibration auto, or predict "
            "only labels."
        )


def check_explains(classifier: TextClassifier) -> None:
    """Raise if a classifier cannot explain its predictions."""
    if not classifier.can_explain:
        raise OptionError(
            "This kind of model cannot explain its predictions. Train another one, such as svm."
        )


def explained(error: BadRowsError, written: str) -> BadRowsError:
    """Return an error about bad rows that says what was written and how to skip bad rows."""
    return type(error)(error.listed, f"{written} Fix these rows, or skip them with --skip-bad.")


@contextmanager
def bad_rows_explained() -> Iterator[None]:
    """Add to an error about bad rows that nothing was written, and how to skip bad rows."""
    from taxonomist.datasets.bad_rows import BadRowsError

    try:
        yield
    except BadRowsError as error:
        raise explained(error, "Nothing was written.") from None
