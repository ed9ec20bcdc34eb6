"""In which order people see the documents that wait.

Documents with the largest expected loss come first, but not all from one branch: the places are
dealt out to the branches in proportion to their expected losses. A share of the documents is marked
at random when they are added, whatever the model says about them; they are mixed in, because only
they tell how good the model is on all documents.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.server.label_search import folded
from taxonomist.server.store.documents import add_offers, stale_documents
from taxonomist.server.store.waiting import (
    branch_totals,
    numbered_documents,
    waiting,
    waiting_by_date,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist.server.projects import Project
    from taxonomist.server.store.documents import StoredDocument
    from taxonomist.server.store.waiting import BranchTotal, Waiting

__all__ = ["Queue", "deal", "find_waiting", "next_documents"]

RESCORED = 200
"""Waiting documents that a request scores again if another model has gone live since."""


class Queue(NamedTuple):
    """The next documents, and how many wait in each branch."""

    documents: list[StoredDocument]
    totals: list[BranchTotal]


def next_documents(
    project: Project,
    limit: int,
    *,
    branch: str | None = None,
    holder: str | None = None,
    random_share: float = 0.1,
) -> Queue:
    """Return the documents to decide about next.

    Parameters
    ----------
    project
        The project.
    limit
        Maximum number of documents.
    branch
        A top-level node, to return only documents that the model puts there.
    holder
        Who asks, to leave out documents that others have open.
    random_share
        Fraction of the places for marked random documents.
    """
    rescore(project, RESCORED)
    with project.store.reading() as connection:
        totals = branch_totals(connection, project.id, branch)
        found = waiting(connection, project.id, limit, branch, holder)
        numbers = ordered(found, totals, limit, random_share)
        return Queue(numbered_documents(connection, project.id, numbers), totals)


def find_waiting(
    project: Project,
    limit: int,
    *,
    branch: str | None = None,
    holder: str | None = None,
    query: str = "",
    newest_first: bool = False,
) -> Queue:
    """Return waiting documents by date, those whose texts or id contain a query.

    Parameters
    ----------
    project
        The project.
    limit
        Maximum number of documents.
    branch
        A top-level node, to return only documents that the model puts there.
    holder
        Who asks, to leave out documents that others have open.
    query
        Words that must occur, without regard to case and accents; empty for any document.
    newest_first
        Whether the documents that were added last come first.
    """
    rescore(project, RESCORED)
    words = folded(query).split()

    def matches(document: StoredDocument) -> bool:
        text = folded(" ".join([document.key, *document.texts.values()]))
        return all(word in text for word in words)

    with project.store.reading() as connection:
        totals = branch_totals(connection, project.id, branch)
        found = waiting_by_date(connection, project.id, branch, holder, newest_first=newest_first)
        return Queue(list(islice(filter(matches, found), limit)), totals)


def rescore(project: Project, most: int) -> int:
    """Let the live model score waiting documents that only older versions have scored."""
    model = project.live
    with project.store.reading() as connection:
        stale = stale_documents(connection, project.id, model.version, most)
    if stale:
        found = model.offers([texts for _, texts in stale])
        with project.store.writing() as connection:
            numbers = [number for number, _ in stale]
            add_offers(connection, zip(numbers, found, strict=True))
    return len(stale)


def ordered(
    found: Sequence[Waiting], totals: Sequence[BranchTotal], limit: int, random_share: float
) -> list[int]:
    """Return the numbers of documents in the order of the queue."""
    marked = [each for each in found if each.is_random]
    marked.sort(key=lambda each: (each.is_skipped, each.number))
    others = [each for each in found if not each.is_random]
    n_marked = min(len(marked), max(1, round(limit * random_share)) if random_share else 0)
    by_branch: dict[str, list[Waiting]] = {}
    for each in others:
        by_branch.setdefault(each.branch, []).append(each)
    masses = {total.branch: total.risk for total in totals}
    sizes = {branch: len(rows) for branch, rows in by_branch.items()}
    quotas = deal(limit - n_marked, masses, sizes)
    chosen = [each for branch, rows in by_branch.items() for each in rows[: quotas[branch]]]
    chosen.sort(key=lambda each: (each.is_skipped, -each.risk, each.number))
    # With few others, marked ones fill the rest.
    n_marked = min(len(marked), limit - len(chosen))
    return mixed([each.number for each in chosen], [each.number for each in marked[:n_marked]])


def deal(n: int, masses: Mapping[str, float], sizes: Mapping[str, int]) -> dict[str, int]:
    """Deal out n places to branches in proportion to masses, none more than its size.

    Places that a small branch cannot use go to the others. Every branch with documents gets a
    place if there are enough.
    """
    quotas = dict.fromkeys(sizes, 0)
    for _ in range(min(n, sum(sizes.values()))):
        open_branches = [branch for branch in quotas if quotas[branch] < sizes[branch]]
        # The branch with the largest mass per place that it would have then (D'Hondt's method).
        best = max(
            open_branches,
            key=lambda branch: (
                quotas[branch] == 0,
                masses.get(branch, 0.0) / (quotas[branch] + 1),
                branch,
            ),
        )
        quotas[best] += 1
    return quotas


def mixed(ordered_numbers: list[int], marked: list[int]) -> list[int]:
    """Spread marked documents evenly over the others."""
    total = len(ordered_numbers) + len(marked)
    found: list[int] = []
    given, rest = iter(ordered_numbers), iter(marked)
    for place in range(total):
        is_marked = (place + 1) * len(marked) // total > place * len(marked) // total
        found.append(next(rest) if is_marked else next(given))
    return found
