"""The decisions that stand, which were not undone or replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, select

from taxonomist.server.store.schema import documents, events, offers
from taxonomist.server.store.states import UNDO, standing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import Connection

__all__ = [
    "LABELLED",
    "ROWS_AT_A_TIME",
    "DecidedOffer",
    "StandingDecision",
    "decided_offers",
    "decided_since",
    "last_event",
    "moved_offers",
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


class DecidedOffer(NamedTuple):
    """A decision that stands, with the probabilities of the offer that it answers."""

    key: str
    is_random: bool
    event: int
    event_key: str | None
    chosen: list[str]
    offered: list[str]
    user: str
    at: datetime
    categories: list[tuple[str, float]]


def decided_offers(connection: Connection, project: str) -> list[DecidedOffer]:
    """Return the decisions with labels whose offers are known, in the order of time."""
    decided = standing(project)
    wanted = (
        select(
            documents.c.key,
            documents.c.is_random,
            decided.c.id,
            decided.c.key.label("event_key"),
            *(decided.c[name] for name in ("chosen", "offered", "user", "at")),
            offers.c.categories,
        )
        .join(decided, decided.c.document == documents.c.id)
        .join(
            offers,
            and_(offers.c.document == documents.c.id, offers.c.version == decided.c.version),
        )
        .where(documents.c.project == project, decided.c.action.in_(LABELLED))
        .order_by(decided.c.id)
    )
    found = (DecidedOffer._make(row) for row in connection.execute(wanted))
    return [
        each._replace(categories=[(str(label), float(p)) for label, p in each.categories])
        for each in found
    ]


def moved_offers(connection: Connection, project: str, old: str, new: str) -> tuple[int, int]:
    """Return how many documents two versions made offers for, and how many of these differ."""
    first, second = offers.alias("first"), offers.alias("second")
    wanted = (
        select(first.c.labels, second.c.labels)
        .join(second, second.c.document == first.c.document)
        .join(documents, documents.c.id == first.c.document)
        .where(documents.c.project == project, first.c.version == old, second.c.version == new)
    )
    pairs = [set(before) == set(after) for before, after in connection.execute(wanted)]
    return len(pairs), pairs.count(False)


def decided_since(connection: Connection, project: str, time: datetime) -> list[tuple[str, int]]:
    """Return how many documents each user decided about since a time, without undone decisions."""
    undone = select(events.c.undoes).where(
        events.c.project == project, events.c.undoes.is_not(None)
    )
    count = func.count(events.c.document.distinct())
    wanted = (
        select(events.c.user, count)
        .where(events.c.project == project, events.c.at >= time)
        .where(events.c.action.not_in((UNDO, "skip")), events.c.id.not_in(undone))
        .group_by(events.c.user)
        .order_by(count.desc(), events.c.user)
    )
    return [(user, n_decided) for user, n_decided in connection.execute(wanted)]
