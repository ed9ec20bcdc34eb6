"""Tables of the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

if TYPE_CHECKING:
    from sqlalchemy import Dialect

__all__ = [
    "documents",
    "doubts",
    "events",
    "jobs",
    "leases",
    "metadata",
    "models",
    "offers",
    "projects",
    "releases",
    "tokens",
]

KEY_LENGTH = 200
"""Characters in ids that clients choose."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC, also where the database keeps no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return a time with its time zone."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


projects = Table(
    "projects",
    metadata,
    Column("id", String(KEY_LENGTH), primary_key=True),
    Column("added_at", UtcTime, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(KEY_LENGTH), nullable=False),
    Column("role", String(10), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("added_at", UtcTime, nullable=False),
    Column("revoked_at", UtcTime),
)

models = Table(
    "models",
    metadata,
    Column("project", ForeignKey("projects.id"), primary_key=True),
    Column("version", String(64), primary_key=True),
    Column("folder", Text, nullable=False),
    Column("origin", String(20), nullable=False),
    Column("added_at", UtcTime, nullable=False),
    Column("facts", JSON, nullable=False),
)

releases = Table(
    "releases",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", String(KEY_LENGTH), nullable=False),
    Column("version", String(64), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("user", String(KEY_LENGTH), nullable=False),
    Column("reason", Text, nullable=False),
    ForeignKeyConstraint(["project", "version"], ["models.project", "models.version"]),
    Index(None, "project", "id"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", ForeignKey("projects.id"), nullable=False),
    Column("key", String(KEY_LENGTH), nullable=False),
    Column("texts", JSON, nullable=False),
    Column("digest", String(16), nullable=False),
    Column("is_random", Boolean, nullable=False),
    Column("added_at", UtcTime, nullable=False),
    Column("added_by", String(KEY_LENGTH), nullable=False),
    UniqueConstraint("project", "key"),
)

offers = Table(
    "offers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document", ForeignKey("documents.id"), nullable=False),
    Column("version", String(64), nullable=False),
    Column("labels", JSON, nullable=False),
    Column("categories", JSON, nullable=False),
    Column("risk", Float, nullable=False),
    Column("branch", String(KEY_LENGTH), nullable=False),
    Column("at", UtcTime, nullable=False),
    UniqueConstraint("document", "version"),
    Index(None, "document", "id"),
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", ForeignKey("projects.id"), nullable=False),
    Column("document", ForeignKey("documents.id"), nullable=False),
    Column("action", String(20), nullable=False),
    Column("chosen", JSON, nullable=False),
    Column("offered", JSON, nullable=False),
    Column("version", String(64)),
    Column("user", String(KEY_LENGTH), nullable=False),
    Column("seconds", Float),
    Column("at", UtcTime, nullable=False),
    Column("undoes", ForeignKey("events.id"), unique=True),
    Column("key", String(KEY_LENGTH)),
    UniqueConstraint("project", "key"),
    Index(None, "document", "id"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("project", ForeignKey("projects.id"), nullable=False, index=True),
    Column("kind", String(10), nullable=False, server_default="train"),
    Column("state", String(20), nullable=False),
    Column("step", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer),
    Column("user", String(KEY_LENGTH), nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("seen_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("result", JSON, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("document", ForeignKey("documents.id"), primary_key=True),
    Column("project", ForeignKey("projects.id"), nullable=False),
    Column("holder", String(KEY_LENGTH), nullable=False, index=True),
    Column("user", String(KEY_LENGTH), nullable=False),
    Column("until", UtcTime, nullable=False),
)

doubts = Table(
    "doubts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project", ForeignKey("projects.id"), nullable=False, index=True),
    Column("key", String(KEY_LENGTH), nullable=False),
    Column("texts", JSON, nullable=False),
    Column("given", JSON, nullable=False),
    Column("offered", JSON, nullable=False),
    Column("given_probability", Float, nullable=False),
    Column("offered_probability", Float, nullable=False),
    Column("at", UtcTime, nullable=False),
)
