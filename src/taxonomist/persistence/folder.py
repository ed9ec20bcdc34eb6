"""The folder of a model: a manifest and a subfolder of parts.

    MODEL/manifest.json        description of the model, checksums of the parts and of itself
    MODEL/parts-1a2b3c4d/...   arrays, tables of strings, and the attributes of objects

A new model is written under a temporary name and then renamed. To replace a model, the new parts
are written next to the old ones, the manifest is replaced atomically, and the old parts are
deleted. At any time the folder contains either the old model or the new one.

A running save holds a lock, so the next save can delete what an interrupted one left.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
import time
from typing import TYPE_CHECKING, Any

from taxonomist._files import move_into_place, naming
from taxonomist.errors import ModelFileError
from taxonomist.persistence.parts import (
    RESTORE,
    as_json,
    flush,
    from_json,
    note_written,
    write_parts,
)
from taxonomist.persistence.regular import read_regular
from taxonomist.persistence.save_lock import held, is_abandoned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from taxonomist.persistence.parts import Part, WrittenPart

logger = logging.getLogger(__name__)

FORMAT = "taxonomist model"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 2**26
"""Maximum size of a manifest that is read."""

LEFTOVER_SECONDS = 86_400.0
"""Age at which files of a save without a lock are deleted by the next save."""

_PARTS_FOLDER = re.compile(r"parts-[0-9a-f]{8}")
_BLANK_CHECKSUM = "0" * 64
"""Placeholder for the checksum of the manifest while it is computed."""


def write_model(path: Path, head: Mapping[str, object], parts: Sequence[Part]) -> None:
    """Write the folder of a model, replacing an existing model.

    Parameters
    ----------
    path
        The folder.
    head
        Entries of the manifest, without those of the parts.
    parts
        Files to write.

    Raises
    ------
    ModelFileError
        If the path exists and is not a model.
    """
    if _is_there(path):
        _replace(path, head, parts)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make(path, head, parts)
    _flush_folder(path.parent)
    _clear_away(path.parent, lambda name: _is_unfinished(name, path.name), _is_dead_folder)


def _make(path: Path, head: Mapping[str, object], parts: Sequence[Part]) -> None:
    """Write a new folder under a temporary name, then rename it."""
    token = secrets.token_hex(4)
    base = path.with_name(f".{path.name}.{token}.unfinished")
    try:
        base.mkdir()
        with held(base / _lock_name(token)):
            manifest, written = _write(base, token, head, parts)
            move_into_place(manifest, base / MANIFEST)
            _flush_folder(base)
            move_into_place(base, path)
    except BaseException:
        shutil.rmtree(base, ignore_errors=True)
        raise
    (path / _lock_name(token)).unlink(missing_ok=True)
    note_written(path / f"parts-{token}", written)


def _replace(path: Path, head: Mapping[str, object], parts: Sequence[Part]) -> None:
    """Write new parts, then replace the manifest, then delete the old parts."""
    token = secrets.token_hex(4)
    try:
        with held(path / _lock_name(token)) as lock:
            manifest, written = _write(path, token, head, parts)
            old = _folder_of(path)
            if lock is not None and old is not None:
                lock.write(old)
                lock.flush()
            move_into_place(manifest, path / MANIFEST)
            _flush_folder(path)
            if old is not None:
                shutil.rmtree(path / old, ignore_errors=True)
    except BaseException:
        # Keep the parts if the manifest was replaced before the interruption.
        if _folder_of(path) != f"parts-{token}":
            shutil.rmtree(path / f"parts-{token}", ignore_errors=True)
            (path / f"{MANIFEST}.{token}").unlink(missing_ok=True)
        raise
    _clear_away(path, lambda name: _is_left(name) and name != f"parts-{token}", _is_dead_part)
    note_written(path / f"parts-{token}", written)


def _write(
    base: Path, token: str, head: Mapping[str, object], parts: Sequence[Part]
) -> tuple[Path, list[WrittenPart]]:
    """Write parts and a manifest under a temporary name; return the path of the manifest."""
    inside = base / f"parts-{token}"
    inside.mkdir(parents=True)
    with naming(inside):
        written = write_parts(inside, parts)
    entries = [each.entry for each in written]
    _flush_folder(inside)
    manifest = base / f"{MANIFEST}.{token}"
    with manifest.open("wb") as file:
        file.write(_manifest({**head, "folder": inside.name, "parts": entries}))
        flush(file)
    _flush_folder(base)
    return manifest, written


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a model.

    Raises
    ------
    ModelFileError
        If there is no manifest, or if it is damaged or in a newer format.
    """
    raw = _read(path)
    try:
        head = from_json(raw)
    except (ValueError, RecursionError) as error:
        if FORMAT.encode() in raw[:200]:
            raise ModelFileError(
                f"{path / MANIFEST} is damaged or truncated: {error}. {RESTORE}"
            ) from error
        raise ModelFileError(_foreign(path, "its manifest.json is not valid JSON")) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ModelFileError(_foreign(path, f"its manifest.json does not say {FORMAT!r}"))
    version = head.get("version")
    if type(version) is not int or version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, but this version of Taxonomist reads versions "
            f"up to {FORMAT_VERSION}: update Taxonomist (pip install -U taxonomist)."
        )
    given = str(head.get("sha256"))
    found = _digest(raw.replace(given.encode(), _BLANK_CHECKSUM.encode(), 1))
    if found != given:
        raise ModelFileError(
            f"{path / MANIFEST} is damaged or was edited: its SHA-256 is {found[:12]}..., but "
            f"should be {given[:12]}.... {RESTORE}"
        )
    if not isinstance(head.get("folder"), str) or not _PARTS_FOLDER.fullmatch(head["folder"]):
        raise ModelFileError(
            f"{path / MANIFEST} names {head.get('folder')!r} as the folder of its parts, which "
            "Taxonomist does not write: do not trust this model."
        )
    return head


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, MANIFEST, most=MAX_MANIFEST_BYTES)
    except ModelFileError:
        raise
    except OSError as error:
        if not path.exists():
            raise ModelFileError(
                f"There is no model at {path}. Check the path of the saved model."
            ) from error
        if not path.is_dir():
            raise ModelFileError(_foreign(path, "it is a file, not a folder")) from error
        raise ModelFileError(_foreign(path, "it has no manifest.json")) from error


