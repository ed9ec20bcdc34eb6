"""Versions of models, and which of them is live."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import insert, select

from taxonomist.server.store.engine import now
from taxonomist.server.store.schema import models, projects, releases

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

__all__ = [
    "ModelVersion",
    "Release",
    "add_project",
    "add_version",
    "list_releases",
    "list_versions",
    "live_version",
    "release",
]


class ModelVersion(NamedTuple):
    """A version of a project's model."""

    version: str
    folder: str
    origin: str
    added_at: datetime
    facts: dict[str, object]


class Release(NamedTuple):
    """An event: a version went live."""

    id: int
    version: str
    at: datetime
    user: str
    reason: str


def add_project(connection: Connection, project: str) -> None:
    """Add a project, unless it is known; keep other writers away from it meanwhile."""
    if not _lock(connection, project):
        connection.execute(insert(projects).values(id=project, added_at=now()))


def _lock(connection: Connection, project: str) -> bool:
    wanted = select(projects.c.id).where(projects.c.id == project).with_for_update()
    return connection.execute(wanted).first() is not None


def add_version(
    connection: Connection,
    project: str,
    version: str,
    folder: str,
    origin: str,
    facts: dict[str, object],
) -> bool:
    """Add a version; return False if it is known."""
    _lock(connection, project)
    known = select(models.c.version).where(models.c.project == project, models.c.version == version)
    if connection.execute(known).first() is not None:
        return False
    row = {"project": project, "version": version, "folder": folder, "origin": origin}
    connection.execute(insert(models).values(**row, added_at=now(), facts=facts))
    return True


def list_versions(connection: Connection, project: str) -> list[ModelVersion]:
    """Return all versions, oldest first."""
    wanted = select(*(models.c[name] for name in ModelVersion._fields)).where(
        models.c.project == project
    )
    rows = connection.execute(wanted.order_by(models.c.added_at, models.c.version))
    return [ModelVersion(*row) for row in rows]


def release(connection: Connection, project: str, version: str, user: str, reason: str) -> None:
    """Make a version the live one, from now on."""
    row = {"project": project, "version": version, "user": user, "reason": reason, "at": now()}
    connection.execute(insert(releases).values(row))


def live_version(connection: Connection, project: str) -> str | None:
    """Return the version that went live last; None if none did."""
    wanted = (
        select(releases.c.version)
        .where(releases.c.project == project)
        .order_by(releases.c.id.desc())
        .limit(1)
    )
    found: str | None = connection.execute(wanted).scalar()
    return found


def list_releases(connection: Connection, project: str) -> list[Release]:
    """Return when which version went live, and why."""
    wanted = select(*(releases.c[name] for name in Release._fields)).where(
        releases.c.project == project
    )
    return [Release(*row) for row in connection.execute(wanted.order_by(releases.c.id))]
