"""Accept many offers at once, after people have checked a random sample of them.

Documents of the random share are never accepted unseen: they measure how good the model is.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.server.problems import problem
from taxonomist.server.quality import estimate
from taxonomist.server.store.decisions import (
    ConflictError,
    NewDecision,
    add_decision,
    events_with_key,
    undo_decision,
)
from taxonomist.server.store.documents import find_document
from taxonomist.server.store.waiting import waiting_by_date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.server.projects import Project
    from taxonomist.server.quality import ShareEstimate
    from taxonomist.server.store.documents import StoredDocument

__all__ = ["BulkAccepted", "BulkChoice", "accept_many", "chance_of", "choose_sample", "undo_many"]

SAMPLE = 10
"""Documents to look at before others are accepted: if all are right, Wilson's interval begins at
72 %."""
AT_ONCE = 500
"""Documents that one request accepts, in one transaction."""
KEY_PREFIX = "bulk"


class BulkChoice(NamedTuple):
    """Which documents to accept: those whose offers reach a probability."""

    probability: float
    branch: str | None
    version: str


class BulkAccepted(NamedTuple):
    """How many documents were accepted, how many are left, and how good the sample was."""

    batch: str
    n_accepted: int
    n_left: int
    sample: ShareEstimate


def chance_of(labels: Sequence[str], categories: Sequence[tuple[str, float]]) -> float:
    """Return the probability of the least probable label; 0 without labels."""
    known = dict(categories)
    return min((known.get(label, 0.0) for label in labels), default=0.0)


def _matches(document: StoredDocument, choice: BulkChoice) -> bool:
    offer = document.offer
    return (
        offer is not None
        and not document.is_random
        and offer.version == choice.version
        and chance_of(offer.labels, offer.categories) >= choice.probability
    )


def _matching(project: Project, choice: BulkChoice) -> list[StoredDocument]:
    """Return the waiting documents that nobody skipped and whose offers are probable enough."""
    with project.store.reading() as connection:
        found = waiting_by_date(connection, project.id, choice.branch)
        return [each for each in found if each.event is None and _matches(each, choice)]


def choose_sample(project: Project, choice: BulkChoice) -> tuple[int, list[StoredDocument]]:
    """Return how many documents would be accepted, and a random sample of them to look at."""
    found = _matching(project, choice)

    def drawn(document: StoredDocument) -> bytes:
        return blake2b(f"{choice.version} {document.key}".encode(), digest_size=8).digest()

    return len(found), sorted(found, key=drawn)[:SAMPLE]


def accept_many(
    project: Project, choice: BulkChoice, sample: Sequence[str], user: str, batch: str | None
) -> BulkAccepted:
    """Accept the offers of waiting documents, ``AT_ONCE`` at a time.

    Parameters
    ----------
    project
        The project.
    choice
        Which documents.
    sample
        Keys of the documents that were looked at; each has a decision.
    user
        Who accepts.
    batch
        The batch that the first call returned, to continue with the documents that it left.

    Raises
    ------
    ProblemError
        If the sample is too small, or if its decisions contradict the probability.
    """
    found = _matching(project, choice)
    checked = _checked_sample(project, choice, sample, len(found))
    batch = batch or secrets.token_hex(6)
    n_accepted = 0
    with project.store.writing() as connection:
        for each in found[:AT_ONCE]:
            labels = [] if each.offer is None else each.offer.labels
            key = f"{KEY_PREFIX}:{batch}:{each.id}"
            facts = (labels, labels, choice.version, user, None, key)
            try:
                add_decision(connection, project.id, NewDecision(each.id, "accept", *facts), 0)
            except ConflictError:
                continue  # somebody decided about it meanwhile
            n_accepted += 1
    return BulkAccepted(batch, n_accepted, max(0, len(found) - AT_ONCE), checked)


def _checked_sample(
    project: Project, choice: BulkChoice, sample: Sequence[str], n_waiting: int
) -> ShareEstimate:
    """Return the share of right offers in the sample; raise if it is too low for the rest."""
    keys = list(dict.fromkeys(sample))
    with project.store.reading() as connection:
        found = [find_document(connection, project.id, key) for key in keys]
    decided = [each for each in found if each and each.action in ("accept", "correct", "reject")]
    known = [each for each in decided if _matches(each, choice)]
    if len(known) < min(SAMPLE, n_waiting + len(known)):
        raise problem(
            409, f"Decide about the sample first: {len(known)} of {SAMPLE} documents are decided."
        )
    right = [each for each in known if each.offer and set(each.chosen) == set(each.offer.labels)]
    share = estimate(len(right), len(known))
    if share.high < choice.probability:
        raise problem(
            409,
            f"Only {len(right)} of {len(known)} offers of the sample were right, too few for "
            f"{choice.probability:.0%}. Choose a higher probability, or retrain the model.",
        )
    return share


def undo_many(project: Project, batch: str, user: str) -> int:
    """Undo all decisions of a batch that still stand, and return their number."""
    n_undone = 0
    with project.store.writing() as connection:
        for number in events_with_key(connection, project.id, f"{KEY_PREFIX}:{batch}:"):
            undo_decision(connection, project.id, number, user)
            n_undone += 1
    return n_undone
