"""Continue an interrupted training."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from taxonomist.solvers.checkpoints import keep_branches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["branches_folder", "n_kept", "resumable"]


def branches_folder(out: Path) -> Path:
    """Return the folder in which finished branches are kept until the model is saved."""
    return out.with_name(f"{out.name}.branches")


def n_kept(out: Path) -> int:
    """Return how many files of finished branches there are."""
    return sum(1 for _ in branches_folder(out).glob("*.npz"))


@contextmanager
def resumable(out: Path, *, resume: bool) -> Iterator[None]:
    """Keep the finished branches of a training until it ends.

    Parameters
    ----------
    out
        The folder of the model. The branches are beside it.
    resume
        Whether to continue from the branches of an earlier training; otherwise, these are removed.
    """
    folder = branches_folder(out)
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    with keep_branches(folder):
        yield
    shutil.rmtree(folder, ignore_errors=True)
