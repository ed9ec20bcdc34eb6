"""Projects: each has a live model, which can be replaced while requests are answered."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from taxonomist.errors import ParameterError, TaxonomistError
from taxonomist.persistence import describe
from taxonomist.server.batching import Batcher
from taxonomist.server.label_search import LabelSearch
from taxonomist.server.live_model import LiveModel, model_version
from taxonomist.server.quality import NodeQualities
from taxonomist.server.store.versions import (
    add_project,
    add_version,
    list_versions,
    live_version,
    release,
)
from taxonomist.server.synonyms import NodeNames, read_synonyms
from taxonomist.workflow.telling_words import telling_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from taxonomist.server.settings import ServiceSettings
    from taxonomist.server.store import EventStore

__all__ = ["Asked", "Project", "Suggested", "check_project_id", "open_projects"]

PROJECT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
STARTING = "given at the start"
"""Reason of the release of a model that was passed on the command line."""

logger = logging.getLogger(__name__)


def check_project_id(project: str) -> None:
    """Raise if a project's id does not fit into a URL."""
    if not PROJECT_ID.fullmatch(project):
        raise ParameterError(
            f"A project's id has letters, digits, '_', '.' and '-' only. Got {project!r}. Pass "
            "NAME=FOLDER to name the project of a model."
        )


class Asked(NamedTuple):
    """A text to suggest categories for."""

    text: str
    metadata: Mapping[str, str]
    limit: int


class Suggested(NamedTuple):
    """The best categories with their probabilities, and the model that found them."""

    model: LiveModel
    categories: list[tuple[str, float]]


class Project:
    """A project with its live model.

    Parameters
    ----------
    project_id
        Its id.
    model
        The model that is live now.
    store
        The store, which knows all versions.
    most_waiting
        How many single requests may wait.
    on_batch
        Called with the size of each batch.
    synonyms
        More names of nodes, for search, and notes about them.
    """

    def __init__(
        self,
        project_id: str,
        model: LiveModel,
        store: EventStore,
        most_waiting: int,
        on_batch: Callable[[int], object] | None = None,
        synonyms: Mapping[str, NodeNames] | None = None,
    ) -> None:
        self.id = project_id
        self._names = synonyms or {}
        self._search: tuple[LiveModel, LabelSearch] | None = None
        self._words: tuple[LiveModel, dict[str, list[tuple[str, float]]]] | None = None
        self.store = store
        # Requests read this once and keep what they got: a swap is one assignment.
        self.live = model
        self._refreshing = Lock()
        self.qualities = NodeQualities()
        self.batcher: Batcher[Asked, Suggested] = Batcher(self._suggest, most_waiting, on_batch)

    def _suggest(self, questions: Sequence[Asked]) -> list[Suggested]:
        """Answer a batch by one model, whatever goes live meanwhile."""
        model = self.live
        texts = [model.item(asked.text, asked.metadata) for asked in questions]
        found = model.suggest(texts, max(asked.limit for asked in questions))
        pairs = zip(found, questions, strict=True)
        return [Suggested(model, row[: asked.limit]) for row, asked in pairs]

    def label_search(self, model: LiveModel) -> LabelSearch:
        """Return what finds the nodes of a model by words and codes."""
        known = self._search
        if known is None or known[0] is not model:
            synonyms = {node: names.synonyms for node, names in self._names.items()}
            known = (model, LabelSearch(model.taxonomy, synonyms))
            self._search = known
        return known[1]

    def names_of(self, node: str) -> NodeNames:
        """Return more names of a node, and a note about it."""
        return self._names.get(node, NodeNames([]))

    def words_of(self, node: str) -> list[tuple[str, float]]:
        """Return the words that speak most for a node in the live model."""
        model, known = self.live, self._words
        if known is None or known[0] is not model:
            known = (model, telling_words(model.classifier))
            self._words = known
        return known[1].get(node, [])

    def load(self, version: str) -> LiveModel:
        """Return a model of this project.

        Raises
        ------
        LookupError
            If the version is unknown.
        TaxonomistError
            If its folder is damaged, or holds another model by now.
        """
        if version == self.live.version:
            return self.live
        with self.store.reading() as connection:
            known = {each.version: each for each in list_versions(connection, self.id)}
        if version not in known:
            raise LookupError(version)
        return load_version(Path(known[version].folder), version)

    def refresh(self) -> bool:
        """Load the version that the store says is live; return whether it was another one."""
        # Of two who refresh, the slower one must not bring an older version back.
        with self._refreshing:
            with self.store.reading() as connection:
                wanted = live_version(connection, self.id)
            if wanted is None or wanted == self.live.version:
                return False
            self.live = self.load(wanted)
        logger.info("model went live", extra={"project": self.id, "version": wanted})
        return True


def load_version(folder: Path, version: str) -> LiveModel:
    """Load a model and check that it is the version that is wanted."""
    model = LiveModel(folder)
    if model.version != version:
        raise TaxonomistError(
            f"The folder of version {version} holds version {model.version} by now."
        )
    return model


def register(store: EventStore, project: str, folder: Path) -> None:
    """Add the model of a folder to a project's versions; a new one goes live."""
    version = model_version(folder)
    facts = {name: describe(folder).get(name) for name in ("created", "facts")}
    with store.writing() as connection:
        add_project(connection, project)
        place = str(folder.absolute())
        if add_version(connection, project, version, place, "given", facts):
            release(connection, project, version, "server", STARTING)


def open_projects(
    settings: ServiceSettings,
    store: EventStore,
    on_batch: Callable[[int], object] | None = None,
) -> dict[str, Project]:
    """Load the live model of each project.

    If the live version cannot be loaded, such as a retrained one whose folder was deleted, the
    model that was given at the start is used.
    """
    found = {}
    for project, given in settings.models.items():
        check_project_id(project)
        folder = Path(given)
        register(store, project, folder)
        with store.reading() as connection:
            wanted = live_version(connection, project)
            folders = {each.version: each.folder for each in list_versions(connection, project)}
        # A model may have moved since it was seen first.
        folders[model_version(folder)] = str(folder)
        try:
            model = load_version(Path(folders[str(wanted)]), str(wanted))
        except TaxonomistError as error:
            if wanted == model_version(folder):
                raise
            logger.warning(
                "live model cannot be loaded, using the one that was given",
                extra={"project": project, "version": wanted, "error": str(error)},
            )
            model = LiveModel(folder)
        synonyms = settings.synonyms.get(project)
        found[project] = Project(
            project,
            model,
            store,
            settings.limits.waiting,
            on_batch,
            None if synonyms is None else read_synonyms(synonyms),
        )
    return found
