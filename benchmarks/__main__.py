"""Run all benchmarks, or those that are named: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

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
    chosen = sys.argv[1:] or known
    for name in chosen:
        if name not in known:
            sys.exit(f"There is no benchmark {name!r}. There are: {', '.join(known)}.")
    for name in chosen:
        print(f"== {name}")
        importlib.import_module(f"benchmarks.{name}").run()


if __name__ == "__main__":
    main()
