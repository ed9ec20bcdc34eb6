"""Programs that may be absent: the tests that need one skip, and say what is missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

__all__ = ["annif_command", "curl", "postgresql_programs"]


def annif_command() -> str:
    """Return the command of Annif, which has an environment of its own."""
    found = os.environ.get("TAXONOMIST_ANNIF", "")
    if not found:
        pytest.skip("Annif is not installed: set TAXONOMIST_ANNIF to its command")
    return found


def curl() -> str:
    """Return the path of curl."""
    found = shutil.which("curl")
    if found is None:
        pytest.skip("curl is not installed")
    return found


def postgresql_programs() -> Path:
    """Return the folder of PostgreSQL's programs, which Debian does not put on the PATH."""
    found = shutil.which("initdb")
    folders = [*([Path(found).parent] if found else [])]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if not folders:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    return folders[0]
