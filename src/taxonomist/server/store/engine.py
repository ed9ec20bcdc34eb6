"""Open the database of the service: SQLite or PostgreSQL."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from taxonomist.errors import MissingExtraError, ParameterError
from taxonomist.server.store.schema import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection as SQLiteConnection

    from sqlalchemy import URL, Connection

__all__ = ["EventStore", "now"]

WAIT_SECONDS = 10
"""How long a writer waits for another one, and a request for a connection."""
CONNECTIONS = {"pool_size": 10, "max_overflow": 40, "pool_timeout": WAIT_SECONDS}
"""As many connections as threads that answer requests, and some for tokens and new versions."""
MIGRATION_LOCK = 1_917_001
"""Any number that other users of the database do not lock."""
PRAGMAS = {"journal_mode": "WAL", "synchronous": "FULL", "foreign_keys": "ON"}
"""Readers go on during a write, and a commit returns once the data are on disk."""


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


class EventStore:
    """A database with the tables of the service.

    Parameters
    ----------
    url
        ``sqlite:///file`` or ``postgresql://user:password@host/name``.

    Raises
    ------
    ParameterError
        If the URL is not one of these.
    """

    def __init__(self, url: str) -> None:
        self.url = _checked(url)
        self.engine = _engine(self.url)
        self._writing = self.engine.execution_options(is_writing=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for queries that see one state of the database."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection for changes, which are durable once the block ends."""
        with self._writing.begin() as connection:
            yield connection

    def migrate(self) -> None:
        """Create the tables, or bring them to the newest version."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.writing() as connection:
            if self.url.get_backend_name() == "postgresql":
                # Two servers that start at the same time take turns, however long one takes.
                connection.execute(select(func.set_config("lock_timeout", "0", True)))
                connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def is_ready(self) -> bool:
        """Return whether the database answers."""
        with self.reading() as connection:
            connection.execute(select(tokens.c.id).limit(1))
        return True

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _checked(text: str) -> URL:
    """Return the URL with its driver."""
    try:
        url = make_url(text)
    except ArgumentError:
        url = None
    kind = "" if url is None else url.get_backend_name()
    if url is None or kind not in ("sqlite", "postgresql"):
        raise ParameterError(
            "The database must be given as sqlite:///file or postgresql://user:password@host/name. "
            f"Got a URL of the kind {kind or 'unknown'!r}."
        )
    if kind == "sqlite":
        if not url.database or url.database == ":memory:":
            raise ParameterError("The SQLite database must be a file: sqlite:///decisions.db.")
        Path(url.database).absolute().parent.mkdir(parents=True, exist_ok=True)
        return url.set(drivername="sqlite")
    return url.set(drivername="postgresql+psycopg")


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, connect_args={"timeout": WAIT_SECONDS}, **CONNECTIONS)
            event.listen(engine, "connect", _set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        limits = {"connect_timeout": WAIT_SECONDS, "options": f"-c lock_timeout={WAIT_SECONDS}s"}
        given = {name: value for name, value in limits.items() if name not in url.query}
        return create_engine(url, pool_pre_ping=True, connect_args=given, **CONNECTIONS)
    except (ImportError, NoSuchModuleError) as error:
        raise MissingExtraError(
            "PostgreSQL needs psycopg: pip install 'taxonomist[postgresql]'."
        ) from error


def _set_up_sqlite(connection: SQLiteConnection, _: object) -> None:
    # Transactions begin where _begin_sqlite says, not where the driver guesses.
    connection.isolation_level = None
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name}={value}")


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction; a writer takes its turn at once, so that it cannot fail later."""
    is_writing = connection.get_execution_options().get("is_writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")
