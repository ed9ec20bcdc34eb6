"""Rows of the training table whose labels are doubted by a model that did not learn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, insert, select

from taxonomist.server.store.engine import now
from taxonomist.server.store.schema import documents, doubts
from taxonomist.server.store.states import standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

__all__ = ["RowDoubt", "list_doubts", "replace_doubts"]


class RowDoubt(NamedTuple):
    """A row whose given labels are less probable than others."""

    key: str
    texts: dict[str, str]
    given: list[str]
    offered: list[str]
    given_probability: float
    offered_probability: float


def replace_doubts(connection: Connection, project: str, found: Sequence[RowDoubt]) -> None:
    """Replace the doubts of the last check."""
    connection.execute(delete(doubts).where(doubts.c.project == project))
    rows = [{**each._asdict(), "project": project, "at": now()} for each in found]
    if rows:
        connection.execute(insert(doubts), rows)


def list_doubts(connection: Connection, project: str) -> list[RowDoubt]:
    """Return the doubts about rows that nobody has decided about since, greatest first."""
    decided = standing(project)
    is_decided = (
        select(documents.c.id)
        .join(decided, decided.c.document == documents.c.id)
        .where(documents.c.project == project, documents.c.key == doubts.c.key)
    )
    wanted = (
        select(*(doubts.c[name] for name in RowDoubt._fields))
        .where(doubts.c.project == project, ~is_decided.exists())
        .order_by((doubts.c.offered_probability - doubts.c.given_probability).desc(), doubts.c.id)
    )
    return [RowDoubt._make(row) for row in connection.execute(wanted)]
