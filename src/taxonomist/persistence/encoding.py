"""From a model to what files can hold: a tree of JSON values, arrays, and tables of strings.

A value that JSON does not have is an object whose ``"$"`` says what it is. Objects of known classes
are their attributes, without what is only kept to save time. A value that is met again is written
once and referred to by number.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from taxonomist.errors import ModelFileError
from taxonomist.persistence.parts import ArrayPart, PoolPart, TextPart
from taxonomist.persistence.registry import MADE_ANEW

if TYPE_CHECKING:
    from taxonomist.persistence.parts import Part
    from taxonomist.persistence.registry import Registry

INLINE = 16
"""Numbers that an array may have to be written among the attributes, where people can read it."""

OWN_FILE = 2**20
"""Bytes from which on an array has a file of its own; smaller ones of one type share one."""

LONG = 1000
"""Entries from which on lists of strings or whole numbers are parts."""

SPARSE = ("csr_array", "csr_matrix", "csc_array", "csc_matrix")
BUILT_IN = {kind: kind.__name__ for kind in (bool, int, float, str)}


class Encoder:
    """Turns values into trees of JSON values, and collects the parts that these refer to.

    Parameters
    ----------
    registry
        The classes that are known.
    pack
        Whether zeros in arrays of weights are left out; such arrays cannot be mapped into memory.

    Attributes
    ----------
    n_terms
        Size of the vocabularies that were met.
    """

    def __init__(self, registry: Registry, pack: bool) -> None:
        self.n_terms = 0
        self._registry = registry
        self._pack = pack
        self._parts: list[Part] = []
        self._pools: dict[str, PoolPart] = {}
        self._texts: dict[tuple[str, ...], str] = {}
        self._met: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._n_shared = 0
        self._ways = {
            float: self._float,
            list: self._list,
            tuple: self._tuple,
            dict: self._dict,
            MappingProxyType: self._dict,
            set: self._set,
            frozenset: self._set,
            slice: self._slice,
            range: self._slice,
        }

    def parts(self) -> list[Part]:
        """Return the files that the values so far refer to."""
        return [*self._parts, *self._pools.values()]

    def encode(self, value: Any, where: str) -> Any:
        """Return a value as JSON has it.

        Parameters
        ----------
        value
            What to encode.
        where
            The attribute that it is, for names of files and errors.

        Raises
        ------
        ModelFileError
            If it is nothing that a model file can hold.
        """
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind in self._ways:
            return self._ways[kind](value, where)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if isinstance(value, type | np.dtype):
            return self._type(value, where)
        return self._shared(value, where)

    # Values ----------------------------------------------------------------------------------

    def _float(self, value: float, _: str) -> Any:
        """Return a number, in words where JSON has none for it."""
        return value if math.isfinite(value) else {"$": "float", "value": str(value)}

    def _scalar(self, value: Any, where: str) -> Any:
        """Return a number with its type."""
        if value.dtype.kind not in "biufU":
            raise refused(value, where)
        return {
            "$": "scalar",
            "dtype": value.dtype.str,
            "value": self.encode(value.item(), where),
        }

    def _type(self, value: Any, where: str) -> Any:
        """Return a type of numbers."""
        if isinstance(value, np.dtype) and not value.hasobject:
            return {"$": "dtype", "name": value.str}
        if isinstance(value, type) and issubclass(value, np.generic) and value is not np.object_:
            return {"$": "type", "name": np.dtype(value).str}
        if value in BUILT_IN:
            return {"$": "built-in", "name": BUILT_IN[value]}
        raise refused(value, where)

    def _list(self, value: Any, where: str) -> Any:
        """Return a list; a long one of strings or whole numbers refers to a part."""
        if len(value) >= LONG:
            if all(type(entry) is str for entry in value):
                return {"$": "strings", "part": self._text(tuple(value), where)}
            if all(_is_whole(entry) for entry in value):
                return {"$": "numbers", "of": self._array(np.array(value, np.int64), where)}
        return [self.encode(entry, f"{where}[{k}]") for k, entry in enumerate(value)]

    def _tuple(self, value: Any, where: str) -> Any:
        """Return a tuple."""
        return {"$": "tuple", "items": self._list(value, where)}

    def _dict(self, value: Any, where: str) -> Any:
        """Return a mapping, as an object where it is short and its keys are strings."""
        node: dict[str, Any] = {"$": "dict" if type(value) is dict else "view"}
        if where.endswith(("vocabulary_", "_vocabulary")):
            self.n_terms += len(value)
        if len(value) < LONG and all(type(key) is str for key in value):
            node["items"] = {key: self.encode(v, f"{where}[{key!r}]") for key, v in value.items()}
            return node
        node["keys"] = self._list(list(value), where)
        node["values"] = self._list(list(value.values()), f"{where}[...]")
        return node

    def _set(self, value: Any, where: str) -> Any:
        """Return a set, always in the same order."""
        ordered = sorted(value, key=lambda entry: (type(entry).__name__, repr(entry)))
        return {"$": type(value).__name__, "items": self._list(ordered, where)}

    def _slice(self, value: Any, where: str) -> Any:
        """Return a slice or a range."""
        ends = [value.start, value.stop, value.step]
        return {"$": type(value).__name__, "items": self._list(ends, where)}

    # Values that may be met again ------------------------------------------------------------

    def _shared(self, value: Any, where: str) -> Any:
        """Return an array or an object, or a reference to it if it was met before."""
        if id(value) in self._met:
            _, node = self._met[id(value)]
            if "id" not in node:
                node["id"] = self._n_shared
                self._n_shared += 1
            return {"$": "again", "id": node["id"]}
        if isinstance(value, np.ndarray):
            node = self._array(value, where)
        elif sparse.issparse(value):
            node = self._sparse(value, where)
        else:
            node = self._object(value, where)
        # The value is kept, lest its number is given to another.
        self._met[id(value)] = value, node
        return node

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        """Return an object of a known class."""
        name = self._registry.name_of(type(value))
        if name is None:
            raise refused(value, where)
        prefix = f"{where}." if where else ""
        if isinstance(value, tuple):
            fields = value._asdict().items()  # type: ignore[attr-defined]
            encoded = {key: self.encode(field, prefix + key) for key, field in fields}
            return {"$": "fields", "class": name, "fields": encoded}
        state = state_of(value)
        state = {key: state[key] for key in MADE_ANEW.get(name, state)}
        encoded = {key: self.encode(state[key], prefix + key) for key in state}
        version = getattr(type(value), "file_version", 1)
        return {"$": "object", "class": name, "version": version, "attributes": encoded}

    def _sparse(self, value: Any, where: str) -> dict[str, Any]:
        """Return a sparse matrix as three arrays."""
        if type(value).__name__ not in SPARSE:
            raise ModelFileError(
                f"{_named(where)} is a sparse matrix in {value.format.upper()} format, which model "
                "files do not have. Give it in CSR format: scipy.sparse.csr_array(matrix)."
            )
        node: dict[str, Any] = {"$": type(value).__name__, "shape": list(value.shape)}
        for name in ("data", "indices", "indptr"):
            node[name] = self.encode(getattr(value, name), f"{where}.{name}")
        return node

    def _array(self, value: Any, where: str) -> dict[str, Any]:
        """Return an array: among the attributes, in a common file, or in one of its own."""
        if type(value) not in (np.ndarray, np.memmap):
            raise refused(value, where)
        node: dict[str, Any] = {"$": "array", "dtype": value.dtype.str, "shape": list(value.shape)}
        if value.dtype == object:
            node["values"] = self._list(value.ravel().tolist(), where)
        elif value.dtype.hasobject or value.dtype.kind == "V":
            raise refused(value, where)
        elif value.size <= INLINE and _is_plain(value):
            node["values"] = value.ravel().tolist()
        elif self._pack and value.dtype.kind == "f" and _gains_by_packing(value):
            is_there = _bits(value) != 0
            node["$"] = "packed"
            node["mask"] = self._array(np.packbits(is_there), f"{where}.mask")
            node["kept"] = self._array(value.ravel()[is_there], f"{where}.kept")
        else:
            node.update(self._filed(value, where))
        if not value.flags.writeable:
            node["frozen"] = True
        return node

    def _filed(self, value: Any, where: str) -> dict[str, Any]:
        """Add an array to a file, and return where it is."""
        if value.nbytes >= OWN_FILE:
            self._parts.append(ArrayPart(self._part_name(where, "npy"), value))
            return {"part": self._parts[-1].name}
        if not (value.flags.c_contiguous or value.flags.f_contiguous):
            value = np.ascontiguousarray(value)
        if value.dtype.str not in self._pools:
            kind = re.sub(r"\W", "", value.dtype.name)
            name = f"small-{len(self._pools)}-{kind}.npy"
            self._pools[value.dtype.str] = PoolPart(name, value.dtype)
        pool, order = self._pools[value.dtype.str], "C" if value.flags.c_contiguous else "F"
        return {"part": pool.name, "start": pool.add(value), "order": order}

    def _text(self, strings: tuple[str, ...], where: str) -> str:
        """Add a table of strings, and return the name of its file."""
        if strings not in self._texts:
            part = TextPart(self._part_name(where, "json"), strings)
            self._parts.append(part)
            self._texts[strings] = part.name
        return self._texts[strings]

    def _part_name(self, where: str, ending: str) -> str:
        """Return a file name that tells people what is in a part."""
        slug = re.sub(r"[^A-Za-z0-9_.]+", "-", where)[-60:].strip(".-")
        return f"{len(self._parts):03d}-{slug}.{ending}"


def state_of(value: Any) -> dict[str, Any]:
    """Return what a file holds of an object.

    That is what its class says in ``file_state``, else its attributes without those that it can
    compute again.
    """
    if hasattr(value, "file_state"):
        state: dict[str, Any] = value.file_state()
        return state
    cached = {
        name
        for base in type(value).__mro__
        for name, member in vars(base).items()
        if isinstance(member, cached_property)
    }
    return {name: member for name, member in vars(value).items() if name not in cached}


def refused(value: Any, where: str) -> ModelFileError:
    """Return the error that says why a value cannot be in a model file."""
    kind = type(value)
    what = f"an object of {kind.__module__}.{kind.__qualname__}"
    if callable(value) and not hasattr(value, "fit"):
        what = f"a function or class, {getattr(value, '__qualname__', kind.__qualname__)!r}"
    return ModelFileError(
        f"{_named(where)} is {what}, which model files cannot hold: they have data only, no code. "
        "Give the model something else there, such as the word for a built-in one, or keep this "
        "model with joblib or pickle."
    )


def _named(where: str) -> str:
    """Return how an error calls an attribute."""
    return f"The attribute {where!r} of the model" if where else "The model"


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number that 64 bits can hold."""
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_number and -(2**63) <= value < 2**63


def _is_plain(value: Any) -> bool:
    """Return whether JSON has all values of an array."""
    kind = value.dtype.kind
    return kind in "biuU" or (value.dtype.str[1:] in ("f4", "f8") and np.isfinite(value).all())


def _bits(value: Any) -> Any:
    """Return the numbers of an array as bits, in C order: -0.0 is not 0."""
    return np.ascontiguousarray(value).ravel().view(f"u{value.dtype.itemsize}")


def _gains_by_packing(value: Any) -> bool:
    """Return whether a bit for each number, and those that are not 0, take less room."""
    if value.dtype.itemsize > 8 or value.nbytes < LONG:
        return False
    kept = int(np.count_nonzero(_bits(value))) * value.dtype.itemsize
    return bool(kept + value.size / 8 < 0.9 * value.nbytes)
