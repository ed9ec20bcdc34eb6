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
from taxonomist.persistence.trial import try_out

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

LIBRARIES = ("taxonomist", "numpy", "scipy", "scikit-learn")
STATE_FILE = "model.json"
LOAD_ATTEMPTS = 5
"""How often ``load`` tries to read a model that is being replaced at the same time."""


def save(
    model: Any,
    path: str | PathLike[str],
    *,
    facts: Mapping[str, object] | None = None,
    prune: float | None = None,
    kinds: Mapping[str, type] | None = None,
) -> None:
    """Save a model to a folder, without pickle.

    An existing model is replaced atomically: a concurrent ``load``, or a ``load`` after an
    interrupted save, returns either the old model or the new one.

    Parameters
    ----------
    model
        A Taxonomist model, or another object of known classes, such as a transformer, a pipeline or
        a taxonomy.
    path
        The folder. If it exists, it must contain a model or be empty.
    facts
        Information about the model to store with it, such as training scores, by name. Values are
        numbers, strings, and lists and dicts of these.
    prune
        Share of the weights of linear models to set to 0; see ``pruned``. Zero weights are then not
        stored, so the folder is smaller, but these weights cannot be memory-mapped. With
        ``prune=0``, predictions do not change.
    kinds
        Additional classes that the model may contain, by the names to use in the file. Pass the
        same classes to ``load``.

    Raises
    ------
    ModelFileError
        If the model contains a value that cannot be saved, such as a function, or if the path
        exists and is not a model. Nothing is written in this case.
    ValueError
        If ``prune`` is given, but the model has no weights to prune.

    Notes
    -----
    Dual variables are needed for warm starts only. They are not saved unless the model has
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
        raise ModelFileError(f"save expects a model. Got {type(model).__name__}.")
    head = {
        "kind": state["class"],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "libraries": _versions(),
        **_summary(model),
        "vocabulary": encoder.n_terms or None,
        "pruned": prune,
        "facts": _plain(dict(facts or {})),
    }
    write_model(Path(path), head, [TextPart(STATE_FILE, state), *encoder.parts()])


def load(
    path: str | PathLike[str],
    *,
    mmap: bool = True,
    verify: bool | str = True,
    kinds: Mapping[str, type] | None = None,
) -> Any:
    """Load a model that was saved with ``save``.

    No code in the folder is executed, and only objects of known classes are created.

    Parameters
    ----------
    path
        The folder.
    mmap
        Whether to memory-map large arrays. They are then read on first use and shared between
        processes. Changes to the loaded model do not change the files.
    verify
        Whether to compare the checksums of all files. Models of 16 MiB and more are compared when
        they are first loaded, and again if one of their files was written to; the user's cache
        folder holds notes of this. Large arrays of weights of ``PathSVC`` are compared in the
        background then, and their first use waits for it. ``"always"`` compares each time, before
        the model is returned. If False, only file sizes are compared.
    kinds
        Additional classes, as in ``save``.

    Returns
    -------
    Any
        The model. It makes the same predictions as the saved model.

    Raises
    ------
    ModelFileError
        If there is no model at the path, or if the model is damaged, incomplete, in a newer format,
        or contains unknown classes. A fitted model is asked about one item, so that damage is found
        here and not by its first user. The first use of a model raises it if only large weights
        are damaged.
    """
    folder = Path(path)
    for _ in range(LOAD_ATTEMPTS - 1):
        head = read_manifest(folder)
        try:
            return _load(folder, head, mmap, verify, Registry(kinds))
        except ModelFileError:
            # Retry only if the model was replaced in the meantime.
            if read_manifest(folder)["folder"] == head["folder"]:
                raise
    return _load(folder, read_manifest(folder), mmap, verify, Registry(kinds))


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """Return information about a saved model without loading it.

    Parameters
    ----------
    path
        The folder.

    Returns
    -------
    dict
        ``kind`` (class name), ``format_version``, ``created`` (UTC), ``libraries`` (versions),
        ``classes``, ``features`` and ``vocabulary`` (counts, or None), ``taxonomy``,
        ``parameters``, ``pruned``, ``facts``, ``bytes``, and ``parts`` with the name, bytes, dtype,
        shape and SHA-256 of each file.

    Raises
    ------
    ModelFileError
        If there is no model at the path, or if parts of it are missing or truncated.
    """
    folder = Path(path)
    head = read_manifest(folder)
    try:
        PartReader(folder, head["folder"], head["parts"], mmap=True).check(verify=False)
        total = sum(entry["bytes"] for entry in head["parts"])
    except (LookupError, TypeError) as error:
        raise _not_understood(folder, error) from error
    hidden = ("format", "version", "sha256", "folder")
    known = {key: value for key, value in head.items() if key not in hidden}
    return {"format_version": head["version"], **known, "bytes": total}


def _load(
    folder: Path, head: Mapping[str, Any], mmap: bool, verify: bool | str, registry: Registry
) -> Any:
    try:
        reader = PartReader(folder, head["folder"], head["parts"], mmap)
        reader.check(verify)
        decoder = Decoder(registry, reader)
        model = decoder.decode(reader.value(STATE_FILE))
        if head.get("classes") is not None and not hasattr(model, "classes_"):
            raise ModelFileError(f"{folder} is damaged: the model has lost its classes.")
        try_out(model)
        check = reader.compare_later()
        if check is not None:
            for value in decoder.held:
                value.hold_back(check.wait)
    except ModelFileError:
        raise
    except Exception as error:  # whatever a changed file leads to
        raise _not_understood(folder, error) from error
    if decoder.has_foreign:
        _compare_versions(type(model).__name__, head.get("libraries"))
    return model


def _not_understood(folder: Path, error: Exception) -> ModelFileError:
    """Return the error for a model whose parts do not fit together."""
    return ModelFileError(
        f"{folder} cannot be read as a model ({type(error).__name__}: {error}). It was changed or "
        "written by another program: save the model again."
    )


def _compare_versions(name: str, libraries: Any) -> None:
    """Warn like pickle if the model was saved with another version of scikit-learn."""
    from sklearn.exceptions import InconsistentVersionWarning

    known = libraries if isinstance(libraries, dict) else {}
    saved, now = known.get("scikit-learn"), _versions()["scikit-learn"]
    if saved != now:
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name=name,
                current_sklearn_version=now,
                original_sklearn_version=str(saved),
            ),
            stacklevel=3,
        )


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _summary(model: Any) -> dict[str, object]:
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


def _shown(value: object) -> Any:
    """Return a parameter for display: the value itself if it is short, else its type."""
    if value is None or isinstance(value, bool | int | float | str | np.number):
        return _plain(value)
    if isinstance(value, list | tuple | dict) and len(value) <= 10:
        shown = [_shown(entry) for entry in value]
        is_dict = isinstance(value, dict)
        return {str(key): _shown(value[key]) for key in value} if is_dict else shown
    if hasattr(value, "shape"):
        return f"{type(value).__name__}{value.shape}"
    return f"{type(value).__name__} object" if hasattr(value, "fit") else repr(value)[:200]


def _plain(value: object) -> Any:
    """Return facts as JSON values; NaN and infinity become None."""
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
        f"facts contain {value!r} of type {type(value).__name__}; give numbers, strings, and lists "
        "and dicts of these."
    )
