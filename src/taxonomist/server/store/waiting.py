"""Documents that wait for a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, or_, select

from taxonomist.server.store.documents import document_rows, stored
from taxonomist.server.store.leases import is_free
from taxonomist.server.store.schema import documents, offers
from taxonomist.server.store.states import standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Subquery

    from taxonomist.server.store.documents import StoredDocument

__all__ = [
    "BranchTotal",
    "Waiting",
    "branch_totals",
    "numbered_documents",
    "waiting",
    "waiting_by_date",
]

ROWS_AT_A_TIME = 500


class Waiting(NamedTuple):
    """A document that waits: its number, its branch and its expected loss."""

    number: int
    branch: str
    risk: float
    is_random: bool
    is_skipped: bool


class BranchTotal(NamedTuple):
    """How many documents wait in a branch, and the sum of their expected losses."""

    branch: str
    n_documents: int
    risk: float


def _ranked(project: str, branch: str | None, holder: str | None = None) -> Subquery:
    """Return the waiting documents, each with its rank in its branch.

    With a holder, without those that others have open.
    """
    decided = standing(project)
    newest = (
        select(func.max(offers.c.id))
        .where(offers.c.document == documents.c.id)
        .correlate(documents)
        .scalar_subquery()
    )
    is_skipped = decided.c.id.is_not(None)
    own = func.coalesce(offers.c.branch, "")
    risk = func.coalesce(offers.c.risk, 0.0)
    order = (is_skipped, risk.desc(), documents.c.id)
    rank = func.row_number().over(partition_by=(documents.c.is_random, own), order_by=order)
    wanted = (
        select(
            documents.c.id.label("number"),
            own.label("branch"),
            risk.label("risk"),
            documents.c.is_random,
            is_skipped.label("is_skipped"),
            rank.label("rank"),
        )
        .select_from(documents)
        .outerjoin(offers, and_(offers.c.document == documents.c.id, offers.c.id == newest))
        .outerjoin(decided, decided.c.document == documents.c.id)
        .where(documents.c.project == project)
        .where(or_(decided.c.id.is_(None), decided.c.action == "skip"))
    )
    if branch is not None:
        wanted = wanted.where(own == branch)
    if holder is not None:
        wanted = wanted.where(is_free(holder))
    return wanted.subquery("ranked")


def waiting(
    connection: Connection,
    project: str,
    most: int,
    branch: str | None = None,
    holder: str | None = None,
) -> list[Waiting]:
    """Return up to ``most`` waiting documents of each branch, those with most to lose first.

    Skipped documents come last. Up to ``most`` marked random documents, which have no order, are
    added. With a holder, documents that others have open are left out.
    """
    ranked = _ranked(project, branch, holder)
    wanted = select(*(ranked.c[name] for name in Waiting._fields)).where(ranked.c.rank <= most)
    rows = connection.execute(wanted.order_by(ranked.c.branch, ranked.c.rank))
    return [Waiting(*row) for row in rows]


def branch_totals(
    connection: Connection, project: str, branch: str | None = None
) -> list[BranchTotal]:
    """Return the number of waiting documents and their expected losses by branch."""
    ranked = _ranked(project, branch)
    wanted = (
        select(ranked.c.branch, func.count(), func.sum(ranked.c.risk))
        .group_by(ranked.c.branch)
        .order_by(ranked.c.branch)
    )
    return [BranchTotal(*row) for row in connection.execute(wanted)]


def numbered_documents(
    connection: Connection, project: str, numbers: Sequence[int]
) -> list[StoredDocument]:
    """Return documents by number, in the given order."""
    found = stored(connection, document_rows(project).where(documents.c.id.in_(numbers)))
    by_number = {document.id: document for document in found}
    return [by_number[number] for number in numbers if number in by_number]


def waiting_by_date(
    connection: Connection,
    project: str,
    branch: str | None = None,
    holder: str | None = None,
    *,
    newest_first: bool = False,
) -> Iterator[StoredDocument]:
    """Yield the waiting documents, in the order in which they were added or newest first.

    With a holder, documents that others have open are left out.
    """
    number = documents.c.id
    wanted = document_rows(project, is_waiting=True).limit(ROWS_AT_A_TIME)
    wanted = wanted.order_by(number.desc() if newest_first else number)
    if branch is not None:
        wanted = wanted.where(func.coalesce(offers.c.branch, "") == branch)
    if holder is not None:
        wanted = wanted.where(is_free(holder))
    page = stored(connection, wanted)
    while page:
        yield from page
        last = page[-1].id
        page = stored(connection, wanted.where(number < last if newest_first else number > last))
