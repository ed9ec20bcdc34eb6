"""Trainings that learn from decisions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from taxonomist.server.problems import problem, responses
from taxonomist.server.routes.arguments import (
    AdminProject,
    Deciding,
    ReadProject,
    Running,
    StrictModel,
)
from taxonomist.server.store.jobs import StoredJob, find_job, list_jobs

router = APIRouter(
    prefix="/v1/projects/{project_id}/retrain",
    tags=["Trainings"],
    responses=responses(409, 507),
)


class RetrainRequest(StrictModel):
    """How to train."""

    force: bool = Field(False, description="Let the new model go live even if it is worse.")
    full: bool = Field(False, description="Learn words again even if few documents are new.")


class JobInfo(BaseModel):
    """A training."""

    job: str
    kind: str = Field(description="train, or check for a check of the training table.")
    state: str = Field(
        description="running; live, trained or checked, when it ended; failed; lost with its "
        "machine."
    )
    step: str
    done: int
    total: int | None
    user: str
    started_at: datetime
    ended_at: datetime | None
    result: dict[str, object]


class JobList(BaseModel):
    """Trainings, oldest first."""

    jobs: list[JobInfo]


@router.post("", status_code=202)
def start(
    project: AdminProject, caller: Deciding, service: Running, body: RetrainRequest
) -> JobInfo:
    """Train on the training table and all decisions, while the live model goes on answering."""
    job = service.trainings.start(
        project.id, project.live.version, caller.name, force=body.force, full=body.full
    )
    with project.store.reading() as connection:
        found = find_job(connection, project.id, job)
    assert found is not None
    return as_job(found)


@router.get("")
def show_all(project: ReadProject) -> JobList:
    """List the trainings of a project."""
    with project.store.reading() as connection:
        return JobList(jobs=[as_job(each) for each in list_jobs(connection, project.id)])


@router.get("/{job}")
def show(project: ReadProject, job: Annotated[str, Path(pattern="^[0-9a-f]{1,32}$")]) -> JobInfo:
    """Return the progress of a training, or its result."""
    with project.store.reading() as connection:
        found = find_job(connection, project.id, job)
    if found is None:
        raise problem(404, "There is no such training.")
    return as_job(found)


def as_job(job: StoredJob) -> JobInfo:
    """Describe a job."""
    known = job._asdict()
    del known["seen_at"]
    return JobInfo(job=known.pop("id"), **known)
