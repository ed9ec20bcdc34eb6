"""Models, databases and servers for the tests of the service."""

from __future__ import annotations

import secrets
from contextlib import closing
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from taxonomist.server import ServiceSettings, make_app
from taxonomist.server.store import EventStore
from taxonomist.server.store.tokens import Role, add_token
from tests.unit.server.corpus import make_model, write_table
from tests.unit.server.postgres import postgresql
from tests.unit.server.processes import running


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """Return a folder with a table and its model, and the same for label sets."""
    folder = tmp_path_factory.mktemp("models")
    for name, sets in (("beings", False), ("sets", True)):
        table = write_table(folder / f"{name}.csv", sets=sets)
        make_model(folder / name, table, sets=sets)
    return folder


@pytest.fixture(scope="session")
def postgres():
    with postgresql() as url:
        yield url


@pytest.fixture(scope="session")
def server(shared, tmp_path_factory):
    """Yield a server of two processes, which no test may stop."""
    arguments = [shared / "beings", "--processes", "2", "--label-studio"]
    with running(arguments, tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request, tmp_path):
    """Return the URL of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'decisions.db'}"
    return new_database(request.getfixturevalue("postgres"))


def new_database(url):
    import psycopg

    name = f"t{secrets.token_hex(6)}"
    with closing(psycopg.connect(f"{url}/postgres", autocommit=True)) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{url}/{name}"


@pytest.fixture
def store(db):
    found = EventStore(db)
    found.migrate()
    yield found
    found.close()


@pytest.fixture
def on_sqlite(shared, tmp_path):
    """Return settings for a server with one project, on SQLite."""
    return ServiceSettings(
        models={"beings": str(shared / "beings")},
        tables={"beings": str(shared / "beings.csv")},
        folder=str(tmp_path / "server"),
    )


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def settings(request, on_sqlite):
    """Return settings for a server with one project, on each kind of database in turn.

    Whatever reads or writes rows differently is tested on both by the fixture ``db``, in seconds.
    """
    if request.param == "sqlite":
        return on_sqlite
    return replace(on_sqlite, db=new_database(request.getfixturevalue("postgres")))


@pytest.fixture
def serve():
    """Return a function from settings to a client; servers end with the test."""
    clients = []

    def start(settings, **options):
        client = TestClient(make_app(settings), base_url="http://localhost", **options)
        client.__enter__()
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(settings, serve):
    """Return a client of a server without tokens."""
    return serve(settings)


def make_tokens(url):
    """Make a token of each role and return headers with them."""
    with closing(EventStore(url)) as found:
        found.migrate()
        with found.writing() as connection:
            secrets_ = {role.name: add_token(connection, role.name, role) for role in Role}
    return {name: {"Authorization": f"Bearer {secret}"} for name, secret in secrets_.items()}
