"""Where a benchmark ran, and where its figures go."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("taxonomist", "numpy", "scipy", "scikit-learn", "numba")


def peak_memory_mib() -> float:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def save(name: str, command: str, figures: Any) -> Path:
    """Write figures with the circumstances in which they were measured."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
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
