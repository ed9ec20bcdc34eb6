"""Ids that several rows of a table share."""

from __future__ import annotations

from itertools import islice

from taxonomist.datasets.bad_rows import listed_lines

__all__ = ["RepeatedIds"]

N_SHOWN = 5
"""Number of repeated ids, and of lines of each, to show."""


class RepeatedIds:
    """The ids of rows, and the lines of those that occur more than once."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._repeated: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._repeated)

    def add(self, id: str | None, line: int) -> None:
        """Add the id of a row; a missing one is ignored."""
        if id and (first := self._first.setdefault(id, line)) != line:
            self._repeated.setdefault(id, [first]).append(line)

    def note(self, name: str) -> str:
        """Return a sentence about the ids that occur more than once; empty if there are none."""
        if not self._repeated:
            return ""
        shown = "; ".join(
            f"{id!r} in {listed_lines(lines[:N_SHOWN], len(lines))}"
            for id, lines in islice(self._repeated.items(), N_SHOWN)
        )
        more = f"; and {len(self) - N_SHOWN:,} more" if len(self) > N_SHOWN else ""
        ids = "1 id occurs" if len(self) == 1 else f"{len(self):,} ids occur"
        return f"{name}: {ids} more than once: {shown}{more}. All these rows are kept."
