"""Decisions of people about documents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from taxonomist.server.filing import Verdict, decide_document
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
)
from taxonomist.server.store.decisions import (
    StoredEvent,
    find_event,
    list_events,
    undo_decision,
)

router = APIRouter(
    prefix="/v1/projects/{project_id}", tags=["Decisions"], responses=responses(409, 507)
)


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
    action: Literal["accept", "correct", "reject", "too_vague", "skip", "undo"]
    labels: list[str]
    offered: list[str]
    version: str | None
    user: str
    seconds: float | None
    at: datetime
    undoes: int | None
    key: str | None


class EventPage(BaseModel):
    """Events in the order in which they happened."""

    events: list[EventInfo]
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
) -> EventPage:
    """List all events: who decided what, when, and what was offered by which model."""
    with project.store.reading() as connection:
        found = list_events(connection, project.id, after=after, limit=limit, document=document_id)
    last = found[-1].id if len(found) == limit else None
    return EventPage(events=[_info(each) for each in found], next=last)


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
