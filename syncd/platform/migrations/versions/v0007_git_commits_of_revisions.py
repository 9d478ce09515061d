"""The commits that revisions came from or went to, and the imports and exports that made them so.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "revision_commits",
        sa.Column("revision", TEXT, nullable=False),
        sa.Column("oid", TEXT, nullable=False),
        sa.Column("message", TEXT, nullable=False),
        sa.Column("created_by_service", sa.Boolean(), nullable=False, comment="whether an export made the commit"),
        sa.Column("url", TEXT, nullable=True, comment="of the commit, for people"),
        sa.Column("ref", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["revision"], ["revisions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("revision"),
        comment="the Git commit that a revision came from or went to",
    )
    op.create_table(
        "git_operations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("space", TEXT, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False, comment="counts up within the space"),
        sa.Column("direction", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False, comment="without credentials, which are kept nowhere"),
        sa.Column("ref", TEXT, nullable=False),
        sa.Column("happened_at", TEXT, nullable=True, comment="the time that the request gives itself, in UTC"),
        sa.Column("started_at", TEXT, nullable=False),
        sa.Column("ended_at", TEXT, nullable=True),
        sa.Column("error", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["space"], ["spaces.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("space", "seq"),
    )
