"""``taxonomist token``: make, list and revoke the tokens of the service."""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from taxonomist.cli.checks import OptionError
from taxonomist.cli.output import AsJson, print_json, print_note, print_table, print_text
from taxonomist.cli.serve_command import FOLDER, Database, Folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

app = typer.Typer(help="Make, list and revoke tokens of the service.", no_args_is_help=True)


class RoleName(StrEnum):
    """Roles, by what they may do."""

    read = "read"
    decide = "decide"
    admin = "admin"


@contextmanager
def _writing(folder: Path, db: str | None) -> Iterator[Connection]:
    from taxonomist.errors import import_extra

    import_extra("sqlalchemy", "server")
    from taxonomist.server.settings import ServiceSettings
    from taxonomist.server.store import EventStore

    store = EventStore(ServiceSettings(folder=str(folder), db=db or "").db_url)
    try:
        store.migrate()
        with store.writing() as connection:
            yield connection
    finally:
        store.close()


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Whose token it is; decisions bear this name.")],
    role: Annotated[
        RoleName,
        typer.Option(help="read: ask; decide: also add documents and decide; admin: also retrain."),
    ] = RoleName.decide,
    folder: Folder = FOLDER,
    db: Database = None,
) -> None:
    """Make a token and print it. It is shown only now: the database keeps a hash."""
    from taxonomist.server.store.tokens import Role, add_token

    with _writing(folder, db) as connection:
        secret = add_token(connection, name, Role[role.value])
    print_note(f"Token of {name}, role {role.value}. Keep it: it cannot be shown again.")
    print_text(secret)


@app.command(name="list")
def show(folder: Folder = FOLDER, db: Database = None, as_json: AsJson = False) -> None:
    """List all tokens, without their secrets."""
    from taxonomist.server.store.tokens import list_tokens

    with _writing(folder, db) as connection:
        found = list_tokens(connection)
    rows = [
        {
            "id": token.id,
            "name": token.name,
            "role": token.role.name,
            "added": token.added_at.isoformat(timespec="seconds"),
            "revoked": token.revoked_at and token.revoked_at.isoformat(timespec="seconds"),
        }
        for token in found
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(
            ("id", "name", "role", "added", "revoked"), [list(row.values()) for row in rows]
        )


@app.command()
def revoke(
    token: Annotated[int, typer.Argument(help="Id of the token, from 'list'.")],
    folder: Folder = FOLDER,
    db: Database = None,
) -> None:
    """Revoke a token. Servers refuse it within seconds."""
    from taxonomist.server.store.tokens import revoke_token

    with _writing(folder, db) as connection:
        done = revoke_token(connection, token)
    if not done:
        raise OptionError(f"There is no token {token} that could be revoked.")
    print_note(f"Token {token} is revoked.")
