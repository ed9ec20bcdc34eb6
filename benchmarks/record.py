"""Where a benchmark ran, and where its figures go."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from taxonomist.experiments.work.memory import peak_mib as peak_memory_mib

__all__ = ["on_one_core", "peak_memory_mib", "save"]

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("taxonomist", "numpy", "scipy", "scikit-learn", "numba")


def on_one_core() -> list[str]:
    """Return the words before a command that keep it on one core, where there are such words."""
    return ["taskset", "-c", "0"] if shutil.which("taskset") else []


def save(name: str, command: str, figures: Any) -> Path:
    """Write figures with the circumstances in which they were measured."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, encoding="utf-8", check=False
    )
    record = {
        "benchmark": name,
        "command": command,
        "commit": commit.stdout.strip() or None,
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "packages": {package: metadata.version(package) for package in PACKAGES},
        "figures": figures,
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path
