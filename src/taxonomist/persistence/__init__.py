"""Model files without pickle: a folder with a manifest, plain arrays and checksums."""

from __future__ import annotations

from taxonomist.persistence.files import describe, load, save
from taxonomist.persistence.pruning import pruned

__all__ = ["describe", "load", "pruned", "save"]
