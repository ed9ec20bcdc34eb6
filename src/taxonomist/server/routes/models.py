"""Versions of a project's model, and how good they are."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from taxonomist.errors import TaxonomistError
from taxonomist.server.live_model import LiveModel
from taxonomist.server.problems import problem, responses
from taxonomist.server.projects import Project
from taxonomist.server.quality import quality
from taxonomist.server.routes.arguments import AdminProject, Deciding, ReadProject, StrictModel
from taxonomist.server.routes.taxonomy import Estimated
from taxonomist.server.store.outcomes import standing_decisions
from taxonomist.server.store.versions import list_releases, list_versions, release
from taxonomist.workflow.model_comparison import compare_models

router = APIRouter(
    prefix="/v1/projects/{project_id}", tags=["Models"], responses=responses(409, 507)
)

Version = Annotated[str, Path(pattern="^[0-9a-f]{1,64}$", description="A version.")]
MOST_COMPARED = 2_000
"""Documents to compare two versions on."""


class VersionInfo(BaseModel):
    """A version of the model."""

    version: str
    origin: str
    added_at: datetime
    is_live: bool
    facts: dict[str, object]


class ReleaseInfo(BaseModel):
    """When a version went live, and why."""

    version: str
    at: datetime
    user: str
    reason: str


class VersionList(BaseModel):
    """All versions, and the history of what was live."""

    live: str
    versions: list[VersionInfo]
    releases: list[ReleaseInfo]


class LiveRequest(StrictModel):
    """Why a version goes live."""

    reason: str = Field("chosen by hand", max_length=500)


class VersionDifference(BaseModel):
    """Two versions on the documents of the random share that were decided."""

    old: str
    new: str
    n_texts: int
    old_loss: float
    new_loss: float
    error: float = Field(description="Standard error of the difference of the losses.")
    old_accuracy: float
    new_accuracy: float
    is_not_worse: bool
    note: str


class QualityReport(BaseModel):
    """The share of right offers in the random share, by version and of all."""

    live: str
    overall: Estimated
    versions: dict[str, Estimated]


@router.get("/models")
def show_all(project: ReadProject) -> VersionList:
    """List the versions of the model, and which one is live."""
    with project.store.reading() as connection:
        versions = list_versions(connection, project.id)
        releases = list_releases(connection, project.id)
    live = project.live.version
    return VersionList(
        live=live,
        versions=[
            VersionInfo(
                version=each.version,
                origin=each.origin,
                added_at=each.added_at,
                is_live=each.version == live,
                facts=each.facts,
            )
            for each in versions
        ],
        releases=[
            ReleaseInfo(version=each.version, at=each.at, user=each.user, reason=each.reason)
            for each in releases
        ],
    )


@router.post("/models/{version}/live")
def go_live(
    project: AdminProject, caller: Deciding, version: Version, body: LiveRequest
) -> ReleaseInfo:
    """Let a version go live, such as an older one to roll back."""
    # It is loaded and checked before anybody is told that it is live.
    _load(project, version)
    with project.store.writing() as connection:
        release(connection, project.id, version, caller.name, body.reason)
        newest = list_releases(connection, project.id)[-1]
    project.refresh()
    return ReleaseInfo(version=newest.version, at=newest.at, user=newest.user, reason=newest.reason)


@router.get("/models/{version}/compare")
def compare(
    project: ReadProject,
    version: Version,
    other: Annotated[
        str | None,
        Query(pattern="^[0-9a-f]{1,64}$", description="A version; by default the live one."),
    ] = None,
) -> VersionDifference:
    """Compare a version with another one on decided documents of the random share."""
    new = _load(project, version)
    old = project.live if other is None else _load(project, other)
    texts: list[dict[str, str]] = []
    labels: list[list[str]] = []
    with project.store.reading() as connection:
        for each in standing_decisions(connection, project.id):
            known = [label for label in each.chosen if label in new.taxonomy]
            if each.is_random and known == each.chosen:
                texts.append(new.by_column(each.texts))
                labels.append(known)
            if len(texts) == MOST_COMPARED:
                break
    found = compare_models(old.classifier, new.classifier, texts, labels).summary()
    return VersionDifference.model_validate({"old": old.version, "new": new.version, **found})


@router.get("/metrics")
def show_quality(project: ReadProject) -> QualityReport:
    """Return how often offers were right, with intervals, by the random share."""
    found = {name: Estimated(**each._asdict()) for name, each in quality(project).items()}
    return QualityReport(live=project.live.version, overall=found.pop("all"), versions=found)


def _load(project: Project, version: str) -> LiveModel:
    try:
        return project.load(version)
    except LookupError:
        raise problem(404, "There is no such version.") from None
    except TaxonomistError as error:
        raise problem(409, f"The version cannot be loaded: {error}") from None
