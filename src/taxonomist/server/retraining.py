"""Trainings that learn from decisions, each in a process of its own."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
from threading import Lock, Thread
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from taxonomist.server.problems import problem
from taxonomist.server.store.jobs import add_job, end_job

if TYPE_CHECKING:
    from taxonomist.server.settings import ServiceSettings
    from taxonomist.server.store import EventStore

__all__ = ["Trainings"]

MODULE = "taxonomist.server.training_process"
STOP_SECONDS = 5.0
"""How long a training may take to end when the server stops."""

logger = logging.getLogger(__name__)


class Trainings:
    """Starts trainings, and ends them with the server.

    Parameters
    ----------
    settings
        Settings of the service.
    store
        The store, through which a training tells its progress and its result.
    """

    def __init__(self, settings: ServiceSettings, store: EventStore) -> None:
        self._settings = settings
        self._store = store
        self._lock = Lock()
        self._running: dict[str, tuple[subprocess.Popen[bytes], Thread]] = {}

    def start(
        self,
        project: str,
        version: str,
        user: str,
        *,
        force: bool = False,
        kind: str = "train",
        full: bool = False,
    ) -> str:
        """Start a training, or a check of the training table, and return the id of its job.

        Parameters
        ----------
        project
            The project.
        version
            The version of the live model, which the new one is compared with.
        user
            Who starts it.
        force
            Whether the new model goes live even if it is worse.
        kind
            ``"train"``, or ``"check"`` to look for wrong labels in the training table.
        full
            Whether to learn the features again even if few texts are new.

        Raises
        ------
        ProblemError
            If there is no training table.
        ConflictError
            If a training of this project is running.
        """
        if project not in self._settings.tables:
            raise problem(
                409,
                f"Project '{project}' has no training table. Start the server with "
                f"--data {project}=FILE, the table that the model was trained on.",
            )
        with self._store.writing() as connection:
            job = add_job(connection, project, user, kind)
        task = {
            "settings": self._settings.to_json(),
            "project": project,
            "version": version,
            "job": job,
            "user": user,
            "force": force,
            "kind": kind,
            "full": full,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        watch = Thread(target=self._watch, args=(job, process, json.dumps(task)), daemon=True)
        with self._lock:
            self._running[job] = (process, watch)
        watch.start()
        return job

    def _watch(self, job: str, process: subprocess.Popen[bytes], task: str) -> None:
        """Pass the task on, and note it if the process ends without a result."""
        # Through a pipe: other users of the machine can read the arguments of processes.
        process.communicate(task.encode())
        try:
            with self._store.writing() as connection:
                error: dict[str, object] = {"error": _ending(process.returncode)}
                if end_job(connection, job, "failed", error):
                    logger.error("training failed", extra={"job": job, "code": process.returncode})
        except DBAPIError:
            # The store says that the training is lost once it was not heard of for a while.
            logger.exception("store does not answer", extra={"job": job})
        finally:
            with self._lock:
                self._running.pop(job, None)

    def stop(self) -> None:
        """End all trainings."""
        with self._lock:
            running = list(self._running.values())
        for process, _ in running:
            process.terminate()
        for process, watch in running:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            watch.join(STOP_SECONDS)


def _ending(code: int) -> str:
    """Say how a process ended that told nothing itself."""
    if code == -signal.SIGTERM:
        return "It was stopped, as trainings are when the server stops. Start it again."
    if code < 0:
        return (
            f"It was ended by signal {-code}. The system does so if memory runs out; "
            "--training-mib limits what a training may take."
        )
    return f"It ended with code {code}. The log of the server says why."
