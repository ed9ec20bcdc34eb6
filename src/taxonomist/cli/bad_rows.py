"""Rows that are of no use: counted, shown with their lines, and skipped only on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from taxonomist.cli.output import print_note
from taxonomist.errors import FormatError

__all__ = ["BadRows", "RowError"]

SHOWN = 10
"""Bad rows that are shown; the others are counted."""


class RowError(Exception):
    """Says why a row is of no use."""


@dataclass
class BadRows:
    """How many rows are of no use, and the first of them.

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
        return len(self.first) >= SHOWN

    def add(self, line: int, fault: str) -> None:
        """Count a bad row."""
        self.count += 1
        if not self.is_full:
            self.first.append((line, fault))

    def settle(self, name: str, skip: bool) -> None:
        """Say which rows are left out, or refuse all.

        Parameters
        ----------
        name
            What the rows come from.
        skip
            Whether bad rows are left out.

        Raises
        ------
        FormatError
            If there are bad rows that are not to be skipped, or if there are no rows but bad ones.
        """
        if not self.n_rows:
            raise FormatError(f"{name} holds no rows.")
        if not self.count:
            return
        lines = [f"{name}: {self.count:,} of {self.n_rows:,} rows cannot be used."]
        lines += [f"  line {line}: {_sentence(fault)}" for line, fault in self.first]
        if self.count > len(self.first):
            lines.append(f"  ... and {self.count - len(self.first):,} more.")
        if self.count == self.n_rows:
            raise FormatError("\n".join([*lines, "No row is left."]))
        if not skip:
            lines.append("Nothing was written. Repair these rows, or leave them out: --skip-bad.")
            raise FormatError("\n".join(lines))
        print_note("\n".join([*lines, "They are left out."]))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the first bad rows as plain data."""
        shown = [{"line": line, "fault": fault} for line, fault in self.first]
        return {"rows": self.n_rows, "bad": self.count, "first_bad": shown}


def _sentence(fault: str) -> str:
    """Return a fault with a full stop, if it has no other."""
    return fault if fault.endswith((".", "?")) else f"{fault}."
