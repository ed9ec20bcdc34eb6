"""Saving, loading and describing models."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import ModelFileError
from taxonomist.persistence.decoding import Decoder
from taxonomist.persistence.encoding import Encoder
from taxonomist.persistence.folder import read_manifest, write_model
from taxonomist.persistence.parts import PartReader, TextPart
from taxonomist.persistence.pruning import pruned
from taxonomist.persistence.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

LIBRARIES = ("taxonomist", "numpy", "scipy", "scikit-learn")
STATE = "model.json"
ATTEMPTS = 5
"""How often a model is read that is being replaced meanwhile."""


def save(
    model: Any,
    path: str | PathLike[str],
    *,
    facts: Mapping[str, Any] | None = None,
    prune: float | None = None,
    kinds: Mapping[str, type] | None = None,
) -> None:
    """Write a model to a folder, without pickle.

    A model that is there already is replaced in one step: whoever loads it, and whatever
    interrupts the save, finds the old model or the new.

    Parameters
    ----------
    model
        A model of Taxonomist, or something else that is made of known classes: transformers,
        pipelines, a taxonomy.
    path
        The folder. If it exists, it must be a model or empty.
    facts
        What is worth knowing about the model, such as measures at training time, by name; numbers,
        strings, and lists and mappings of these.
    prune
        Share of the weights of linear models to drop; see ``pruned``. Weights that are 0 are then
        not stored. That makes the folder smaller, but such weights are not mapped into memory. With
        0 nothing is dropped, and predictions stay the same.
    kinds
        Further classes that the model may be made of, by the names that they are to have in the
        file; ``load`` needs the same.

    Raises
    ------
    ModelFileError
        If the model holds something that a file cannot, such as a function, or if there is
        something else at the path. Nothing is written then.
    ValueError
        If weights are to be pruned where there are none.

    Notes
    -----
    Dual variables, which only a warm start reads, are left out unless the model has
    ``warm_start=True``.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from taxonomist import LidstoneNB
    >>> from taxonomist.persistence import load, save
    >>> folder = mkdtemp()
    >>> save(LidstoneNB(alpha=1.0).fit([[2, 0], [0, 2]], ["cat", "dog"]), folder)
    >>> load(folder).predict([[1, 0]]).tolist()
    ['cat']
    """
    if prune is not None:
        model = pruned(model, prune)
    encoder = Encoder(Registry(kinds), pack=prune is not None)
    state = encoder.encode(model, "")
    if not isinstance(state, dict) or "class" not in state:
        raise ModelFileError(f"A model is wanted. Got {type(model).__name__}.")
    head = {
        "kind": state["class"],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "libraries": _versions(),
        **_summary(model),
        "vocabulary": encoder.n_terms or None,
        "pruned": prune,
        "facts": _plain(dict(facts or {})),
    }
    write_model(Path(path), head, [TextPart(STATE, state), *encoder.parts()])


def load(
    path: str | PathLike[str],
    *,
    mmap: bool = True,
    verify: bool = True,
    kinds: Mapping[str, type] | None = None,
) -> Any:
    """Return the model in a folder that ``save`` has written.

    Nothing in the folder is executed, and only known classes are made.

    Parameters
    ----------
    path
        The folder.
    mmap
        Whether large arrays stay in their files until they are used, where several processes share
        them. The model can be changed, the files do not change with it.
    verify
        Whether all bytes are compared with their checksums. Without it, only sizes are.
    kinds
        Further classes, as in ``save``.

    Returns
    -------
    Any
        The model; it predicts the same as the one that was saved.

    Raises
    ------
    ModelFileError
        If there is no model, or it is damaged, not complete, of a newer format, or has classes
        that are not known.
    """
    folder = Path(path)
    for _ in range(ATTEMPTS - 1):
        head = read_manifest(folder)
        try:
            return _load(folder, head, mmap, verify, Registry(kinds))
        except ModelFileError:
            # Unless it was replaced meanwhile, it will not get better.
            if read_manifest(folder)["folder"] == head["folder"]:
                raise
    return _load(folder, read_manifest(folder), mmap, verify, Registry(kinds))


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """Return what is known about a saved model, without loading it.

    Parameters
    ----------
    path
        The folder.

    Returns
    -------
    dict
        ``kind``, ``format_version``, ``created`` (UTC), ``libraries`` (versions), ``classes``,
        ``features`` and ``vocabulary`` (numbers, None where there are none), ``taxonomy``,
        ``parameters``, ``pruned``, ``facts``, ``bytes``, and ``parts`` with name, bytes, type,
        shape and SHA-256 of each.

    Raises
    ------
    ModelFileError
        If there is no model, or parts of it are missing or truncated.
    """
    folder = Path(path)
    head = read_manifest(folder)
    try:
        PartReader(folder / head["folder"], head["parts"], mmap=True).check(verify=False)
        total = sum(entry["bytes"] for entry in head["parts"])
    except (LookupError, TypeError) as error:
        raise _not_understood(folder, error) from error
    hidden = ("format", "version", "sha256", "folder")
    known = {key: value for key, value in head.items() if key not in hidden}
    return {"format_version": head["version"], **known, "bytes": total}


def _load(folder: Path, head: dict[str, Any], mmap: bool, verify: bool, registry: Registry) -> Any:
    """Return the model that a manifest tells of."""
    try:
        reader = PartReader(folder / head["folder"], head["parts"], mmap)
        reader.check(verify)
        decoder = Decoder(registry, reader)
        model = decoder.decode(reader.value(STATE))
    except ModelFileError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OSError, RecursionError) as error:
        raise _not_understood(folder, error) from error
    if decoder.has_foreign:
        _compare_versions(type(model).__name__, head["libraries"])
    return model


def _not_understood(folder: Path, error: Exception) -> ModelFileError:
    """Return the error for a model whose parts do not fit together."""
    return ModelFileError(
        f"{folder} cannot be read as a model ({type(error).__name__}: {error}). It was changed, or "
        "made by another program: save the model again."
    )


def _compare_versions(name: str, libraries: Any) -> None:
    """Warn if parts of a model come from another version of scikit-learn, as pickle does."""
    from sklearn.exceptions import InconsistentVersionWarning

    saved, now = libraries.get("scikit-learn"), _versions()["scikit-learn"]
    if saved != now:
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name=name, current_sklearn_version=now, original_sklearn_version=saved
            ),
            stacklevel=3,
        )


def _versions() -> dict[str, str | None]:
    """Return the versions of the libraries that make up a model."""
    found: dict[str, str | None] = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _summary(model: Any) -> dict[str, Any]:
    """Return what people want to know about a model first."""
    state = vars(model)
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    summary: dict[str, Any] = {
        "classes": len(state["classes_"]) if "classes_" in state else None,
        "features": state.get("n_features_in_"),
        "taxonomy": None,
        "parameters": {name: _shown(value) for name, value in parameters.items()},
    }
    if "taxonomy_" in state:
        taxonomy = state["taxonomy_"].without_terminals()
        summary["taxonomy"] = {
            "nodes": taxonomy.n_nodes,
            "leaves": len(taxonomy.leaves),
            "height": taxonomy.height,
            "is_tree": taxonomy.is_tree,
        }
    return summary


def _shown(value: Any) -> Any:
    """Return a parameter as people are to see it: itself, or what kind of thing it is."""
    if value is None or isinstance(value, bool | int | float | str | np.number):
        return _plain(value)
    if isinstance(value, list | tuple | dict) and len(value) <= 10:
        shown = [_shown(entry) for entry in value]
        is_dict = isinstance(value, dict)
        return {str(key): _shown(value[key]) for key in value} if is_dict else shown
    if hasattr(value, "shape"):
        return f"{type(value).__name__}{value.shape}"
    return f"{type(value).__name__} object" if hasattr(value, "fit") else repr(value)[:200]


def _plain(value: Any) -> Any:
    """Return facts as JSON has them; numbers that are none become None."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    raise ModelFileError(
        f"facts hold {value!r} of type {type(value).__name__}; give numbers, strings, and lists "
        "and mappings of these."
    )
