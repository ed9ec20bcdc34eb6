"""Whether the service is well."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel

from taxonomist import __version__
from taxonomist.server.problems import responses
from taxonomist.server.routes.arguments import Reading, Running

router = APIRouter(tags=["Operations"])


class Health(BaseModel):
    """The service runs."""

    status: str
    version: str


class Readiness(BaseModel):
    """The service can answer: its models are loaded, and the database is there."""

    status: str
    projects: dict[str, str]


@router.get("/health")
async def health() -> Health:
    """Say that the process runs; without access to the database."""
    return Health(status="UP", version=__version__)


@router.get("/ready", responses=responses())
def ready(service: Running) -> Readiness:
    """Say whether requests can be answered now."""
    service.store.is_ready()
    return Readiness(
        status="ready",
        projects={name: project.live.version for name, project in service.projects.items()},
    )


@router.get("/metrics", response_class=Response, responses=responses(), dependencies=[Reading])
def metrics(service: Running) -> Response:
    """Return the measures of the service for Prometheus."""
    body, kind = service.monitor.text()
    return Response(body, media_type=kind)
