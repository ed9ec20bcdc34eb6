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
    """Return the event that stands for each document: the newest one that was not undone."""
    undone = select(events.c.undoes).where(
        events.c.project == project, events.c.undoes.is_not(None)
    )
    newest = (
        select(func.max(events.c.id))
        .where(
            events.c.project == project,
            events.c.action != UNDO,
            events.c.id.not_in(undone),
        )
        .group_by(events.c.document)
    )
    return select(events).where(events.c.id.in_(newest)).subquery("standing")
