"""Encoding of models as a tree of JSON values, arrays, and tables of strings.

A value without a JSON equivalent becomes a JSON object whose ``"$"`` key names its kind. Objects of
known classes are stored as their attributes, without cached values. A value that occurs several
times is written once and referred to by number.
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
from taxonomist.features.term_table import TermTable
from taxonomist.persistence.parts import ArrayPart, PoolPart, TextPart
from taxonomist.persistence.registry import CONSTRUCTOR_ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from taxonomist._typing import Integers, Objects
    from taxonomist.persistence.parts import Part
    from taxonomist.persistence.registry import Registry

MAX_INLINE_SIZE = 16
"""Maximum size of arrays that are written inline as readable JSON."""

OWN_FILE_BYTES = 2**20
"""Minimum bytes of arrays that get a file of their own. Smaller arrays share one file per dtype."""

LONG_LIST = 1000
"""Minimum length of lists of strings or integers that become parts."""

SPARSE_FORMATS = ("csr_array", "csr_matrix", "csc_array", "csc_matrix")
BUILT_IN = {kind: kind.__name__ for kind in (bool, int, float, str)}


class Encoder:
    """Encodes values as trees of JSON values and collects the parts that they refer to.

    Parameters
    ----------
    registry
        The known classes.
    pack
        Whether to leave out zeros in arrays of weights. Such arrays cannot be memory-mapped.

    Attributes
    ----------
    n_terms
        Total size of the encoded vocabularies.
    """

    def __init__(self, registry: Registry, pack: bool) -> None:
        self.n_terms = 0
        self._registry = registry
        self._pack = pack
        self._parts: list[Part] = []
        self._pools: dict[str, PoolPart] = {}
        self._texts: dict[tuple[str, ...], str] = {}
        self._met: dict[int, tuple[object, dict[str, object]]] = {}
        self._n_shared = 0
        self._ways: dict[type, Callable[[Any, str], object]] = {
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
        """Return the parts that the values encoded so far refer to."""
        return [*self._parts, *self._pools.values()]

    def encode(self, value: object, where: str) -> object:
        """Return a value as a tree of JSON values.

        Parameters
        ----------
        value
            The value to encode.
        where
            The path of the attribute, for file names and error messages.

        Raises
        ------
        ModelFileError
            If the value cannot be stored in a model file.
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

    def _float(self, value: float, _: str) -> object:
        """Encode a number; NaN and infinity become strings."""
        return value if math.isfinite(value) else {"$": "float", "value": str(value)}

    def _scalar(self, value: np.generic, where: str) -> object:
        """Encode a NumPy scalar with its dtype."""
        if value.dtype.kind not in "biufU":
            raise refused(value, where)
        return {
            "$": "scalar",
            "dtype": value.dtype.str,
            "value": self.encode(value.item(), where),
        }

    def _type(self, value: Any, where: str) -> object:
        """Encode a dtype or a scalar type."""
        if isinstance(value, np.dtype) and not value.hasobject:
            return {"$": "dtype", "name": value.str}
        if isinstance(value, type) and issubclass(value, np.generic) and value is not np.object_:
            return {"$": "type", "name": np.dtype(value).str}
        if value in BUILT_IN:
            return {"$": "built-in", "name": BUILT_IN[value]}
        raise refused(value, where)

    def _list(self, value: Sequence[Any], where: str) -> object:
        """Encode a list; a long list of strings or integers becomes a part."""
        if len(value) >= LONG_LIST:
            if all(type(entry) is str for entry in value):
                return {"$": "strings", "part": self._text(tuple(value), where)}
            if all(_is_whole(entry) for entry in value):
                return {"$": "numbers", "of": self._array(np.array(value, np.int64), where)}
        return [self.encode(entry, f"{where}[{k}]") for k, entry in enumerate(value)]

    def _tuple(self, value: tuple[object, ...], where: str) -> object:
        return {"$": "tuple", "items": self._list(value, where)}

    def _dict(self, value: Mapping[object, object], where: str) -> object:
        """Encode a mapping, as a JSON object if it is short and its keys are strings."""
        node: dict[str, object] = {"$": "dict" if type(value) is dict else "view"}
        if where.endswith(("vocabulary_", "_vocabulary")):
            self.n_terms += len(value)
        if len(value) < LONG_LIST and all(type(key) is str for key in value):
            node["items"] = {key: self.encode(v, f"{where}[{key!r}]") for key, v in value.items()}
            return node
        node["keys"] = self._list(list(value), where)
        node["values"] = self._list(list(value.values()), f"{where}[...]")
        return node

    def _set(self, value: Collection[object], where: str) -> object:
        """Encode a set in a fixed order."""
        ordered = sorted(value, key=lambda entry: (type(entry).__name__, repr(entry)))
        return {"$": type(value).__name__, "items": self._list(ordered, where)}

    def _slice(self, value: slice | range, where: str) -> object:
        ends = [value.start, value.stop, value.step]
        return {"$": type(value).__name__, "items": self._list(ends, where)}

    # Shared values ---------------------------------------------------------------------------

    def _shared(self, value: object, where: str) -> dict[str, object]:
        """Encode an array or an object, as a reference if it was encoded before."""
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
        # Keep a reference to the value, so that its id is not reused.
        self._met[id(value)] = value, node
        return node

    def _object(self, value: object, where: str) -> dict[str, object]:
        """Encode an object of a known class."""
        name = self._registry.name_of(type(value))
        if name is None:
            raise refused(value, where)
        prefix = f"{where}." if where else ""
        if isinstance(value, TermTable):
            self.n_terms += len(value)
        if isinstance(value, tuple):
            fields = value._asdict().items()  # type: ignore[attr-defined]
            encoded = {key: self.encode(field, prefix + key) for key, field in fields}
            return {"$": "fields", "class": name, "fields": encoded}
        state = state_of(value)
        state = {key: state[key] for key in CONSTRUCTOR_ARGUMENTS.get(name, state)}
        encoded = {key: self.encode(state[key], prefix + key) for key in state}
        version = getattr(type(value), "file_version", 1)
        return {"$": "object", "class": name, "version": version, "attributes": encoded}

    def _sparse(self, value: Any, where: str) -> dict[str, object]:
        """Encode a sparse matrix as three arrays."""
        if type(value).__name__ not in SPARSE_FORMATS:
            raise ModelFileError(
                f"{_named(where)} is a sparse matrix in {value.format.upper()} format, which model "
                "files do not support. Convert it to CSR: scipy.sparse.csr_array(matrix)."
            )
        node: dict[str, object] = {"$": type(value).__name__, "shape": list(value.shape)}
        for name in ("data", "indices", "indptr"):
            node[name] = self.encode(getattr(value, name), f"{where}.{name}")
        return node

    def _array(self, value: Objects, where: str) -> dict[str, object]:
        """Encode an array: inline, in a shared file, or in a file of its own."""
        if type(value) not in (np.ndarray, np.memmap):
            raise refused(value, where)
        node: dict[str, object] = {
            "$": "array",
            "dtype": value.dtype.str,
            "shape": list(value.shape),
        }
        if value.dtype == object:
            node["values"] = self._list(value.ravel().tolist(), where)
        elif value.dtype.hasobject or value.dtype.kind == "V":
            raise refused(value, where)
        elif value.size <= MAX_INLINE_SIZE and _is_plain(value):
            node["values"] = value.ravel().tolist()
        elif self._pack and value.dtype.kind in "fi" and _gains_by_packing(value):
            is_there = _bits(value) != 0
            node["$"] = "packed"
            node["mask"] = self._array(np.packbits(is_there), f"{where}.mask")
            node["kept"] = self._array(value.ravel()[is_there], f"{where}.kept")
        else:
            node.update(self._filed(value, where))
        if not value.flags.writeable:
            node["frozen"] = True
        return node

    def _filed(self, value: Objects, where: str) -> dict[str, object]:
        """Add an array to a file and return its location."""
        if value.nbytes >= OWN_FILE_BYTES:
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
        """Add a table of strings and return the name of its file."""
        if strings not in self._texts:
            part = TextPart(self._part_name(where, "json"), strings)
            self._parts.append(part)
            self._texts[strings] = part.name
        return self._texts[strings]

    def _part_name(self, where: str, ending: str) -> str:
        """Return a readable file name for a part."""
        slug = re.sub(r"[^A-Za-z0-9_.]+", "-", where)[-60:].strip(".-")
        return f"{len(self._parts):03d}-{slug}.{ending}"


