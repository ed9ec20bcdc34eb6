"""Count and report rows that cannot be used."""

from __future__ import annotations

from dataclasses import dataclass, field

from taxonomist.errors import FormatError

__all__ = ["BadRows", "BadRowsError", "RowError"]

N_SHOWN = 10
"""Number of bad rows to show; the others are only counted."""


class RowError(Exception):
    """A row cannot be used; the message says why."""


class BadRowsError(FormatError):
    """Some rows of a table cannot be used.

    Parameters
    ----------
    listed
        A line with the number of bad rows, and a line for each of the first ones.
    advice
        What the user can do about them.
    """

    def __init__(self, listed: str, advice: str) -> None:
        super().__init__(f"{listed}\n{advice}")
        self.listed = listed


@dataclass
class BadRows:
    """The number of rows that cannot be used, and the first of these rows.

    Attributes
    ----------
    n_rows
        Number of rows read, including good ones.
    count
        Number of bad rows.
    first
        Line numbers and faults of the first bad rows.
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
        """Return a note about skipped rows, or raise if they must not be skipped.

        Parameters
        ----------
        name
            Name of the table.
        skip
            Whether to skip bad rows.

        Returns
        -------
        str
            The note; empty if no row is bad.

        Raises
        ------
        FormatError
            If there are no rows.
        BadRowsError
            If there are bad rows and ``skip`` is False, or all rows are bad.
        """
        if not self.n_rows:
            raise FormatError(f"{name} has no rows.")
        if not self.count:
            return ""
        lines = [f"{name}: {self.count:,} of {self.n_rows:,} rows cannot be used."]
        lines += [f"  line {line}: {_sentence(fault)}" for line, fault in self.first]
        if self.count > len(self.first):
            lines.append(f"  ... and {self.count - len(self.first):,} more.")
        listed = "\n".join(lines)
        if self.count == self.n_rows:
            raise FormatError(f"{listed}\nNone of the rows can be used.")
        if not skip:
            raise BadRowsError(listed, "Fix these rows, or skip them with skip_bad=True.")
        return f"{listed}\nThese rows are skipped."

    def to_dict(self) -> dict[str, object]:
        """Return the counts and the first bad rows as plain data."""
        shown = [{"line": line, "fault": fault} for line, fault in self.first]
        return {"rows": self.n_rows, "bad": self.count, "first_bad": shown}


def _sentence(fault: str) -> str:
    """Add a full stop unless the fault already ends a sentence."""
    return fault if fault.endswith((".", "?")) else f"{fault}."
