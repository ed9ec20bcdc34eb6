"""Decisions about documents, as events that are only ever added."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import insert, select

from taxonomist.errors import TaxonomistError
from taxonomist.server.store.engine import now
from taxonomist.server.store.schema import documents, events
from taxonomist.server.store.states import UNDO

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

__all__ = [
    "ACTIONS",
    "ConflictError",
    "EventFilter",
    "NewDecision",
    "StoredEvent",
    "add_decision",
    "events_with_key",
    "find_event",
    "list_events",
    "undo_decision",
]

ACTIONS = ("accept", "correct", "reject", "too_vague", "skip")
"""What can be decided about a document."""


class ConflictError(TaxonomistError, ValueError):
    """Somebody else changed the state in the meantime."""


class NewDecision(NamedTuple):
    """A decision to add.

    Attributes
    ----------
    document
        Number of the document.
    action
        One of ``ACTIONS``.
    chosen
        Ids of the chosen labels.
    offered
        Ids of the labels that were offered.
    version
        Version of the model that offered them.
    user
        Who decided.
    seconds
        How long it took.
    key
        A key chosen by the client: a decision with a known key is not added again.
    """

    document: int
    action: str
    chosen: list[str]
    offered: list[str]
    version: str | None
    user: str
    seconds: float | None = None
    key: str | None = None


class StoredEvent(NamedTuple):
    """An event of the store."""

    id: int
    document_key: str
    action: str
    chosen: list[str]
    offered: list[str]
    version: str | None
    user: str
    seconds: float | None
    at: datetime
    undoes: int | None
    key: str | None


def add_decision(
    connection: Connection, project: str, new: NewDecision, expected: int | None = None
) -> int:
    """Add a decision and return its number.

    Parameters
    ----------
    connection
        A connection for writing.
    project
        The project.
    new
        The decision.
    expected
        Number of the decision that stood when the user looked, 0 for none; None to overwrite
        whatever stands.

    Raises
    ------
    ConflictError
        If another decision stands, or if the key was used for another document.
    """
    _lock(connection, new.document)
    if new.key is not None:
        known = select(events.c.id, events.c.document, events.c.action).where(
            events.c.project == project, events.c.key == new.key
        )
        row = connection.execute(known).first()
        if row is not None:
            if (row.document, row.action) != (new.document, new.action):
                raise ConflictError(f"The key {new.key!r} belongs to another decision.")
            return int(row.id)
    if expected is not None and expected != (_standing(connection, new.document) or 0):
        raise ConflictError("Somebody else decided about this document in the meantime.")
    values = {**new._asdict(), "project": project, "at": now()}
    done = connection.execute(insert(events).values(values))
    return int(done.inserted_primary_key[0])  # type: ignore[index]


def undo_decision(connection: Connection, project: str, number: int, user: str) -> int:
    """Add an event that undoes a decision, and return its number.

    Raises
    ------
    ConflictError
        If it cannot be undone: it was undone before, or is an undo itself.
    LookupError
        If there is no such decision.
    """
    wanted = select(events).where(events.c.project == project, events.c.id == number)
    row = connection.execute(wanted).mappings().first()
    if row is None:
        raise LookupError(number)
    _lock(connection, row["document"])
    is_undone = connection.execute(select(events.c.id).where(events.c.undoes == number)).first()
    if row["action"] == UNDO or is_undone is not None:
        raise ConflictError(f"Event {number} was undone before, or undoes another one.")
    fields = {name: row[name] for name in ("document", "offered", "version")}
    undo = {"action": UNDO, "chosen": [], "undoes": number, "user": user, "at": now()}
    done = connection.execute(insert(events).values({**fields, **undo, "project": project}))
    return int(done.inserted_primary_key[0])  # type: ignore[index]


def find_event(connection: Connection, project: str, number: int) -> StoredEvent | None:
    """Return an event, or None if it does not exist."""
    found = list_events(connection, project, after=number - 1, limit=1)
    return found[0] if found and found[0].id == number else None


class EventFilter(NamedTuple):
    """Which events to list: those of a document, of a user, of an action, since a time."""

    document: str | None = None
    user: str | None = None
    action: str | None = None
    since: datetime | None = None


def list_events(
    connection: Connection,
    project: str,
    *,
    after: int = 0,
    limit: int | None = None,
    wanted: EventFilter | None = None,
    newest_first: bool = False,
) -> list[StoredEvent]:
    """Return the events after a number, oldest first; with ``newest_first``, those before it.

    The number 0 stands for no limit.
    """
    rows = (
        select(events, documents.c.key.label("document_key"))
        .join(documents, documents.c.id == events.c.document)
        .where(events.c.project == project)
        .limit(limit)
    )
    if newest_first:
        rows = rows.order_by(events.c.id.desc())
        rows = rows.where(events.c.id < after) if after else rows
    else:
        rows = rows.order_by(events.c.id).where(events.c.id > after)
    document, user, action, since = wanted or EventFilter()
    for column, value in (
        (documents.c.key, document),
        (events.c.user, user),
        (events.c.action, action),
    ):
        if value is not None:
            rows = rows.where(column == value)
    if since is not None:
        rows = rows.where(events.c.at >= since)
    names = StoredEvent._fields
    found = connection.execute(rows).mappings()
    return [StoredEvent(**{name: row[name] for name in names}) for row in found]


def events_with_key(connection: Connection, project: str, prefix: str) -> list[int]:
    """Return the numbers of the events whose keys have a prefix and that are not undone."""
    undone = select(events.c.undoes).where(
        events.c.project == project, events.c.undoes.is_not(None)
    )
    wanted = select(events.c.id).where(
        events.c.project == project,
        events.c.key.startswith(prefix, autoescape=True),
        events.c.id.not_in(undone),
    )
    return [int(number) for (number,) in connection.execute(wanted.order_by(events.c.id))]


def _lock(connection: Connection, document: int) -> None:
    """Keep other writers away from a document until the end of the transaction."""
    # SQLite has only one writer anyway, and ignores this.
    connection.execute(select(documents.c.id).where(documents.c.id == document).with_for_update())


def _standing(connection: Connection, document: int) -> int | None:
    undone = select(events.c.undoes).where(
        events.c.document == document, events.c.undoes.is_not(None)
    )
    wanted = (
        select(events.c.id)
        .where(events.c.document == document, events.c.action != UNDO, events.c.id.not_in(undone))
        .order_by(events.c.id.desc())
        .limit(1)
    )
    found: int | None = connection.execute(wanted).scalar()
    return found