def state_of(value: object) -> dict[str, object]:
    """Return the state of an object to store in a file.

    This is the result of ``file_state`` if the class has this method, else all attributes except
    cached properties.
    """
    if hasattr(value, "file_state"):
        state: dict[str, object] = value.file_state()
        return state
    cached = {
        name
        for base in type(value).__mro__
        for name, member in vars(base).items()
        if isinstance(member, cached_property)
    }
    return {name: member for name, member in vars(value).items() if name not in cached}


def refused(value: object, where: str) -> ModelFileError:
    """Return the error for a value that cannot be stored in a model file."""
    kind = type(value)
    what = f"an object of {kind.__module__}.{kind.__qualname__}"
    if callable(value) and not hasattr(value, "fit"):
        what = f"a function or class, {getattr(value, '__qualname__', kind.__qualname__)!r}"
    return ModelFileError(
        f"{_named(where)} is {what}, which model files cannot hold: they contain data only, no "
        "code. Use something else there, such as the name of a built-in option, or save this model "
        "with joblib or pickle."
    )


def _named(where: str) -> str:
    """Return the name of an attribute for error messages."""
    return f"The attribute {where!r} of the model" if where else "The model"


def _is_whole(value: Any) -> bool:
    """Return whether a value is an integer that fits into 64 bits."""
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_number and -(2**63) <= value < 2**63


def _is_plain(value: Any) -> bool:
    """Return whether JSON can represent all values of an array."""
    kind = value.dtype.kind
    return kind in "biuU" or (value.dtype.str[1:] in ("f4", "f8") and np.isfinite(value).all())


def _bits(value: Objects) -> Integers:
    """Return the bit patterns of an array in C order, which tell -0.0 from 0."""
    return np.ascontiguousarray(value).ravel().view(f"u{value.dtype.itemsize}")


def _gains_by_packing(value: Objects) -> bool:
    """Return whether a bit mask plus the nonzero numbers take less space."""
    if value.dtype.itemsize > 8 or value.nbytes < LONG_LIST:
        return False
    kept = int(np.count_nonzero(_bits(value))) * value.dtype.itemsize
    return bool(kept + value.size / 8 < 0.9 * value.nbytes)
