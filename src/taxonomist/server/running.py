"""Run the service."""

from __future__ import annotations

import os
import socket
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

import uvicorn

from taxonomist.errors import ParameterError
from taxonomist.server.application import SETTINGS_VARIABLE, make_app
from taxonomist.server.connections import BoundedConnection, allow_many_connections
from taxonomist.server.logs import set_up_logs
from taxonomist.server.monitoring import FOLDER_VARIABLE
from taxonomist.server.projects import check_project_id, register
from taxonomist.server.settings import LOCAL_HOSTS, ServiceSettings
from taxonomist.server.store import EventStore
from taxonomist.server.store.tokens import any_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_port", "prepared", "run"]

FACTORY = "taxonomist.server.application:app_of_process"
KEEP_ALIVE_SECONDS = 30
STOP_SECONDS = 30
"""How long requests that were accepted may take when the server stops."""
WAITING_CONNECTIONS = 4096


def check_port(host: str, port: int) -> None:
    """Raise a ``ParameterError`` if the service could not listen here."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            if os.name == "posix":
                # A port is free again as soon as its server has ended.
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        raise ParameterError(
            f"The service cannot listen on {host}:{port} ({error.strerror}). Pass another --port, "
            "or stop what runs there."
        ) from error


def prepared(settings: ServiceSettings, host: str) -> ServiceSettings:
    """Open the database and return the settings for an address.

    Raises
    ------
    ParameterError
        If others can reach the address and there is no token.
    """
    store = EventStore(settings.db_url)
    try:
        store.migrate()
        with store.reading() as connection:
            has_tokens = any_tokens(connection)
    finally:
        store.close()
    if host in LOCAL_HOSTS:
        # Without tokens, other names for this machine are a web page's attempt to reach it.
        return settings if has_tokens or settings.hosts else replace(settings, hosts=LOCAL_HOSTS)
    if not has_tokens:
        raise ParameterError(
            f"There is no token, so the service listens on this machine only, not on {host}. Make "
            "a token first: taxonomist token add NAME --role admin."
        )
    return replace(settings, needs_token=True)


def run(
    settings: ServiceSettings, host: str, port: int, on_start: Callable[[], object] | None = None
) -> None:
    """Run the service until it is stopped by a signal.

    Parameters
    ----------
    settings
        Settings of the service.
    host, port
        Where to listen.
    on_start
        Called when everything was checked and the models are loaded, or with several processes,
        before these load them.
    """
    settings = prepared(settings, host)
    common = {
        "host": host,
        "port": port,
        "http": BoundedConnection,
        "ws": "none",
        "access_log": False,
        "log_config": None,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": STOP_SECONDS,
        "backlog": WAITING_CONNECTIONS,
    }
    set_up_logs()
    allow_many_connections()
    app = make_app(settings) if settings.processes == 1 else None
    if app is None:
        _check_models(settings)
    if on_start is not None:
        on_start()
    if app is not None:
        uvicorn.run(app, **common)  # type: ignore[arg-type]
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ[SETTINGS_VARIABLE] = replace(settings, parent=os.getpid()).to_json()
        os.environ[FOLDER_VARIABLE] = folder
        uvicorn.run(FACTORY, factory=True, workers=settings.processes, **common)  # type: ignore[arg-type]


def _check_models(settings: ServiceSettings) -> None:
    """Raise before processes start if a model is not one; they would fail again and again."""
    from pathlib import Path

    store = EventStore(settings.db_url)
    try:
        for project, folder in settings.models.items():
            check_project_id(project)
            register(store, project, Path(folder))
    finally:
        store.close()
