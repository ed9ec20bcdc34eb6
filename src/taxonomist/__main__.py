"""Run the command as ``python -m taxonomist``."""

from __future__ import annotations

from taxonomist.cli import main

if __name__ == "__main__":
    main()
