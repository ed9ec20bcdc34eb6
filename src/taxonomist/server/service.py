"""What all routes share: settings, store, projects and measures."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from taxonomist.errors import TaxonomistError
from taxonomist.server.access import Gate
from taxonomist.server.demo_model import DEMO_PROJECT, demo_documents
from taxonomist.server.filing import add_texts
from taxonomist.server.monitoring import Monitor
from taxonomist.server.problems import problem
from taxonomist.server.projects import Project, open_projects
from taxonomist.server.retraining import Trainings
from taxonomist.server.store import EventStore
from taxonomist.server.store.documents import list_documents

if TYPE_CHECKING:
    from taxonomist.server.settings import ServiceSettings

__all__ = ["Service"]

LOOK_SECONDS = 2.0
"""How often to ask the store whether another version went live, maybe in another process."""

logger = logging.getLogger(__name__)


class Service:
    """Projects with their live models, and the store.

    Parameters
    ----------
    settings
        Settings of the service.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.store = EventStore(settings.db_url)
        self.monitor = Monitor()
        self.gate = Gate(settings, self.store)
        self.trainings = Trainings(settings, self.store)
        self._looking: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        try:
            self.store.migrate()
            self.projects = open_projects(settings, self.store, self.monitor.batch)
            if settings.has_samples:
                self._add_samples()
        except BaseException:
            self.store.close()
            raise

    def _add_samples(self) -> None:
        """Put documents into the queue of the demo, if it has none yet."""
        project = self.projects[DEMO_PROJECT]
        with self.store.reading() as connection:
            is_empty = not list_documents(connection, project.id, 0, 1)
        if is_empty:
            given = demo_documents(project.live.classifier)
            add_texts(project, self.settings, given, "demo")

    def project(self, project_id: str) -> Project:
        """Return a project.

        Raises
        ------
        ProblemError
            If there is none: the error that Annif has for it.
        """
        found = self.projects.get(project_id)
        if found is None:
            raise problem(404, f"Project '{project_id}' not found", "Project not found")
        return found

    async def start(self) -> None:
        """Begin to look for versions that go live."""
        self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _stops(self) -> bool:
        """Wait for a while; return whether the service stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), LOOK_SECONDS)
        return self._stopping.is_set()

    async def _look(self) -> None:
        while not await self._stops():
            if self.settings.parent not in (0, os.getppid()):
                logger.error("the server that started this process is gone, so it ends")
                os.kill(os.getpid(), signal.SIGTERM)
            for project in self.projects.values():
                try:
                    await asyncio.to_thread(project.refresh)
                except (TaxonomistError, LookupError, OSError) as error:
                    logger.warning(
                        "live model cannot be loaded, going on with the old one",
                        extra={"project": project.id, "error": str(error)},
                    )
                except Exception:
                    logger.exception("store does not answer")

    async def stop(self) -> None:
        """Answer what was accepted, end trainings, and close the store."""
        self._stopping.set()
        if self._looking is not None:
            # A thread that asks the store goes on if its task is cancelled.
            await self._looking
        for project in self.projects.values():
            await project.batcher.close()
        await asyncio.to_thread(self.trainings.stop)
        self.store.close()
