"""Jobs: trainings and checks that run in processes of their own."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import insert, select, update

from taxonomist.server.store.decisions import ConflictError
from taxonomist.server.store.engine import now
from taxonomist.server.store.schema import jobs, projects

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

__all__ = ["StoredJob", "add_job", "end_job", "find_job", "list_jobs", "tell_job"]

LOST_SECONDS = 60.0
"""A job that was not heard of for so long has died with its machine."""


class StoredJob(NamedTuple):
    """A job: a training, or a check of the training table.

    Its state is running, live, trained, checked, failed or lost.
    """

    id: str
    kind: str
    state: str
    step: str
    done: int
    total: int | None
    user: str
    started_at: datetime
    seen_at: datetime
    ended_at: datetime | None
    result: dict[str, object]


def add_job(connection: Connection, project: str, user: str, kind: str = "train") -> str:
    """Add a running job of a kind, ``"train"`` or ``"check"``, and return its id.

    Raises
    ------
    ConflictError
        If another job of the project is running.
    """
    lock = select(projects.c.id).where(projects.c.id == project).with_for_update()
    connection.execute(lock)
    if any(job.state == "running" for job in list_jobs(connection, project)):
        raise ConflictError("A training of this project is running. Wait until it ends.")
    number, time = secrets.token_hex(8), now()
    row = {"id": number, "project": project, "kind": kind, "state": "running", "step": "Starting"}
    times = {"started_at": time, "seen_at": time}
    connection.execute(insert(jobs).values(**row, **times, user=user, done=0, result={}))
    return number


def tell_job(connection: Connection, job: str, step: str, done: int, total: int | None) -> None:
    """Note the progress of a job."""
    change = update(jobs).where(jobs.c.id == job)
    connection.execute(change.values(step=step, done=done, total=total, seen_at=now()))


def end_job(connection: Connection, job: str, state: str, result: dict[str, object]) -> bool:
    """End a job; return False if it has ended before."""
    change = update(jobs).where(jobs.c.id == job, jobs.c.ended_at.is_(None))
    values = {"state": state, "result": result, "ended_at": now(), "seen_at": now()}
    return connection.execute(change.values(values)).rowcount == 1


def list_jobs(connection: Connection, project: str) -> list[StoredJob]:
    """Return the jobs of a project, oldest first."""
    wanted = select(*(jobs.c[name] for name in StoredJob._fields)).where(jobs.c.project == project)
    rows = connection.execute(wanted.order_by(jobs.c.started_at, jobs.c.id))
    return [_as_seen(StoredJob(*row)) for row in rows]


def find_job(connection: Connection, project: str, job: str) -> StoredJob | None:
    """Return a job, or None if it does not exist."""
    return next((each for each in list_jobs(connection, project) if each.id == job), None)


def _as_seen(job: StoredJob) -> StoredJob:
    # Seen in the future: the clock was set back since.
    is_lost = abs(now() - job.seen_at) > timedelta(seconds=LOST_SECONDS)
    return job._replace(state="lost") if job.state == "running" and is_lost else job
