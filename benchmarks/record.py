"""Where a benchmark ran, and where its figures go."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxonomist.experiments.work.memory import peak_mib as peak_memory_mib

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["on_one_core", "peak_memory_mib", "save", "save_part"]

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("taxonomist", "numpy", "scipy", "scikit-learn", "numba")


def on_one_core() -> list[str]:
    """Return the words before a command that keep it on one core, where there are such words."""
    return ["taskset", "-c", "0"] if shutil.which("taskset") else []


def save(name: str, command: str, figures: Any) -> Path:
    """Write figures with the circumstances in which they were measured."""
    return _write({"benchmark": name} | _circumstances(command) | {"figures": figures})


def save_part(
    name: str, part: str, figures: Any, summary: Callable[[dict[str, Any]], Any] | None = None
) -> Path:
    """Write the figures of one part, with their own circumstances, beside those of other parts.

    ``summary`` is called with the figures of all parts that are recorded.
    """
    path = RESULTS / f"{name}.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    command = f"python -m benchmarks {name}:{part}"
    parts = record.get("parts", {}) | {part: _circumstances(command) | {"figures": figures}}
    record = {"benchmark": name, "parts": parts}
    if summary is not None:
        record["summary"] = summary({key: value["figures"] for key, value in parts.items()})
    return _write(record)


def _circumstances(command: str) -> dict[str, Any]:
    """Return where and with what something is measured."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, encoding="utf-8", check=False
    )
    return {
        "command": command,
        "commit": commit.stdout.strip() or None,
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "packages": {package: metadata.version(package) for package in PACKAGES},
    }


def _write(record: dict[str, Any]) -> Path:
    """Write a record to the file of its benchmark."""
    path = RESULTS / f"{record['benchmark']}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path
