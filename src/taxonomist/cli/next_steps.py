"""The line that says what to do after a command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from taxonomist.cli.output import print_note

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "after_comparing",
    "after_evaluating",
    "after_predicting",
    "after_report",
    "after_train",
    "source_arguments",
]

TEXT = "..."
"""Stands for a text that the user has to fill in."""
FILE = "FILE"
"""Stands for a file that the user has to fill in."""
LONGEST = 60
"""Maximum length of a text that is repeated in a line."""


def after_train(model: Path, source: list[str], is_measurable: bool) -> None:
    """Say how to look at a new model and how to use it.

    Parameters
    ----------
    model
        Folder of the model.
    source
        Arguments for the training rows; see ``source_arguments``.
    is_measurable
        Whether some of these rows were held out, so that a report about them makes sense.
    """
    predict = _command("predict", model, "--text", TEXT)
    if is_measurable:
        print_note(f"Next: {_command('report', model, *source)}, or {predict}")
    else:
        print_note(f"Next: {predict}")


def after_report(page: Path) -> None:
    """Say how to open a report."""
    print_note(f"Next: open {page} in a browser.")


def after_predicting(model: Path, text: str | None = None) -> None:
    """Say how to explain a prediction."""
    shown = text if text and len(text) <= LONGEST and text.isprintable() else TEXT
    print_note(f"Next: {_command('explain', model, '--text', shown)}")


def after_evaluating(model: Path, source: list[str]) -> None:
    """Say how to see more than numbers."""
    print_note(f"Next: {_command('report', model, *source)}")


def after_comparing(source: list[str]) -> None:
    """Say how to train one of the compared models."""
    train = _command("train", *source, "--model", "NAME", "--out", "model")
    print_note(f"Next: {train}, with the same options for the columns and the taxonomy")


def source_arguments(
    data: str, format: str | None, encoding: str | None, sheet: str | None
) -> list[str]:
    """Return the arguments that name a file with rows again; standard input is gone."""
    found = [FILE if data == "-" else data]
    options = {"--format": format, "--encoding": encoding, "--sheet": sheet}
    for option, value in options.items():
        found += [] if value is None else [option, value]
    return found


def _command(*parts: object) -> str:
    return shlex.join(["taxonomist", *map(str, parts)])
