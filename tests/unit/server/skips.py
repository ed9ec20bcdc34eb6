"""Programs that may be absent: the tests that need one skip, and say what is missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

__all__ = [
    "annif_command",
    "axe_script",
    "browser_program",
    "curl",
    "playwright_driver",
    "postgresql_programs",
]


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


def browser_program() -> str:
    """Return the path of a Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium on this machine: apt-get install chromium")


def playwright_driver() -> Callable[[], AbstractContextManager[Any]]:
    """Return what drives a browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("Playwright is not installed: pip install playwright")
    return sync_playwright


def axe_script() -> str:
    """Return the script of axe-core, which finds what keeps people from using a page."""
    found = Path(__file__).resolve().parents[3] / ".node/node_modules/axe-core/axe.min.js"
    if not found.exists():
        pytest.skip("axe-core is not installed: run make node")
    return found.read_text(encoding="utf-8")
