"""Add the rows of training tables that a model doubts, and kinds of jobs.

Revision: 0002
Down revision: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add a table and a column."""
    op.create_table(
        "doubts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("offered", sa.JSON(), nullable=False),
        sa.Column("given_probability", sa.Float(), nullable=False),
        sa.Column("offered_probability", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_doubts_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_doubts")),
    )
    with op.batch_alter_table("doubts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_doubts_project"), ["project"], unique=False)
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        kind = sa.Column("kind", sa.String(length=10), nullable=False, server_default="train")
        batch_op.add_column(kind)
