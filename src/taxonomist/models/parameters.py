"""Checks of parameters, declared once for each class as a table from names to requirements.

A class lists its own parameters in ``parameters``; tables of base classes and mixins are merged.
``check_parameters`` goes through the merged table before any work is done, so every message has
the same form: what the parameter must be, and what was given.
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


class Requirement(Protocol):
    """What a parameter must be."""

    def problem(self, name: str, value: Any) -> str | None:
        """Return a sentence about what is wrong with a value, None if nothing is."""


@dataclass(frozen=True)
class Number:
    """A number within bounds.

    Attributes
    ----------
    text
        The bounds in words, after "must be".
    is_inside
        Whether a number is within them.
    whole
        Whether it must be an integer.
    optional
        Whether None is accepted.
    """

    text: str
    is_inside: Callable[[float], bool]
    whole: bool = False
    optional: bool = False

    def problem(self, name: str, value: Any) -> str | None:
        """Return what is wrong; see ``Requirement``."""
        if value is None and self.optional:
            return None
        kind = Integral if self.whole else Real
        is_number = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
        if is_number and self.is_inside(value):
            return None
        return f"{name} must be {self.text}{', or None' if self.optional else ''}."


@dataclass(frozen=True)
class Word:
    """One of some words; with ``others``, anything that is no string is accepted too.

    Attributes
    ----------
    words
        The words.
    others
        What else may be given, in words; empty for nothing.
    optional
        Whether None is accepted.
    """

    words: tuple[str, ...]
    others: str = ""
    optional: bool = False

    def problem(self, name: str, value: Any) -> str | None:
        """Return what is wrong; see ``Requirement``."""
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
    """Whatever a function accepts: it raises with a sentence of its own."""

    function: Callable[[Any], Any]

    def problem(self, name: str, value: Any) -> str | None:  # noqa: ARG002
        """Let the function raise."""
        self.function(value)
        return None


@dataclass(frozen=True)
class TaxonomyOrNone:
    """A taxonomy, or None for a flat one over the labels."""

    def problem(self, name: str, value: Any) -> str | None:
        """Return what is wrong; see ``Requirement``."""
        if value is None or isinstance(value, Taxonomy):
            return None
        return f"{name} must be a Taxonomy, or None; Taxonomy.read makes one of a file."


def above_zero(*, whole: bool = False, infinite: bool = False) -> Number:
    """Return the requirement of a number above 0."""
    if infinite:
        return Number("a number above 0, or infinite", lambda value: value > 0)
    text = "a whole number above 0" if whole else "a finite number above 0"
    return Number(text, lambda value: 0 < value < np.inf, whole=whole)


def at_least(least: float, *, whole: bool = False, optional: bool = False) -> Number:
    """Return the requirement of a finite number that is not below another."""
    text = f"{'an integer' if whole else 'a finite number'} of at least {least:g}"
    return Number(text, lambda value: least <= value < np.inf, whole=whole, optional=optional)


def between(
    low: float, high: float, *, open_low: bool = False, open_high: bool = False, **options: bool
) -> Number:
    """Return the requirement of a number between two others, which are in unless open."""
    text = f"{'above' if open_low else 'at least'} {low:g} and "
    text += f"{'below' if open_high else 'at most'} {high:g}"

    def is_inside(value: float) -> bool:
        return (low < value if open_low else low <= value) and (
            value < high if open_high else value <= high
        )

    return Number(text, is_inside, **options)


def check_parameters(model: Any) -> None:
    """Raise unless all parameters of a model are what they must be.

    Raises
    ------
    ParameterError
        With the first parameter that is not.
    """
    for name, requirement in requirements(type(model)).items():
        value = getattr(model, name)
        problem = requirement.problem(name, value)
        if problem is not None:
            raise ParameterError(f"{problem} Got {value!r}.")


def requirements(kind: type) -> dict[str, Requirement]:
    """Return the requirements of a class: its own, and those of its bases."""
    tables: list[Mapping[str, Requirement]] = [
        vars(base)["parameters"] for base in reversed(kind.__mro__) if "parameters" in vars(base)
    ]
    return {name: requirement for table in tables for name, requirement in table.items()}
