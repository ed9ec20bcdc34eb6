"""Documents, and what models offered for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, insert, or_, select

from taxonomist.server.store.engine import now
from taxonomist.server.store.schema import documents, offers
from taxonomist.server.store.states import standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Select

__all__ = [
    "NewDocument",
    "Offer",
    "StoredDocument",
    "add_documents",
    "add_offers",
    "find_document",
    "list_documents",
    "stale_documents",
]


class NewDocument(NamedTuple):
    """A document to add."""

    key: str
    texts: dict[str, str]
    digest: str
    is_random: bool


class Offer(NamedTuple):
    """What a model offers for a document.

    Attributes
    ----------
    version
        Version of the model.
    labels
        Ids of the predicted labels.
    categories
        The most probable categories: pairs of an id and a probability.
    risk
        Expected loss of the prediction.
    branch
        The top-level node that the prediction belongs to.
    """

    version: str
    labels: list[str]
    categories: list[tuple[str, float]]
    risk: float
    branch: str


class StoredDocument(NamedTuple):
    """A document with the newest offer and the decision that stands, if there are any."""

    id: int
    key: str
    texts: dict[str, str]
    is_random: bool
    added_at: datetime
    added_by: str
    offer: Offer | None
    action: str | None
    chosen: list[str]
    event: int | None


def add_documents(
    connection: Connection, project: str, new: Iterable[NewDocument], user: str
) -> dict[str, int]:
    """Add documents, leave out those whose key is known, and return the numbers of all by key."""
    wanted = {each.key: each for each in new}
    numbers = _numbers(connection, project, list(wanted))
    rows = [
        {**each._asdict(), "project": project, "added_at": now(), "added_by": user}
        for key, each in wanted.items()
        if key not in numbers
    ]
    if rows:
        connection.execute(insert(documents), rows)
        numbers = _numbers(connection, project, list(wanted))
    return numbers


def _numbers(connection: Connection, project: str, keys: Sequence[str]) -> dict[str, int]:
    wanted = select(documents.c.key, documents.c.id).where(
        documents.c.project == project, documents.c.key.in_(keys)
    )
    return {row.key: int(row.id) for row in connection.execute(wanted)}


def add_offers(connection: Connection, found: Iterable[tuple[int, Offer]]) -> None:
    """Add what a model offers for documents, unless this version's offer is known."""
    given = dict(found)
    known = select(offers.c.document, offers.c.version).where(offers.c.document.in_(given))
    seen = {(number, version) for number, version in connection.execute(known)}
    rows = [
        {**offer._asdict(), "document": number, "at": now()}
        for number, offer in given.items()
        if (number, offer.version) not in seen
    ]
    if rows:
        connection.execute(insert(offers), rows)


def document_rows(project: str, *, is_waiting: bool = False) -> Select[tuple[object, ...]]:
    """Return a query for documents with their newest offers and the decisions that stand.

    With ``is_waiting``, only for documents without a decision or with one to skip them.
    """
    decided = standing(project)
    newest = (
        select(func.max(offers.c.id).label("id"))
        .where(offers.c.document == documents.c.id)
        .correlate(documents)
        .scalar_subquery()
    )
    found = (
        select(
            documents,
            offers.c.version,
            offers.c.labels,
            offers.c.categories,
            offers.c.risk,
            offers.c.branch,
            decided.c.id.label("event"),
            decided.c.action,
            decided.c.chosen,
        )
        .select_from(documents)
        .outerjoin(offers, and_(offers.c.document == documents.c.id, offers.c.id == newest))
        .outerjoin(decided, decided.c.document == documents.c.id)
        .where(documents.c.project == project)
    )
    if is_waiting:
        found = found.where(or_(decided.c.id.is_(None), decided.c.action == "skip"))
    return found


def stored(connection: Connection, wanted: Select[tuple[object, ...]]) -> list[StoredDocument]:
    """Return the documents that a query like ``document_rows`` finds."""
    found = []
    for row in connection.execute(wanted).mappings():
        offer = None
        if row["version"] is not None:
            pairs = [(str(label), float(chance)) for label, chance in row["categories"]]
            offer = Offer(
                row["version"], list(row["labels"]), pairs, float(row["risk"]), row["branch"]
            )
        own = {name: row[name] for name in ("id", "key", "texts", "is_random")}
        added = {name: row[name] for name in ("added_at", "added_by")}
        chosen = list(row["chosen"] or [])
        found.append(
            StoredDocument(
                **own, **added, offer=offer, action=row["action"], chosen=chosen, event=row["event"]
            )
        )
    return found


def find_document(connection: Connection, project: str, key: str) -> StoredDocument | None:
    """Return a document, or None if it does not exist."""
    found = stored(connection, document_rows(project).where(documents.c.key == key))
    return found[0] if found else None


def list_documents(
    connection: Connection, project: str, after: int, limit: int
) -> list[StoredDocument]:
    """Return the documents behind a number, in the order in which they were added."""
    wanted = document_rows(project).where(documents.c.id > after)
    return stored(connection, wanted.order_by(documents.c.id).limit(limit))


def stale_documents(
    connection: Connection, project: str, version: str, limit: int
) -> list[tuple[int, dict[str, str]]]:
    """Return the numbers and texts of waiting documents without an offer of a version."""
    decided = standing(project)
    has_offer = select(offers.c.id).where(
        offers.c.document == documents.c.id, offers.c.version == version
    )
    wanted = (
        select(documents.c.id, documents.c.texts)
        .outerjoin(decided, decided.c.document == documents.c.id)
        .where(documents.c.project == project, ~has_offer.exists())
        .where(decided.c.id.is_(None) | (decided.c.action == "skip"))
        .order_by(documents.c.id)
        .limit(limit)
    )
    return [(number, texts) for number, texts in connection.execute(wanted)]
