"""Run all benchmarks, or those that are named: ``python -m benchmarks [NAME[:PART,PART] ...]``.

A benchmark that has ``PARTS`` records each of them with its own circumstances, and runs those that
are named behind a colon.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

APART = {
    "__init__",
    "__main__",
    "contest",
    "load_client",
    "path_runner",
    "record",
    "scale_text",
    "synthetic_text",
}


def main() -> None:
    """Run the named benchmarks, all by default."""
    files = Path(__file__).parent.glob("*.py")
    known = sorted(path.stem for path in files if path.stem not in APART)
    chosen = [word.partition(":")[::2] for word in sys.argv[1:] or known]
    for name, _ in chosen:
        if name not in known:
            sys.exit(f"There is no benchmark {name!r}. There are: {', '.join(known)}.")
    plan = [(name, importlib.import_module(f"benchmarks.{name}"), parts) for name, parts in chosen]
    for name, module, parts in plan:
        unknown = [part for part in parts.split(",") if part and part not in parts_of(module)]
        if unknown:
            there = ", ".join(parts_of(module)) or "none"
            sys.exit(f"{name} has no part {unknown[0]!r}. Its parts: {there}.")
    for name, module, parts in plan:
        print(f"== {name}")
        module.run(*([parts.split(",")] if parts else []))


def parts_of(module: Any) -> tuple[str, ...]:
    """Return the parts of a benchmark that can be run alone."""
    return tuple(getattr(module, "PARTS", ()))


if __name__ == "__main__":
    main()
