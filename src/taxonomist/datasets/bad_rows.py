"""Rows that cannot be used: counted, listed with their lines, and skipped only on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from taxonomist.errors import FormatError

__all__ = ["BadRows", "BadRowsError", "RowError"]

N_SHOWN = 10
"""Bad rows that are shown; the others are counted."""


class RowError(Exception):
    """Says why a row cannot be used."""


class BadRowsError(FormatError):
    """Some rows of a table cannot be used.

    Parameters
    ----------
    listed
        A line that counts the bad rows, and a line for each of the first of them.
    advice
        What to do about them.
    """

    def __init__(self, listed: str, advice: str) -> None:
        super().__init__(f"{listed}\n{advice}")
        self.listed = listed


@dataclass
class BadRows:
    """How many rows cannot be used, and the first of them.

    Attributes
    ----------
    n_rows
        Rows that were read, good ones included.
    count
        Bad rows.
    first
        Lines of the first of them, and why they are bad.
    """

    n_rows: int = 0
    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether further faults are only counted."""
        return len(self.first) >= N_SHOWN

    def add(self, line: int, fault: str) -> None:
        """Count a bad row."""
        self.count += 1
        if not self.is_full:
            self.first.append((line, fault))

    def settle(self, name: str, skip: bool) -> str:
        """Return a note about the rows that are left out, or raise if they must not be.

        Parameters
        ----------
        name
            What the rows come from.
        skip
            Whether bad rows are left out.

        Returns
        -------
        str
            The note; empty if no row is bad.

        Raises
        ------
        FormatError
            If there are no rows.
        BadRowsError
            If there are bad rows and they are not to be skipped, or all rows are bad.
        """
        if not self.n_rows:
            raise FormatError(f"{name} holds no rows.")
        if not self.count:
            return ""
        lines = [f"{name}: {self.count:,} of {self.n_rows:,} rows cannot be used."]
        lines += [f"  line {line}: {_sentence(fault)}" for line, fault in self.first]
        if self.count > len(self.first):
            lines.append(f"  ... and {self.count - len(self.first):,} more.")
        listed = "\n".join(lines)
        if self.count == self.n_rows:
            raise FormatError(f"{listed}\nNo row is left.")
        if not skip:
            raise BadRowsError(listed, "Repair these rows, or leave them out with skip_bad=True.")
        return f"{listed}\nThey are left out."

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the first bad rows as plain data."""
        shown = [{"line": line, "fault": fault} for line, fault in self.first]
        return {"rows": self.n_rows, "bad": self.count, "first_bad": shown}


def _sentence(fault: str) -> str:
    """Return a fault with a full stop, unless it ends a sentence already."""
    return fault if fault.endswith((".", "?")) else f"{fault}."
