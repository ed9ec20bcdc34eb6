"""Who has which documents open, so that two people do not work on the same one."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from taxonomist.server.problems import problem, responses
from taxonomist.server.routes.arguments import DecideProject, Deciding, Key, StrictModel
from taxonomist.server.store.leases import LEASE_SECONDS, hold_documents

router = APIRouter(
    prefix="/v1/projects/{project_id}", tags=["Documents"], responses=responses(404, 507)
)

MOST_HELD = 20


class OpenDocuments(StrictModel):
    """All documents that somebody has open now."""

    documents: list[Key] = Field(max_length=MOST_HELD, description="Their ids; none to leave.")


class LeaseInfo(BaseModel):
    """A document that somebody else has open."""

    document_id: str
    user: str
    until: datetime


class LeaseAnswer(BaseModel):
    """How long the documents are reserved for you, and which ones others have open."""

    seconds: int
    others: list[LeaseInfo]


@router.put("/leases/{holder}")
def hold(
    project: DecideProject,
    caller: Deciding,
    holder: Annotated[Key, Path(description="A random key of your page or program.")],
    body: OpenDocuments,
) -> LeaseAnswer:
    """Keep documents out of the queues of others, and learn which ones others have open.

    The leases end by themselves; ask again to renew them. They replace those of the last request.
    """
    try:
        with project.store.writing() as connection:
            found = hold_documents(connection, project.id, body.documents, holder, caller.name)
    except LookupError as error:
        raise problem(404, "There is no such document.") from error
    others = [LeaseInfo(document_id=key, user=user, until=until) for key, user, until in found]
    return LeaseAnswer(seconds=LEASE_SECONDS, others=others)
