"""Accept many offers at once, after people have checked a sample."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from taxonomist.server.bulk import BulkChoice, accept_many, choose_sample, undo_many
from taxonomist.server.problems import problem, responses
from taxonomist.server.projects import Project
from taxonomist.server.routes.arguments import DecideProject, Deciding, Key, Running, StrictModel
from taxonomist.server.routes.documents import DocumentInfo, as_info
from taxonomist.server.routes.taxonomy import Estimated

router = APIRouter(
    prefix="/v1/projects/{project_id}", tags=["Decisions"], responses=responses(409, 507)
)

Batch = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="Id of the batch.")]


class BulkQuestion(StrictModel):
    """Which offers to accept."""

    probability: float = Field(gt=0, le=1, description="Minimum probability of an offer.")
    branch: Key | None = Field(None, description="Only documents below this top node.")


class BulkSample(BaseModel):
    """How many offers there are, and a sample to decide about first."""

    version: str
    n_documents: int
    sample: list[DocumentInfo]


class BulkRequest(BulkQuestion):
    """Offers to accept, and the sample that was decided about."""

    version: str = Field(max_length=64, description="Version that the sample was drawn for.")
    sample: list[Key] = Field(max_length=100, description="Ids of the documents of the sample.")
    batch: str | None = Field(
        None, pattern="^[0-9a-f]{12}$", description="Id of the batch to continue."
    )


class BulkResult(BaseModel):
    """What was accepted."""

    batch: str = Field(description="Id of the batch, to continue or undo it.")
    n_accepted: int
    n_left: int = Field(description="Documents left for further calls.")
    sample: Estimated


class BulkUndone(BaseModel):
    """How many decisions were undone."""

    n_undone: int


@router.post("/bulk-sample")
def sample(project: DecideProject, body: BulkQuestion) -> BulkSample:
    """Draw a random sample of the offers that reach a probability; nothing is stored."""
    choice = BulkChoice(body.probability, body.branch, project.live.version)
    count, found = choose_sample(project, choice)
    model = project.live
    return BulkSample(
        version=choice.version, n_documents=count, sample=[as_info(model, each) for each in found]
    )


@router.post("/bulk-accept", status_code=201)
def accept(
    project: DecideProject, caller: Deciding, service: Running, body: BulkRequest
) -> BulkResult:
    """Accept up to 500 offers that reach a probability, once the sample is decided about."""
    _check_version(project, body.version)
    choice = BulkChoice(body.probability, body.branch, body.version)
    found = accept_many(project, choice, body.sample, caller.name, body.batch)
    for _ in range(found.n_accepted):
        service.monitor.decision(project.id, "accept")
    facts = found._asdict()
    return BulkResult(**{**facts, "sample": Estimated(**found.sample._asdict())})


@router.delete("/bulk-accept/{batch}")
def undo(project: DecideProject, caller: Deciding, batch: Batch) -> BulkUndone:
    """Undo all decisions of a batch."""
    return BulkUndone(n_undone=undo_many(project, batch, caller.name))


def _check_version(project: Project, version: str) -> None:
    if version != project.live.version:
        raise problem(409, "Another model went live meanwhile. Draw a new sample.")
