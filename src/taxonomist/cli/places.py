"""Checks of the place for output, before any work is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from taxonomist.cli.checks import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_file", "check_folder"]


def check_file(
    out: Path | None, inputs: Iterable[str | Path | None], option: str = "--out"
) -> None:
    """Raise if a file could not be written, or if it is one of the inputs.

    Parameters
    ----------
    out
        The file to write; None for standard output.
    inputs
        Files and folders that the command reads; None for those that were not given.
    option
        The option that names the file.
    """
    if out is None:
        return
    _check_inputs(out, inputs, option)
    if out.is_dir():
        raise OptionError(f"{option} {out} is a folder. Pass a file.")
    if not out.exists() or out.is_file():
        _check_writable(out, out.parent, option)


def check_folder(out: Path, inputs: Iterable[str | Path | None], option: str = "--out") -> None:
    """Raise if a folder could not be written, or if it is or holds one of the inputs.

    The parameters are as for ``check_file``. Missing parents are no error.
    """
    _check_inputs(out, inputs, option)
    parent = out.absolute().parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    _check_writable(out, parent, option)


def _check_inputs(out: Path, inputs: Iterable[str | Path | None], option: str) -> None:
    target = Path(os.path.realpath(out))
    for given in inputs:
        if given is None or str(given) == "-":
            continue
        source = Path(os.path.realpath(given))
        if target == source or (out.exists() and source.exists() and out.samefile(source)):
            raise OptionError(f"{option} {out} is also an input. Pass another path.")
        if target in source.parents:
            raise OptionError(
                f"{option} {out} would replace the input {given}, which is inside it. Pass another "
                "path."
            )
        if source.is_dir() and source in target.parents:
            raise OptionError(f"{option} {out} is inside the input {given}. Pass another path.")


def _check_writable(out: Path, parent: Path, option: str) -> None:
    """Raise if no file can be created in a folder."""
    import tempfile  # not needed for --help

    if not parent.is_dir():
        is_file = parent.exists()
        fault = f"{parent} is not a folder" if is_file else f"the folder {parent} does not exist"
        raise OptionError(f"{option} {out}: {fault}.")
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        raise OptionError(
            f"{option} {out}: cannot write to the folder {parent} ({error.strerror})."
        ) from error
