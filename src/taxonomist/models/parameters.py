"""Declarative checks of parameters: a table from names to requirements for each class.

A class lists the requirements of its own parameters in ``parameters``. The tables of base classes
and mixins are merged. ``check_parameters`` checks the merged table before fitting, so all error
messages have the same form: what the parameter must be, and what was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from taxonomist.errors import ParameterError, closest
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


MAX_VALUE = 1e18
"""The largest feature: sums of products of squares are far from the end of float64's range."""


class Requirement(Protocol):
    """A requirement of a parameter."""

    def problem(self, name: str, value: object) -> str | None:
        """Return an error message, or None if the value is valid."""


@dataclass(frozen=True)
class Number:
    """A number within bounds.

    Attributes
    ----------
    text
        The description of the bounds, following "must be".
    is_inside
        Function that returns whether a number is within the bounds.
    whole
        Whether the number must be an integer.
    optional
        Whether None is accepted.
    """

    text: str
    is_inside: Callable[[Any], bool]
    whole: bool = False
    optional: bool = False

    def problem(self, name: str, value: object) -> str | None:
        """Return an error message or None; see ``Requirement``."""
        if value is None and self.optional:
            return None
        kind = Integral if self.whole else Real
        is_number = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
        if is_number and self.is_inside(value):
            return None
        return f"{name} must be {self.text}{', or None' if self.optional else ''}."


@dataclass(frozen=True)
class Word:
    """One of several strings; with ``others``, anything but other strings.

    Attributes
    ----------
    words
        The accepted strings.
    others
        Description of other accepted values. Empty if there are none.
    optional
        Whether None is accepted.
    """

    words: tuple[str, ...]
    others: str = ""
    optional: bool = False

    def problem(self, name: str, value: object) -> str | None:
        """Return an error message or None; see ``Requirement``."""
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value in self.words:
            return None
        if self.others and not isinstance(value, str):
            return None
        known = ", ".join(self.words) + (f", or {self.others}" if self.others else "")
        none = ", or None" if self.optional else ""
        return f"{name} must be one of {known}{none}.{closest(str(value), self.words)}"


@dataclass(frozen=True)
class Check:
    """A value that a function accepts; the function raises its own errors."""

    function: Callable[[Any], object]

    def problem(self, name: str, value: object) -> str | None:  # noqa: ARG002
        """Call the function, which raises if the value is invalid."""
        self.function(value)
        return None


@dataclass(frozen=True)
class TaxonomyOrNone:
    """A taxonomy, or None for a flat taxonomy of the labels."""

    def problem(self, name: str, value: object) -> str | None:
        """Return an error message or None; see ``Requirement``."""
        if value is None or isinstance(value, Taxonomy):
            return None
        return f"{name} must be a Taxonomy or None; use Taxonomy.read to read one from a file."


def above_zero(*, whole: bool = False, infinite: bool = False) -> Number:
    """Require a number above 0."""
    if infinite:
        return Number("a number above 0, or infinite", lambda value: value > 0)
    text = "a whole number above 0" if whole else "a finite number above 0"
    return Number(text, lambda value: 0 < value < np.inf, whole=whole)


def at_least(least: float, *, whole: bool = False, optional: bool = False) -> Number:
    """Require a finite number of at least ``least``."""
    text = f"{'an integer' if whole else 'a finite number'} of at least {least:g}"
    return Number(text, lambda value: least <= value < np.inf, whole=whole, optional=optional)


def between(
    low: float, high: float, *, open_low: bool = False, open_high: bool = False, **options: bool
) -> Number:
    """Require a number between two bounds, which are included unless open."""
    text = f"{'above' if open_low else 'at least'} {low:g} and "
    text += f"{'below' if open_high else 'at most'} {high:g}"

    def is_inside(value: float) -> bool:
        return (low < value if open_low else low <= value) and (
            value < high if open_high else value <= high
        )

    return Number(text, is_inside, **options)


def check_parameters(model: Any) -> None:
    """Raise if a parameter of a model is invalid.

    Raises
    ------
    ParameterError
        For the first invalid parameter.
    """
    for name, requirement in requirements(type(model)).items():
        value = getattr(model, name)
        problem = requirement.problem(name, value)
        if problem is not None:
            raise ParameterError(f"{problem} Got {value!r}.")


def check_size(rows: Any, name: str, largest: float) -> None:
    """Raise if a value of dense or sparse rows exceeds a bound."""
    values = rows.data if hasattr(rows, "indptr") else rows
    if values.size and max(values.max(), -values.min()) > largest:
        raise ParameterError(
            f"X contains {values.flat[np.argmax(np.abs(values))]:g}, which is too large for "
            f"{name}: values must be at most {largest:g} in size. Scale the features, for example "
            "with sklearn.preprocessing.MaxAbsScaler."
        )


def requirements(kind: type) -> dict[str, Requirement]:
    """Return the requirements of a class and its base classes."""
    tables: list[Mapping[str, Requirement]] = [
        vars(base)["parameters"] for base in reversed(kind.__mro__) if "parameters" in vars(base)
    ]
    return {name: requirement for table in tables for name, requirement in table.items()}
