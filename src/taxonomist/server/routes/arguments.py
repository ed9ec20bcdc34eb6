"""Types of arguments that several routes share, and who may call them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, cast

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from taxonomist.server.access import Caller, denied
from taxonomist.server.middleware import CALLER
from taxonomist.server.problems import problem
from taxonomist.server.projects import Project
from taxonomist.server.service import Service
from taxonomist.server.store.schema import KEY_LENGTH
from taxonomist.server.store.tokens import Role

__all__ = [
    "AdminProject",
    "DecideProject",
    "Deciding",
    "EventNumber",
    "Key",
    "Prose",
    "ReadProject",
    "Running",
    "StrictModel",
    "Time",
    "check_length",
    "needs",
    "service_of",
]

MOST_NUMBER = 2**31 - 1
"""The largest number of a row."""


def storable(text: str) -> str:
    """Return a text; raise if no database can store it."""
    if "\0" in text:
        raise ValueError("must not contain the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


def printable(text: str) -> str:
    """Return a short text; raise if it has control characters."""
    if not text.isprintable():
        raise ValueError("must not contain control characters")
    return text


def in_utc(time: datetime) -> datetime:
    """Return a time in UTC, which one without a time zone is in."""
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie between the years 1 and 9999 in UTC") from None


Prose = Annotated[str, AfterValidator(storable)]
"""A text of a document."""
Key = Annotated[
    str,
    Field(min_length=1, max_length=KEY_LENGTH),
    AfterValidator(storable),
    AfterValidator(printable),
]
"""An id that a client chose, or an id of a node."""
Time = Annotated[datetime, AfterValidator(in_utc)]
"""A time, which is in UTC inside."""
EventNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="Number of the event.")]
After = Annotated[
    int, Query(ge=0, le=MOST_NUMBER, description="Return what comes behind this number.")
]
ProjectId = Annotated[str, Path(description="Id of the project.", max_length=KEY_LENGTH)]


class StrictModel(BaseModel):
    """Data that have the fields of the class and no others."""

    model_config = ConfigDict(extra="forbid")


def service_of(request: Request) -> Service:
    """Return the service that received a request."""
    return cast("Service", request.app.state.service)


def needs(role: Role) -> Callable[[Request], Awaitable[Caller]]:
    """Return a dependency: the caller, who must have a role."""

    async def check(request: Request) -> Caller:
        caller: Caller = request.scope[CALLER]
        error = denied(caller, role)
        if error is not None:
            raise error
        return caller

    return check


def _project_for(role: Role) -> Callable[[Request, str], Awaitable[Project]]:
    check = needs(role)

    async def project_of(request: Request, project_id: ProjectId) -> Project:
        await check(request)
        return service_of(request).project(project_id)

    return project_of


async def _running(request: Request) -> Service:
    return service_of(request)


Running = Annotated[Service, Depends(_running)]
ReadProject = Annotated[Project, Depends(_project_for(Role.read))]
DecideProject = Annotated[Project, Depends(_project_for(Role.decide))]
AdminProject = Annotated[Project, Depends(_project_for(Role.admin))]
Reading = Depends(needs(Role.read))
Deciding = Annotated[Caller, Depends(needs(Role.decide))]


def check_length(service: Service, *texts: str) -> None:
    """Raise if a text is too long."""
    most = service.settings.limits.text_chars
    if any(len(text) > most for text in texts):
        raise problem(400, f"A text must have at most {most:,} characters.")
