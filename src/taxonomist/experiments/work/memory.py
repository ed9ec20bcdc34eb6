"""The most memory that this process has held."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
"""Where Linux tells the peak of this process alone; its ``ru_maxrss`` includes the process that
started this one."""


def peak_mib() -> float:
    """Return the peak memory of this process in MiB, or NaN if the system does not tell it."""
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB", STATUS.read_text(encoding="ascii"), re.M)
    except OSError:
        found = None
    if found:
        return int(found[1]) / 1024
    try:
        import resource
    except ImportError:
        return math.nan
    return in_mib(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def in_mib(ru_maxrss: int) -> float:
    """Return a peak in MiB: systems count it in KiB, macOS in bytes, and Windows not at all."""
    return ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
