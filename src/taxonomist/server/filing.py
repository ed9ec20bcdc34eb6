"""Add documents, and decide about them."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from taxonomist.errors import LabelError
from taxonomist.server.store.decisions import ConflictError, NewDecision, add_decision
from taxonomist.server.store.documents import (
    NewDocument,
    Offer,
    add_documents,
    add_offers,
    find_document,
)
from taxonomist.server.store.schema import documents, offers
from taxonomist.text.digests import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from taxonomist.server.projects import Project
    from taxonomist.server.settings import ServiceSettings

__all__ = ["Verdict", "add_texts", "decide_document", "learn_documents"]


def add_texts(
    project: Project,
    settings: ServiceSettings,
    given: Sequence[tuple[str | None, Mapping[str, str]]],
    user: str,
) -> list[str]:
    """Add documents with what the live model offers for them, and return their keys.

    Parameters
    ----------
    project
        The project.
    settings
        Settings of the service.
    given
        Key and texts of each document. Without a key, equal texts are one document.
    user
        Who adds them.

    Raises
    ------
    ConflictError
        If there is a document with the same key and another text.
    """
    new, found = _with_offers(project, settings, given)
    with project.store.writing() as connection:
        _add(connection, project, new, found, user)
    return [each.key for each in new]


def _with_offers(
    project: Project,
    settings: ServiceSettings,
    given: Sequence[tuple[str | None, Mapping[str, str]]],
) -> tuple[list[NewDocument], list[Offer]]:
    """Return new documents, and what the live model offers for each."""
    model = project.live
    new = [_new(project.id, key, texts, settings.random_share) for key, texts in given]
    # Documents that a model was trained on cannot measure it.
    is_seen = model.classifier.has_seen([each.texts for each in new]).tolist()
    new = [
        each._replace(is_random=each.is_random and not seen)
        for each, seen in zip(new, is_seen, strict=True)
    ]
    return new, model.offers([each.texts for each in new])


def _add(
    connection: Connection,
    project: Project,
    new: Sequence[NewDocument],
    found: Sequence[Offer],
    user: str,
) -> None:
    numbers = add_documents(connection, project.id, new, user)
    _check_texts(connection, new, numbers)
    pairs = zip(new, found, strict=True)
    add_offers(connection, ((numbers[each.key], offer) for each, offer in pairs))


def _new(project: str, key: str | None, texts: Mapping[str, str], share: float) -> NewDocument:
    mark = digest(texts).hex()
    # The text alone decides whether a document is marked, so nobody can choose.
    drawn = blake2b(f"{project} {mark}".encode(), digest_size=4).digest()
    is_random = int.from_bytes(drawn) < share * 2**32
    return NewDocument(mark if key is None else key, dict(texts), mark, is_random)


def _check_texts(
    connection: Connection, new: Sequence[NewDocument], numbers: Mapping[str, int]
) -> None:
    wanted = select(documents.c.key, documents.c.digest).where(documents.c.id.in_(numbers.values()))
    stored = {row.key: row.digest for row in connection.execute(wanted)}
    for each in new:
        if stored[each.key] != each.digest:
            raise ConflictError(f"There is a document {each.key!r} with another text.")


class Verdict(NamedTuple):
    """What a user decided about a document.

    Attributes
    ----------
    key
        Key of the document.
    action
        One of ``taxonomist.server.store.decisions.ACTIONS``.
    labels
        The right labels of a corrected document.
    version
        Version of the model whose offer the user saw; None for the newest offer.
    expected
        Number of the decision that stood when the user looked, 0 for none; None to overwrite
        whatever stands.
    seconds
        How long it took.
    decision_key
        A key of the decision: one with a known key is not added again.
    """

    key: str
    action: str
    labels: list[str]
    version: str | None = None
    expected: int | None = None
    seconds: float | None = None
    decision_key: str | None = None


def decide_document(project: Project, verdict: Verdict, user: str) -> int:
    """Store a decision and return its number.

    Raises
    ------
    LookupError
        If there is no such document.
    LabelError
        If the labels do not fit the action or the model.
    ConflictError
        If somebody else decided in the meantime.
    """
    with project.store.writing() as connection:
        return _decide(connection, project, verdict, user)


def _decide(connection: Connection, project: Project, verdict: Verdict, user: str) -> int:
    document = find_document(connection, project.id, verdict.key)
    if document is None:
        raise LookupError(verdict.key)
    offer = document.offer
    offered, version = ([], None) if offer is None else (offer.labels, offer.version)
    if verdict.version is not None and verdict.version != version:
        offered, version = _offered(connection, document.id, verdict.version), verdict.version
    chosen = _chosen(project, verdict, offered)
    new = NewDecision(
        document.id,
        verdict.action,
        chosen,
        offered,
        version,
        user,
        verdict.seconds,
        verdict.decision_key,
    )
    return add_decision(connection, project.id, new, verdict.expected)


def _offered(connection: Connection, document: int, version: str) -> list[str]:
    wanted = select(offers.c.labels).where(
        offers.c.document == document, offers.c.version == version
    )
    found = connection.execute(wanted).scalar()
    if found is None:
        raise LabelError(f"Version {version!r} offered nothing for this document.")
    return list(found)


def _chosen(project: Project, verdict: Verdict, offered: list[str]) -> list[str]:
    """Return the labels that a document has after a decision."""
    if verdict.action == "accept":
        if verdict.labels and sorted(verdict.labels) != sorted(offered):
            raise LabelError("Other labels than those offered are not accepted but corrected.")
        if not offered and not project.live.is_multilabel:
            raise LabelError("Nothing was offered for this document, so nothing can be accepted.")
        return offered
    if verdict.action == "correct":
        return _checked(project, verdict.labels)
    if verdict.labels:
        raise LabelError(f"The action {verdict.action!r} takes no labels.")
    return []


def _checked(project: Project, labels: Sequence[str]) -> list[str]:
    """Return labels as ids; raise if they are unknown, or too few or too many."""
    model = project.live
    found = list(dict.fromkeys(model.taxonomy.resolve(label) for label in labels))
    if model.taxonomy.has_artificial_root and model.taxonomy.root in found:
        raise LabelError("The root is not a label.")
    if not model.is_multilabel and len(found) != 1:
        raise LabelError(f"A document of this project has exactly one label. Got {len(found)}.")
    return model.most_specific(found)


def learn_documents(
    project: Project,
    settings: ServiceSettings,
    given: Sequence[tuple[Mapping[str, str], list[str]]],
    user: str,
) -> None:
    """Add documents whose labels are known, as corrections: all of them, or none."""
    for _, labels in given:
        _checked(project, labels)
    new, found = _with_offers(project, settings, [(None, texts) for texts, _ in given])
    pairs = [(each.key, labels) for each, (_, labels) in zip(new, given, strict=True)]
    with project.store.writing() as connection:
        _add(connection, project, new, found, user)
        # Writers who want the same documents take turns, always in the same order.
        for key, labels in sorted(pairs, key=lambda pair: pair[0]):
            _decide(connection, project, Verdict(key, "correct", labels), user)
