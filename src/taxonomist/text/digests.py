"""Hashes that identify texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from taxonomist._unicode import nfc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taxonomist._typing import TextLike

__all__ = ["digest", "digests", "noted"]

BETWEEN = "\x1f"
"""Separator between the texts of an item: a control character that texts do not contain."""


def digest(item: object) -> bytes:
    """Return an eight-byte hash of an item's texts.

    Column names do not matter, nor does whether accents are characters of their own.
    """
    if isinstance(item, Mapping):
        parts: Iterable[object] = item.values()
    else:
        parts = [item] if isinstance(item, str) or not isinstance(item, Iterable) else item
    whole = BETWEEN.join(part if isinstance(part, str) else "" for part in parts)
    return blake2b(nfc(whole).encode("utf-8", "replace"), digest_size=8).digest()


def digests(items: Iterable[TextLike]) -> NDArray[np.uint64]:
    """Return the hash of each item's texts."""
    found = bytearray()
    for item in items:
        found += digest(item)
    return np.frombuffer(found, dtype="<u8")


def noted(items: Iterable[TextLike], found: bytearray) -> Iterator[TextLike]:
    """Yield the items, and append the hash of each."""
    for item in items:
        found += digest(item)
        yield item
