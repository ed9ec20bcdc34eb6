"""Find out how the cells of a delimited file are separated."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DELIMITERS", "N_LINES", "has_spaced_quotes", "likely_delimiters", "matching_delimiter"]

DELIMITERS = ",;\t|"
N_LINES = 20
"""Number of lines below the header that decide between several delimiters."""


def likely_delimiters(top: str) -> str:
    """Return the delimiters that a header has outside quotes, the most frequent one first."""
    bare = re.sub(r'"[^"]*"', "", top)
    found = sorted(DELIMITERS, key=bare.count, reverse=True)
    return "".join(filter(bare.count, found)) or DELIMITERS[0]


def matching_delimiter(top: str, below: Sequence[str], candidates: str) -> str:
    """Return the delimiter that gives most rows as many cells as the header.

    Names of columns can contain another delimiter more often: ``Price, net, in EUR;Group``.

    Parameters
    ----------
    top
        The header.
    below
        The first lines below it, the last of which may be the beginning of a longer row.
    candidates
        The delimiters, of which the first one wins if several fit equally well.
    """
    return max(candidates, key=lambda delimiter: _n_fitting([top, *below], delimiter))


def _n_fitting(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of rows that have as many cells as the first one."""
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        n_cells = len(next(reader))
        return sum(len(cells) == n_cells for cells in reader)
    except csv.Error:
        return 0


def has_spaced_quotes(top: str, delimiter: str) -> bool:
    """Return whether a header has spaces between a delimiter and a quote: ``"id", "text"``."""
    return re.search(re.escape(delimiter) + ' +"', top) is not None
