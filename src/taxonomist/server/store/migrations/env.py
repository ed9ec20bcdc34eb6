"""Run migrations on the connection that ``EventStore.migrate`` passes."""

from __future__ import annotations

from alembic import context

from taxonomist.server.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
