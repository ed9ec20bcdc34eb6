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

__all__ = [
    "LABELLED",
    "ROWS_AT_A_TIME",
    "StandingDecision",
    "last_event",
    "standing_decisions",
    "standing_page",
]

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
    after = 0
    while True:
        page = standing_page(connection, project, after, labelled=labelled)
        yield from page
        if len(page) < ROWS_AT_A_TIME:
            return
        after = page[-1].number


def standing_page(
    connection: Connection, project: str, after: int, *, labelled: bool = True
) -> list[StandingDecision]:
    """Return at most ``ROWS_AT_A_TIME`` decisions about documents behind a number."""
    decided = standing(project)
    names = ("action", "chosen", "offered", "version", "user", "at")
    wanted = (
        select(
            documents.c.id.label("number"),
            *(documents.c[name] for name in ("key", "texts", "digest", "is_random")),
            *(decided.c[name] for name in names),
        )
        .join(decided, decided.c.document == documents.c.id)
        .where(documents.c.project == project, documents.c.id > after)
        .order_by(documents.c.id)
        .limit(ROWS_AT_A_TIME)
    )
    if labelled:
        wanted = wanted.where(decided.c.action.in_(LABELLED))
    return [StandingDecision(*row) for row in connection.execute(wanted)]


def last_event(connection: Connection, project: str) -> int:
    """Return the number of the newest event, 0 if there is none."""
    wanted = select(func.max(events.c.id)).where(events.c.project == project)
    return connection.execute(wanted).scalar() or 0
