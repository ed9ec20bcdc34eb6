"""Wait for what another process does in its own time."""

from __future__ import annotations

import time


def wait_for(condition, seconds=60):
    """Wait until a condition holds; fail if it does not within some seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not happen within {seconds} seconds"
        time.sleep(0.01)
