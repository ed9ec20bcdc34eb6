"""Documents that wait for people, and the queue of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from taxonomist.server.filing import add_texts
from taxonomist.server.live_model import LiveModel
from taxonomist.server.node_places import node_name, place_of
from taxonomist.server.problems import problem, responses
from taxonomist.server.queueing import find_waiting, next_documents
from taxonomist.server.routes.arguments import (
    After,
    DecideProject,
    Deciding,
    Key,
    ReadProject,
    Running,
    StrictModel,
)
from taxonomist.server.routes.predictions import Alternative, GivenText, as_columns
from taxonomist.server.store.documents import StoredDocument, find_document, list_documents

router = APIRouter(
    prefix="/v1/projects/{project_id}", tags=["Documents"], responses=responses(409, 507)
)

DocumentKey = Annotated[Key, Path(description="Id of the document.")]


class NewDocuments(StrictModel):
    """Documents to add. One without an id gets the hash of its text as its id."""

    documents: list[GivenText] = Field(min_length=1)


class AddedDocuments(BaseModel):
    """Ids of documents, in the order in which they were given."""

    document_ids: list[str]


class OfferedCategory(Alternative):
    """A category that a model offers, and where it is in the taxonomy."""

    path: list[str] = Field(description="Ids from the top to the category.")
    path_names: list[str] = Field(description="Names from the top to the category.")


class OfferInfo(BaseModel):
    """What a model offers for a document."""

    version: str
    labels: list[str]
    names: list[str]
    paths: list[list[str]]
    alternatives: list[OfferedCategory] = Field(description="The most probable categories.")
    expected_loss: float
    branch: str


class DocumentInfo(BaseModel):
    """A document with the newest offer and the decision that stands."""

    document_id: str
    number: int
    texts: dict[str, str]
    is_random: bool = Field(description="Whether it belongs to the random share.")
    added_at: datetime
    added_by: str
    offer: OfferInfo | None
    state: Literal["waiting", "accept", "correct", "reject", "too_vague", "skip"]
    labels: list[str] = Field(description="Labels that were decided.")
    event: int = Field(description="Number of the decision that stands; 0 for none.")


class DocumentPage(BaseModel):
    """Documents in the order in which they were added."""

    documents: list[DocumentInfo]
    next: int | None = Field(description="Pass it as 'after' for the next page.")


class BranchWaiting(BaseModel):
    """Documents that wait in a branch."""

    branch: str
    name: str
    n_documents: int
    expected_loss: float


class QueuePage(BaseModel):
    """The next documents to decide about."""

    documents: list[DocumentInfo]
    total: int
    branches: list[BranchWaiting]


@router.post("/documents", status_code=201)
def add(
    project: DecideProject, caller: Deciding, service: Running, body: NewDocuments
) -> AddedDocuments:
    """Add documents; those that are known are left as they are."""
    if len(body.documents) > service.settings.limits.batch:
        raise problem(400, f"At most {service.settings.limits.batch} documents are allowed.")
    given = [(each.document_id, as_columns(service, project.live, each)) for each in body.documents]
    return AddedDocuments(document_ids=add_texts(project, service.settings, given, caller.name))


@router.get("/documents")
def show_all(
    project: ReadProject, after: After = 0, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> DocumentPage:
    """List documents, page by page."""
    with project.store.reading() as connection:
        found = list_documents(connection, project.id, after, limit)
    last = found[-1].id if len(found) == limit else None
    return DocumentPage(documents=[as_info(project.live, each) for each in found], next=last)


@router.get("/documents/{document_id:path}")
def show(project: ReadProject, document_id: DocumentKey) -> DocumentInfo:
    """Return a document."""
    with project.store.reading() as connection:
        found = find_document(connection, project.id, document_id)
    if found is None:
        raise problem(404, "There is no such document.")
    return as_info(project.live, found)


@router.get("/queue")
def queue(
    project: ReadProject,
    service: Running,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    branch: Annotated[
        Key | None, Query(description="Only documents that the model puts below this top node.")
    ] = None,
    order: Annotated[
        Literal["loss", "newest", "oldest"],
        Query(description="By expected loss, with places for every branch, or by date."),
    ] = "loss",
    q: Annotated[
        str, Query(max_length=200, description="Words that the texts contain; by date.")
    ] = "",
    holder: Annotated[
        Key | None, Query(description="Your key of leases; leaves out what others have open.")
    ] = None,
) -> QueuePage:
    """Return the documents to decide about next: those with the largest expected loss first."""
    if q.strip() or order != "loss":
        is_newest = order == "newest"
        found = find_waiting(
            project, limit, branch=branch, holder=holder, query=q, newest_first=is_newest
        )
    else:
        share = service.settings.random_share
        found = next_documents(project, limit, branch=branch, holder=holder, random_share=share)
    totals = [
        BranchWaiting(
            branch=branch_id,
            name=node_name(project.live, branch_id),
            n_documents=count,
            expected_loss=risk,
        )
        for branch_id, count, risk in found.totals
    ]
    return QueuePage(
        documents=[as_info(project.live, each) for each in found.documents],
        total=sum(each.n_documents for each in totals),
        branches=totals,
    )


def as_info(model: LiveModel, document: StoredDocument) -> DocumentInfo:
    """Describe a document."""
    return DocumentInfo(
        document_id=document.key,
        number=document.id,
        texts=document.texts,
        is_random=document.is_random,
        added_at=document.added_at,
        added_by=document.added_by,
        offer=_offer(model, document),
        state=document.action or "waiting",  # type: ignore[arg-type]
        labels=document.chosen,
        event=document.event or 0,
    )


def _offer(model: LiveModel, document: StoredDocument) -> OfferInfo | None:
    offer = document.offer
    if offer is None:
        return None

    known = [label for label in offer.labels if label in model.taxonomy]
    return OfferInfo(
        version=offer.version,
        labels=offer.labels,
        names=[node_name(model, label) for label in offer.labels],
        paths=[list(model.titles.path(label)) for label in known],
        alternatives=[
            OfferedCategory(probability=chance, **place_of(model, label)._asdict())
            for label, chance in offer.categories
        ],
        expected_loss=offer.risk,
        branch=offer.branch,
    )
