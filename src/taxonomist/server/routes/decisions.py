"""Decisions of people about documents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from taxonomist.server.filing import Verdict, decide_document
from taxonomist.server.node_places import node_name
from taxonomist.server.problems import problem, responses
from taxonomist.server.routes.arguments import (
    MOST_NUMBER,
    After,
    DecideProject,
    Deciding,
    EventNumber,
    Key,
    ReadProject,
    Running,
    StrictModel,
    Time,
)
from taxonomist.server.store.decisions import (
    EventFilter,
    StoredEvent,
    find_event,
    list_events,
    undo_decision,
)
from taxonomist.server.store.outcomes import decided_since
from taxonomist.server.store.waiting import branch_totals

router = APIRouter(
    prefix="/v1/projects/{project_id}", tags=["Decisions"], responses=responses(409, 507)
)


Action = Literal["accept", "correct", "reject", "too_vague", "skip", "undo"]


class DecisionRequest(StrictModel):
    """What somebody decided about a document."""

    document_id: Key
    action: Literal["accept", "correct", "reject", "too_vague", "skip"]
    labels: list[Key] = Field([], max_length=1000, description="The right labels, to correct.")
    version: str | None = Field(
        None, max_length=64, description="Version of the model whose offer was seen."
    )
    expected: int | None = Field(
        None,
        ge=0,
        le=MOST_NUMBER,
        description="The document's event when it was seen; another one is a conflict.",
    )
    seconds: float | None = Field(None, ge=0, le=1e6, description="How long it took.")
    key: Key | None = Field(
        None, description="A key of your choice: sent again, the decision is not stored again."
    )


class EventInfo(BaseModel):
    """An event: a decision, or the undo of one."""

    event: int
    document_id: str
    action: Action
    labels: list[str]
    offered: list[str]
    version: str | None
    user: str
    seconds: float | None
    at: datetime
    undoes: int | None
    key: str | None


class UserProgress(BaseModel):
    """How many documents somebody decided about."""

    user: str
    n_decided: int


class FilingProgress(BaseModel):
    """How many documents were decided about, and how many wait."""

    n_decided: int
    n_waiting: int
    users: list[UserProgress]


class EventPage(BaseModel):
    """Events, oldest first or newest first."""

    events: list[EventInfo]
    names: dict[str, str] = Field(description="Names of all labels of these events.")
    next: int | None = Field(description="Pass it as 'after' for the next page.")


@router.post("/decisions", status_code=201)
def decide(
    project: DecideProject, caller: Deciding, service: Running, body: DecisionRequest
) -> EventInfo:
    """Store a decision. It is on disk when the answer comes."""
    verdict = Verdict(
        body.document_id,
        body.action,
        list(body.labels),
        body.version,
        body.expected,
        body.seconds,
        body.key,
    )
    try:
        number = decide_document(project, verdict, caller.name)
    except LookupError as error:
        if isinstance(error, KeyError):
            raise
        raise problem(404, "There is no such document.") from None
    service.monitor.decision(project.id, body.action)
    with project.store.reading() as connection:
        found = find_event(connection, project.id, number)
    assert found is not None
    return _info(found)


@router.get("/decisions")
def show_all(
    project: ReadProject,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    document_id: Annotated[Key | None, Query(description="Only events of this document.")] = None,
    user: Annotated[Key | None, Query(description="Only events of this user.")] = None,
    action: Annotated[Action | None, Query(description="Only these events.")] = None,
    since: Annotated[Time | None, Query(description="Only events since then.")] = None,
    newest_first: Annotated[
        bool, Query(description="Newest first; 'after' is then the number to continue before.")
    ] = False,
) -> EventPage:
    """List all events: who decided what, when, and what was offered by which model."""
    wanted = EventFilter(document_id, user, action, since)
    with project.store.reading() as connection:
        found = list_events(
            connection,
            project.id,
            after=after,
            limit=limit,
            wanted=wanted,
            newest_first=newest_first,
        )
    last = found[-1].id if len(found) == limit else None
    labels = {label for each in found for label in (*each.chosen, *each.offered)}
    names = {label: node_name(project.live, label) for label in sorted(labels)}
    return EventPage(events=[_info(each) for each in found], names=names, next=last)


@router.get("/progress")
def progress(
    project: ReadProject,
    since: Annotated[Time, Query(description="When the day began.")],
) -> FilingProgress:
    """Return how many documents people decided about since a time, and how many wait."""
    with project.store.reading() as connection:
        counts = decided_since(connection, project.id, since)
        totals = branch_totals(connection, project.id)
    users = [UserProgress(user=user, n_decided=count) for user, count in counts]
    return FilingProgress(
        n_decided=sum(each.n_decided for each in users),
        n_waiting=sum(each.n_documents for each in totals),
        users=users,
    )


@router.delete("/decisions/{event}")
def undo(
    project: DecideProject, caller: Deciding, service: Running, event: EventNumber
) -> EventInfo:
    """Undo a decision by another event. What stood before stands again."""
    try:
        with project.store.writing() as connection:
            number = undo_decision(connection, project.id, event, caller.name)
            found = find_event(connection, project.id, number)
    except LookupError:
        raise problem(404, "There is no such event.") from None
    service.monitor.decision(project.id, "undo")
    assert found is not None
    return _info(found)


def _info(event: StoredEvent) -> EventInfo:
    known = event._asdict()
    return EventInfo(
        event=known.pop("id"),
        document_id=known.pop("document_key"),
        labels=known.pop("chosen"),
        **known,
    )
