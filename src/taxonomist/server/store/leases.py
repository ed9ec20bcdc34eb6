"""Who has which documents open.

A lease keeps a document out of the queues of others for a short time. It ends by itself, and it
does not forbid anything: of two decisions that expect the same state, one is still refused.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, insert, select

from taxonomist.server.store.engine import now
from taxonomist.server.store.schema import documents, leases

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

__all__ = ["LEASE_SECONDS", "Lease", "hold_documents", "is_free"]

LEASE_SECONDS = 120
"""How long a lease lasts unless it is renewed."""


class Lease(NamedTuple):
    """A document that somebody has open."""

    document_key: str
    user: str
    until: datetime


def hold_documents(
    connection: Connection, project: str, keys: Sequence[str], holder: str, user: str
) -> list[Lease]:
    """Replace the leases of a holder, and return the documents that others have open.

    Parameters
    ----------
    connection
        A connection for writing.
    project
        The project.
    keys
        Keys of the documents; none to give all back.
    holder
        Key of the page or program that has them open.
    user
        Who has them open.

    Raises
    ------
    LookupError
        If there is no such document.
    """
    # Two who want the same documents take turns, always in the same order.
    wanted = select(documents.c.key, documents.c.id).where(
        documents.c.project == project, documents.c.key.in_(keys)
    )
    rows = connection.execute(wanted.order_by(documents.c.id).with_for_update())
    numbers = {row.key: int(row.id) for row in rows}
    for key in keys:
        if key not in numbers:
            raise LookupError(key)
    own = (leases.c.holder == holder) & (leases.c.user == user) & (leases.c.project == project)
    is_over = leases.c.document.in_(numbers.values()) & (leases.c.until <= now())
    connection.execute(delete(leases).where(own | is_over))
    found = _leases(connection, list(numbers.values()))
    until = now() + timedelta(seconds=LEASE_SECONDS)
    taken = {lease.document_key for lease in found}
    new = [
        {"document": number, "project": project, "holder": holder, "user": user, "until": until}
        for key, number in numbers.items()
        if key not in taken
    ]
    if new:
        connection.execute(insert(leases), new)
    return found


def _leases(connection: Connection, numbers: Sequence[int]) -> list[Lease]:
    wanted = (
        select(documents.c.key, leases.c.user, leases.c.until)
        .join(documents, documents.c.id == leases.c.document)
        .where(leases.c.document.in_(numbers))
        .order_by(leases.c.document)
    )
    return [Lease(*row) for row in connection.execute(wanted)]


def is_free(holder: str) -> ColumnElement[bool]:
    """Return the condition that no one except a holder has a document open."""
    taken = select(leases.c.document).where(leases.c.until > now(), leases.c.holder != holder)
    return documents.c.id.not_in(taken)
