"""Compare the attributes of decoded objects with the annotations of their classes."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from taxonomist.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_annotations", "damaged", "is_array", "is_named", "is_number"]


def damaged(value: object, what: str) -> ModelFileError:
    """Return the error for an object whose attributes are wrong."""
    return ModelFileError(f"The model is damaged: in its {type(value).__name__}, {what}.")


def check_annotations(value: object) -> None:
    """Raise if a field of a data class or named tuple is missing or has another type."""
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        types = {field.name: str(field.type) for field in dataclasses.fields(kind)}
    elif isinstance(value, tuple) and hasattr(kind, "_fields"):
        types = {
            name: str(getattr(given, "__forward_arg__", given))
            for name, given in kind.__annotations__.items()
        }
    else:
        return
    for name, annotation in types.items():
        if not hasattr(value, name):
            raise damaged(value, f"{name} is missing")
        found = getattr(value, name)
        if not any(_fits(found, each.strip()) for each in _alternatives(annotation)):
            raise damaged(value, f"{name} is {type(found).__name__}, not {annotation}")


def _alternatives(annotation: str) -> list[str]:
    """Return the parts of an annotation without the arguments in brackets."""
    while "[" in annotation:
        annotation, n = re.subn(r"\[[^\[\]]*\]", "", annotation)
        if not n:
            break
    return annotation.split("|")


def _fits(value: object, annotation: str) -> bool:
    """Return whether a value has the type of an annotation; unknown annotations fit all."""
    if annotation == "None":
        return value is None
    return _TYPES[annotation](value) if annotation in _TYPES else annotation not in _CLASSES


def is_number(value: object) -> bool:
    """Return whether a value is a number; Booleans are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not _is_bool(value)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def is_array(kinds: str) -> Callable[[object], bool]:
    """Return a check that a value is an array of one of these kinds of types."""
    return lambda value: isinstance(value, np.ndarray) and value.dtype.kind in kinds


def is_named(*names: str) -> Callable[[object], bool]:
    """Return a check that a value's class, or a base of it, has one of these names."""
    return lambda value: any(base.__name__ in names for base in type(value).__mro__)


_CLASSES = (
    *("ActiveLabellings", "Calibration", "Categories", "Curve", "Duals", "NestedSoftmax"),
    *("LabelledDag", "Pooled", "SetProbabilities", "Taxonomy", "Tree"),
)
_TYPES: dict[str, Callable[[object], bool]] = {
    "bool": _is_bool,
    "int": lambda value: isinstance(value, int | np.integer) and not _is_bool(value),
    "float": is_number,
    "str": lambda value: isinstance(value, str),
    "list": lambda value: isinstance(value, list),
    "tuple": lambda value: isinstance(value, tuple),
    "dict": lambda value: isinstance(value, dict),
    "Codes": is_array("iu"),
    "Floats": is_array("f"),
    "CSR": lambda value: sparse.issparse(value) and value.format == "csr",
    "RowMap": is_named("FeatureMap", "GramMap", "KernelMap"),
    "FittedRule": lambda value: hasattr(value, "excess"),
    **{name: is_named(name) for name in _CLASSES},
}
