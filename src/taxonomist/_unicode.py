"""Unicode normalisation: one spelling for characters that look alike.

Programs write "é" as one character or as "e" with an accent; file systems and keyboards differ.
Texts and ids take the composed form (NFC) where they enter from files. Words are compared in the
compatibility form (NFKC), in which ligatures, full-width letters and superscripts are plain.
"""

from __future__ import annotations

from unicodedata import is_normalized, normalize

__all__ = ["is_composed", "nfc", "nfkc"]


def is_composed(text: str) -> bool:
    """Return whether a text is in composed form (NFC)."""
    return text.isascii() or is_normalized("NFC", text)


def nfc(text: str) -> str:
    """Return a text in composed form (NFC)."""
    # Most texts are normalised already; to check is much faster than to convert.
    return text if is_composed(text) else normalize("NFC", text)


def nfkc(text: str) -> str:
    """Return a text in compatibility form (NFKC)."""
    return text if text.isascii() or is_normalized("NFKC", text) else normalize("NFKC", text)