def _foreign(path: Path, why: str) -> str:
    """Return the error message for a path that is not a model."""
    return (
        f"{path} is not a Taxonomist model: {why}. Give a folder written by save; open pickle and "
        "joblib files with those libraries."
    )


def _is_there(path: Path) -> bool:
    """Return whether the path is a model or an empty folder; raise if it is anything else."""
    if not path.exists() and not path.is_symlink():
        return False
    try:
        is_ours = FORMAT.encode() in read_regular(path, MANIFEST, most=MAX_MANIFEST_BYTES)[:200]
    except ModelFileError:
        is_ours = False
    except OSError:
        is_ours = path.is_dir() and all(_is_left(entry.name) for entry in path.iterdir())
    if not is_ours:
        raise ModelFileError(
            f"{path} exists and is not a Taxonomist model, so it is not replaced. Give another "
            "path or remove it first."
        )
    return True


def _folder_of(path: Path) -> str | None:
    """Return the current parts folder of a model, or None if it cannot be read."""
    try:
        return str(read_manifest(path)["folder"])
    except ModelFileError:
        return None


def _is_left(name: str) -> bool:
    """Return whether a name inside a model folder was written by a save."""
    return bool(_PARTS_FOLDER.fullmatch(name)) or name.startswith(f"{MANIFEST}.")


def _is_unfinished(name: str, model: str) -> bool:
    """Return whether a name is the temporary folder of a model."""
    return name.startswith(f".{model}.") and name.endswith(".unfinished")


def _manifest(head: Mapping[str, object]) -> bytes:
    """Return the manifest with its own checksum."""
    known = {"format": FORMAT, "version": FORMAT_VERSION, "sha256": _BLANK_CHECKSUM}
    blank = as_json({**known, **head}, indent=1)
    return blank.replace(_BLANK_CHECKSUM.encode(), _digest(blank).encode(), 1)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _flush_folder(folder: Path) -> None:
    """Force the entries of a folder to disk, if the system supports it."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _lock_name(token: str) -> str:
    """Return the name of the file that a save locks."""
    return f"{MANIFEST}.{token}.lock"


def _is_dead_folder(entry: Path) -> bool:
    """Return whether a temporary folder belongs to a save that was interrupted."""
    return any(is_abandoned(lock) for lock in entry.glob(_lock_name("*")))


def _is_dead_part(entry: Path) -> bool:
    """Return whether a file or folder inside a model belongs to a save that was interrupted."""
    token = re.sub(r"^parts-|\.lock$", "", entry.name.removeprefix(f"{MANIFEST}."))
    for lock in entry.parent.glob(_lock_name("*")):
        # A save that is replacing a model has written the name of the old parts into its lock.
        is_part = lock.name == _lock_name(token) or _noted(lock) == entry.name
        if is_part and is_abandoned(lock):
            # The manifest is read after the lock: a save that just ended has made it its own.
            return _folder_of(entry.parent) != entry.name
    return False


def _noted(lock: Path) -> str:
    """Return what is written in the file of a lock."""
    try:
        return read_regular(lock.parent, lock.name, most=1000).decode(errors="replace")
    except OSError:
        return ""


def _clear_away(
    folder: Path, is_left: Callable[[str], bool], is_dead: Callable[[Path], bool]
) -> None:
    """Delete leftovers of interrupted saves; those without a lock only if they are old."""
    latest = time.time() - LEFTOVER_SECONDS
    # Locks come last, because they tell what else belongs to the same save.
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.suffix == ".lock"):
        try:
            if is_left(entry.name) and (is_dead(entry) or entry.stat().st_mtime < latest):
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        except OSError as error:
            logger.info("Could not delete %s: %s", entry, error)
