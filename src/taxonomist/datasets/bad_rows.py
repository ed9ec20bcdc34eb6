"""Count and report rows that cannot be used, or have no label."""

from __future__ import annotations

from dataclasses import dataclass, field

from taxonomist.errors import FormatError

__all__ = ["BadRows", "BadRowsError", "NoLabelError", "RowError", "listed_lines"]

N_SHOWN = 10
"""Number of bad rows to show; the others are only counted."""


class RowError(Exception):
    """A row cannot be used; the message says why."""


class NoLabelError(RowError):
    """A row has no label."""


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
        self._advice = advice

    def __reduce__(self) -> tuple[type[BadRowsError], tuple[str, str]]:
        """Return what pickle needs to recreate the error in another process."""
        return type(self), (self.listed, self._advice)


@dataclass
class BadRows:
    """The numbers of rows that cannot be used or have no label, and the first of these rows.

    Attributes
    ----------
    n_rows
        Number of rows read, including good ones.
    count
        Number of bad rows.
    first
        Line numbers and faults of the first bad rows.
    n_unlabelled
        Number of rows without a label, which are not bad.
    first_unlabelled
        Line numbers of the first of these.
    """

    n_rows: int = 0
    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)
    n_unlabelled: int = 0
    first_unlabelled: list[int] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether further faults are only counted."""
        return len(self.first) >= N_SHOWN

    def add(self, line: int, fault: str) -> None:
        """Count a bad row."""
        self.count += 1
        if not self.is_full:
            self.first.append((line, fault))

    def add_unlabelled(self, line: int) -> None:
        """Count a row without a label."""
        self.n_unlabelled += 1
        if len(self.first_unlabelled) < N_SHOWN:
            self.first_unlabelled.append(line)

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
            The note; empty if no row is bad and all have labels.

        Raises
        ------
        FormatError
            If there are no rows, or none can be used.
        BadRowsError
            If there are bad rows and ``skip`` is False.
        """
        if not self.n_rows:
            raise FormatError(f"{name} has no rows.")
        notes = [self._unlabelled(name)] if self.n_unlabelled else []
        if self.count:
            notes.append(self._listed(name))
        if self.count + self.n_unlabelled == self.n_rows:
            raise FormatError("\n".join([*notes, "None of the rows can be used."]))
        if self.count and not skip:
            raise BadRowsError("\n".join(notes), "Fix these rows, or skip them with skip_bad=True.")
        return "\n".join([*notes, "These rows are skipped."]) if self.count else "".join(notes)

    def _unlabelled(self, name: str) -> str:
        verbs = ("has", "is") if self.n_unlabelled == 1 else ("have", "are")
        count = f"{self.n_unlabelled:,} of {self.n_rows:,} rows {verbs[0]} no label"
        lines = listed_lines(self.first_unlabelled, self.n_unlabelled)
        return f"{name}: {count} and {verbs[1]} skipped: {lines}."

    def _listed(self, name: str) -> str:
        """Return the number of bad rows, and the first of them."""
        lines = [f"{name}: {self.count:,} of {self.n_rows:,} rows cannot be used."]
        lines += [f"  line {line}: {_sentence(fault)}" for line, fault in self.first]
        if self.count > len(self.first):
            lines.append(f"  ... and {self.count - len(self.first):,} more.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Return the counts and the first bad rows as plain data."""
        shown = [{"line": line, "fault": fault} for line, fault in self.first]
        return {
            "rows": self.n_rows,
            "bad": self.count,
            "first_bad": shown,
            "without_label": self.n_unlabelled,
        }


def listed_lines(first: list[int], count: int) -> str:
    """Return the first line numbers in words, and how many there are beside them."""
    shown = ", ".join(map(str, first))
    more = f" and {count - len(first):,} more" if count > len(first) else ""
    return f"{'line' if count == 1 else 'lines'} {shown}{more}"


def _sentence(fault: str) -> str:
    """Add a full stop unless the fault already ends a sentence."""
    return fault if fault.endswith((".", "?")) else f"{fault}."
