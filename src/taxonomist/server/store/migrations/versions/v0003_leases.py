"""Add leases, which say who has which documents open.

Revision: 0003
Down revision: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add a table."""
    op.create_table(
        "leases",
        sa.Column("document", sa.Integer(), nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("user", sa.String(length=200), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["document"], ["documents.id"], name=op.f("fk_leases_document")),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_leases_project")),
        sa.PrimaryKeyConstraint("document", name=op.f("pk_leases")),
    )
    with op.batch_alter_table("leases", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_leases_holder"), ["holder"], unique=False)
