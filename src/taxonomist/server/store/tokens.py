"""Access tokens, of which the store keeps only hashes."""

from __future__ import annotations

import hashlib
import secrets
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import insert, select, update

from taxonomist.errors import ParameterError
from taxonomist.server.store.engine import now
from taxonomist.server.store.schema import KEY_LENGTH, tokens

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

__all__ = [
    "KnownToken",
    "Role",
    "add_token",
    "any_tokens",
    "find_token",
    "list_tokens",
    "revoke_token",
]

PREFIX = "tax_"
"""How tokens begin, so that people and scanners recognise one."""
SECRET_BYTES = 32


class Role(IntEnum):
    """What the owner of a token may do; each role includes those before it."""

    read = 1
    decide = 2
    admin = 3


class KnownToken(NamedTuple):
    """A token, without its secret."""

    id: int
    name: str
    role: Role
    added_at: datetime
    revoked_at: datetime | None


def _digest(secret: str) -> str:
    """Return the hash of a token. Tokens are random, so a fast hash is safe."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add_token(connection: Connection, name: str, role: Role) -> str:
    """Add a token and return its secret, which is shown only now.

    Raises
    ------
    ParameterError
        If the name is empty, too long or has control characters.
    """
    if not name.strip() or len(name) > KEY_LENGTH or not name.isprintable():
        raise ParameterError(
            f"The name of a token must be 1 to {KEY_LENGTH} printable characters. Got {name!r}."
        )
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    row = {"name": name, "role": role.name, "digest": _digest(secret), "added_at": now()}
    connection.execute(insert(tokens).values(row))
    return secret


def find_token(connection: Connection, secret: str) -> KnownToken | None:
    """Return the token with a secret; None if there is none or it was revoked."""
    wanted = select(tokens).where(tokens.c.digest == _digest(secret), tokens.c.revoked_at.is_(None))
    row = connection.execute(wanted).mappings().first()
    return None if row is None else _known(dict(row))


def any_tokens(connection: Connection) -> bool:
    """Return whether there is a token that was not revoked."""
    wanted = select(tokens.c.id).where(tokens.c.revoked_at.is_(None)).limit(1)
    return connection.execute(wanted).first() is not None


def list_tokens(connection: Connection) -> list[KnownToken]:
    """Return all tokens, oldest first."""
    rows = connection.execute(select(tokens).order_by(tokens.c.id)).mappings()
    return [_known(dict(row)) for row in rows]


def revoke_token(connection: Connection, token_id: int) -> bool:
    """Revoke a token; return whether it was valid until now."""
    change = (
        update(tokens)
        .where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None))
        .values(revoked_at=now())
    )
    return connection.execute(change).rowcount == 1


def _known(row: dict[str, object]) -> KnownToken:
    fields = {name: row[name] for name in ("id", "name", "added_at", "revoked_at")}
    return KnownToken(**fields, role=Role[str(row["role"])])  # type: ignore[arg-type]
