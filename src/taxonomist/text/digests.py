"""Numbers by which texts are known again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["digest", "digests", "noted"]

BETWEEN = "\x1f"
"""What stands between the texts of an item, as nothing else in them does."""


def digest(item: Any) -> bytes:
    """Return eight bytes that tell an item from others, whatever its columns are called."""
    if isinstance(item, Mapping):
        parts: Iterable[Any] = item.values()
    else:
        parts = [item] if isinstance(item, str) or not isinstance(item, Iterable) else item
    whole = BETWEEN.join(part if isinstance(part, str) else "" for part in parts)
    return blake2b(whole.encode("utf-8", "replace"), digest_size=8).digest()


def digests(items: Iterable[Any]) -> NDArray[np.uint64]:
    """Return a number for each item's text."""
    return np.frombuffer(b"".join(map(digest, items)), dtype="<u8")


def noted(items: Iterable[Any], found: list[bytes]) -> Iterator[Any]:
    """Yield items, and add the digest of each to a list on the way."""
    for item in items:
        found.append(digest(item))
        yield item
