"""What was decided about documents in the end: the decisions that stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from taxonomist.server.store.schema import documents, events
from taxonomist.server.store.states import standing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import Connection

__all__ = ["LABELLED", "StandingDecision", "last_event", "standing_decisions"]

LABELLED = ("accept", "correct")
"""Actions after which a document has labels."""
ROWS_AT_A_TIME = 1_000


class StandingDecision(NamedTuple):
    """A document with the decision that stands."""

    number: int
    key: str
    texts: dict[str, str]
    digest: str
    is_random: bool
    action: str
    chosen: list[str]
    offered: list[str]
    version: str | None
    user: str
    at: datetime


def standing_decisions(
    connection: Connection, project: str, *, labelled: bool = True
) -> Iterator[StandingDecision]:
    """Yield the decisions that stand, in the order of documents; by default, those with labels."""
    decided = standing(project)
    names = ("action", "chosen", "offered", "version", "user", "at")
    wanted = (
        select(
            documents.c.id.label("number"),
            *(documents.c[name] for name in ("key", "texts", "digest", "is_random")),
            *(decided.c[name] for name in names),
        )
        .join(decided, decided.c.document == documents.c.id)
        .where(documents.c.project == project)
        .order_by(documents.c.id)
    )
    if labelled:
        wanted = wanted.where(decided.c.action.in_(LABELLED))
    after = 0
    while True:
        page = wanted.where(documents.c.id > after).limit(ROWS_AT_A_TIME)
        rows = connection.execute(page).all()
        yield from (StandingDecision(*row) for row in rows)
        if len(rows) < ROWS_AT_A_TIME:
            return
        after = rows[-1].number


def last_event(connection: Connection, project: str) -> int:
    """Return the number of the newest event, 0 if there is none."""
    wanted = select(func.max(events.c.id)).where(events.c.project == project)
    return connection.execute(wanted).scalar() or 0
