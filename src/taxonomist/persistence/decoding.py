"""Decoding of model files; the inverse of ``encoding``.

Only objects of known classes are created. Their attributes are set without running any code of the
classes.
"""

from __future__ import annotations

import inspect
import re
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from taxonomist.errors import ModelFileError, closest
from taxonomist.persistence.contracts import check_object
from taxonomist.persistence.encoding import BUILT_IN, SPARSE_FORMATS
from taxonomist.persistence.registry import CONSTRUCTOR_ARGUMENTS

if TYPE_CHECKING:
    from taxonomist.persistence.parts import PartReader
    from taxonomist.persistence.registry import Registry

_BY_NAME = {name: kind for kind, name in BUILT_IN.items()}
_COLLECTIONS = {"tuple": tuple, "set": set, "frozenset": frozenset}
_DTYPE = re.compile(r"[<>|=][biufcSUmM]\d{1,9}(\[\w{1,8}\])?")
"""Names of dtypes of numbers, strings and times, as ``dtype.str`` gives them."""

FREE_BYTES = 2**26
"""Bytes that arrays may take beyond those of the files: small arrays are written inline."""

MAX_PACKING = 72
"""How many bytes of an array a byte of a file can stand for, if zeros are left out."""


class Decoder:
    """Decodes trees of JSON values.

    Parameters
    ----------
    registry
        The known classes.
    reader
        Reads the parts of the model.

    Attributes
    ----------
    has_foreign
        Whether an object of a class outside Taxonomist, such as scikit-learn's, was decoded.
    held
        Objects whose large arrays were not compared with their checksums yet; their classes have a
        method ``hold_back``.
    """

    def __init__(self, registry: Registry, reader: PartReader) -> None:
        self.has_foreign = False
        self.held: list[Any] = []
        self._registry = registry
        self._reader = reader
        self._met: dict[int, Any] = {}
        self._room = FREE_BYTES + MAX_PACKING * reader.n_bytes
        self._ways = {
            "again": lambda node: self._met[node["id"]],
            "array": self._array,
            "built-in": lambda node: _BY_NAME[node["name"]],
            "dict": self._dict,
            "dtype": lambda node: _plain_type(node["name"]),
            "fields": self._fields,
            "float": lambda node: float(node["value"]),
            "numbers": lambda node: self.decode(node["of"]).tolist(),
            "object": self._object,
            "packed": self._packed,
            "scalar": lambda node: _plain_type(node["dtype"]).type(self.decode(node["value"])),
            "strings": lambda node: list(self._reader.value(node["part"])),
            "type": lambda node: _plain_type(node["name"]).type,
            "view": lambda node: MappingProxyType(self._dict(node)),
            **dict.fromkeys(_COLLECTIONS, self._collection),
            "range": self._range,
            "slice": lambda node: slice(*self.decode(node["items"])),
            **dict.fromkeys(SPARSE_FORMATS, self._sparse),
        }

    def decode(self, node: Any) -> Any:
        """Return the value that a tree represents."""
        if isinstance(node, list):
            return [self.decode(entry) for entry in node]
        if not isinstance(node, dict):
            return node
        kind = node["$"]
        if kind not in self._ways:
            raise ModelFileError(f"The model contains a value of the unknown kind {kind!r}.")
        value = self._ways[kind](node)
        if "id" in node:
            self._met[node["id"]] = value
        return value

    def _collection(self, node: Any) -> Any:
        return _COLLECTIONS[node["$"]](self.decode(node["items"]))

    def _dict(self, node: Any) -> dict[Any, Any]:
        if "items" in node:
            return {key: self.decode(value) for key, value in node["items"].items()}
        return dict(zip(self.decode(node["keys"]), self.decode(node["values"]), strict=True))

    def _class(self, name: Any) -> type:
        kind = self._registry.get(name)
        if kind is None:
            raise ModelFileError(
                f"The model contains an object of class {name!r}, which this version of Taxonomist "
                f"does not know.{closest(str(name), self._registry.names())} Pass the class to "
                "load, or use the version of Taxonomist that saved the model."
            )
        self.has_foreign |= not kind.__module__.startswith("taxonomist.")
        return kind

    def _fields(self, node: Any) -> Any:
        kind: Any = self._class(node["class"])
        fields = {name: self.decode(value) for name, value in node["fields"].items()}
        missing = set(getattr(kind, "_fields", ())) ^ set(fields)
        # A field with a default may be younger than the file.
        if missing - (set(getattr(kind, "_field_defaults", ())) - set(fields)):
            raise ModelFileError(f"{node['class']} has other fields in this version of Taxonomist.")
        value = kind(**fields)
        check_object(value)
        return value

    def _object(self, node: Any) -> Any:
        """Return an object; parameters that are missing in the file get their defaults."""
        kind = self._class(node["class"])
        is_current = node.get("version", 1) == getattr(kind, "file_version", 1)
        can_wait = is_current and hasattr(kind, "hold_back")
        with self._reader.deferring(can_wait):
            state = {name: self.decode(value) for name, value in node["attributes"].items()}
        if not all(map(str.isidentifier, state)):
            raise ModelFileError(f"{node['class']} has attributes without a valid name.")
        if node["class"] in CONSTRUCTOR_ARGUMENTS:
            return kind(**state)
        state = self._upgraded(kind, node, state)
        if issubclass(kind, tuple):
            raise ModelFileError(f"{node['class']} has fields, not attributes.")
        value = kind.__new__(kind)
        if hasattr(kind, "get_params"):
            signature = inspect.signature(kind.__init__)
            for name, parameter in signature.parameters.items():
                if name not in state and parameter.default is not parameter.empty:
                    value.__dict__[name] = parameter.default
        value.__dict__.update(state)
        check_object(value)
        if can_wait:
            self.held.append(value)
        return value

    def _upgraded(self, kind: type, node: Any, state: dict[str, Any]) -> dict[str, object]:
        """Return the state of an object, converted to the current version."""
        version, known = node.get("version", 1), getattr(kind, "file_version", 1)
        if version == known:
            return state
        if version in range(1, known):
            from taxonomist.persistence.old_versions import upgraded

            found = upgraded(node["class"], state, version)
            for value in found.values():
                check_object(value)
            return found
        raise ModelFileError(
            f"{node['class']} has file version {version}, but this version of Taxonomist reads "
            f"versions up to {known}: update Taxonomist (pip install -U taxonomist)."
        )

    # Arrays ----------------------------------------------------------------------------------

    def _array(self, node: Any) -> Any:
        dtype, shape = _any_type(node["dtype"]), _shape(node["shape"])
        if "values" not in node:
            array = self._filed(node, shape)
        elif dtype.hasobject:
            values = self.decode(node["values"])
            array = np.fromiter(values, dtype, count=min(prod(shape), len(values)))
            array = array.reshape(shape)
        else:
            self._take(len(node["values"]) * dtype.itemsize)
            array = np.array(node["values"], dtype=dtype).reshape(shape)
        if array.dtype != dtype or array.shape != shape:
            raise ModelFileError(f"A part contains {array.dtype}{array.shape}, not {dtype}{shape}.")
        return _frozen(array, node)

    def _filed(self, node: Any, shape: tuple[int, ...]) -> Any:
        """Return the array of a part, or a slice of it."""
        array = self._reader.array(node["part"])
        if "start" not in node:
            return array
        start, size = node["start"], prod(shape)
        if not 0 <= start <= start + size <= len(array):
            raise ModelFileError(f"An array extends beyond the end of {node['part']}.")
        return array[start : start + size].reshape(shape, order=node["order"])

    def _packed(self, node: Any) -> Any:
        """Return an array that was stored without its zeros."""
        dtype, shape = _plain_type(node["dtype"]), _shape(node["shape"])
        mask, kept = self.decode(node["mask"]), self.decode(node["kept"])
        if len(mask) != -(-prod(shape) // 8):
            raise ModelFileError(
                f"A packed array of shape {shape} has a mask of {len(mask)} bytes."
            )
        self._take(prod(shape) * dtype.itemsize)
        array = np.zeros(prod(shape), dtype=dtype)
        array[np.unpackbits(mask, count=array.size).view(bool)] = kept
        return _frozen(array.reshape(shape), node)

    def _range(self, node: Any) -> range:
        """Return a range that is not longer than the model could need."""
        found = range(*self.decode(node["items"]))
        self._take(8 * len(found))
        return found

    def _take(self, n_bytes: int) -> None:
        """Count the bytes of a value that the file describes; raise if they are too many."""
        self._room -= n_bytes
        if self._room < 0:
            raise ModelFileError(
                "The model describes values that are much larger than its files: do not trust it."
            )

    def _sparse(self, node: Any) -> Any:
        """Return a sparse matrix after checking its indices."""
        parts = tuple(self.decode(node[name]) for name in ("data", "indices", "indptr"))
        matrix = getattr(sparse, node["$"])(parts, shape=_shape(node["shape"]))
        matrix.check_format(full_check=True)
        return matrix


def _any_type(name: Any) -> np.dtype[Any]:
    """Return a dtype of numbers, strings or objects."""
    return np.dtype(object) if name == "|O" else _plain_type(name)


def _plain_type(name: Any) -> np.dtype[Any]:
    """Return a dtype of numbers or strings."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ModelFileError(f"The model contains an array of type {name!r}, which is not allowed.")
    return np.dtype(name)


def _shape(given: Any) -> tuple[int, ...]:
    """Return the shape of an array."""
    if not isinstance(given, list) or not all(type(n) is int for n in given):
        raise ModelFileError(f"{given!r} is not the shape of an array.")
    return tuple(given)


def _frozen(array: Any, node: Any) -> Any:
    """Return the array, read-only if it was read-only when it was saved."""
    if node.get("frozen"):
        array = array.view()
        array.flags.writeable = False
    return array
