"""Functions of margins that ``PathScorer`` sums along paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from taxonomist.compiled.path_scores import SHARPNESS

if TYPE_CHECKING:
    from taxonomist._typing import Codes, Reals
    from taxonomist.compiled.arrays import Labels


class FamilyOrder(NamedTuple):
    """The members of families, one family after the other. A member is a column in a family.

    Attributes
    ----------
    columns
        The column of each member.
    starts, sizes
        The first member and the number of members of each family.
    number
        The family of each member.
    again
        Where the members of each column are, one column after the other; None if no column has
        two.
    several
        The columns with members, and the place in ``again`` where those of each begin.
    """

    columns: Codes
    starts: Codes
    sizes: Codes
    number: Codes
    again: Codes | None
    several: tuple[Codes, Codes]

    @classmethod
    def of(cls, families: Labels) -> FamilyOrder:
        """Return the members of the families of each column."""
        widths = np.diff(families.indptr)
        order = np.argsort(families.indices, kind="stable")
        columns = np.repeat(np.arange(len(widths)), widths)[order]
        starts = np.flatnonzero(np.diff(families.indices[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(order)))
        number = np.repeat(np.arange(len(starts)), sizes)
        again = np.argsort(columns, kind="stable") if widths.max(initial=0) > 1 else None
        has = np.flatnonzero(widths)
        return cls(columns, starts, sizes, number, again, (has, families.indptr[:-1][has]))


def log_shares(margins: Reals, members: FamilyOrder) -> Reals:
    """Return the log-probabilities among siblings: log softmax of β times the margins.

    Parameters
    ----------
    margins
        Margins, (n_columns, n_items).
    members
        The members of families. The result is the largest over the families of a column, and 0 for
        a column without any.
    """
    found = np.zeros_like(margins)
    if not len(members.columns):
        return found
    logs = SHARPNESS * margins[members.columns]
    logs -= _maxima(logs, members.starts, members.sizes)[members.number]
    # A product of matrices sums faster than ``reduceat``.
    ends = np.append(members.starts, len(logs))
    sums = csr_array((np.ones(len(logs), margins.dtype), np.arange(len(logs)), ends))
    logs -= np.log(sums @ np.exp(logs))[members.number]
    if members.again is None:
        found[members.columns] = logs
    else:
        columns, begin = members.several
        found[columns] = np.maximum.reduceat(logs[members.again], begin)
    return found


def _maxima(values: Reals, starts: Codes, sizes: Codes) -> Reals:
    """Return the largest values of groups of rows. ``reduceat`` takes three times as long."""
    found, place, groups = values[starts], 0, np.arange(len(starts))
    while len(groups := groups[sizes[groups] > place + 1]):
        place += 1
        found[groups] = np.maximum(found[groups], values[starts[groups] + place])
    return found


def squash(margins: Reals) -> Reals:
    """Return -max(0, 1 - s)²: 0 for margins of at least 1, and -1 for a margin of 0."""
    found = 1 - margins
    np.maximum(found, 0, out=found)
    np.square(found, out=found)
    return np.negative(found, out=found)
