"""The peak memory of a piece of work in this process, where the system tells it."""

import ctypes
import gc
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")


def mib_of(field):
    """A size that the system knows of this process."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


@pytest.fixture
def peak_mib():
    """A function that runs work, and returns the MiB that it takes at most beyond those before."""

    def measured(work):
        gc.collect()
        # Freed memory that the allocator keeps would hide what the work takes.
        ctypes.CDLL(None).malloc_trim(0)
        before = mib_of("VmRSS:")
        Path("/proc/self/clear_refs").write_text("5")
        work()
        return mib_of("VmHWM:") - before

    return measured
