"""The current state of documents, as a query over events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from taxonomist.server.store.schema import events

if TYPE_CHECKING:
    from sqlalchemy import Subquery

__all__ = ["UNDO", "standing"]

UNDO = "undo"
"""Action of an event that undoes another one."""


def standing(project: str) -> Subquery:
    """Return the event that stands for each document: the newest one that was not undone.

    The newest event is looked up document by document in an index: databases go through a list of
    the newest events of all documents again for every document.
    """
    own, undoing = events.alias("own"), events.alias("undoing")
    is_undone = select(undoing.c.id).where(undoing.c.undoes == own.c.id).exists()
    newest = (
        select(func.max(own.c.id))
        .where(own.c.document == events.c.document, own.c.action != UNDO, ~is_undone)
        .correlate(events)
        .scalar_subquery()
    )
    wanted = select(events).where(events.c.project == project, events.c.id == newest)
    return wanted.subquery("standing")
